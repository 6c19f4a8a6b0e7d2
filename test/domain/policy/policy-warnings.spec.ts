import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { warningsOf } from '../../../domain/policy/policy-warnings.ts'
import type { SuppliedNode } from '../../../domain/policy/supply.ts'
import { expectReadable, rightOf } from '../../support/faults.ts'
import { anyWholePolicy } from './arbitrary-policy.ts'

const now = Date.UTC(2026, 11, 1, 12) as EpochMs
const metadata = { name: 'p', owner: 'Ann', reviewDate: '2027-01-01', impactHypothesis: 'Waits fall.' }
const nodes = (count: number, model: string | null, devices = 8): ReadonlyArray<SuppliedNode> =>
  Array.from({ length: count }, (_, i) => ({ devices, model, node: `${model ?? 'n'}-${i}` }))

const warned = (spec: unknown, fleet: ReadonlyArray<SuppliedNode> | null = null, about: unknown = metadata) =>
  warningsOf(rightOf(decodePolicy({ metadata: about, spec })), fleet, now).map(
    ({ path, reason }) => `${path}: ${reason}`,
  )

const h100 = (devices: unknown) => [{ accelerator: 'h100', devices }]
const cohorts = [{ name: 'c' }]
const reclaims = { reclaimWithinCohort: 'any' }
const tree = [
  { name: 'a', share: 40, owner: 'A' },
  { name: 'b', share: 60, owner: 'B' },
]
const led = [
  { name: 'a', budget: 'a' },
  { name: 'b', budget: 'b' },
]
const debug = { name: 'debug', reserve: 1 }
/** Budgets that there is nothing to say of. */
const budgets = { budgets: { tree }, queues: led, classes: [debug] }

it('should say nothing of what surprises nobody', () => {
  expect(warned({})).toEqual([])
  expect(warned(budgets, nodes(2, 'h100'))).toEqual([])
})

it('should ask for an owner, a date and a hypothesis, and for a date that is not past', () => {
  expect(warned({}, null, { name: 'p' })).toEqual([
    'metadata.owner: is missing: nobody answers for this policy',
    'metadata.reviewDate: is missing: nobody looks at it again',
    'metadata.impactHypothesis: is missing: what it changes cannot be held against what it was meant to',
  ])
  expect(warned({}, null, { ...metadata, reviewDate: '2026-11-30' })).toEqual([
    'metadata.reviewDate: 2026-11-30 is past: nobody has looked at it since',
  ])
  expect(warned({}, null, { ...metadata, reviewDate: '2026-12-01' })).toEqual([])
})

