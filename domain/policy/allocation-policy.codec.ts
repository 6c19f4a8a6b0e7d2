import { canonicalJson, type Json } from '../kernel/canonical-json.ts'
import {
  built,
  decodingDocument,
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
  type Loose,
  type Notes,
  type Reader,
} from '../kernel/document.ts'
import { cpu, cpuMaxMilli, cpuText, day } from '../kernel/quantity.ts'
import { wholeGpu, type CpuMilli } from '../kernel/units.ts'
import {
  mixKey,
  modes,
  orderings,
  strategies,
  type AllocationPolicy,
  type MixClass,
  type Mode,
  type QueuePolicy,
} from './allocation-policy.ts'

const apiVersion = 'capacity.leasehold.dev/v1'
const kind = 'AllocationPolicy'

const seedMax = 2 ** 32 - 1
const queuesMax = 10_000
const poolsMax = 1000
const mixMax = 1000
/** With the other bounds of a mix this keeps every sum over it exact: 1000 x 10^6 x 1000 x 1000 thousandths. */
const weightMax = 1_000_000
const mixDevicesMax = 1000
const ownerMax = 200
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

const queues = listOf(
  record({ name: needed(name), ordering: optional(oneOf(orderings), 'greedy') }),
  1,
  queuesMax,
  (queue) => queue.name,
)

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
  spec: optional(
    record({
      placement: optional(
        record({
          strategy: optional(oneOf(strategies), defaultPolicy.placement.strategy),
          seed: optional(wholeNumber(0, seedMax), defaultPolicy.placement.seed),
          mix: optional(mix, defaultPolicy.placement.mix),
        }),
        defaultPolicy.placement,
      ),
      queues: optional(queues, defaultPolicy.queues),
      mode: optional(oneOf(modes), defaultPolicy.mode),
      pools: optional(mapOf(record({ mode: needed(oneOf(modes)) }), poolsMax), {}),
    }),
    { ...defaultPolicy, pools: {} },
  ),
})

/** Every member that a document may have: `spec.queues[].name`, `spec.pools.NAME.mode`. */
export const policyFields = document.fields

/** With its members in canonical order, as an event's data has to be. */
export const decodePolicy: Decode<AllocationPolicy> = decodingDocument(
  built(document, ({ metadata, spec: { placement, queues, mode, pools } }) => ({
    impactHypothesis: metadata.impactHypothesis,
    mode,
    name: metadata.name,
    owner: metadata.owner,
    placement: { mix: placement.mix, seed: placement.seed, strategy: placement.strategy },
    poolModes: Object.fromEntries(Object.entries(pools).map(([pool, { mode }]) => [pool, mode])),
    queues,
    reviewDate: metadata.reviewDate,
  })),
)

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
      placement: { strategy, seed, ...(mix === null ? {} : { mix: mix.map(encodeMixEntry) }) },
      queues: policy.queues.map(({ name, ordering }) => ({ name, ordering })),
      mode: policy.mode,
      pools: Object.fromEntries(Object.entries(policy.poolModes).map(([pool, mode]) => [pool, { mode }])),
    },
  }
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
export const canonicalPolicy = (policy: AllocationPolicy): string => {
  const { mix, seed, strategy } = policy.placement
  return canonicalJson({
    ...policy,
    placement: { mix: mix === null ? null : mix.map((entry) => ({ ...entry })), seed, strategy },
    queues: policy.queues.map((queue) => ({ ...queue })),
  })
}

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

const decodedQueues: Reader<ReadonlyArray<QueuePolicy>> = listOf(
  record({ name: needed(name), ordering: needed(oneOf(orderings)) }),
  1,
  queuesMax,
  (queue: Loose<QueuePolicy>) => queue.name,
)

/** A policy as `PolicyActivated` carries it: nothing left out, nothing unknown. */
export const decodedPolicy: Reader<AllocationPolicy> = record({
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
  queues: needed(decodedQueues),
  reviewDate: needed(nullable(day)),
})
