import { borrowLevel } from '../kueue/borrow-level.ts'
import { compareEntries, compareStanding } from '../kueue/cycle-order.ts'
import type { DominantShare } from '../kueue/dominant-share.ts'
import { FairTournament } from '../kueue/fair-tournament.ts'
import { kueueOf } from '../policy/allocation-policy.ts'
import type { QuotaTree, Usage } from '../quota/quota-tree.ts'
import type { Cell } from './cell.ts'
import type { KueueBooks } from './kueue-books.ts'
import { cycleSettings } from './cycle-settings.ts'
import { KueuePass } from './kueue-pass.ts'
import { sharedQuota } from './serving-sequence.ts'
import type { WaitingQueue } from './waiting-queue.ts'
import type { Workload } from './workload.ts'

/** The first of a queue, and what it is compared by with those of others. */
export interface KueueTurn {
  readonly id: string
  readonly workload: Workload
  /** Number of its queue in the quota tree. */
  readonly queue: number
  /** Of its class: across queues waiting makes nothing higher. */
  readonly priority: number
  readonly queuedAt: number
  readonly isPreemptor: boolean
  /** 0: it need not borrow; else the height of the lowest subtree whose unused quota covers it. */
  readonly borrowLevel: number
  readonly usage: Usage
  /** Whether it could start: as things are, once others have been evicted, or not. */
  readonly fits: 'now' | 'evicting' | 'no'
}

/** A queue or cohort for which somebody stands. */
export interface KueueStanding {
  readonly node: number
  readonly turn: KueueTurn
  /** With what is asked for; null: shares decide nothing there. */
  readonly fair: { readonly borrows: boolean; readonly share: DominantShare } | null
}

/** What is compared: where shares are fair, in each cohort; else all queues with each other. */
export interface KueueLevel {
  /** Number of the cohort; -1: all there is. */
  readonly parent: number
  /** In order; whose first may not start now, behind the others. */
  readonly standings: ReadonlyArray<KueueStanding>
}

/** Whose turn it is where quota is shared, were it decided at this instant, from the root down to a queue. */
export const kueueLevels = (cell: Cell, kueue: KueueBooks, queue: WaitingQueue): ReadonlyArray<KueueLevel> => {
  const turns = turnsOf(cell, kueue)
  const [hopeful, hopeless] = [turns.filter(({ fits }) => fits !== 'no'), turns.filter(({ fits }) => fits === 'no')]
  if (kueueOf(cell.policy).fairSharing === null) {
    hopeful.sort((a, b) => compareEntries(a, b, cycleSettings))
    hopeless.sort((a, b) => compareStanding(a, b, cycleSettings))
    const standings = [...hopeful, ...hopeless].map((turn) => ({ node: turn.queue, turn, fair: null }))
    return [{ parent: -1, standings }]
  }
  const { tree } = kueue.holdings
  const meetings = [hopeful, hopeless].map((some) => new FairTournament(tree, some, cycleSettings))
  return parentsOf(tree, kueue.nodeOf(queue)).map((parent) => {
    const met = new Set<number>()
    const standings = meetings.flatMap((meeting) =>
      meeting.meeting(parent).flatMap(({ node, contestant, ...fair }): ReadonlyArray<KueueStanding> => {
        if (met.has(node)) return []
        met.add(node)
        return [{ node, turn: contestant, fair: parent < 0 ? null : fair }]
      }),
    )
    return { parent, standings }
  })
}

/** Cohorts above it, the root first; before them all roots, where there are several. */
const parentsOf = (tree: QuotaTree, queue: number): ReadonlyArray<number> => {
  const parents: number[] = []
  for (let node = tree.parent[queue]!; node >= 0; node = tree.parent[node]!) parents.unshift(node)
  return tree.parent.filter((parent) => parent < 0).length > 1 ? [-1, ...parents] : parents
}

const turnsOf = (cell: Cell, kueue: KueueBooks): KueueTurn[] => {
  const pass = new KueuePass(cell, cell.now, kueue)
  try {
    return cell.queues.flatMap((queue) => turnOf(cell, kueue, pass, queue) ?? [])
  } finally {
    pass.undo()
  }
}

const turnOf = (cell: Cell, kueue: KueueBooks, pass: KueuePass, queue: WaitingQueue): KueueTurn | null => {
  const front = pass.frontOf(queue)
  // All that waits there makes way until something changes.
  const workload = front ?? firstOf(cell, queue)
  if (workload === null) return null
  const { assignment, head, victims } = pass.look(workload)
  const { tree } = kueue.holdings
  const isHopeless = front === null || assignment.mode === 'noFit'
  const usage = assignment.mode === 'noFit' ? kueue.asks.leastOf(workload) : assignment.usage
  const levelOf = ([one, amount]: Usage[number]) => borrowLevel(tree, head.queue, one, amount).level
  return {
    id: head.id,
    workload,
    queue: head.queue,
    priority: head.priority,
    queuedAt: head.queuedAt,
    isPreemptor: head.isPreemptor,
    borrowLevel: assignment.mode === 'noFit' ? Math.max(0, ...usage.map(levelOf)) : assignment.borrowLevel,
    usage,
    fits: !isHopeless && assignment.mode === 'fit' ? 'now' : !isHopeless && victims.length > 0 ? 'evicting' : 'no',
  }
}

const firstOf = (cell: Cell, queue: WaitingQueue): Workload | null => {
  for (const workload of sharedQuota(cell, queue)) return workload
  return null
}
