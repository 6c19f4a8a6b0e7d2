import { either as E } from 'fp-ts'
import { CellOwner, type Owning } from '../../services/decide/cell-owner.ts'
import { DeadLetters } from '../../services/ingest/dead-letters.ts'
import { FactIntake } from '../../services/ingest/fact-intake.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import type { Lifeline } from './lifeline.ts'

export interface WayIn {
  readonly owner: CellOwner
  readonly intake: FactIntake
}

/** The owner of a cell and what is told to it, for as long as one process lives. Null: the log did not let it start. */
export const openWayIn = async (
  life: Lifeline,
  log: EventLog,
  owning: Pick<Owning, 'clock' | 'recordTime' | 'snapshots' | 'stream' | 'ticks'>,
): Promise<WayIn | null> => {
  const writer = { source: 'leasehold', actor: 'leasehold' }
  const opened = await CellOwner.open(log, { ...owning, ...writer, faulted: () => undefined })
  if (E.isLeft(opened)) return null
  const owner = opened.right
  life.onEnd(() => owner.close())
  const deadLetters = await DeadLetters.open(log, { source: 'ingest', actor: 'ingest' })
  if (E.isLeft(deadLetters)) return null
  const { clock, stream } = owning
  const orderTime = { now: () => owner.now }
  const request = () => owner.request()
  const intake = new FactIntake({ log, stream, deadLetters: deadLetters.right, clock, orderTime, request })
  return { owner, intake }
}
