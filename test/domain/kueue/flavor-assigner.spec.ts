import { describe, expect, it } from 'vitest'
import { wantedBy } from '../../../domain/kueue/assignment.ts'
import { assignFlavors } from '../../../domain/kueue/flavor-assigner.ts'
import type { AssignmentContext } from '../../../domain/kueue/flavor-choice.ts'
import type { Head, PodSetRequest } from '../../../domain/kueue/head.ts'
import { resourceGroups, type QueueRules } from '../../../domain/kueue/queue-rules.ts'
import { QuotaTree } from '../../../domain/quota/quota-tree.ts'
import { evictsAnyone, node } from './contested-quota.ts'
import { headOf } from './waiting-heads.ts'

const quota = (flavor: string, resource: string, nominal: number) => ({
  flavor,
  resource,
  nominal,
  borrowing: null,
  lending: null,
})
const tree = new QuotaTree([
  node('queue', 'q', null, [quota('slow', 'devices', 4), quota('fast', 'devices', 8), quota('slow', 'memory', 64)]),
])
const rules: QueueRules = {
  groups: resourceGroups(tree, [{ resources: ['devices', 'memory'], flavors: ['slow', 'fast'] }]),
  preemption: evictsAnyone,
  fungibility: {
    preference: 'borrowingOverPreemption',
    whenCanBorrow: 'mayStopSearch',
    whenCanPreempt: 'tryNextFlavor',
  },
  ordering: 'bestEffortFifo',
  undeclared: 'ignored',
}
const podSet = (name: string, count: number, devices: number, more: Partial<PodSetRequest> = {}): PodSetRequest => ({
  name,
  count,
  minCount: count,
  requests: [['devices', devices]],
  group: null,
  ...more,
})
const assign = (
  podSets: ReadonlyArray<PodSetRequest>,
  more: Partial<AssignmentContext> = {},
  head: Partial<Head> = {},
) =>
  assignFlavors(
    {
      tree,
      rules,
      fairSharing: null,
      outlook: () => ({ possibility: 'preempt', borrowLevel: 0 }),
      fixed: null,
      ...more,
    },
    headOf('w', tree.node('queue', 'q'), 0, { podSets, ...head }),
    podSets.map(({ count }) => count),
  )
const flavorsOf = ({ podSets }: ReturnType<typeof assign>) =>
  podSets.map(({ flavors }) => flavors.map(({ flavor, amount }) => `${amount} ${flavor}`))

it('should count what earlier pod sets took of a flavor', () => {
  expect(flavorsOf(assign([podSet('a', 3, 1), podSet('b', 2, 1)]))).toEqual([['3 slow'], ['2 fast']])
})

it('should give pod sets of a group one flavor, each its own part of it', () => {
  const podSets = [podSet('a', 3, 1, { group: 'g' }), podSet('b', 2, 1, { group: 'g' })]
  const assignment = assign(podSets)
  expect(flavorsOf(assignment)).toEqual([['3 fast'], ['2 fast']])
  expect(assignment.usage).toEqual([[tree.flavorResource('fast', 'devices'), 5]])
})

it('should not limit what a flavor has no quota for, unless undeclared resources are refused', () => {
  const wanting = [
    podSet('a', 1, 8, {
      requests: [
        ['devices', 8],
        ['memory', 100],
        ['nics', 1],
      ],
    }),
  ]
  const ignoring = assign(wanting)
  expect(ignoring.mode).toBe('fit')
  expect(ignoring.usage).toEqual([[tree.flavorResource('fast', 'devices'), 8]])
  const refusing = assign(wanting, { rules: { ...rules, undeclared: 'refused' } })
  expect(refusing).toMatchObject({ mode: 'noFit', noFitReason: 'ExceedsMaxQuota', usage: [] })
  const known = [
    podSet('a', 1, 4, {
      requests: [
        ['devices', 4],
        ['nics', 1],
      ],
    }),
  ]
  const elsewhere = assign(known, { rules: { ...rules, undeclared: 'refused' } })
  expect(elsewhere).toMatchObject({ mode: 'noFit', noFitReason: 'NoMatchingAccelerator' })
})

it('should keep to the flavors that a head had before', () => {
  const fixed = assign([podSet('a', 6, 1)]).podSets
  expect(flavorsOf(assign([podSet('a', 2, 1)], { fixed }))).toEqual([['2 fast']])
})

it('should say that no flavor will do where the head accepts none', () => {
  const assignment = assign([podSet('a', 1, 1)], {}, { accepts: () => false })
  expect(assignment).toMatchObject({ mode: 'noFit', noFitReason: 'NoMatchingAccelerator' })
})

it('should want only what there is too little of', () => {
  const queue = tree.node('queue', 'q')
  const held = [[tree.flavorResource('slow', 'devices')!, 4]] as const
  tree.add(queue, held)
  const asked = [
    podSet('a', 1, 1, {
      requests: [
        ['devices', 1],
        ['memory', 1],
      ],
    }),
  ]
  const accepts = (_: number, flavor: string) => flavor === 'slow'
  const assignment = assign(asked, {}, { accepts })
  tree.remove(queue, held)
  expect(assignment.mode).toBe('preempt')
  expect(wantedBy(assignment)).toEqual([tree.flavorResource('slow', 'devices')])
  expect(assignment.usage).toHaveLength(2)
})

describe('a search for flavors that ended before the last one', () => {
  const stops = { ...rules, fungibility: { ...rules.fungibility, whenCanPreempt: 'mayStopSearch' } } as const
  const queue = tree.node('queue', 'q')
  const whileHeld = <A>(amount: number, look: () => A): A => {
    const held = [[tree.flavorResource('slow', 'devices')!, amount]] as const
    tree.add(queue, held)
    const outcome = look()
    tree.remove(queue, held)
    return outcome
  }

  it('should say which flavor comes next, and go on from there', () => {
    whileHeld(4, () => {
      const first = assign([podSet('a', 1, 1)], { rules: stops })
      expect([first.mode, flavorsOf(first), first.untried]).toEqual(['preempt', [['1 slow']], [[1]]])
      const second = assign([podSet('a', 1, 1)], { rules: stops }, { untried: first.untried })
      expect([second.mode, flavorsOf(second), second.untried]).toEqual(['fit', [['1 fast']], null])
    })
  })

  it('should leave none untried where it went to the end, whatever it chose', () => {
    whileHeld(4, () => {
      const noCandidates: Partial<AssignmentContext> = {
        outlook: () => ({ possibility: 'noCandidates', borrowLevel: 0 }),
      }
      expect(assign([podSet('a', 1, 1)], { rules: stops, ...noCandidates }).untried).toBeNull()
      expect(assign([podSet('a', 1, 9)], { rules: stops }).untried).toBeNull()
    })
  })

  it('should tell of earlier pod sets where a later one gets nothing, which begins anew', () => {
    const assignment = assign([podSet('a', 1, 1), podSet('b', 1, 9)], { rules: stops })
    expect([assignment.mode, assignment.untried]).toEqual(['noFit', [[1], []]])
  })
})
