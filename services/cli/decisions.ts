import type { Fault } from '../../domain/kernel/fault.ts'
import { shortType } from '../../projections/explain/event-text.ts'
import { instantText } from '../../projections/explain/wording.ts'
import { decisionTypeNamed, decisionTypeNear, decisionTypes } from '../api/decision-types.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { instantFrom } from './instant.ts'
import { plainEventColumns, textOf, type EventRow } from './log.ts'
import type { Column } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { numberBetween, refuseFlags } from './trace-options.ts'
import { addWatchFlag, watched, type WatchFlag } from './watch.ts'

const limitDefault = 50

interface DecisionFlags {
  readonly workload?: string
  readonly type?: string
  readonly limit?: string
  readonly at?: string
  readonly watch?: WatchFlag
}

/** Registers `decisions`. */
export const registerDecisions: Register = (program, context) => {
  addWatchFlag(
    program
      .command('decisions')
      .description('what was decided, the newest last, each with its rule and its numbers')
      .option('--workload <id>', 'only about this one')
      .option('--type <type>', `only ${decisionTypes.map(shortType).join(', ')}; whole names too, in any case`)
      .option('--limit <n>', `so many of the newest; 0 for all (default: ${limitDefault})`)
      .option('--at <time>', 'up to then (default: the end of the log)'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  leasehold decisions --limit 5\n  leasehold decisions --type held --workload sweep-7',
    )
    .action(
      verb(context, (session, flags: DecisionFlags) => {
        const faults: Fault[] = []
        const type = flags.type === undefined ? null : typeFrom(flags.type, faults)
        const limit = numberBetween('--limit', flags.limit, 0, 10_000_000, faults) ?? limitDefault
        const until = instantFrom(flags.at)
        refuseFlags(faults)
        return watched(session, flags.watch, (drawn) =>
          withDesk(drawn, {}, async (desk) => {
            const filter = { type, workload: flags.workload ?? null, at: until, limit }
            const shown = (await fromDesk(desk.decisions(filter))) as ReadonlyArray<EventRow>
            if (shown.length === 0 && flags.workload !== undefined)
              throw new VerbFailed(exitCodes.failed, `nothing of this kind was decided about ${flags.workload}`)
            await drawn.printRows<EventRow>(shown, drawn.style.format === 'csv' ? plainEventColumns : columns)
            return exitCodes.done
          }),
        )
      }),
    )
}

const typeFrom = (name: string, faults: Fault[]) => {
  const type = decisionTypeNamed(name)
  if (type !== null) return type
  const meant = decisionTypeNear(name)
  const mend = meant === null ? `use one of ${decisionTypes.map(shortType).join(', ')}` : `did you mean ${meant}?`
  faults.push({ path: '--type', reason: `there is no ${JSON.stringify(name)}`, mend })
  return null
}

const columns: ReadonlyArray<Column<EventRow>> = [
  { name: 'pos', value: ({ position }) => position },
  { name: 'at', value: ({ at }) => instantText(at), whole: true },
  { name: 'decision', value: ({ type }) => shortType(type), whole: true },
  { name: 'workload', value: ({ data }) => data['workload'] ?? null, whole: true },
  { name: 'why', value: (row) => textOf(row) },
]
