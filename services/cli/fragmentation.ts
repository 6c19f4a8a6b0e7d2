import { gpusText } from '../../projections/explain/wording.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import type { Session } from './session.ts'
import { answerQuery, cellIs, instantCell, instantLiteral, type ViewFlags } from './view-query.ts'

interface FragmentationFlags extends ViewFlags {
  readonly nodes?: true
}

/** Registers `fragmentation`. */
export const registerFragmentation: Register = (program, context) => {
  const command = program
    .command('fragmentation')
    .description('what is free, and what of it cannot be used: in the fleet, or by node')
    .option('--nodes', 'a line for each node')
    .option('--at <time>', 'as things stood then (default: now, the end of the log)')
    .addHelpText('after', examples)
  answerQuery<FragmentationFlags>(command, context, {
    claims: 'fragmentation',
    sql,
    columns: ({ nodes }) => (nodes === true ? [nodeColumn, ...columns.slice(1, -1)] : columns),
  })
}

const sql = (session: Session, { at, nodes }: FragmentationFlags): string => {
  const until = at === undefined ? '' : ` AND at <= ${instantLiteral(at)}`
  return nodes === true
    ? `SELECT * EXCEPT (cell) FROM fragmentation_nodes WHERE ${cellIs(session)}${until} ORDER BY node, at DESC LIMIT 1 BY node`
    : `SELECT * EXCEPT (cell) FROM fragmentation WHERE ${cellIs(session)}${until} ORDER BY at DESC LIMIT 1`
}

const milli = (name: string, column: string): Column<JsonObject> => ({
  name,
  value: (row) => (typeof row[column] === 'number' ? gpusText(row[column]).replace(/ GPUs?$/, '') : null),
  align: 'right',
})

const nodeColumn: Column<JsonObject> = { name: 'node', value: ({ node }) => node ?? null, whole: true }

const columns: ReadonlyArray<Column<JsonObject>> = [
  { name: 'since', value: ({ at }) => instantCell(at), whole: true },
  milli('installed', 'installed_milli'),
  milli('schedulable', 'schedulable_milli'),
  milli('allocated', 'allocated_milli'),
  milli('free', 'free_milli'),
  milli('placeable', 'placeable_milli'),
  milli('stranded', 'stranded_milli'),
  milli('fgd', 'fgd_milli'),
  milli('largest', 'largest_node_milli'),
]

const examples = `
In GPUs. Placeable: wholly free devices; stranded: free parts of devices that others have the rest
of; fgd: what a request drawn from the mix could not use; largest: the largest placeable on one
node. Every column: docs/views.md.

Examples:
  leasehold fragmentation
  leasehold fragmentation --nodes -o csv
  leasehold fragmentation --at "day 1 12:00:00" --data .leasehold/demo`
