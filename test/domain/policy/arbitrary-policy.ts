import fc from 'fast-check'
import {
  defaultTopologyLevels,
  modes,
  strategies,
  type AllocationPolicy,
  type QueuePolicy,
} from '../../../domain/policy/allocation-policy.ts'
import type { BudgetNodePolicy, BudgetPolicy, ClassPolicy } from '../../../domain/policy/budget-policy.ts'
import {
  defaultCaps,
  defaultContract,
  defaultLimits,
  subjectKinds,
  type ExceptionPolicy,
} from '../../../domain/policy/contract-policy.ts'
import {
  borrowPolicies,
  defaultFairTree,
  defaultFungibility,
  defaultKueue,
  defaultPreemption,
  fairSharingStrategies,
  flavorPreferences,
  flavorSearches,
  loopRules,
  reclaimPolicies,
  withinQueuePolicies,
  type AcceleratorQuota,
} from '../../../domain/policy/quota-policy.ts'
import type { DurationMs } from '../../../domain/kernel/units.ts'

const letters = (from: string) => fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom(...Array.from(from)) })
const name = letters('abcdef-.')
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 4 })
const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme-ascii' })
const day = fc.constantFrom('2026-12-31', '2027-02-28', '2030-01-01')
const ms = (min: number) => fc.integer({ min, max: 10_000_000_000 }).map((each) => each as DurationMs)
const milli = fc.integer({ min: 0, max: 1_000_000 })
const priority = fc.integer({ min: -1000, max: 1_000_000 })
const orNull = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: null })
const perName = <A>(arbitrary: fc.Arbitrary<A>) => fc.dictionary(name, arbitrary, { maxKeys: 3, noNullPrototype: true })
const unique = <A extends { readonly name: string }>(item: fc.Arbitrary<A>, minLength = 1) =>
  fc.uniqueArray(item, { minLength, maxLength: 4, selector: (each) => each.name })

const quota = (shares: boolean) =>
  fc
    .record({ nominal: milli, borrowing: orNull(milli), lending: orNull(milli) })
    .map(({ borrowing, lending, nominal }) =>
      shares
        ? { borrowing, lending: lending === null ? null : Math.min(lending, nominal), nominal }
        : { borrowing: null, lending: null, nominal },
    )

const quotas = (shares: boolean): fc.Arbitrary<ReadonlyArray<AcceleratorQuota>> =>
  fc.uniqueArray(
    fc
      .record({ cpu: quota(shares), memory: quota(shares) }, { requiredKeys: [] })
      .chain((others) =>
        fc.record({ accelerator: name, devices: quota(shares) }).map((own) => ({ ...others, ...own })),
      ),
    { minLength: 1, maxLength: 3, selector: (each) => each.accelerator },
  )

const workloadClass: fc.Arbitrary<ClassPolicy> = fc
  .record({ agingMs: orNull(ms(1)), boundMs: ms(1), name, priority, part: fc.nat(100), reserveDevices: fc.nat(64) })
  .map(({ part, ...rest }) => ({ ...rest, reserveAfterMs: Math.floor((rest.boundMs * part) / 100) as DurationMs }))

const node = (levels: number): fc.Arbitrary<BudgetNodePolicy> =>
  fc
    .record({
      capMilli: orNull(milli),
      children: levels === 0 ? fc.constant([]) : unique(node(levels - 1), 0),
      name,
      owner: orNull(text),
      persons: perName(fc.nat(9)),
      reviewDate: orNull(day),
      share: fc.integer({ min: 1, max: 100 }),
    })
    .map((each) => (each.children.length === 0 ? each : { ...each, persons: {} }))

const budgets: fc.Arbitrary<BudgetPolicy> = fc.record({
  charged: fc.subarray(['cpu', 'memory']),
  creditMaxMs: ms(0),
  idleAfterMs: ms(1),
  reclaimAfterMs: ms(0),
  tree: unique(node(2)),
  turnMs: ms(0),
  undrilledMaxMs: ms(0),
  windowHours: fc.integer({ min: 1, max: 2159 }),
})

/** Paths of nodes, and of those with nothing below. */
const pathsOf = (
  nodes: ReadonlyArray<BudgetNodePolicy>,
  above = '',
): { readonly all: string[]; readonly leaves: string[] } => {
  const paths: { all: string[]; leaves: string[] } = { all: [], leaves: [] }
  for (const { children, name } of nodes) {
    const path = above + name
    const below = pathsOf(children, `${path}/`)
    paths.all.push(path, ...below.all)
    paths.leaves.push(...(children.length === 0 ? [path] : below.leaves))
  }
  return paths
}

