import { waitsAt } from '../../infra/clickhouse/schema/waits-view.ts'
import { instantFrom } from './instant.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { answerQuery, cellIs, durationCell, type ViewFlags } from './view-query.ts'

/** Registers `waits`. */
export const registerWaits: Register = (program, context) => {
  const command = program
    .command('waits')
    .description('how long workloads waited for their first start, by class')
    .option('--at <time>', 'as things stood then (default: the end of the log)')
    .addHelpText('after', examples)
  answerQuery<ViewFlags>(command, context, {
    claims: 'waits',
    sql: (session, { at }) => {
      const instant = instantFrom(at)
      const waits = instant === null ? 'waits' : `(${waitsAt(instant)})`
      return `SELECT * EXCEPT (cell) FROM ${waits} WHERE ${cellIs(session)} ORDER BY class`
    },
    columns: () => columns,
  })
}

const figure = (name: string, column: string): Column<JsonObject> => ({
  name,
  value: (row) => durationCell(row[column]),
  align: 'right',
  whole: true,
})

const columns: ReadonlyArray<Column<JsonObject>> = [
  { name: 'class', value: (row) => row['class'] ?? null },
  { name: 'started', value: (row) => row['started_count'] ?? null },
  figure('p50', 'started_p50_ms'),
  figure('p90', 'started_p90_ms'),
  figure('p99', 'started_p99_ms'),
  { name: 'with waiting', value: (row) => row['all_count'] ?? null },
  figure('p50', 'all_p50_ms'),
  figure('p90', 'all_p90_ms'),
  figure('p99', 'all_p99_ms'),
]

const examples = `
First over those that have started, then over those and what still waits, with its wait so far: a
queue that is stuck cannot make the second look better.

Examples:
  leasehold waits
  leasehold waits --at 2026-08-14T00:00:00Z
  leasehold waits -o csv --data .leasehold/demo`
