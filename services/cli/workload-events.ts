import type { CellEvent, WorkloadAdmitted } from '../../domain/planner/cell-event.ts'
import type { EventLog, StoredEvent } from '../../domain/ports/event-log.ts'
import { eventText } from '../../projections/explain/event-text.ts'
import { durationText, instantText } from '../../projections/explain/wording.ts'
import { fromLog, sizeOfCell } from './opened-log.ts'
import type { Session } from './session.ts'

const pageMax = 2_000

/** The session's stream in order, page by page. */
export async function* storedEvents(session: Session, log: EventLog): AsyncGenerator<StoredEvent> {
  const { configuration } = session
  await sizeOfCell(session, log)
  for (let revision = 0; ; revision += pageMax) {
    const page = fromLog(await log.readStream(configuration.cell, revision, pageMax)())
    yield* page
    if (page.length < pageMax) return
  }
}

export const workloadOf = (message: StoredEvent['message']): string | null => {
  const { workload } = message.data
  return typeof workload === 'string' ? workload : null
}

/** What became of a workload that neither waits nor runs, and when its wait can be asked about. */
export const fateOf = async (session: Session, log: EventLog, id: string): Promise<string> => {
  let last: CellEvent | null = null
  let waited = ''
  for await (const { message } of storedEvents(session, log)) {
    if (workloadOf(message) !== id) continue
    last = message as unknown as CellEvent
    if (last.type === 'WorkloadAdmitted') waited = waitText(last)
  }
  if (last === null) return `there is no workload ${id} in the log`
  if (last.type === 'AttemptEnded') return `${id} ended ${instantText(last.at)}; ${waited}`
  if (last.type === 'WorkloadRefused') return `${id} was refused ${instantText(last.at)}: ${eventText(last)}`
  return `${id} did not wait or run at that time; ${waited}`
}

const waitText = ({ at, data }: WorkloadAdmitted): string => {
  const { waitedMs, workload } = data
  if (waitedMs === 0) return `it started at once; \`leasehold log ${workload}\` tells its life`
  const halfWay = Math.floor(at - waitedMs / 2)
  return `it waited ${durationText(waitedMs)}: ask \`leasehold why ${workload} --at ${halfWay}\``
}