const cohorts = unique(name.map((each) => ({ name: each }))).chain((each) =>
  fc.tuple(
    ...each.map(({ name }, i) =>
      fc
        .record({
          fairWeightMilli: milli,
          name: fc.constant(name),
          // Above it lies one that comes before it, so nothing goes round in a circle.
          parent: i === 0 ? fc.constant(null) : fc.constantFrom(null, ...each.slice(0, i).map((above) => above.name)),
        })
        .chain((cohort) => fc.oneof(quotas(false), fc.constant([])).map((quotas) => ({ ...cohort, quotas }))),
    ),
  ),
)

const preemption = fc
  .record({
    borrowPriorityMax: orNull(priority),
    borrowWithinCohort: fc.constantFrom(...borrowPolicies),
    reclaimWithinCohort: fc.constantFrom(...reclaimPolicies),
    withinQueue: fc.constantFrom(...withinQueuePolicies),
  })
  .map((each) =>
    each.borrowWithinCohort === 'never' || each.reclaimWithinCohort === 'never'
      ? { ...each, borrowPriorityMax: null, borrowWithinCohort: 'never' as const }
      : each,
  )
const fungibility = fc.record({
  preference: fc.constantFrom(...flavorPreferences),
  whenCanBorrow: fc.constantFrom(...flavorSearches),
  whenCanPreempt: fc.constantFrom(...flavorSearches),
})

type Kueue = NonNullable<AllocationPolicy['kueue']>
const weight = fc.constantFrom(0, 1, 1000, 2500)
const kueue: fc.Arbitrary<Kueue> = fc.record(
  {
    fairSharing: orNull(fc.shuffledSubarray([...fairSharingStrategies], { minLength: 1 })),
    loops: fc.constantFrom(...loopRules),
    usageOrdering: fc.record({
      halfLifeMs: fc.constantFrom(0, 1, 604_800_000).map((ms) => ms as DurationMs),
      samplingMs: fc.constantFrom(1000, 300_000).map((ms) => ms as DurationMs),
      teamWeightsMilli: perName(weight),
      weightsMilli: fc.record({ devices: fc.constantFrom(1, 1000), cpu: weight, memory: weight }),
    }),
  },
  { requiredKeys: ['fairSharing', 'loops'] },
)

const queue = (cohort: string | undefined, budget: string | undefined, kueued: Kueue | null) =>
  fc
    .record(
      {
        fairWeightMilli: milli.filter((each) => each !== 1000),
        quotas: quotas(cohort !== undefined),
        ...(kueued && {
          preemption: preemption.map((each) =>
            kueued.fairSharing === null
              ? each
              : { ...each, borrowPriorityMax: null, borrowWithinCohort: 'never' as const },
          ),
          fungibility,
        }),
      },
      { requiredKeys: [] },
    )
    .chain((rest) =>
      fc
        .record({ name, ordering: fc.constantFrom('fifo', 'greedy', ...(kueued ? [] : ['reserve' as const])) })
        .map((own): QueuePolicy => ({ ...rest, ...own, ...(cohort && { cohort }), ...(budget && { budget }) })),
    )

const exceptions = (paths: ReadonlyArray<string>) =>
  unique(
    fc.record({
      allows: fc.oneof(
        fc.record({ devicesMilli: milli, kind: fc.constant('cap' as const) }),
        fc.constantFrom({ kind: 'not-preempted' } as const, { kind: 'non-preemptible-over-entitlement' } as const),
      ),
      expires: orNull(day),
      name,
      owner: text,
      reason: text,
      subject: fc.constantFrom(...subjectKinds).chain((kind) =>
        (kind === 'budget' ? fc.constantFrom(...paths) : name).map((of): ExceptionPolicy['subject'] => ({
          kind,
          name: of,
        })),
      ),
    }),
  )

const accelerators = names.chain((each) =>
  fc.tuple(
    ...each.map((of) =>
      fc
        .record({
          milliUnits: fc.integer({ min: 1, max: 5000 }),
          models: fc.subarray([of, `${of}-x`], { minLength: 1 }),
        })
        .map((rest) => ({ ...rest, name: of })),
    ),
  ),
)

const protectedPools = (paths: ReadonlyArray<string>) =>
  unique(fc.record({ budgets: fc.subarray([...paths], { minLength: 1 }), name })).map((pools) =>
    pools.map((pool) => ({ ...pool, nodes: [`${pool.name}-0`, `${pool.name}-1`] })),
  )
const reservations = (paths: ReadonlyArray<string>) =>
  unique(
    fc.record({
      budget: fc.constantFrom(...paths),
      devices: fc.integer({ min: 1, max: 64 }),
      expires: day,
      justification: text,
      name,
      owner: text,
    }),
  )

