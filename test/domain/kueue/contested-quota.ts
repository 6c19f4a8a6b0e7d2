import fc from 'fast-check'
import { Holdings, type Holder } from '../../../domain/kueue/holdings.ts'
import type { PreemptionRequest, Preemptor } from '../../../domain/kueue/preemption.ts'
import type { QueuePreemption } from '../../../domain/policy/quota-policy.ts'
import { QuotaTree, type NodeQuota, type QuotaNodeSpec, type Usage } from '../../../domain/quota/quota-tree.ts'

/** A request for quota that others hold, under a policy for each queue. */
export type Contested = Omit<PreemptionRequest, 'loops'>

export const evictsAnyone: QueuePreemption = {
  withinQueue: 'lowerOrNewerEqualPriority',
  reclaimWithinCohort: 'any',
  borrowWithinCohort: 'lowerPriority',
  borrowPriorityMax: null,
}

/** One flavor of one resource, without limits. */
export const devices = (nominal: number): ReadonlyArray<NodeQuota> => [
  { flavor: 'gpu', resource: 'devices', nominal, borrowing: null, lending: null },
]

export const node = (
  kind: QuotaNodeSpec['kind'],
  name: string,
  parent: string | null,
  quotas: ReadonlyArray<NodeQuota>,
  fairWeight = 1,
): QuotaNodeSpec => ({ name, kind, parent, fairWeight, quotas })

/** Of a queue by name, with what is stated of it. */
export const holder = (
  tree: QuotaTree,
  id: string,
  queue: string,
  amount: number,
  more: Partial<Holder> = {},
): Holder => ({
  id,
  queue: tree.node('queue', queue),
  priority: 0,
  createdAt: 0,
  admittedAt: 0,
  usage: [[0, amount]],
  evicting: false,
  ...more,
})

/** What a holder would ask if it held nothing yet; null: it fits as it is. */
export const asPreemptor = (tree: QuotaTree, { id, queue, priority, createdAt, usage }: Holder): Preemptor | null => {
  const wanted = usage.filter(([one, amount]) => amount > tree.available(queue, one)).map(([one]) => one)
  return wanted.length === 0 ? null : { id, queue, priority, createdAt, usage, wanted }
}

const limit = fc.option(fc.nat(4), { freq: 2 })
const quota = (flavor: string, resource: string): fc.Arbitrary<NodeQuota> =>
  fc.record({
    flavor: fc.constant(flavor),
    resource: fc.constant(resource),
    nominal: fc.nat(6),
    borrowing: limit,
    lending: limit,
  })
const quotas = fc.tuple(quota('a', 'devices'), quota('a', 'memory'), quota('b', 'devices'))
const someQuotas = quotas.chain((all) => fc.constantFrom<ReadonlyArray<NodeQuota>>([], all.slice(0, 1), all))
const weight = fc.constantFrom(1, 1, 1, 2, 0.5, 0)

const anyPolicy: fc.Arbitrary<QueuePreemption> = fc.record({
  withinQueue: fc.constantFrom('never', 'lowerPriority', 'lowerOrNewerEqualPriority'),
  reclaimWithinCohort: fc.constantFrom('never', 'lowerPriority', 'any', 'any'),
  borrowWithinCohort: fc.constantFrom('never', 'lowerPriority'),
  borrowPriorityMax: fc.constantFrom(null, null, 0, 1),
})

/** Cohorts c0 (the root) to c3, and queues q0 to q4 below any of them; or queues that stand alone. */
const anyTree: fc.Arbitrary<ReadonlyArray<QuotaNodeSpec>> = fc
  .tuple(
    fc.array(fc.tuple(fc.nat(3), someQuotas, weight), { minLength: 1, maxLength: 4 }),
    fc.array(fc.tuple(fc.nat(3), quotas, weight), { minLength: 2, maxLength: 5 }),
  )
  .map(([cohorts, queues]) => [
    ...cohorts.map(([above, own, fairWeight], i) =>
      node('cohort', `c${i}`, i === 0 ? null : `c${above % i}`, own, fairWeight),
    ),
    ...queues.map(([above, own, fairWeight], i) =>
      node('queue', `q${i}`, `c${above % cohorts.length}`, own, fairWeight),
    ),
  ])

