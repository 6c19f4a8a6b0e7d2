import type { Fault } from '../../domain/kernel/fault.ts'
import type { PositionAnswer } from '../../projections/explain/position.ts'
import type { QueueAnswer, QueueRow } from '../../projections/explain/queue.ts'
import { standingNote } from '../../projections/explain/standing-text.ts'
import { durationText, instantText, needText } from '../../projections/explain/wording.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { numberBetween, refuseFlags } from './trace-options.ts'
import { addWatchFlag, watched, type WatchFlag } from './watch.ts'

const limitDefault = 50
/** Of those before one that are told of at once. */
const aheadMost = 10_000

interface QueueFlags {
  readonly queue?: string
  readonly limit?: string
  readonly position?: string
  readonly at?: string
  readonly watch?: WatchFlag
}

/** Registers `queue`. */
export const registerQueue: Register = (program, context) => {
  addWatchFlag(
    program
      .command('queue')
      .description('what waits, in order, and the reason of each')
      .option('--queue <name>', 'only this one')
      .option('--limit <n>', `so many of each queue; 0 for all (default: ${limitDefault})`)
      .option('--position <workload>', 'only those that go before this one, in order, and whose they are')
      .option('--at <time>', 'as things stood then (default: now, the end of the log)'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  leasehold queue\n  leasehold queue --queue research --watch\n  leasehold queue --position sweep-7',
    )
    .action(
      verb(context, (session, flags: QueueFlags) => {
        const faults: Fault[] = []
        const limit = numberBetween('--limit', flags.limit, 0, 10_000_000, faults) ?? limitDefault
        const at = instantFrom(flags.at)
        refuseFlags(faults)
        return watched(session, flags.watch, (drawn) =>
          withDesk(drawn, { at }, async (desk) => {
            if (flags.position !== undefined) {
              const most = Math.min(limit === 0 ? aheadMost : limit, aheadMost)
              return printPosition(drawn, await fromDesk(desk.position(flags.position, most, at)))
            }
            const answer = await fromDesk(desk.queue(flags.queue ?? null, limit, at))
            const { more, rows } = answer
            await drawn.printRows<Row>(
              rows as ReadonlyArray<Row>,
              drawn.style.format === 'csv' ? plainColumns : columnsFor(rows),
            )
            if (drawn.style.format === 'table') for (const note of notesOn(answer)) drawn.note(note)
            if (more > 0) drawn.note(`... and ${more} more: --limit 0 shows all.`)
            return exitCodes.done
          }),
        )
      }),
    )
}

type Row = QueueRow & JsonObject

const notesOn = ({ at, heldRunning, onHold, rows, running, standing }: QueueAnswer): ReadonlyArray<string> => {
  const others = `${running === 1 ? '1 runs' : `${running} run`}${onHold === 0 ? '' : `, ${onHold} on hold`}`
  const stays = standingNote(standing)
  const held = `${heldRunning.join(', ')} ${heldRunning.length === 1 ? 'runs and is' : 'run and are'} on hold`
  return [
    `${rows.length === 0 ? 'Nothing waits at' : 'As of'} ${instantText(at)}; ${others}.`,
    ...(stays === null ? [] : [stays]),
    ...(heldRunning.length === 0 ? [] : [`${held}: once stopped, not started again before a release.`]),
  ]
}

/** For a spreadsheet: numbers that can be counted with. */
const plainColumns: ReadonlyArray<Column<Row>> = [
  'queue',
  'budget',
  'position',
  'workload',
  'class',
  'needDevices',
  'needMilli',
  'needMemoryMib',
  'submittedAt',
  'waitedMs',
  'code',
  'projectedStartAt',
].map((name) => ({ name, value: (row) => row[name] ?? null }))

const needsText = ({ needDevices, needMilli, needMemoryMib }: QueueRow): string =>
  needText({ devices: needDevices, milli: needMilli / Math.max(1, needDevices), memoryMib: needMemoryMib })

const columns: ReadonlyArray<Column<Row>> = [
  { name: 'queue', value: ({ queue }) => queue },
  { name: 'position', value: ({ position }) => position },
  { name: 'workload', value: ({ workload }) => workload, whole: true },
  { name: 'needs', value: needsText, whole: true },
  { name: 'waited', value: ({ waitedMs }) => durationText(waitedMs), whole: true },
  { name: 'reason', value: ({ code }) => code ?? 'PendingEvaluation', whole: true },
]

/** Positions are those at its budget, where it has one. */
const columnsFor = (rows: ReadonlyArray<QueueRow>): ReadonlyArray<Column<Row>> => {
  const [queue, ...others] = columns
  if (rows.every(({ budget }) => budget === null)) return columns
  return [queue!, { name: 'budget', value: ({ budget }) => budget }, ...others]
}

const printPosition = async (session: Session, answer: PositionAnswer) => {
  const { ahead, aheadCount, at, budget, others, position, queue, workload } = answer
  const { format } = session.style
  if (format === 'json' || format === 'yaml') {
    await session.printObject(answer as unknown as JsonObject)
    return exitCodes.done
  }
  if (format === 'table') {
    const place = `${position === 1 ? 'next' : `number ${position}`} at ${budget ?? `queue ${queue}`}`
    await session.say(`${workload} is ${place}${aheadCount === 0 ? '.' : ', behind:'}`)
  }
  if (aheadCount > 0 || format === 'csv')
    await session.printRows<AheadLine>(ahead as unknown as ReadonlyArray<AheadLine>, aheadColumns)
  if (format !== 'table') return exitCodes.done
  if (aheadCount > ahead.length) session.note(`... and ${aheadCount - ahead.length} more: --limit 0 shows all.`)
  for (const { goesFirst, person, waiting } of others)
    session.note(
      `${person} has ${waiting} waiting and is ${goesFirst ? 'served before it' : 'not served before it'} now.`,
    )
  session.note(`As of ${instantText(at)}.`)
  return exitCodes.done
}

type AheadLine = PositionAnswer['ahead'][number] & JsonObject

const aheadColumns: ReadonlyArray<Column<AheadLine>> = [
  { name: 'position', value: ({ position }) => position },
  { name: 'workload', value: ({ workload }) => workload, whole: true },
  { name: 'team', value: ({ team }) => team },
  { name: 'submitter', value: ({ submitter }) => submitter },
  { name: 'class', value: (row) => row.class },
  { name: 'devices', value: ({ needDevices }) => needDevices },
  { name: 'waited', value: ({ waitedMs }) => durationText(waitedMs), whole: true },
  { name: 'reason', value: ({ code }) => code ?? 'PendingEvaluation' },
]
