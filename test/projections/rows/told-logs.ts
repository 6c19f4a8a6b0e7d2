import { either as E } from 'fp-ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { EventLog, StoredEvent } from '../../../domain/ports/event-log.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { CellWriter } from '../../../services/decide/cell-writer.ts'
import { contraryFacts } from '../../support/contrary-facts.ts'
import { newEvent, right } from '../../support/events.ts'

/** A log of two cells that write by turns, to whom everything happens that can, and of lines that could not be decoded. */
export const contraryLog = async (seed: number): Promise<EventLog> => {
  const log = memoryEventLog()
  const open = (stream: string) =>
    right(() => CellWriter.open(log, { stream, source: 'test', actor: 'test', recordTime: (at: EpochMs) => at }))
  const writers = [await open('cell-a'), await open('cell-b')]
  const facts = [contraryFacts(seed), contraryFacts(seed + 10_000)]
  let letters = 0
  for (let i = 0; i < Math.max(facts[0]!.length, facts[1]!.length); i++)
    for (const [w, writer] of writers.entries()) {
      const fact = facts[w]![i]
      if (fact === undefined) continue
      const { id, ...input } = fact
      if (E.isLeft(writer.take(input, id))) continue
      await right(() => writer.flush())
      if ((i + w) % 17 === 0) {
        await right(log.append('dlq-facts', letters - 1, [newEvent(`letter-${letters}`)]))
        letters++
      }
    }
  return log
}

export const allEvents = async (log: EventLog): Promise<ReadonlyArray<StoredEvent>> => right(log.readAll(0, 1_000_000))
