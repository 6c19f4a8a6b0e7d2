import fc from 'fast-check'
import { expect, it } from 'vitest'
import { admissionCycle, type HeadOutcome } from '../../../domain/kueue/admission-cycle.ts'
import type { CycleContext } from '../../../domain/kueue/nomination.ts'
import { anyWaitingHeads, heldBy } from './waiting-heads.ts'

const runs = { numRuns: 2000 }
const modes = ['safe', 'compatible'] as const

const heldIn = ({ holdings }: CycleContext) => ({
  used: [...holdings.tree.save()],
  held: holdings.tree.nodes.map((_, queue) => [...holdings.of(queue)].map(({ id }) => id).sort()),
})

const inBrief = (outcomes: ReadonlyArray<HeadOutcome>) =>
  outcomes.map(({ head, assignment, victims, reason, parked }) => ({
    id: head.id,
    podSets: assignment.podSets,
    usage: assignment.usage,
    victims: victims.map((victim) => [victim.holder.id, victim.reason]),
    reason,
    parked,
  }))

it.each(modes)('should leave what is held as it was, and decide once about each head, when %s', (loops) => {
  fc.assert(
    fc.property(anyWaitingHeads(loops), ({ context, heads }) => {
      const before = heldIn(context)
      const outcomes = admissionCycle(context, heads)
      expect(heldIn(context)).toEqual(before)
      expect(outcomes.map(({ head }) => head.id).sort()).toEqual(heads.map(({ id }) => id).sort())
    }),
    runs,
  )
})

it.each(modes)('should decide the same in whatever order heads and holders come when %s', (loops) => {
  const shuffled = anyWaitingHeads(loops).chain((waiting) =>
    fc.tuple(
      fc.constant(waiting),
      fc.shuffledSubarray([...waiting.heads], { minLength: waiting.heads.length }),
      fc.array(fc.nat(1000), { minLength: 14, maxLength: 14 }),
    ),
  )
  fc.assert(
    fc.property(shuffled, ([{ context, heads }, others, numbers]) => {
      const first = inBrief(admissionCycle(context, heads))
      const { holdings } = context
      const holders = holdings.tree.nodes.flatMap((_, queue) => [...holdings.of(queue)])
      for (const holder of holders) holdings.remove(holder)
      const ranked = holders.map((holder, i) => [numbers[i]!, holder] as const)
      for (const [, holder] of ranked.sort(([a], [b]) => a - b)) holdings.add(holder)
      expect(inBrief(admissionCycle(context, others))).toEqual(first)
    }),
    runs,
  )
})

/** Quota of which more is used than there is. */
const exceeded = ({ holdings: { tree } }: CycleContext): ReadonlyArray<string> =>
  tree.nodes.flatMap(({ name, kind }, node) =>
    tree.flavorResources.flatMap((_, one) => {
      const beyond = kind === 'queue' && tree.usage(node, one) > 0 && tree.available(node, one) < 0
      return beyond ? [`${name} ${one}`] : []
    }),
  )

it('should admit only what there is room for while those who are evicted are still there, when safe', () => {
  let admitted = 0
  fc.assert(
    fc.property(anyWaitingHeads('safe'), ({ context, heads }) => {
      const before = exceeded(context)
      const holders = admissionCycle(context, heads)
        .filter(({ reason }) => reason === null)
        .map((outcome) => heldBy(outcome, 9))
      admitted += holders.length
      for (const holder of holders) context.holdings.add(holder)
      expect(exceeded(context)).toEqual(before)
    }),
    runs,
  )
  expect(admitted).toBeGreaterThan(runs.numRuns / 10)
})

it.each(modes)(
  'should have room for all that it admits and evicts for, once the victims are gone, when %s',
  (loops) => {
    let evicted = 0
    fc.assert(
      fc.property(anyWaitingHeads(loops), ({ context, heads }) => {
        const outcomes = admissionCycle(context, heads)
        const victims = outcomes.flatMap((outcome) => outcome.victims.map(({ holder }) => holder))
        expect(new Set(victims).size).toBe(victims.length)
        evicted += victims.length
        for (const victim of victims) context.holdings.remove(victim)
        const granted = outcomes.filter(({ reason, victims }) => reason === null || victims.length > 0)
        for (const outcome of granted) context.holdings.add(heldBy(outcome, 9))
        expect(exceeded(context)).toEqual([])
      }),
      runs,
    )
    expect(evicted).toBeGreaterThan(runs.numRuns / 10)
  },
)
