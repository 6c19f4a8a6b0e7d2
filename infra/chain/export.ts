import { either as E } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import type { AuditedLog } from './audited-log.ts'
import { lineOf } from './stored-event.ts'

const pageEvents = 256

/** The whole log as NDJSON, one line an event without its line feed, in order of position. It ends at a `Left`. */
export async function* exportLines(log: AuditedLog): AsyncGenerator<E.Either<LogUnavailable, string>, void> {
  let next: number | null = 0
  while (next !== null) {
    const page: E.Either<LogUnavailable, { leaves: ReadonlyArray<Parameters<typeof lineOf>[0]>; next: number | null }> =
      await log.leaves(next, pageEvents)()
    if (E.isLeft(page)) {
      yield page
      return
    }
    for (const leaf of page.right.leaves) yield E.right(lineOf(leaf))
    next = page.right.next
  }
}
