import { closedFault } from '../chain/append-queue.ts'
import type { AuditedLog } from '../chain/audited-log.ts'
import { indexedLog } from '../chain/indexed-log.ts'
import { logIndex } from '../chain/log-index.ts'
import { lineOf, parseLine } from '../chain/stored-event.ts'

/** A log that ends with its process, over lines that may be there already. It keeps the lines as text, so what is read out cannot change what is stored. */
export const memoryEventLog = (lines: string[] = []): AuditedLog => {
  const index = logIndex()
  index.commit(lines.map(parseLine))
  return indexedLog(index, {
    read: (from, count) => lines.slice(from, from + count),
    refresh: () => undefined,
    flush: (batch) => {
      const { outcomes, events } = index.stage(batch)
      for (const event of events) lines.push(lineOf(event))
      index.commit(events)
      return outcomes
    },
    close: () => Promise.resolve(),
    // Nothing in memory fails but a text that a test has damaged.
    toFault: (cause) => ({ ...closedFault, kind: 'damaged', reason: String(cause), mend: 'start again' }),
  })
}
