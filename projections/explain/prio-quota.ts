import { isInfinite, reportedShare } from '../../domain/kueue/dominant-share.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { KueueBooks } from '../../domain/planner/kueue-books.ts'
import { kueueLevels, type KueueLevel, type KueueStanding } from '../../domain/planner/kueue-turns.ts'
import type { Workload } from '../../domain/planner/workload.ts'
import { kueueOf } from '../../domain/policy/allocation-policy.ts'
import type { QuotaTree } from '../../domain/quota/quota-tree.ts'
import type { Contender, PrioLevel } from './prio.ts'

/**
 * `borrowing`: who need not borrow, then who borrows from the nearest; `quota-share`: who borrows nothing of what it asks for,
 * then the lower share with it; both, and `priority` alone, then by priority and age.
 */
export type QuotaOrder = 'borrowing' | 'quota-share' | 'priority'

/** A queue or a cohort, by the first that waits there; every member of that null: nothing does. */
export interface QuotaSibling extends Contender {
  readonly kind: 'queue' | 'cohort'
  readonly first: string | null
  /** Whether that could start: as things are, once others have been evicted, or not. */
  readonly fits: 'now' | 'evicting' | 'no' | null
  /** It would use more than is its own. */
  readonly borrows: boolean | null
  /** 0: it need not borrow; else how many cohorts up there is enough that is unused; null where shares are compared. */
  readonly borrowLevel: number | null
  /** With what the first asks for, rounded up; null: shares decide nothing, or its weight is 0, which is above any. */
  readonly shareMilli: number | null
  readonly shareResource: string | null
  readonly priority: number | null
  readonly submittedAt: EpochMs | null
}

/** Whose turn it is where quota is shared, from the root down to the workload's queue. */
export const quotaLevels = (cell: Cell, kueue: KueueBooks, { queue }: Workload): ReadonlyArray<PrioLevel> => {
  const { tree } = kueue.holdings
  const own = new Set<number>()
  for (let node = kueue.nodeOf(queue); node >= 0; node = tree.parent[node]!) own.add(node)
  const waiting = waitingIn(cell, kueue, tree)
  const isFair = kueueOf(cell.policy).fairSharing !== null
  return kueueLevels(cell, kueue, queue).map(({ parent, standings }) => ({
    parent: parent < 0 ? '' : tree.nodes[parent]!.name,
    by: !isFair ? 'borrowing' : parent < 0 ? 'priority' : 'quota-share',
    siblings: [
      ...standings.map((standing, i) => ({ ...common(standing.node, i), ...factorsOf(tree, standing) })),
      ...idleIn(tree, isFair, { parent, standings }).map((node) => ({ ...common(node, null), ...nothing })),
    ].map(({ rank, ...sibling }) => ({ ...sibling, rank: sibling.fits === 'no' ? null : rank })),
  }))

  function common(node: number, place: number | null): Contender & Pick<QuotaSibling, 'kind'> {
    const { kind, name } = tree.nodes[node]!
    return { node: name, own: own.has(node), rank: place === null ? null : place + 1, waiting: waiting[node]!, kind }
  }
}

const nothing: Omit<QuotaSibling, keyof Contender | 'kind'> = {
  first: null,
  fits: null,
  borrows: null,
  borrowLevel: null,
  shareMilli: null,
  shareResource: null,
  priority: null,
  submittedAt: null,
}

const factorsOf = (tree: QuotaTree, { fair, turn }: KueueStanding): typeof nothing => ({
  first: turn.id,
  fits: turn.fits,
  borrows: fair === null ? turn.borrowLevel > 0 : fair.borrows,
  borrowLevel: fair === null ? turn.borrowLevel : null,
  shareMilli: fair === null || isInfinite(fair.share) ? null : reportedShare(fair.share),
  shareResource: fair === null ? null : (tree.resources[fair.share.resource] ?? null),
  priority: turn.priority,
  submittedAt: turn.workload.submittedAt,
})

/** Those of the level for whom nothing waits, by name. */
const idleIn = (tree: QuotaTree, isFair: boolean, { parent, standings }: KueueLevel): ReadonlyArray<number> => {
  const standing = new Set(standings.map(({ node }) => node))
  const isOfLevel = (node: number) =>
    isFair || parent >= 0 ? tree.parent[node] === parent : tree.nodes[node]!.kind === 'queue'
  return tree.nodes
    .map((_, node) => node)
    .filter((node) => isOfLevel(node) && !standing.has(node))
    .sort((a, b) => (tree.nodes[a]!.name < tree.nodes[b]!.name ? -1 : 1))
}

/** How many wait at and below each node. */
const waitingIn = ({ queues }: Cell, kueue: KueueBooks, tree: QuotaTree): ReadonlyArray<number> => {
  const waiting = tree.nodes.map(() => 0)
  for (const queue of queues)
    for (let node = kueue.nodeOf(queue); node >= 0; node = tree.parent[node]!) waiting[node]! += queue.size
  return waiting
}