interface Asked {
  readonly queue: number
  readonly priority: number
  readonly createdAt: number
  readonly admittedAt: number
  readonly amounts: readonly [number, number, number]
  readonly evicting: boolean
}

const asked = (amounts: fc.Arbitrary<Asked['amounts']>): fc.Arbitrary<Asked> =>
  fc.record({
    queue: fc.nat(4),
    priority: fc.nat(2),
    createdAt: fc.nat(6),
    admittedAt: fc.nat(4),
    amounts,
    evicting: fc.constantFrom(false, false, false, true),
  })

const sharing = fc.constantFrom<PreemptionRequest['fairSharing']>(
  null,
  null,
  ['lessThanOrEqualToFinalShare'],
  ['lessThanInitialShare'],
  ['lessThanOrEqualToFinalShare', 'lessThanInitialShare'],
  ['lessThanOrEqualToFinalShare', 'lessThanInitialShare'],
)

/** Holdings that were admitted one after the other wherever they fitted, and a request that does not fit. */
const contestOf = (
  specs: fc.Arbitrary<ReadonlyArray<QuotaNodeSpec>>,
  policy: fc.Arbitrary<QueuePreemption>,
  amounts: fc.Arbitrary<Asked['amounts']>,
  heldMax: number,
): fc.Arbitrary<Contested> =>
  fc
    .record({
      specs,
      policies: fc.array(policy, { minLength: 5, maxLength: 5 }),
      held: fc.array(asked(amounts), { minLength: 2, maxLength: heldMax }),
      pending: fc.array(asked(amounts), { minLength: 1, maxLength: 4 }),
      fairSharing: sharing,
    })
    .map(({ specs, policies, held, pending, fairSharing }): Contested | null => {
      const tree = new QuotaTree(specs)
      const holdings = new Holdings(tree)
      const queues = specs.flatMap(({ kind }, number) => (kind === 'queue' ? [number] : []))
      const holderOf = ({ queue, amounts, ...rest }: Asked, id: string): Holder => {
        const usage: Usage = amounts.flatMap((amount, one) => (amount > 0 ? [[one, amount] as const] : []))
        return { id, queue: queues[queue % queues.length]!, usage, ...rest }
      }
      held.forEach((one, i) => {
        const candidate = holderOf(one, `h${i}`)
        if (candidate.usage.length > 0 && asPreemptor(tree, candidate) === null) holdings.add(candidate)
      })
      const preemptors = pending.map((one, i) => asPreemptor(tree, holderOf(one, `p${i}`)))
      const preemptor = preemptors.find((one) => one !== null)
      if (preemptor === undefined) return null
      return { holdings, preemptor, preemptionOf: (queue) => policies[queues.indexOf(queue)]!, fairSharing }
    })
    .filter((contested) => contested !== null)

export const anyContest = contestOf(
  anyTree,
  anyPolicy,
  fc.tuple(fc.nat(5), fc.constantFrom(0, 0, 1, 3), fc.constantFrom(0, 0, 2)),
  14,
)

/** One resource, one cohort that borrows a lot, policies that give everybody away: here searches go round in circles. */
export const tightContest = contestOf(
  fc
    .tuple(fc.nat(8), fc.array(fc.tuple(fc.nat(3), weight), { minLength: 2, maxLength: 3 }))
    .map(([shared, queues]) => [
      node('cohort', 'c0', null, devices(shared)),
      ...queues.map(([nominal, fairWeight], i) => node('queue', `q${i}`, 'c0', devices(nominal), fairWeight)),
    ]),
  fc.constant(evictsAnyone),
  fc.tuple(fc.integer({ min: 1, max: 6 }), fc.constant(0), fc.constant(0)),
  6,
)