const limit = orNull(fc.integer({ min: 1, max: 100 }))
const parts = {
  accelerators,
  caps: fc.record({ perPersonMilli: orNull(milli), perTeamMilli: orNull(milli), teams: perName(milli) }),
  classes: unique(workloadClass),
  contract: fc.record({
    drillRequired: fc.boolean(),
    drillValidMs: ms(1),
    gracePeriodMaxMs: ms(0),
    minRuntimeMaxMs: ms(0),
    progressRequired: fc.boolean(),
  }),
  fairTree: fc.record({ halfLifeMs: ms(0) }),
  headroom: fc.record({
    band: fc.record({ high: fc.integer({ min: 50, max: 100 }), low: fc.nat(50) }),
    lent: fc.boolean(),
    percent: fc.nat(100),
  }),
  limits: fc.record({
    evictionsPerMinute: limit,
    holdMs: ms(1),
    lossMaxMilliUnitHours: orNull(milli),
    preemptionsPerTeamHour: limit,
    promotionAfter: limit,
    searchMax: fc.integer({ min: 1, max: 1000 }),
  }),
  topologyLevels: names,
}

/** Whole policies that are right, with every part in any of its forms, and nothing that only repeats a default. */
export const anyWholePolicy: fc.Arbitrary<AllocationPolicy> = fc
  .record({
    budgets: fc.option(budgets, { nil: undefined }),
    cohorts: fc.option(cohorts, { nil: undefined }),
    kueue,
    sharing: fc.constantFrom('budgets', 'kueue', 'fair-tree', 'drf'),
    stated: fc.record(parts, { requiredKeys: [] }),
    basic: fc.record({
      impactHypothesis: orNull(text),
      mode: fc.constantFrom(...modes),
      name,
      owner: orNull(text),
      placement: fc.record({ mix: fc.constant(null), seed: fc.nat(), strategy: fc.constantFrom(...strategies) }),
      poolModes: perName(fc.constantFrom(...modes)),
      reviewDate: orNull(day),
    }),
  })
  .chain(({ basic, budgets, cohorts, kueue, sharing: drawn, stated }) => {
    const sharing = budgets === undefined && drawn !== 'kueue' ? 'budgets' : drawn
    const { all, leaves } = pathsOf(budgets?.tree ?? [])
    const some = <A>(values: ReadonlyArray<A> | undefined) => fc.constantFrom(undefined, ...(values ?? []))
    const kueued = sharing === 'kueue' ? kueue : null
    const queues = fc
      .tuple(some(cohorts?.map((each) => each.name)), some(leaves))
      .chain(([cohort, budget]) => queue(cohort, budget, kueued))
      .chain((own) =>
        sharing === 'budgets' && budgets !== undefined && own.cohort !== undefined && (own.quotas ?? []).length > 0
          ? fc.option(ms(0), { nil: undefined }).map((time) => ({
              ...own,
              ...(time !== undefined && { lendingDeadlineMs: time }),
            }))
          : fc.constant(own),
      )
    const named =
      all.length === 0
        ? fc.constant({})
        : fc.record(
            {
              exceptions: exceptions(all),
              protectedPools: protectedPools(all),
              reservations: reservations(all),
            },
            { requiredKeys: [] },
          )
    return fc.record({ named, queues: unique(queues) }).map(({ named, queues }) =>
      withoutDefaults({
        ...basic,
        ...stated,
        ...named,
        ...(budgets && { budgets }),
        ...(cohorts && { cohorts }),
        ...(kueued && { kueue: kueued }),
        ...(sharing !== 'budgets' && { sharing }),
        queues,
      }),
    )
  })

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const withoutDefaults = (policy: AllocationPolicy): AllocationPolicy => {
  const usual: Readonly<Record<string, unknown>> = {
    caps: defaultCaps,
    contract: defaultContract,
    fairTree: defaultFairTree,
    kueue: defaultKueue,
    limits: defaultLimits,
    topologyLevels: defaultTopologyLevels,
  }
  const queues = policy.queues.map(({ fungibility, preemption, ...rest }) => ({
    ...rest,
    ...(fungibility && !same(fungibility, defaultFungibility) && { fungibility }),
    ...(preemption && !same(preemption, defaultPreemption) && { preemption }),
  }))
  const kept = Object.entries(policy).filter(([key, value]) => !Object.hasOwn(usual, key) || !same(value, usual[key]))
  return { ...(Object.fromEntries(kept) as unknown as AllocationPolicy), queues }
}
