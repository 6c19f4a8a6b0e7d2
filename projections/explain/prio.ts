import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Books } from '../../domain/planner/books.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { aheadOf, LeafOrder } from '../../domain/planner/leaf-order.ts'
import { waitedBy, type Workload } from '../../domain/planner/workload.ts'
import { sharingOf } from '../../domain/policy/allocation-policy.ts'

/** One of several siblings that are asked whose turn it is. Milli-units, and milli-unit hours over the window. */
export interface PrioSibling {
  readonly node: string
  /** It is on the workload's path. */
  readonly own: boolean
  /** 1 is next; null: nothing waits there. */
  readonly rank: number | null
  readonly waiting: number
  readonly share: number
  readonly entitledMilli: number
  readonly chargedMilliUnitH: number
  readonly owedMilliUnitH: number
  readonly creditMilliUnitH: number
}

export interface PrioLevel {
  /** Path of the parent; empty: the cell. */
  readonly parent: string
  /** What the siblings are compared by. */
  readonly by: 'charged-of-owed' | 'yield-credit' | 'fair-tree' | 'dominant-share'
  /** The next one first, then those for whom nothing waits, by name. */
  readonly siblings: ReadonlyArray<PrioSibling>
}

/** What decides whose turn it is, from the root down to the workload. */
export interface PrioAnswer {
  readonly at: EpochMs
  readonly workload: string
  readonly budget: string
  readonly sharing: ReturnType<typeof sharingOf>
  readonly levels: ReadonlyArray<PrioLevel>
  readonly leaf: {
    readonly class: string
    /** Of its class; `aged`: how much higher it counts because it has waited. */
    readonly priority: number
    readonly aged: number
    /** It counts one higher each time it has waited so long; null: never. */
    readonly agingMs: DurationMs | null
    readonly submittedAt: EpochMs
    readonly waitedMs: DurationMs
    /** 1 is the first of its person's part of the leaf. */
    readonly position: number
    readonly ahead: ReadonlyArray<string>
    readonly aheadCount: number
  }
}

const aheadNamedMax = 10
const hour = 3_600_000n

/**
 * The factors of whose turn it is. The ledger is brought to the cell's time.
 * @returns `runs`, `on hold`: it waits for nobody; `no books`: nobody keeps them, or they have no place for it; null: there is no such workload
 */
export const prioOf = (cell: Cell, id: string): PrioAnswer | 'runs' | 'on hold' | 'no books' | null => {
  const workload = cell.workloads.get(id)
  if (workload === undefined) return null
  if (workload.run !== null) return 'runs'
  if (workload.onHold) return 'on hold'
  const { books, now, policy } = cell
  if (books === null || policy === null || workload.account === null) return 'no books'
  books.advance(now)
  const order = LeafOrder.of(policy, now)
  const { count, first } = aheadOf(books, order, workload, aheadNamedMax)
  return {
    at: now,
    workload: id,
    budget: books.ledger.path(workload.account.node),
    sharing: sharingOf(policy),
    levels: levelsOf(books, workload, sharingOf(policy)),
    leaf: {
      class: workload.class,
      priority: order.priority(workload) - order.aged(workload),
      aged: order.aged(workload),
      agingMs: policy.classes?.find(({ name }) => name === workload.class)?.agingMs ?? null,
      submittedAt: workload.submittedAt,
      waitedMs: waitedBy(workload, now),
      position: count + 1,
      ahead: first.map((one) => one.id),
      aheadCount: count,
    },
  }
}

const levelsOf = (books: Books, { account }: Workload, sharing: PrioAnswer['sharing']): ReadonlyArray<PrioLevel> => {
  const { ledger, order } = books
  const waiting = new Map<number, number>()
  const oldest = new Map<number, number>()
  for (const [person, lines] of books.lines)
    for (const line of lines)
      for (const node of books.upwards(person)) {
        waiting.set(node, (waiting.get(node) ?? 0) + line.size)
        oldest.set(node, Math.min(oldest.get(node) ?? Infinity, line.first!.seq))
      }
  const path = [...books.upwards(account!.node)].reverse()
  return path.slice(0, -1).map((parent, i) => {
    const children = ledger.children(parent)
    const candidates = children.filter((child) => waiting.has(child))
    const byCredit = order.isUnallocated(parent, candidates)
    const compare = (a: number, b: number): number =>
      (byCredit ? ledger.compareCredit(a, b) : 0) ||
      order.compare(a, b) ||
      oldest.get(a)! - oldest.get(b)! ||
      (ledger.path(a) < ledger.path(b) ? -1 : 1)
    candidates.sort(compare)
    const idle = children.filter((child) => !waiting.has(child))
    return {
      parent: ledger.path(parent),
      by: criterionOf(sharing, byCredit),
      siblings: [...candidates, ...idle].map((child) => {
        const { charged, credit, entitled, owed, share, path: node } = ledger.read(child)
        const rank = candidates.indexOf(child)
        return {
          node,
          own: child === path[i + 1],
          rank: rank < 0 ? null : rank + 1,
          waiting: waiting.get(child) ?? 0,
          share,
          entitledMilli: entitled,
          chargedMilliUnitH: Number(charged / hour),
          owedMilliUnitH: Number(owed / hour),
          creditMilliUnitH: Number(credit / hour),
        }
      }),
    }
  })
}

const criterionOf = (sharing: PrioAnswer['sharing'], byCredit: boolean): PrioLevel['by'] =>
  sharing === 'fair-tree'
    ? 'fair-tree'
    : sharing === 'drf'
      ? 'dominant-share'
      : byCredit
        ? 'yield-credit'
        : 'charged-of-owed'
