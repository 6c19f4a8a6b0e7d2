import { canonicalJson, type Json } from '../kernel/canonical-json.ts'
import {
  built,
  decodingDocument,
  flag,
  listOf,
  mapOf,
  name,
  needed,
  nullable,
  oneOf,
  optional,
  prose,
  record,
  wholeNumber,
  version,
  type Decode,
  type Notes,
  type Reader,
} from '../kernel/document.ts'
import { cpu, cpuMaxMilli, cpuText, day, duration, durationMax, durationText } from '../kernel/quantity.ts'
import { wholeGpu, type CpuMilli, type DurationMs } from '../kernel/units.ts'
import {
  defaultCommands,
  defaultTopologyLevels,
  mixKey,
  modes,
  sharings,
  strategies,
  type AllocationPolicy,
  type CommandPolicy,
  type MixClass,
  type Mode,
} from './allocation-policy.ts'
import { budgets, classes, ownerMax } from './budget-policy.codec.ts'
import { caps, contract, exceptions, headroom, limits, protectedPools, reservations } from './contract-policy.codec.ts'
import { defaultCaps, defaultContract, defaultLimits } from './contract-policy.ts'
import {
  documentMembers,
  eventMembers,
  fromDocument,
  fromEvent,
  orAbsent,
  plain,
  writtenMembers,
  type FormMembers,
} from './form.ts'
import { noteFaultsBetween, noteTreeFaults } from './policy-rules.ts'
import { accelerators, cohorts, fairTree, kueue, queues, topology } from './quota-policy.codec.ts'
import { defaultFairTree, defaultKueue } from './quota-policy.ts'

const apiVersion = 'capacity.leasehold.dev/v1'
const kind = 'AllocationPolicy'

const seedMax = 2 ** 32 - 1
const startsMaxMax = 100
/** Pools, and everything: what a document says of its own. */
const everywhere = 'all'
const poolsMax = 1000
const mixMax = 1000
/** With the other bounds of a mix this keeps every sum over it exact: 1000 x 10^6 x 1000 x 1000 thousandths. */
const weightMax = 1_000_000
const mixDevicesMax = 1000
const hypothesisMax = 2000

export const defaultPolicy: AllocationPolicy = {
  impactHypothesis: null,
  mode: 'automate',
  name: 'default',
  owner: null,
  placement: { mix: null, seed: 0, strategy: 'first-fit' },
  poolModes: {},
  queues: [{ name: 'default', ordering: 'greedy' }],
  reviewDate: null,
}

// ---- The document that people write

const mixEntry = record(
  {
    cpu: optional(cpu(0), 0 as CpuMilli),
    count: needed(wholeNumber(0, mixDevicesMax)),
    share: optional(wholeNumber(1, wholeGpu), null),
    weight: optional(wholeNumber(1, weightMax), 1),
  },
  ({ count, share }, notes) => {
    if (count === 0 && share !== null && share !== undefined)
      notes.add('is a part of a device, and count is 0', 'remove it, or give a count', 'share')
  },
)

const mix = built(listOf(mixEntry, 1, mixMax), (entries, notes) =>
  distinct(
    entries.map(({ cpu, count, share, weight }): MixClass => ({
      cpuMilli: cpu,
      devices: count,
      milli: count === 0 ? 0 : (share ?? wholeGpu),
      weight,
    })),
    notes,
  ),
)

/** The mix with no request in it twice, or undefined after a fault. */
const distinct = (entries: ReadonlyArray<MixClass>, notes: Notes): ReadonlyArray<MixClass> | undefined => {
  const first = new Map<string, number>()
  const faults = notes.count
  entries.forEach((entry, i) => {
    const request = mixKey(entry)
    const earlier = first.get(request)
    if (earlier === undefined) first.set(request, i)
    else notes.add(`asks for the same as entry ${earlier}`, 'keep one of the two and add up their weights', i)
  })
  return notes.count === faults ? entries : undefined
}

const pool = record({ mode: optional(oneOf(modes), null), freeze: optional(flag, false) })

/** What a document may leave out altogether, and then its policy does, too. */
type Parts = Omit<Pick<AllocationPolicy, OptionalKeys<AllocationPolicy>>, 'commands' | 'frozen'>
type OptionalKeys<A> = { [K in keyof A]-?: undefined extends A[K] ? K : never }[keyof A]

/** In the order in which documents show them; queues follow. */
const leading: FormMembers<Pick<Parts, 'sharing' | 'accelerators' | 'topologyLevels' | 'classes'>> = {
  sharing: orAbsent('sharing', plain(oneOf(sharings)), 'budgets'),
  accelerators: orAbsent('accelerators', accelerators),
  topologyLevels: orAbsent('topology', topology, defaultTopologyLevels),
  classes: orAbsent('classes', classes),
}
const following: FormMembers<Omit<Parts, keyof typeof leading>> = {
  cohorts: orAbsent('cohorts', cohorts),
  budgets: orAbsent('budgets', budgets),
  contract: orAbsent('contract', contract, defaultContract),
  limits: orAbsent('limits', limits, defaultLimits),
  caps: orAbsent('caps', caps, defaultCaps),
  protectedPools: orAbsent('protectedPools', protectedPools),
  reservations: orAbsent('reservations', reservations),
  headroom: orAbsent('headroom', headroom),
  exceptions: orAbsent('exceptions', exceptions),
  kueue: orAbsent('kueue', kueue, defaultKueue),
  fairTree: orAbsent('fairTree', fairTree, defaultFairTree),
}
const parts: FormMembers<Parts> = { ...leading, ...following }

