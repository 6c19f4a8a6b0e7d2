import { either as E } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import { hashAt, type AuditedLog, type LeafPage } from './audited-log.ts'
import { lineOf } from './stored-event.ts'

const pageEvents = 128

/** The whole log as NDJSON, one line an event without its line feed, in order of position. It ends at a `Left`. */
export async function* exportLines(log: AuditedLog): AsyncGenerator<E.Either<LogUnavailable, string>, void> {
  let next: number | null = 0
  while (next !== null) {
    const page: E.Either<LogUnavailable, LeafPage> = await log.leaves(next, pageEvents)()
    if (E.isLeft(page)) {
      yield page
      return
    }
    const { leaves, hashes } = page.right
    for (const [i, text] of leaves.entries()) yield E.right(lineOf({ text, hash: hashAt(hashes, i) }))
    next = page.right.next
  }
}
