import type { Command } from 'commander'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { QueryLimits } from '../../domain/ports/views.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { printQuery } from './query-table.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { numberBetween, refuseFlags } from './trace-options.ts'
import { addWatchFlag, watched, type WatchFlag } from './watch.ts'

const rowsDefault = 10_000
const rowsMax = 1_000_000
const timeoutDefaultS = 30
const timeoutMaxS = 3_600
const queryBytesMax = 1_000_000

export interface QueryFlags {
  readonly limit?: string
  readonly timeout?: string
  readonly watch?: WatchFlag
}

/** Registers `sql`. */
export const registerSql: Register = (program, context) => {
  addQueryFlags(
    program
      .command('sql')
      .argument('<query>', 'SELECT, SHOW, DESCRIBE or EXPLAIN of ClickHouse; - for the standard input')
      .description('ask the views in SQL; they are read and never changed (docs/views.md)'),
  )
    .addHelpText('after', examples)
    .action(
      verb(context, async (session, text: string, flags: QueryFlags) => {
        const limits = queryLimits(flags)
        const query = text === '-' ? await textOfStdin() : text
        return watched(session, flags.watch, async (drawn) => {
          const asked = withDesk(drawn, { claims: 'sql', views: true }, (desk) => fromDesk(desk.sql(query, limits)))
          await printQuery(drawn, await asked)
          return exitCodes.done
        })
      }),
    )
}

export const addQueryFlags = (command: Command): Command =>
  addWatchFlag(
    command
      .option('--limit <n>', `refuse an answer of more rows than this (default: ${rowsDefault})`)
      .option('--timeout <seconds>', `end a query that takes longer (default: ${timeoutDefaultS})`),
  )

export const queryLimits = ({ limit, timeout }: QueryFlags): QueryLimits => {
  const faults: Fault[] = []
  const rows = numberBetween('--limit', limit, 1, rowsMax, faults) ?? rowsDefault
  const seconds = numberBetween('--timeout', timeout, 0.001, timeoutMaxS, faults, false) ?? timeoutDefaultS
  refuseFlags(faults)
  return { rowsMax: rows, timeMaxMs: Math.ceil(seconds * 1000) }
}

const textOfStdin = async (): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > queryBytesMax) throw new VerbFailed(exitCodes.usage, `the query has more than ${queryBytesMax} bytes`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const examples = `
Exit code ${exitCodes.usage} for a query that is not valid, ${exitCodes.refused} for one that is too much for its limits.

Examples:
  leasehold sql "SHOW TABLES"
  leasehold sql "SELECT class, count() FROM workloads GROUP BY class ORDER BY class" -o csv
  leasehold sql - < query.sql`