const placement = record({
  strategy: optional(oneOf(strategies), defaultPolicy.placement.strategy),
  seed: optional(wholeNumber(0, seedMax), defaultPolicy.placement.seed),
  mix: optional(mix, defaultPolicy.placement.mix),
})
const commands = record({
  startsMax: optional(wholeNumber(1, startsMaxMax), defaultCommands.startsMax),
  startWithin: optional(duration(1), defaultCommands.startWithinMs),
  stopWithin: optional(duration(1), defaultCommands.stopWithinMs),
})
const specMembers = record({
  ...documentMembers(leading),
  queues: optional(queues.document, defaultPolicy.queues),
  ...documentMembers(following),
  placement: optional(placement, defaultPolicy.placement),
  mode: optional(oneOf(modes), defaultPolicy.mode),
  pools: optional(mapOf(pool, poolsMax), {}),
  freeze: optional(flag, false),
  commands: optional(commands, null),
})
type Spec = typeof specMembers extends Reader<infer S> ? S : never

/** With what goes by its policy's names, and nothing wrong between members. */
const spec: Reader<Spec & { readonly parts: Parts }> = {
  ...specMembers,
  read: (value, notes) => {
    const got = specMembers.read(value, notes)
    if (got === undefined) return undefined
    const stated = fromDocument(parts, got)
    noteFaultsBetween({ ...stated, queues: got.queues }, notes)
    return { ...got, parts: stated as Parts }
  },
}

const document = record({
  apiVersion: optional(version(apiVersion), apiVersion),
  kind: optional(oneOf([kind]), kind),
  metadata: optional(
    record({
      name: optional(name, defaultPolicy.name),
      owner: optional(prose(ownerMax), null),
      reviewDate: optional(day, null),
      impactHypothesis: optional(prose(hypothesisMax), null),
    }),
    defaultPolicy,
  ),
  spec: optional(spec, { ...defaultPolicy, pools: {}, freeze: false, commands: null, parts: {} }),
})

/** Every member that a document may have: `spec.queues[].name`, `spec.pools.NAME.mode`. */
export const policyFields = document.fields
export const policySchema = document.schema

/** With its members in canonical order, as an event's data has to be. */
export const decodePolicy: Decode<AllocationPolicy> = decodingDocument(
  built(document, ({ metadata, spec: { placement, queues, mode, pools, freeze, commands, parts } }, notes) => {
    const policy = inCanonicalOrder({
      ...parts,
      ...commandsStated(
        commands && {
          startWithinMs: commands.startWithin,
          startsMax: commands.startsMax,
          stopWithinMs: commands.stopWithin,
        },
      ),
      ...frozenStated(
        freeze ? everywhere : Object.entries(pools).flatMap(([name, { freeze }]) => (freeze ? [name] : [])),
      ),
      impactHypothesis: metadata.impactHypothesis,
      mode,
      name: metadata.name,
      owner: metadata.owner,
      placement: { mix: placement.mix, seed: placement.seed, strategy: placement.strategy },
      poolModes: Object.fromEntries(
        Object.entries(pools).flatMap(([pool, { mode }]) => (mode === null ? [] : [[pool, mode] as const])),
      ),
      queues,
      reviewDate: metadata.reviewDate,
    })
    return noteTreeFaults(policy, notes, ['spec']) ? undefined : policy
  }),
)

const inCanonicalOrder = (policy: AllocationPolicy): AllocationPolicy =>
  Object.fromEntries(
    Object.entries(policy)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  ) as unknown as AllocationPolicy

/** What says no more than the defaults is left out, so that older documents keep their hash. */
const commandsStated = (stated: CommandPolicy | null): Pick<AllocationPolicy, 'commands'> => {
  const { startsMax, startWithinMs, stopWithinMs } = defaultCommands
  return stated === null ||
    (stated.startsMax === startsMax && stated.startWithinMs === startWithinMs && stated.stopWithinMs === stopWithinMs)
    ? {}
    : { commands: stated }
}
const frozenStated = (frozen: 'all' | ReadonlyArray<string>): Pick<AllocationPolicy, 'frozen'> =>
  frozen.length === 0 ? {} : { frozen: frozen === everywhere ? frozen : frozen.toSorted() }

/** The same policy with a pool, or everything, frozen or let go again. What is frozen as a whole is let go as a whole. */
export const withFreeze = (policy: AllocationPolicy, pool: string | null, frozen: boolean): AllocationPolicy => {
  const { frozen: before = [], ...rest } = policy
  if (pool === null) return { ...frozenStated(frozen ? everywhere : []), ...rest }
  if (before === everywhere) return policy
  const others = before.filter((name) => name !== pool)
  return { ...frozenStated(frozen ? [...others, pool] : others), ...rest }
}