describe('quota', () => {
  const two = (first: unknown, second: unknown, more: object = {}) => ({
    cohorts,
    queues: [
      { name: 'q', cohort: 'c', quotas: h100(first) },
      { name: 'r', cohort: 'c', quotas: h100(second) },
    ],
    ...more,
  })
  it('should not promise more than there is, whatever the models are called', () => {
    const spec = two({ nominal: 10 }, { nominal: 7 }, { accelerators: [{ name: 'h100', models: ['H100-SXM'] }] })
    const reason = 'nominals of h100 add up to 17 devices, and the fleet has 16: not all get theirs at once'
    expect(warned(spec, nodes(2, 'H100-SXM'))).toEqual([`spec.queues[1].quotas[0].devices.nominal: ${reason}`])
    expect(warned(spec, nodes(3, 'H100-SXM'))).toEqual([])
    expect(warned(spec, nodes(2, null))).toEqual([
      `spec.queues[1].quotas[0].devices.nominal: ${reason.replace('h100', 'quotas')}`,
    ])
  })
  it('should count what cohorts promise beside their queues', () => {
    const spec = { ...two({ nominal: 8 }, { nominal: 8 }), cohorts: [{ name: 'c', quotas: h100({ nominal: 0.5 }) }] }
    expect(warned(spec, nodes(2, 'h100'))).toEqual([
      'spec.cohorts[0].quotas[0].devices.nominal: nominals of h100 add up to 16.5 devices, and the fleet has 16: not all get theirs at once',
    ])
  })
  it('should be of hardware that is there', () => {
    expect(warned(two({ nominal: 1 }, { nominal: 1 }), nodes(1, 'a100'))).toEqual([
      'spec.queues[0].quotas[0].accelerator: the fleet has no h100',
    ])
  })
  it('should be lent and borrowed', () => {
    expect(warned(two({ nominal: 4, lending: 0 }, { nominal: 4, borrowing: 0 }))).toEqual([
      'spec.queues[0].quotas[0].devices.lending: is 0: what it does not use stays idle while others wait',
      'spec.queues[1].quotas[0].devices.borrowing: is 0: its work waits beyond its nominal, even while all else is idle',
    ])
    expect(warned(two({ nominal: 4 }, { nominal: 4, lending: 0 }))).toEqual([
      'spec.queues[0].quotas[0].devices: can never borrow: nobody in its cohort lends any',
      'spec.queues[1].quotas[0].devices.lending: is 0: what it does not use stays idle while others wait',
    ])
    expect(warned(two({ nominal: 4, borrowing: 5 }, { nominal: 4 }))).toEqual([
      'spec.queues[0].quotas[0].devices.borrowing: is more than others can ever lend: it holds at most 8 devices in all',
    ])
    expect(warned(two({ nominal: 0 }, { nominal: 0 }))).toHaveLength(2)
    const alone = { cohorts, queues: [{ name: 'q', quotas: h100({ nominal: 1 }) }] }
    expect(warned(alone)).toEqual([
      'spec.queues[0]: has quota and no cohort: it neither lends nor borrows, whatever is idle',
    ])
  })
  it('should be taken back where it is lent', () => {
    const spec = two({ nominal: 4 }, { nominal: 4, lending: 0 }, { sharing: 'kueue' })
    expect(warned(spec)).toContain(
      'spec.queues[0]: lends, and takes nothing back: what is lent returns only as the work on it ends',
    )
    const queues = [{ name: 'q', preemption: reclaims }]
    expect(warned({ sharing: 'kueue', queues })).toEqual(['spec.queues[0].preemption: has no cohort to take back from'])
  })
})

