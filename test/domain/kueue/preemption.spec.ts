import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { borrowLevel } from '../../../domain/kueue/borrow-level.ts'
import { inCandidateOrder } from '../../../domain/kueue/candidate-order.ts'
import { compareStanding } from '../../../domain/kueue/cycle-order.ts'
import { Holdings, type Holder } from '../../../domain/kueue/holdings.ts'
import { findVictims, preemptionOutlook, type PreemptionRequest } from '../../../domain/kueue/preemption.ts'
import { QuotaTree, type QuotaNodeSpec } from '../../../domain/quota/quota-tree.ts'
import { anyContest, devices, evictsAnyone, holder, node } from './contested-quota.ts'

const alone = (nominal: number): ReadonlyArray<QuotaNodeSpec> => [node('queue', 'q', null, devices(nominal))]

const requestOf = (
  specs: ReadonlyArray<QuotaNodeSpec>,
  held: (tree: QuotaTree) => ReadonlyArray<Holder>,
  asks: (tree: QuotaTree) => Holder,
): PreemptionRequest => {
  const holdings = new Holdings(new QuotaTree(specs))
  for (const one of held(holdings.tree)) holdings.add(one)
  const { id, queue, priority, createdAt, usage } = asks(holdings.tree)
  const preemptor = { id, queue, priority, createdAt, usage, wanted: [0] }
  return { holdings, preemptor, preemptionOf: () => evictsAnyone, fairSharing: null, loops: 'safe' }
}

const idsOf = (request: PreemptionRequest): ReadonlyArray<string> => findVictims(request).map((one) => one.holder.id)

describe('of those who were taken', () => {
  const sized = (...amounts: ReadonlyArray<number>) =>
    requestOf(
      alone(amounts.reduce((sum, amount) => sum + amount)),
      (tree) =>
        amounts.map((amount, i) => holder(tree, ['first', 'second', 'third'][i]!, 'q', amount, { priority: i })),
      (tree) => holder(tree, 'incoming', 'q', 5, { priority: 9 }),
    )

  it('should return whoever is not needed, the last taken first', () => {
    expect(idsOf(sized(2, 2, 4))).toEqual(['first', 'third'])
    expect(idsOf(sized(2, 2, 5))).toEqual(['third'])
  })

  it('should keep as many out as it takes to find a place', () => {
    const asked: ReadonlyArray<string>[] = []
    const fits = (out: ReadonlyArray<Holder>) => {
      asked.push(out.map(({ id }) => id))
      return out.some(({ id }) => id === 'second')
    }
    expect(idsOf({ ...sized(5, 2, 5), fits })).toEqual(['first', 'second'])
    expect(idsOf({ ...sized(5, 2, 5), fits: () => false })).toEqual([])
    expect(asked[0]).toEqual(['first'])
  })
})

it('should take whoever is leaving already before all others', () => {
  const request = requestOf(
    alone(2),
    (tree) => [holder(tree, 'low', 'q', 1), holder(tree, 'leaving', 'q', 1, { priority: 5, evicting: true })],
    (tree) => holder(tree, 'incoming', 'q', 1, { priority: 9 }),
  )
  expect(idsOf(request)).toEqual(['leaving'])
})

it('should order by usage over time the same, from wherever it starts, even where that goes round in a circle', () => {
  const tree = new QuotaTree(['q', 'other', 'third'].map((name) => node('queue', name, null, devices(0))))
  const sub = (name: string, usage: number): Partial<Holder> => ({ subQueue: { name, usage } })
  const circle = [
    holder(tree, 'a', 'other', 1, { ...sub('much', 0.9), priority: 9 }),
    holder(tree, 'b', 'other', 1, { ...sub('little', 0.1), priority: 1 }),
    holder(tree, 'c', 'third', 1, { priority: 5 }),
  ]
  const orders = [circle, circle.toReversed(), [circle[1]!, circle[2]!, circle[0]!]].map((start) =>
    inCandidateOrder(start, 0, (one) => one).map(({ id }) => id),
  )
  expect(new Set(orders.map(String)).size).toBe(1)
})

describe('the outlook for one flavor-resource', () => {
  const specs = [
    node('cohort', 'all', null, []),
    node('cohort', 'team', 'all', devices(2)),
    node('queue', 'own', 'team', devices(4)),
    node('queue', 'near', 'team', devices(0)),
    node('queue', 'far', 'all', devices(4)),
  ]
  const outlook = (held: (tree: QuotaTree) => ReadonlyArray<Holder>, amount: number) =>
    preemptionOutlook(
      requestOf(specs, held, (tree) => holder(tree, 'incoming', 'own', 1, { priority: 1 })),
      0,
      amount,
    )

  it('should say that others have to go, and how far it borrows once they are gone', () => {
    expect(outlook((tree) => [holder(tree, 'h', 'near', 10)], 4)).toEqual({ possibility: 'reclaim', borrowLevel: 0 })
    expect(outlook((tree) => [holder(tree, 'h', 'near', 10)], 5)).toEqual({ possibility: 'reclaim', borrowLevel: 1 })
    expect(outlook((tree) => [holder(tree, 'h', 'near', 10)], 7)).toEqual({ possibility: 'reclaim', borrowLevel: 2 })
  })

  it('should say that some of its own have to go', () => {
    expect(outlook((tree) => [holder(tree, 'h', 'own', 10)], 4)).toEqual({ possibility: 'preempt', borrowLevel: 0 })
  })

  it('should say that there is nobody, and how far it would borrow now', () => {
    const important = (tree: QuotaTree) => [holder(tree, 'h', 'own', 5, { priority: 1 }), holder(tree, 'f', 'far', 4)]
    expect(outlook(important, 3)).toEqual({ possibility: 'noCandidates', borrowLevel: 2 })
  })

  it('should tell whether it is met below the root', () => {
    const tree = new QuotaTree(specs)
    const own = tree.node('queue', 'own')
    expect([4, 6, 7, 11].map((amount) => borrowLevel(tree, own, 0, amount))).toEqual([
      { level: 0, belowRoot: true },
      { level: 1, belowRoot: true },
      { level: 2, belowRoot: false },
      { level: 2, belowRoot: false },
    ])
  })
})

it('should never evict by priority who would be ahead in the queue (kueue#2821)', () => {
  fc.assert(
    fc.property(anyContest, fc.constantFrom('safe', 'compatible'), (contested, loops) => {
      const standingOf = ({ id, priority, createdAt }: Pick<Holder, 'id' | 'priority' | 'createdAt'>) => {
        return { id, priority, queuedAt: createdAt }
      }
      for (const { holder: victim, reason } of findVictims({ ...contested, loops })) {
        if (reason !== 'WithinQueue' && reason !== 'ReclaimWhileBorrowing') continue
        const [preemptor, other] = [standingOf(contested.preemptor), standingOf(victim)]
        expect(compareStanding(preemptor, other, { priorityFirst: true })).toBeLessThan(0)
      }
    }),
    { numRuns: 3000 },
  )
})
