import type { Fault } from '../../domain/kernel/fault.ts'
import { isInput, type CellDecision, type CellEvent } from '../../domain/planner/cell-event.ts'
import { shortType } from '../../projections/explain/event-text.ts'
import { instantText } from '../../projections/explain/wording.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { instantFrom } from './instant.ts'
import { plainEventColumns, rowOf, textOf, type EventRow } from './log.ts'
import { withLog } from './opened-log.ts'
import type { Column } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { numberBetween, oneOf, refuseFlags } from './trace-options.ts'
import { storedEvents, workloadOf } from './workload-events.ts'

const types: ReadonlyArray<CellDecision['type']> = [
  'WorkloadAdmitted',
  'WorkloadHeld',
  'WorkloadRefused',
  'EstimateOverran',
]
const limitDefault = 50

interface DecisionFlags {
  readonly workload?: string
  readonly type?: string
  readonly limit?: string
  readonly at?: string
}

/** Registers `decisions`. */
export const registerDecisions: Register = (program, context) => {
  program
    .command('decisions')
    .description('what was decided, the newest last, each with its rule and its numbers')
    .option('--workload <id>', 'only about this one')
    .option('--type <type>', `only ${types.map(shortType).join(', ')}`)
    .option('--limit <n>', `so many of the newest; 0 for all (default: ${limitDefault})`)
    .option('--at <time>', 'up to then (default: the end of the log)')
    .action(
      verb(context, async (session, flags: DecisionFlags) => {
        const faults: Fault[] = []
        const short = oneOf('--type', flags.type && shortType(flags.type), types.map(shortType), faults)
        const type = types.find((each) => shortType(each) === short)
        const limit = numberBetween('--limit', flags.limit, 0, 10_000_000, faults) ?? limitDefault
        const until = instantFrom(flags.at)
        refuseFlags(faults)
        return withLog(session, async (log) => {
          let rows: EventRow[] = []
          for await (const event of storedEvents(session, log)) {
            const { message } = event
            if (until !== null && message.at > until) break
            if (isInput(message as unknown as CellEvent) || (type !== undefined && message.type !== type)) continue
            if (flags.workload !== undefined && workloadOf(message) !== flags.workload) continue
            rows.push(rowOf(event))
            if (limit > 0 && rows.length >= 2 * limit) rows = rows.slice(-limit)
          }
          const shown = limit > 0 ? rows.slice(-limit) : rows
          if (shown.length === 0 && flags.workload !== undefined)
            throw new VerbFailed(exitCodes.failed, `nothing of this kind was decided about ${flags.workload}`)
          await session.printRows<EventRow>(shown, session.style.format === 'csv' ? plainEventColumns : columns)
          return exitCodes.done
        })
      }),
    )
}

const columns: ReadonlyArray<Column<EventRow>> = [
  { name: 'pos', value: ({ position }) => position },
  { name: 'at', value: ({ at }) => instantText(at), whole: true },
  { name: 'decision', value: ({ type }) => shortType(type), whole: true },
  { name: 'workload', value: ({ data }) => data['workload'] ?? null, whole: true },
  { name: 'why', value: (row) => textOf(row) },
]