describe('sharing', () => {
  it.each<readonly [string, unknown, ReadonlyArray<string>]>([
    [
      'parts of another sharing',
      { ...budgets, kueue: { fairSharing: ['lessThanInitialShare'] }, fairTree: { halfLife: '1d' } },
      [
        'spec.kueue: binds only where spec.sharing is kueue',
        'spec.fairTree: binds only where spec.sharing is fair-tree',
      ],
    ],
    [
      'shares that nobody is given',
      { ...budgets, sharing: 'kueue' },
      ['spec.budgets: decides nothing where spec.sharing is kueue: quota does'],
    ],
    [
      'protection where nobody is evicted',
      { contract: { minRuntimeMax: '1h' } },
      ['spec.contract: promises protection from eviction, and nobody is evicted: there is no budget tree'],
    ],
    [
      'loops',
      { sharing: 'kueue', kueue: { loops: 'compatible' } },
      ['spec.kueue.loops: lets two workloads evict each other again and again, as Kueue does'],
    ],
    [
      'usage that is never counted',
      { sharing: 'kueue', kueue: { usageOrdering: { halfLife: '0s' } } },
      [
        'spec.kueue.usageOrdering.halfLife: is 0: nothing that is used is counted, so that only teams of weight 0 go behind others',
      ],
    ],
    [
      'an ordering that does not bind',
      { ...budgets, queues: [{ ...led[0], ordering: 'fifo' }, led[1]] },
      ['spec.queues[0].ordering: does not bind: who is next comes from budgets, not from the queue'],
    ],
    [
      'a weight that does not bind',
      { cohorts: [{ name: 'c', fairWeight: 2 }], queues: [{ name: 'q', fairWeight: 3 }], sharing: 'kueue' },
      [
        'spec.queues[0].fairWeight: does not bind: no share of quota decides anything here',
        'spec.cohorts[0].fairWeight: does not bind: no share of quota decides anything here',
      ],
    ],
    [
      'a weight of a queue where those of the tree decide',
      { ...budgets, sharing: 'drf', queues: [{ ...led[0], fairWeight: 3 }, led[1]] },
      ['spec.queues[0].fairWeight: does not bind: no share of quota decides anything here'],
    ],
    [
      'a bound that protected gangs outlast',
      { ...budgets, classes: [{ name: 'debug' }, { name: 'evaluation' }, { name: 'probe', bound: '1m', reserve: 1 }] },
      ['spec.classes[0]: debug is promised a start within 5m, and gangs that fill the fleet may be protected for 2h'],
    ],
    [
      'limits that forbid to take anything back',
      { ...budgets, limits: { evictionsPerMinute: 0, preemptionsPerTeamHour: 1 } },
      [
        'spec.limits.evictionsPerMinute: is 0: nobody is ever evicted, so what is lent or owed comes back only as work ends',
      ],
    ],
  ])('should warn of %s', (_, spec, expected) => {
    expect(warned(spec)).toEqual(expected)
  })
  it('should say nothing where they bind', () => {
    const queues = [{ name: 'q', ordering: 'fifo', fairWeight: 3 }]
    expect(warned({ sharing: 'kueue', queues, kueue: { fairSharing: ['lessThanInitialShare'] } })).toEqual([])
    expect(warned({ queues: [{ name: 'q', ordering: 'reserve' }] })).toEqual([])
    expect(warned({ ...budgets, classes: [{ name: 'training' }] })).toEqual([])
    for (const sharing of ['budgets', 'fair-tree', 'drf']) expect(warned({ ...budgets, sharing })).toEqual([])
  })
})