/** The document that says the same, with every default written out. */
export const encodePolicy = (policy: AllocationPolicy): Json => {
  const { mix, seed, strategy } = policy.placement
  return {
    apiVersion,
    kind,
    metadata: {
      name: policy.name,
      ...(policy.owner === null ? {} : { owner: policy.owner }),
      ...(policy.reviewDate === null ? {} : { reviewDate: policy.reviewDate }),
      ...(policy.impactHypothesis === null ? {} : { impactHypothesis: policy.impactHypothesis }),
    },
    spec: {
      ...writtenMembers(leading, policy),
      queues: queues.written(policy.queues),
      ...writtenMembers(following, policy),
      placement: { strategy, seed, ...(mix === null ? {} : { mix: mix.map(encodeMixEntry) }) },
      mode: policy.mode,
      pools: encodePools(policy),
      ...(policy.frozen === everywhere && { freeze: true }),
      ...(policy.commands && {
        commands: {
          startsMax: policy.commands.startsMax,
          startWithin: durationText(policy.commands.startWithinMs),
          stopWithin: durationText(policy.commands.stopWithinMs),
        },
      }),
    },
  }
}

const encodePools = ({ frozen = [], poolModes }: AllocationPolicy): { readonly [pool: string]: Json } => {
  const frozenPools = frozen === everywhere ? [] : frozen
  const names = [...new Set([...Object.keys(poolModes), ...frozenPools])].sort()
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        ...(Object.hasOwn(poolModes, name) && { mode: poolModes[name]! }),
        ...(frozenPools.includes(name) && { freeze: true }),
      },
    ]),
  )
}

const encodeMixEntry = ({ cpuMilli, devices, milli, weight }: MixClass): Json => ({
  cpu: cpuText(cpuMilli as CpuMilli),
  count: devices,
  ...(devices === 0 ? {} : { share: milli }),
  weight,
})

/**
 * The text whose SHA-256 is the policy's hash: of what the document means, so that comments, order and defaults that
 * are written out or left out do not make another policy of it.
 */
export const canonicalPolicy = (policy: AllocationPolicy): string => canonicalJson(policy as unknown as Json)

// ---- The decoded form, as events carry it

const decodedMix: Reader<ReadonlyArray<MixClass>> = built(
  listOf(
    record({
      cpuMilli: needed(wholeNumber(0, cpuMaxMilli)),
      devices: needed(wholeNumber(0, mixDevicesMax)),
      milli: needed(wholeNumber(0, wholeGpu)),
      weight: needed(wholeNumber(1, weightMax)),
    }),
    1,
    mixMax,
  ),
  distinct,
)

const everyPool = oneOf([everywhere])
const somePools = listOf(name, 1, poolsMax, (pool) => pool)
const frozenPools: Reader<'all' | ReadonlyArray<string>> = {
  ...somePools,
  expected: `${everywhere}, or ${somePools.expected}`,
  schema: { anyOf: [everyPool.schema, somePools.schema] },
  read: (value, notes) => (typeof value === 'string' ? everyPool.read(value, notes) : somePools.read(value, notes)),
}

const decodedMembers = record({
  ...eventMembers(parts),
  commands: optional(
    record({
      startWithinMs: needed(wholeNumber<DurationMs>(1, durationMax)),
      startsMax: needed(wholeNumber(1, startsMaxMax)),
      stopWithinMs: needed(wholeNumber<DurationMs>(1, durationMax)),
    }),
    null,
  ),
  frozen: optional(frozenPools, null),
  impactHypothesis: needed(nullable(prose(hypothesisMax))),
  mode: needed<Mode>(oneOf(modes)),
  name: needed(name),
  owner: needed(nullable(prose(ownerMax))),
  placement: needed(
    record({
      mix: needed(nullable(decodedMix)),
      seed: needed(wholeNumber(0, seedMax)),
      strategy: needed(oneOf(strategies)),
    }),
  ),
  poolModes: needed(mapOf<Mode>(oneOf(modes), poolsMax)),
  queues: needed(queues.event),
  reviewDate: needed(nullable(day)),
})

/** A policy as `PolicyActivated` carries it: nothing left out, nothing unknown. */
export const decodedPolicy: Reader<AllocationPolicy> = built(decodedMembers, (got, notes) => {
  const { commands, frozen, impactHypothesis, mode, name, owner, placement, poolModes, queues, reviewDate } = got
  const faults = notes.count
  const policy = inCanonicalOrder({
    ...(fromEvent(parts, got) as Parts),
    ...(commands && { commands }),
    ...(frozen && { frozen }),
    ...{ impactHypothesis, mode, name, owner, placement, poolModes, queues, reviewDate },
  })
  noteFaultsBetween(policy, notes)
  return notes.count > faults || noteTreeFaults(policy, notes, []) ? undefined : policy
})
