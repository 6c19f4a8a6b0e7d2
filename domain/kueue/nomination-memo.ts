import type { Assignment } from './assignment.ts'
import type { Head } from './head.ts'
import type { Holdings } from './holdings.ts'

interface Known {
  readonly version: number
  readonly assignments: Map<string, Assignment>
}

/** Most that is remembered of one queue; beyond it, remembering begins anew. */
const assignmentsMax = 256

/**
 * What heads of a queue asked for in vain, until something changes in its tree: equal ones would find the same. It may
 * live as long as the holdings and the rules that it was used with.
 */
export class NominationMemo {
  private readonly byQueue = new Map<number, Known>()

  /** @param newer whether a newer head may evict fewer than an older one */
  recall(holdings: Holdings, head: Head, newer: boolean): Assignment | undefined {
    const known = this.byQueue.get(head.queue)
    if (known === undefined || known.version !== holdings.version(head.queue)) return undefined
    return known.assignments.get(keyOf(head, newer))
  }

  remember(holdings: Holdings, head: Head, newer: boolean, assignment: Assignment): void {
    if (head.likeness === undefined) return
    const version = holdings.version(head.queue)
    let known = this.byQueue.get(head.queue)
    if (known?.version !== version || known.assignments.size >= assignmentsMax)
      this.byQueue.set(head.queue, (known = { version, assignments: new Map<string, Assignment>() }))
    known.assignments.set(keyOf(head, newer), assignment)
  }
}

const keyOf = ({ priority, likeness, createdAt }: Head, newer: boolean): string =>
  `${priority} ${newer ? createdAt : ''} ${likeness ?? ''}`
