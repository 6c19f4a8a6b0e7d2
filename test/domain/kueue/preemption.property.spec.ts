import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareShares, dominantShare, type DominantShare } from '../../../domain/kueue/dominant-share.ts'
import type { Holder } from '../../../domain/kueue/holdings.ts'
import { findVictims, type PreemptionRequest, type Victim } from '../../../domain/kueue/preemption.ts'
import type { QuotaTree } from '../../../domain/quota/quota-tree.ts'
import { anyContest, asPreemptor, tightContest, type Contested } from './contested-quota.ts'

const runs = { numRuns: 4000 }
const modes = ['safe', 'compatible'] as const

const stateOf = ({ holdings }: Contested) => ({
  used: [...holdings.tree.save()],
  held: holdings.tree.nodes.map((_, queue) => [...holdings.of(queue)].map(({ id }) => id)),
})

const fits = ({ holdings, preemptor }: Contested): boolean =>
  preemptor.usage.every(([one, amount]) => amount <= holdings.tree.available(preemptor.queue, one))

/** What holds while the victims are out. */
const without = ({ holdings }: Contested, victims: ReadonlyArray<Victim>, check: () => void): void => {
  for (const { holder } of victims) holdings.remove(holder)
  check()
  for (const { holder } of victims) holdings.add(holder)
}

/** Whether the request may take just these: others' quota may be out of reach while it borrows. */
const mayTakeOnly = ({ holdings, preemptor, fairSharing }: Contested, victims: ReadonlyArray<Victim>): boolean =>
  fairSharing !== null ||
  victims.every(({ holder }) => holder.queue === preemptor.queue) ||
  preemptor.usage.every(
    ([one, amount]) =>
      holdings.tree.usage(preemptor.queue, one) + amount <= holdings.tree.nominal(preemptor.queue, one),
  )

it.each(modes)('should leave the holdings exactly as found, when %s', (loops) => {
  fc.assert(
    fc.property(anyContest, (contested) => {
      const before = stateOf(contested)
      findVictims({ ...contested, loops })
      expect(stateOf(contested)).toEqual(before)
    }),
    runs,
  )
})

it.each(modes)('should make room, of those whom the policy gives away, when %s', (loops) => {
  fc.assert(
    fc.property(anyContest, (contested) => {
      const { preemptor, preemptionOf } = contested
      const victims = findVictims({ ...contested, loops })
      const { withinQueue, reclaimWithinCohort } = preemptionOf(preemptor.queue)
      for (const { holder, reason } of victims) {
        const own = holder.queue === preemptor.queue
        expect(own).toBe(reason === 'WithinQueue')
        if (own) expect(withinQueue).not.toBe('never')
        if (!own && reclaimWithinCohort !== 'any') expect(holder.priority).toBeLessThan(preemptor.priority)
        if (reason === 'ReclaimWhileBorrowing') expect(holder.priority).toBeLessThan(preemptor.priority)
      }
      without(contested, victims, () => {
        expect(victims.length === 0 || fits(contested)).toBe(true)
      })
    }),
    runs,
  )
})

it('should take nobody who could be left out, when safe', () => {
  fc.assert(
    fc.property(anyContest, (contested) => {
      const victims = findVictims({ ...contested, loops: 'safe' })
      for (const one of victims) {
        const rest = victims.filter((victim) => victim !== one)
        without(contested, rest, () => {
          expect(fits(contested) && mayTakeOnly(contested, rest)).toBe(false)
        })
      }
    }),
    runs,
  )
})

/** Of the node below the lowest common ancestor of two queues that the first is in. */
const sideShare = (tree: QuotaTree, queue: number, other: number): DominantShare => {
  const common = tree.commonAncestor(queue, other)
  let side = queue
  while (tree.parent[side] !== common) side = tree.parent[side]!
  return dominantShare(tree, side)
}

it('should take by shares only whom the shares give away in the end, when safe', () => {
  fc.assert(
    fc.property(fc.oneof(anyContest, tightContest), (contested) => {
      const { holdings, preemptor } = contested
      const { tree } = holdings
      const { queue, usage } = preemptor
      const victims = findVictims({ ...contested, loops: 'safe' })
      without(contested, victims, () => {
        tree.add(queue, usage)
        for (const { holder, reason } of victims) {
          if (reason !== 'FairShareInCohort') continue
          const [own, after] = [sideShare(tree, queue, holder.queue), sideShare(tree, holder.queue, queue)]
          tree.add(holder.queue, holder.usage)
          const before = sideShare(tree, holder.queue, queue)
          tree.remove(holder.queue, holder.usage)
          expect(compareShares(own, before) < 0 || compareShares(own, after) <= 0).toBe(true)
        }
        tree.remove(queue, usage)
      })
    }),
    { numRuns: 10_000 },
  )
})

/** How many of the victims would evict the preemptor, were it in their place and they asked. */
const turnedRound = (contested: Contested, loops: PreemptionRequest['loops']): number => {
  const { holdings, preemptor } = contested
  const victims = findVictims({ ...contested, loops })
  if (victims.length === 0) return 0
  const newcomer: Holder = { ...preemptor, admittedAt: 100, evicting: false }
  let count = 0
  without(contested, victims, () => {
    holdings.add(newcomer)
    for (const { holder } of victims) {
      const turned = asPreemptor(holdings.tree, holder)
      if (turned === null) continue
      const back = findVictims({ ...contested, loops, preemptor: turned })
      if (back.some((victim) => victim.holder === newcomer)) count++
    }
    holdings.remove(newcomer)
  })
  return count
}

it('should not let a victim evict the preemptor in its turn, when safe', () => {
  fc.assert(
    fc.property(anyContest, (contested) => {
      expect(turnedRound(contested, 'safe')).toBe(0)
    }),
    runs,
  )
})

it('should not go round in a circle, when safe, where it does when compatible', () => {
  let circles = 0
  fc.assert(
    fc.property(tightContest, (contested) => {
      if (turnedRound(contested, 'compatible') > 0) circles++
      expect(turnedRound(contested, 'safe')).toBe(0)
    }),
    { numRuns: 10_000 },
  )
  expect(circles).toBeGreaterThan(0)
})

it('should evict for its own nominal quota whoever borrows it, however safe', () => {
  fc.assert(
    fc.property(anyContest, fc.boolean(), (contested, fair) => {
      const { holdings, preemptor, preemptionOf } = contested
      const request = { ...contested, fairSharing: fair ? (['lessThanInitialShare'] as const) : null }
      const { tree } = holdings
      const entitled = preemptor.usage.every(
        ([one, amount]) => tree.usage(preemptor.queue, one) + amount <= tree.nominal(preemptor.queue, one),
      )
      fc.pre(entitled && preemptionOf(preemptor.queue).reclaimWithinCohort === 'any')
      const found = (loops: PreemptionRequest['loops']) => findVictims({ ...request, loops }).length > 0
      expect(found('safe')).toBe(found('compatible'))
    }),
    { numRuns: 300 },
  )
})
