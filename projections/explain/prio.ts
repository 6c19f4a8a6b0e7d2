import { assert } from '../../domain/kernel/decider.ts'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import { aheadOf, standsInOrder } from '../../domain/planner/ahead.ts'
import type { Books } from '../../domain/planner/books.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { LeafOrder } from '../../domain/planner/leaf-order.ts'
import { LevelOrder } from '../../domain/planner/level-order.ts'
import type { Factors } from '../../domain/planner/serving-order.ts'
import { waitedBy, type Workload } from '../../domain/planner/workload.ts'
import { classesOf, sharingOf } from '../../domain/policy/allocation-policy.ts'
import { quotaLevels, type QuotaOrder, type QuotaSibling } from './prio-quota.ts'

/** One of several siblings that are asked whose turn it is. */
export interface Contender {
  readonly node: string
  /** It is on the workload's path. */
  readonly own: boolean
  /** 1 is next; null: nothing waits there that may start. */
  readonly rank: number | null
  readonly waiting: number
}

interface Sibling extends Contender {
  readonly share: number
}

/** Milli-units, and milli-unit hours over the window. */
export interface ServedSibling extends Sibling {
  readonly entitledMilli: number
  readonly chargedMilliUnitH: number
  readonly owedMilliUnitH: number
  readonly creditMilliUnitH: number
}

export interface DecayedSibling extends Sibling {
  readonly usageMilliUnitH: number
  /** Null: it has used nothing, which goes before any number. */
  readonly levelShare: number | null
}

export interface DominantSibling extends Sibling {
  readonly resource: 'devices' | 'cpu' | 'memory'
  /** Thousandths of devices or of cores, MiB. */
  readonly held: number
  readonly total: number
  /** Held of the total, over its share. */
  readonly weighted: number
}

/** Siblings of one level by what they are compared: the next one first, then those for whom nothing waits, by name. */
export type PrioLevel = {
  /** Path of the parent; empty: the cell. */
  readonly parent: string
} & (
  | { readonly by: 'charged-of-owed' | 'yield-credit'; readonly siblings: ReadonlyArray<ServedSibling> }
  | { readonly by: 'fair-tree'; readonly siblings: ReadonlyArray<DecayedSibling> }
  | { readonly by: 'dominant-share'; readonly siblings: ReadonlyArray<DominantSibling> }
  | { readonly by: QuotaOrder; readonly siblings: ReadonlyArray<QuotaSibling> }
)
export type PrioSibling = PrioLevel['siblings'][number]

/** What decides whose turn it is, from the root down to the workload. */
export interface PrioAnswer {
  readonly at: EpochMs
  readonly workload: string
  /** Null: nobody keeps books of budgets. */
  readonly budget: string | null
  readonly queue: string
  readonly sharing: ReturnType<typeof sharingOf>
  readonly levels: ReadonlyArray<PrioLevel>
  /** Those it stands in one order with: of its person's part of its leaf, or of its queue. */
  readonly leaf: {
    /** `usage`: whose team used less, then as by `class`: the higher as it has aged, then the older; `age`: the older. */
    readonly by: 'usage' | 'class' | 'age'
    /** Of its team, as it is compared; null: it does not count. */
    readonly usage: number | null
    readonly class: string
    /** Of its class; `aged`: how much higher it counts because it has waited. */
    readonly priority: number
    readonly aged: number
    /** It counts one higher each time it has waited so long; null: never. */
    readonly agingMs: DurationMs | null
    readonly submittedAt: EpochMs
    readonly waitedMs: DurationMs
    /** 1 is the first. */
    readonly position: number
    readonly ahead: ReadonlyArray<string>
    readonly aheadCount: number
  }
}

const aheadNamedMax = 10
const hour = 3_600_000n

/**
 * The factors of whose turn it is. The ledger is brought to the cell's time.
 * @returns `runs`, `on hold`: it waits for nobody; `misconfigured`: the policy has no place for it; null: there is no such
 *          workload
 */