describe('budgets', () => {
  const withTree = (nodes: ReadonlyArray<object>, more: object = {}) => ({
    ...budgets,
    budgets: { tree: nodes },
    ...more,
  })
  it('should have somebody who answers, lately', () => {
    const [a, b] = tree
    expect(
      warned(
        withTree(
          [{ ...a, owner: undefined, reviewDate: '2026-12-01' }, b].map(
            (each) => JSON.parse(JSON.stringify(each)) as object,
          ),
        ),
      ),
    ).toEqual(['spec.budgets.tree[0]: nobody answers for a'])
    expect(warned(withTree([{ ...a, reviewDate: '2026-06-30' }, b!]))).toEqual([
      'spec.budgets.tree[0].reviewDate: 2026-06-30 is past: nobody has looked at it since',
    ])
  })
  it('should be reached by a queue, and queues should reach one', () => {
    const parted = [
      {
        ...tree[0],
        children: [
          { name: 'x', share: 1 },
          { name: 'y', share: 1 },
        ],
      },
      tree[1]!,
    ]
    const queues = [{ name: 'x', budget: 'a/x' }, led[1], { name: 'free' }]
    expect(warned(withTree(parted, { queues }))).toEqual([
      'spec.queues[2]: leads to no budget: what does not name one itself is held as Misconfigured',
      'spec.budgets.tree[0].children[1]: no queue leads to a/y: only work that names it itself gets there',
    ])
    expect(warned(withTree(parted, { queues: [{ name: 'x' }, { name: 'y' }] }))).toEqual([
      'spec.queues: none leads to a budget: what does not name one itself is held as Misconfigured',
    ])
  })
  it('should come to a device, of the slowest that there is', () => {
    const small = [
      {
        name: 'a',
        share: 4,
        owner: 'A',
        children: [
          { name: 'x', share: 1 },
          { name: 'y', share: 1 },
        ],
      },
      { name: 'b', share: 96, owner: 'B' },
    ]
    const queues = [{ name: 'x', budget: 'a/x' }, { name: 'y', budget: 'a/y' }, led[1]]
    const accelerators = [{ name: 'a100' }, { name: 'h100' }]
    const spec = withTree(small, { queues, accelerators, classes: [{ ...debug, reserve: 0, bound: '2h' }] })
    // 4 % of 24 H100 are 0.96 of a device, more than an A100: only its halves are too small once there is one.
    expect(warned(spec, nodes(3, 'h100'))).toEqual([
      'spec.budgets.tree[0].share: comes to 0.96 units, less than any device: it has one now and then, never all the time',
    ])
    expect(warned(spec, [...nodes(1, 'h100', 12), ...nodes(1, 'a100', 1)]).map((each) => each.split(':')[0])).toEqual([
      'spec.budgets.tree[0].children[0].share',
      'spec.budgets.tree[0].children[1].share',
    ])
  })
  it('should be allowed to hold what they are entitled to', () => {
    const capped = (cap: number) => withTree([tree[0]!, { ...tree[1], cap }])
    expect(warned(capped(4.799), nodes(1, 'h100'))).toEqual([
      'spec.budgets.tree[1].cap: is below what its share entitles it to, 4.8 units: it can never have all of it',
    ])
    expect(warned(capped(4.8), nodes(1, 'h100'))).toEqual([])
  })
  it('should be allowed to hold what their queues are guaranteed', () => {
    const parted = (cap: number) => [
      {
        ...tree[0],
        cap,
        children: [
          { name: 'x', share: 1, cap: 4 },
          { name: 'y', share: 1 },
        ],
      },
      tree[1]!,
    ]
    const queues = [
      { name: 'x', budget: 'a/x', quotas: h100({ nominal: 4 }) },
      { name: 'y', budget: 'a/y', quotas: h100({ nominal: 2.5 }) },
      led[1],
    ]
    expect(warned(withTree(parted(6), { queues }))).toEqual([
      'spec.budgets.tree[0].cap: is below what the queues that lead there are guaranteed, 6.5 devices',
    ])
    expect(warned(withTree(parted(6.5), { queues }))).toEqual([])
  })
  it('should be larger than what a class is kept', () => {
    const spec = withTree(tree, { classes: [{ name: 'debug', reserve: 4 }] })
    expect(warned(spec, nodes(1, 'h100'))).toEqual([
      'spec.classes[0].reserve: is larger than the share of a, 3.2 units: debug has more than a program',
    ])
    expect(warned(spec, nodes(2, 'h100'))).toEqual([])
  })
})

