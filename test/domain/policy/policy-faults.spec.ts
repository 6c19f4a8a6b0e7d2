import { describe, expect, it } from 'vitest'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { expectReadable, faultsOf, reasonsOf, rightOf } from '../../support/faults.ts'

const reasons = (spec: unknown) => reasonsOf(decodePolicy({ spec }))
const h100 = (devices: unknown) => [{ accelerator: 'h100', devices }]
const tree = [
  { name: 'research', share: 1, children: [{ name: 'ranking', share: 1 }] },
  { name: 'product', share: 2 },
]

describe('quota', () => {
  it.each<readonly [string, unknown, ReadonlyArray<string>]>([
    [
      'a parent that is not there',
      { cohorts: [{ name: 'research', parent: 'companny' }, { name: 'company' }] },
      ['spec.cohorts[0].parent: there is no cohort companny'],
    ],
    [
      'a circle, once',
      {
        cohorts: [
          { name: 'tail', parent: 'b' },
          { name: 'c', parent: 'a' },
          { name: 'b', parent: 'c' },
          { name: 'a', parent: 'b' },
        ],
      },
      ['spec.cohorts[1].parent: goes round in a circle: c > a > b > ...'],
    ],
    [
      'a cohort above itself',
      { cohorts: [{ name: 'a', parent: 'a' }] },
      ['spec.cohorts[0].parent: goes round in a circle: a > a'],
    ],
    ['a cohort twice', { cohorts: [{ name: 'a' }, { name: 'a' }] }, ['spec.cohorts[1]: repeats entry 0: a']],
    [
      'a cohort that no queue can have',
      { cohorts: [{ name: 'a' }], queues: [{ name: 'q', cohort: 'b' }] },
      ['spec.queues[0].cohort: there is no cohort b'],
    ],
    [
      'quota of one accelerator twice',
      { queues: [{ name: 'q', quotas: [...h100({ nominal: 1 }), ...h100({ nominal: 2 })] }] },
      ['spec.queues[0].quotas[1]: repeats entry 0: h100'],
    ],
    [
      'quota that limits nothing',
      { queues: [{ name: 'q', quotas: [{ accelerator: 'h100' }] }] },
      ['spec.queues[0].quotas[0]: limits nothing'],
    ],
    [
      'borrowing and lending where nobody is',
      {
        cohorts: [{ name: 'a', quotas: h100({ nominal: 1, borrowing: 2, lending: 1 }) }],
        queues: [{ name: 'q', quotas: h100({ nominal: 1, borrowing: 0 }) }],
      },
      [
        'spec.cohorts[0].quotas[0].devices.borrowing: a root has nobody to borrow from',
        'spec.cohorts[0].quotas[0].devices.lending: a root has nobody to lend to',
        'spec.queues[0].quotas[0].devices.borrowing: a queue without a cohort has nobody to borrow from',
      ],
    ],
    [
      'lending more than a queue has',
      {
        cohorts: [{ name: 'a' }],
        queues: [{ name: 'q', cohort: 'a', quotas: h100({ nominal: 1.5, lending: 1.501 }) }],
      },
      ['spec.queues[0].quotas[0].devices.lending: lends more than its own nominal'],
    ],
    [
      'lending more than there is below a cohort',
      {
        cohorts: [{ name: 'root' }, { name: 'a', parent: 'root', quotas: h100({ nominal: 2, lending: 7 }) }],
        // Of its 6 it keeps 2.
        queues: [{ name: 'q', cohort: 'a', quotas: h100({ nominal: 6, lending: 4 }) }],
      },
      ['spec.cohorts[1].quotas[0].devices.lending: lends more than it and all below it have'],
    ],
    [
      'a model in two accelerators',
      {
        accelerators: [
          { name: 'fast', models: ['h100', 'b300'] },
          { name: 'b300', models: ['h100'] },
        ],
      },
      [
        'spec.accelerators[0].models[1]: belongs to b300 already',
        'spec.accelerators[1].models[0]: belongs to fast already',
      ],
    ],
    [
      'what only the kueue sharing knows',
      {
        queues: [
          { name: 'q', preemption: { withinQueue: 'lowerPriority' }, fungibility: { whenCanBorrow: 'tryNextFlavor' } },
        ],
      },
      [
        'spec.queues[0].preemption: binds only where spec.sharing is kueue, and it is budgets',
        'spec.queues[0].fungibility: binds only where spec.sharing is kueue, and it is budgets',
      ],
    ],
    [
      'a deadline for quota that nobody could borrow',
      {
        budgets: { tree: [{ name: 'a', share: 1 }] },
        queues: [
          { name: 'p', lendingDeadline: '4h', quotas: h100({ nominal: 1 }) },
          { name: 'q', lendingDeadline: '4h' },
        ],
      },
      [
        'spec.queues[0].lendingDeadline: the queue has no quota that anybody could borrow',
        'spec.queues[1].lendingDeadline: the queue has no quota that anybody could borrow',
      ],
    ],
    [
      'a deadline for what is lent where nobody is evicted by it',
      { queues: [{ name: 'q', lendingDeadline: '4h' }] },
      ['spec.queues[0].lendingDeadline: binds only where a budget tree shares time, and there is none'],
    ],
    [
      'a deadline for what is lent where it comes back at once',
      { sharing: 'kueue', queues: [{ name: 'q', lendingDeadline: '4h' }] },
      ['spec.queues[0].lendingDeadline: binds only where a budget tree shares time, and spec.sharing is kueue'],
    ],
    [
      'what the kueue sharing does not know',
      {
        sharing: 'kueue',
        kueue: { fairSharing: ['lessThanInitialShare'] },
        queues: [
          {
            name: 'q',
            ordering: 'reserve',
            preemption: { borrowWithinCohort: 'lowerPriority', reclaimWithinCohort: 'any' },
          },
        ],
      },
      [
        'spec.queues[0].ordering: is no ordering of the kueue sharing',
        'spec.queues[0].preemption.borrowWithinCohort: is for classical preemption, and spec.kueue.fairSharing is stated',
      ],
    ],
    [
      'usage that orders by nothing, and members of it that are none',
      {
        sharing: 'kueue',
        kueue: {
          usageOrdering: {
            halfLife: '-1d',
            sampling: '10ms',
            weights: { devices: 0 },
            teams: { vision: -1 },
            window: '7d',
          },
        },
      },
      [
        'spec.kueue.usageOrdering.halfLife: "-1d" is not a duration',
        'spec.kueue.usageOrdering.sampling: "10ms" is below 1s',
        'spec.kueue.usageOrdering.weights: weighs nothing, so that all teams have used the same',
        'spec.kueue.usageOrdering.teams.vision: -1 is below 0',
        'spec.kueue.usageOrdering.window: is not known here',
      ],
    ],
    [
      'preemption that contradicts itself',
      { sharing: 'kueue', queues: [{ name: 'q', preemption: { borrowWithinCohort: 'lowerPriority' } }] },
      [
        'spec.queues[0].preemption.borrowWithinCohort: takes from others while borrowing, and may not take back what is its own',
      ],
    ],
    [
      'a bound on borrowing that is not',
      { sharing: 'kueue', queues: [{ name: 'q', preemption: { reclaimWithinCohort: 'any', borrowPriorityMax: 5 } }] },
      ['spec.queues[0].preemption.borrowPriorityMax: bounds what is taken while borrowing, and nothing is'],
    ],
  ])('should refuse %s', (_, spec, expected) => {
    expect(reasons(spec)).toEqual(expected)
    expectReadable(faultsOf(decodePolicy({ spec })))
  })

  it('should refuse a tree that nobody could hold, and be quick about names that nothing has', () => {
    const numbered = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`)
    const wide = numbered(3000).map((accelerator) => ({ accelerator, devices: { nominal: 1 } }))
    const queues = numbered(3000).map((name, i) => ({ name, quotas: wide.slice(i, i + 1) }))
    expect(reasons({ queues })).toEqual([
      'spec.queues: with the cohorts, 3000 have quota of 3000 kinds, which is too much to hold',
    ])
    // Did it look among all cohorts for what each of them meant, it would take minutes, and the test would fail.
    const strange = numbered(9000).map((name) => ({ name, cohort: `of-${name}` }))
    expect(reasons({ cohorts: numbered(9000).map((name) => ({ name })), queues: strange })).toHaveLength(101)
  })

  it('should take what is written the other way round, or is just allowed', () => {
    const policy = rightOf(
      decodePolicy({
        spec: {
          cohorts: [{ name: 'a', parent: 'root', quotas: h100({ nominal: 2, lending: 6 }) }, { name: 'root' }],
          queues: [{ name: 'q', cohort: 'a', quotas: h100({ nominal: 6, lending: 4, borrowing: 'unlimited' }) }],
        },
      }),
    )
    expect(policy.queues[0]?.quotas?.[0]?.devices).toEqual({ borrowing: null, lending: 4000, nominal: 6000 })
  })
})

describe('budgets', () => {
  it.each<readonly [string, unknown, ReadonlyArray<string>]>([
    ['a tree that is missing', { budgets: {} }, ['spec.budgets.tree: is missing']],
    [
      'a level that adds to nothing',
      {
        budgets: {
          tree: [
            {
              name: 'a',
              share: 1,
              children: [
                { name: 'b', share: 0 },
                { name: 'c', share: 0 },
              ],
            },
          ],
        },
      },
      ['spec.budgets.tree[0].children: add up to a share of 0, so that nobody is owed anything'],
    ],
    [
      'programs that add to nothing',
      { budgets: { tree: [{ name: 'a', share: 0 }] } },
      ['spec.budgets.tree: add up to a share of 0, so that nobody is owed anything'],
    ],
    [
      'a name with a slash, and a sibling twice',
      {
        budgets: {
          tree: [
            { name: 'a/b', share: 1 },
            { name: 'c', share: 1 },
            { name: 'c', share: 2 },
          ],
        },
      },
      [
        'spec.budgets.tree[0].name: has a / in it, which parts the names of a path',
        'spec.budgets.tree[2]: repeats entry 1: c',
      ],
    ],
    [
      'persons above projects',
      { budgets: { tree: [{ name: 'a', share: 1, persons: { ann: 2 }, children: [{ name: 'b', share: 1 }] }] } },
      ['spec.budgets.tree[0].persons: are persons of what has projects'],
    ],
    [
      'a sharing by a tree that is missing',
      { sharing: 'drf' },
      ['spec.sharing: serves by the shares of the budget tree, and there is none'],
    ],
    ['a window that is too short', { budgets: { window: '90m', tree } }, ['spec.budgets.window: 1h30m is below 2h']],
    [
      'a window of broken hours',
      { budgets: { window: '150m', tree } },
      ['spec.budgets.window: 2h30m is not made of whole hours'],
    ],
    ['a window that is too long', { budgets: { window: '91d', tree } }, ['spec.budgets.window: 91d is above 90d']],
    [
      'budgets where there is no tree',
      { queues: [{ name: 'q', budget: 'research' }] },
      ['spec.queues[0].budget: names a budget, and there is no budget tree'],
    ],
    [
      'names of nothing, wherever they stand',
      {
        budgets: { tree },
        queues: [
          { name: 'q', budget: 'reserch' },
          { name: 'r', budget: 'research' },
        ],
        reservations: [
          { name: 'r', budget: 'ranking', devices: 1, owner: 'o', justification: 'j', expires: '2027-01-01' },
        ],
        exceptions: [
          {
            name: 'e',
            owner: 'o',
            reason: 'r',
            subject: { kind: 'budget', name: 'research/ranking/ann' },
            allows: { kind: 'not-preempted' },
          },
        ],
        protectedPools: [{ name: 'p', nodes: ['n'], budgets: ['product', 'x'] }],
      },
      [
        'spec.queues[0].budget: there is no budget reserch',
        'spec.queues[1].budget: research has projects, and work belongs to one of them',
        'spec.reservations[0].budget: there is no budget ranking',
        'spec.exceptions[0].subject.name: there is no budget research/ranking/ann',
        'spec.protectedPools[0].budgets[1]: there is no budget x',
      ],
    ],
    [
      'a node in two protected pools',
      {
        budgets: { tree },
        protectedPools: [
          { name: 'p', nodes: ['n'], budgets: ['product'] },
          { name: 'q', nodes: ['n'], budgets: ['product'] },
        ],
      },
      ['spec.protectedPools[1].nodes[0]: is in the protected pool p already'],
    ],
  ])('should refuse %s', (_, spec, expected) => {
    expect(reasons(spec)).toEqual(expected)
    expectReadable(faultsOf(decodePolicy({ spec })))
  })

  it.each(['90m', '150m', '91d', '4000d', 7, 'a week'])(
    'should ask for a window within its own bounds, not %s',
    (window) => {
      const [fault] = faultsOf(decodePolicy({ spec: { budgets: { window, tree } } }))
      expect(fault).toMatchObject({
        path: 'spec.budgets.window',
        mend: 'give whole hours or days from 2h to 90d, such as 7d',
      })
    },
  )
  it('should say of a tree that is too deep where it is', () => {
    const nested = (levels: number): unknown => ({
      name: 'n',
      share: 1,
      ...(levels > 1 && { children: [nested(levels - 1)] }),
    })
    rightOf(decodePolicy({ spec: { budgets: { tree: [nested(8)] } } }))
    expect(reasons({ budgets: { tree: [nested(9)] } })).toEqual([
      `spec.budgets.tree[0]${'.children[0]'.repeat(8)}: lies below 8 levels`,
    ])
  })
})

describe('classes, limits and exceptions', () => {
  it.each<readonly [string, unknown, ReadonlyArray<string>]>([
    [
      'a place kept after the bound',
      { classes: [{ name: 'debug', reserveAfter: '6m' }] },
      ['spec.classes[0].reserveAfter: 6m is after the bound of 5m'],
    ],
    ['a class twice', { classes: [{ name: 'a' }, { name: 'a' }] }, ['spec.classes[1]: repeats entry 0: a']],
    ['null for no limit', { limits: { promotionAfter: null } }, ['spec.limits.promotionAfter: is empty']],
    ['four decimals', { caps: { perPerson: 0.0001 } }, ['spec.caps.perPerson: 0.0001 has more than three decimals']],
    ['devices as a text', { caps: { perPerson: '8' } }, ['spec.caps.perPerson: found the text "8"']],
    [
      'a band that ends before it begins',
      { headroom: { percent: 10, band: { low: 81 } } },
      ['spec.headroom.band: begins at 81 and ends at 80'],
    ],
    [
      'exceptions that are unclear, all at once',
      {
        exceptions: [
          { name: 'a', owner: 'o', reason: 'r', subject: { kind: 'team', name: 't' }, allows: { kind: 'cap' } },
          {
            name: 'a',
            owner: 'o',
            reason: 'r',
            subject: { kind: 'teem', name: 't' },
            allows: { kind: 'not-preempted', devices: 3 },
          },
          {
            name: 'b',
            owner: 'o',
            reason: 'r',
            subject: { kind: 'team', name: 't' },
            allows: { kind: 'cap', devices: -1 },
          },
        ],
      },
      [
        'spec.exceptions[0].allows.devices: is missing',
        'spec.exceptions[1].subject.kind: found the text "teem"',
        'spec.exceptions[1].allows.devices: is only for a cap',
        'spec.exceptions[1]: repeats entry 0: a',
        'spec.exceptions[2].allows.devices: -1 is below 0',
      ],
    ],
  ])('should refuse %s', (_, spec, expected) => {
    expect(reasons(spec)).toEqual(expected)
  })
})

it('should name all faults at once, in parts and between them, each at its own place', () => {
  const spec = {
    cohorts: [5, { name: 'a', parent: 'nobody', fairWeight: -1 }],
    queues: [{ name: 'q', cohort: 'b', budget: 'x', quotas: h100({ nominal: 'many' }) }],
    limits: { hold: 5 },
  }
  expect(reasons(spec)).toEqual([
    'spec.queues[0].quotas[0].devices.nominal: found the text "many"',
    'spec.cohorts[0]: found 5',
    'spec.cohorts[1].fairWeight: -1 is below 0',
    'spec.limits.hold: 5 has no unit',
    'spec.cohorts[1].parent: there is no cohort nobody',
    'spec.queues[0].cohort: there is no cohort b',
    'spec.queues[0].budget: names a budget, and there is no budget tree',
  ])
})
