import type { Cell } from '../../domain/planner/cell.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { durationText, instantText, needText } from '../../projections/explain/wording.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { foldedCell } from './folded-cell.ts'
import { withLog } from './opened-log.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'
import { numberBetween, refuseFlags } from './trace-options.ts'

const limitDefault = 50

/** Registers `queue`. */
export const registerQueue: Register = (program, context) => {
  program
    .command('queue')
    .description('what waits, in order, and the reason of each')
    .option('--queue <name>', 'only this one')
    .option('--limit <n>', `so many of each queue; 0 for all (default: ${limitDefault})`)
    .option('--at <time>', 'as things stood then (default: now, the end of the log)')
    .action(
      verb(context, async (session, flags: { queue?: string; limit?: string; at?: string }) => {
        const faults: Fault[] = []
        const limit = numberBetween('--limit', flags.limit, 0, 10_000_000, faults) ?? limitDefault
        refuseFlags(faults)
        return withLog(session, async (log) => {
          const { cell } = await foldedCell(session, log, flags.at)
          if (flags.queue !== undefined && !cell.queueNamed.has(flags.queue))
            throw new VerbFailed(exitCodes.failed, `there is no queue ${flags.queue}`)
          const { rows, more } = queueRows(cell, flags.queue, limit === 0 ? Infinity : limit)
          await session.printRows<QueueRow>(rows, session.style.format === 'csv' ? plainColumns : columns)
          if (session.style.format === 'table' && rows.length === 0)
            session.note(`Nothing waits at ${instantText(cell.now)}; ${cell.workloads.size} run.`)
          if (more > 0) session.note(`... and ${more} more: --limit 0 shows all.`)
          return exitCodes.done
        })
      }),
    )
}

type QueueRow = JsonObject & {
  readonly queue: string
  readonly position: number
  readonly workload: string
  readonly needDevices: number
  readonly needMilli: number
  readonly needMemoryMib: number
  readonly submittedAt: number
  readonly waitedMs: number
  readonly code: string | null
  readonly projectedStartAt: number | null
}

const queueRows = (cell: Cell, only: string | undefined, limit: number) => {
  const rows: QueueRow[] = []
  let more = 0
  for (const queue of cell.queueNamed.values()) {
    if (only !== undefined && queue.name !== only) continue
    let position = 0
    for (let workload = queue.head; workload !== null; workload = workload.next) {
      if (++position > limit) {
        more += queue.size - limit
        break
      }
      rows.push({
        queue: queue.name,
        position,
        workload: workload.id,
        class: workload.class,
        needDevices: workload.shape.request.devices,
        needMilli: workload.shape.needMilli,
        needMemoryMib: workload.shape.request.memoryMib,
        submittedAt: workload.submittedAt,
        waitedMs: cell.now - workload.submittedAt,
        code: workload.hold?.code ?? null,
        projectedStartAt: workload.hold?.projectedStartAt ?? null,
      })
    }
  }
  return { rows, more }
}

/** For a spreadsheet: numbers that can be counted with. */
const plainColumns: ReadonlyArray<Column<QueueRow>> = [
  'queue',
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

const columns: ReadonlyArray<Column<QueueRow>> = [
  { name: 'queue', value: ({ queue }) => queue },
  { name: 'position', value: ({ position }) => position },
  { name: 'workload', value: ({ workload }) => workload, whole: true },
  { name: 'needs', value: needsText, whole: true },
  { name: 'waited', value: ({ waitedMs }) => durationText(waitedMs), whole: true },
  { name: 'reason', value: ({ code }) => code ?? 'PendingEvaluation', whole: true },
]