describe('contract', () => {
  const reservation = {
    name: 'r',
    budget: 'a',
    devices: 2,
    owner: 'A',
    justification: 'The launch.',
    expires: '2027-06-01',
  }
  const exception = {
    name: 'e',
    owner: 'A',
    reason: 'The demo.',
    subject: { kind: 'team', name: 't' },
    allows: { kind: 'not-preempted' },
    expires: '2027-06-01',
  }
  const excepting = (...members: ReadonlyArray<object>) =>
    members.map((each, i) => ({ ...exception, name: `e${i}`, ...each }))
  it('should warn of dates that are past or near, and of none', () => {
    const expires = (date: string | undefined) => (date === undefined ? {} : { expires: date })
    const dates = ['2026-12-01', '2026-12-15', '2026-12-16']
    const reservations = dates.map((date) => ({ ...reservation, name: date, ...expires(date) }))
    expect(warned({ ...budgets, reservations })).toEqual([
      'spec.reservations[0].expires: 2026-12-01 is past: it binds nothing',
      'spec.reservations[1].expires: is within 14 days: then it is released',
    ])
    const forEver: unknown = JSON.parse(JSON.stringify({ ...exception, expires: undefined }))
    expect(warned({ exceptions: [...excepting(...dates.map(expires)), forEver] })).toEqual([
      'spec.exceptions[0].expires: 2026-12-01 is past: it binds nothing',
      'spec.exceptions[1].expires: is within 14 days: then the rule holds again',
      'spec.exceptions[3]: never expires: what began as an exception becomes the rule',
    ])
  })
  it('should warn of caps that never bind, and of exceptions that lift none', () => {
    const cap = (devices: number, subject: object = exception.subject) => ({
      subject,
      allows: { kind: 'cap', devices },
    })
    const exceptions = excepting(
      cap(8),
      cap(9),
      cap(4, { kind: 'submitter', name: 's' }),
      cap(4, { kind: 'team', name: 'u' }),
    )
    expect(warned({ caps: { perTeam: 8, perPerson: 9, teams: { u: 4 } }, exceptions })).toEqual([
      'spec.caps.perPerson: never binds: a whole team holds at most 8 devices',
      'spec.exceptions[0].allows.devices: is not above the cap, 8 devices',
      'spec.exceptions[2].allows.devices: is not above the cap, 9 devices',
      'spec.exceptions[3].allows.devices: is not above the cap, 4 devices',
    ])
    expect(warned({ exceptions: excepting(cap(8)) })).toEqual([
      'spec.exceptions[0].allows.devices: lifts nothing: t has no cap',
    ])
    expect(warned({ ...budgets, exceptions: excepting(cap(8, { kind: 'budget', name: 'a' })) })).toHaveLength(1)
  })
  it('should warn of room that nobody uses, and of unusual room', () => {
    expect(warned({ headroom: { percent: 15, lent: false } })).toEqual([
      'spec.headroom.lent: is false: 15 % of the fleet stay idle while preemptible work waits',
    ])
    expect(warned({ headroom: { percent: 9 } })).toEqual([
      'spec.headroom.percent: leaves little room for what cannot wait',
    ])
    expect([10, 20].flatMap((percent) => warned({ headroom: { percent } }))).toEqual([])
    expect(warned({ headroom: { percent: 21 } })).toHaveLength(1)
  })
  it('should warn of what is kept from everybody', () => {
    const reservations = [{ ...reservation, devices: 16 }]
    expect(warned({ ...budgets, reservations }, nodes(2, 'h100'))).toEqual([
      'spec.reservations: keep, with the reserves of classes, 17 devices, and the fleet has 16',
    ])
    const capped = { ...budgets, budgets: { tree: [{ ...tree[0], cap: 1 }, tree[1]] } }
    expect(warned({ ...capped, reservations: [reservation] })).toEqual([
      'spec.reservations[0].devices: is more than a may hold, 1 device: the rest stays idle',
    ])
    const pool = (...held: ReadonlyArray<string>) => ({
      ...budgets,
      protectedPools: [{ name: 'p', nodes: held, budgets: ['a'] }],
    })
    expect(warned(pool('h100-0', 'h100-9'), nodes(2, 'h100'))).toEqual([
      'spec.protectedPools[0].nodes[1]: the fleet has no node h100-9',
    ])
    expect(warned(pool('h100-0', 'h100-1'), nodes(2, 'h100'))).toEqual([
      'spec.protectedPools: cover every node: nobody outside can ever take anything back',
    ])
  })
  it('should warn of evictions that nobody practised', () => {
    expect(warned({ ...budgets, contract: { drillRequired: false } })).toEqual([
      'spec.contract.drillRequired: is false: work may be evicted that never showed that it can go on where it was',
    ])
  })
})

it('should answer for every policy, with and without a fleet, and never less with one', () => {
  const fleets = fc.array(
    fc.record({
      devices: fc.nat(8),
      model: fc.constantFrom(null, 'a', 'b', 'a-x'),
      node: fc.constantFrom('a-0', 'b-1', 'n-2'),
    }),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(anyWholePolicy, fleets, (policy, fleet) => {
      const without = warningsOf(policy, null, now)
      const withFleet = warningsOf(policy, fleet, now)
      expect(withFleet).toEqual(expect.arrayContaining([...without]))
      for (const each of withFleet) expectReadable([each])
    }),
    { numRuns: 150 },
  )
})