export const prioOf = (cell: Cell, id: string): PrioAnswer | 'runs' | 'on hold' | 'misconfigured' | null => {
  const workload = cell.workloads.get(id)
  if (workload === undefined) return null
  if (workload.run !== null) return 'runs'
  if (workload.onHold) return 'on hold'
  const { books, kueue, now, policy } = cell
  if (!standsInOrder(cell, workload)) return 'misconfigured'
  books?.advance(now)
  const order = new LeafOrder(policy === null ? new Map() : classesOf(policy), now)
  const { count, first } = aheadOf(cell, workload, aheadNamedMax)
  return {
    at: now,
    workload: id,
    budget: workload.account === null ? null : books!.ledger.path(workload.account.node),
    queue: workload.queue.name,
    sharing: policy === null ? 'queues' : sharingOf(policy),
    levels: books !== null ? levelsOf(books, workload) : kueue !== null ? quotaLevels(cell, kueue, workload) : [],
    leaf: {
      by: kueue?.usage != null ? 'usage' : books === null && kueue === null ? 'age' : 'class',
      usage: kueue?.usage?.subQueueOf(workload).usage ?? null,
      class: workload.class,
      priority: order.priority(workload) - order.aged(workload),
      aged: order.aged(workload),
      agingMs: policy?.classes?.find(({ name }) => name === workload.class)?.agingMs ?? null,
      submittedAt: workload.submittedAt,
      waitedMs: waitedBy(workload, now),
      position: count + 1,
      ahead: first.map((one) => one.id),
      aheadCount: count,
    },
  }
}

const levelsOf = (books: Books, { account }: Workload): ReadonlyArray<PrioLevel> => {
  const order = new LevelOrder(books)
  const path = [...books.upwards(account!.node)].reverse()
  return path.slice(0, -1).map((parent, i) => levelOf(books, order, parent, path[i + 1]!))
}

const levelOf = (books: Books, order: LevelOrder, parent: number, own: number): PrioLevel => {
  const { ledger } = books
  const ranked = order.ranked(parent)
  const idle = ledger.children(parent).filter((child) => order.waiting(child) === 0)
  const all = [...ranked, ...idle].map((child, i) => ({ child, rank: i < ranked.length ? i + 1 : null }))
  const commonOf = ({ child, rank }: (typeof all)[number]): Sibling => ({
    node: ledger.path(child),
    own: child === own,
    rank,
    waiting: order.waiting(child),
    share: ledger.read(child).share,
  })
  const siblings = <F>(factorsOf: (child: number) => F) =>
    all.map((one) => ({ ...commonOf(one), ...factorsOf(one.child) }))
  const at = ledger.path(parent)
  const factors = (child: number) => books.order.factorsOf(child)
  switch (factors(own)?.by) {
    case 'fair-tree':
      return { parent: at, by: 'fair-tree', siblings: siblings((child) => decayed(factors(child))) }
    case 'dominant-share':
      return { parent: at, by: 'dominant-share', siblings: siblings((child) => dominant(factors(child))) }
    case undefined: {
      const by = order.isUnallocated(parent) ? 'yield-credit' : 'charged-of-owed'
      return { parent: at, by, siblings: siblings((child) => served(ledger.read(child))) }
    }
  }
}

const decayed = (factors: Factors | null) => {
  assert(factors?.by === 'fair-tree', 'siblings are compared by the same')
  const { levelShare, usageMilliUnitH } = factors
  return { usageMilliUnitH, levelShare: levelShare === Infinity ? null : levelShare }
}

const dominant = (factors: Factors | null) => {
  assert(factors?.by === 'dominant-share', 'siblings are compared by the same')
  const { held, resource, total, weighted } = factors
  return { resource, held, total, weighted }
}

const served = ({ charged, credit, entitled, owed }: ReturnType<Books['ledger']['read']>) => ({
  entitledMilli: entitled,
  chargedMilliUnitH: Number(charged / hour),
  owedMilliUnitH: Number(owed / hour),
  creditMilliUnitH: Number(credit / hour),
})
