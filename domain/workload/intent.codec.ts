import {
  built,
  decodingDocument,
  flag,
  listOf,
  name,
  needed,
  Objection,
  oneOf,
  optional,
  record,
  scalar,
  wholeNumber,
  version,
  type Decode,
  type Loose,
  type Notes,
  type Reader,
} from '../kernel/document.ts'
import type { Json } from '../kernel/canonical-json.ts'
import { cpu, cpuText, duration, durationText, instant, instantText, memory, memoryText } from '../kernel/quantity.ts'
import { found } from '../kernel/wording.ts'
import { wholeGpu, type CpuMilli, type DurationMs, type GpuMilli, type Mebibytes } from '../kernel/units.ts'
import type { WorkloadIntent } from './intent.ts'
import { nodeLevel, requestDevicesMax, requestModelsMax, type PlacementRequest, type Span } from './request.ts'
import { defaultGracePeriodMs } from './terms.ts'
import { noteContradictions, noteSlices, topologyMembers, topologyOf } from './topology-request.codec.ts'

const apiVersion = 'capacity.leasehold.dev/v1'
const kind = 'WorkloadIntent'

const substitutesMax = 64

/** What a document says for how far its devices may lie apart, and what it means. */
const spans = { node: 'node', 'nvlink-domain': 'domain', network: 'anywhere' } as const satisfies Record<string, Span>
const interconnects = Object.keys(spans) as ReadonlyArray<keyof typeof spans>

const none = 0 as DurationMs

/** Models that are all equally good, sorted: one name, or a list of them. */
const accelerators: Reader<ReadonlyArray<string>> = (() => {
  const models = listOf(name, 1, requestModelsMax, (model) => model)
  return {
    ...models,
    expected: 'the name of an accelerator, or a list of names that are all equally good',
    schema: { anyOf: [name.schema, models.schema] },
    read: (value, notes) => {
      if (Array.isArray(value)) return models.read(value, notes)?.toSorted()
      const model = name.read(value, notes)
      return model === undefined ? undefined : [model]
    },
  }
})()

/** Thousandths of each device; 0 stands for the word `memory`: the part that its memory makes of the device's. */
const share: Reader<GpuMilli> = (() => {
  const thousandths = wholeNumber<GpuMilli>(1, wholeGpu)
  const expected = `${thousandths.expected} (thousandths of a device), or the word memory`
  const schema = { anyOf: [thousandths.schema, { type: 'string', enum: ['memory'] }] }
  const word = scalar(expected, schema, (value) =>
    value === 'memory' ? (0 as GpuMilli) : new Objection(`found ${found(value)}`),
  )
  return { ...word, read: (value, notes) => (typeof value === 'number' ? thousandths : word).read(value, notes) }
})()

const substitute = record(
  {
    accelerator: needed(accelerators),
    count: needed(wholeNumber(1, requestDevicesMax)),
    requiresRecompile: optional(flag, false),
    recompileCost: optional(duration(0), none),
  },
  ({ requiresRecompile, recompileCost }, notes) => {
    if (requiresRecompile === false && recompileCost !== undefined && recompileCost > 0)
      notes.add('costs time, and nothing is recompiled', 'add requiresRecompile: true', 'recompileCost')
  },
)

const spec = record(
  {
    class: optional(name, 'default'),
    queue: optional(name, 'default'),
    budget: optional(name, null),
    modelFamily: optional(name, null),
    preferred: needed(
      record({
        accelerator: optional(accelerators, null),
        count: needed(wholeNumber(0, requestDevicesMax)),
        share: optional(share, null),
        memory: optional(memory(1), null),
      }),
    ),
    resources: optional(
      record({
        cpu: optional(cpu(0), 0 as CpuMilli),
        memory: optional(memory(0), 0 as Mebibytes),
      }),
      { cpu: 0 as CpuMilli, memory: 0 as Mebibytes },
    ),
    substitutable: optional(listOf(substitute, 0, substitutesMax), []),
    topology: optional(
      record(
        {
          gangScheduled: optional(flag, true),
          minInterconnect: optional(oneOf(interconnects), null),
          ...topologyMembers,
        },
        noteContradictions,
      ),
      {
        gangScheduled: true,
        minInterconnect: null,
        preferred: null,
        required: null,
        sliceLevel: null,
        sliceSize: null,
      },
    ),
    elasticity: optional(
      record({
        minReplicas: optional(wholeNumber(1, requestDevicesMax), null),
        maxReplicas: optional(wholeNumber(1, requestDevicesMax), null),
        resizeCost: optional(duration(0), none),
      }),
      null,
    ),
    preemption: optional(
      record({
        tolerated: optional(flag, false),
        gracePeriod: optional(duration(0), defaultGracePeriodMs),
        checkpointInterval: optional(duration(1), null),
        minRuntime: optional(duration(0), none),
      }),
      { tolerated: false, gracePeriod: defaultGracePeriodMs, checkpointInterval: null, minRuntime: none },
    ),
    deadline: optional(instant, null),
    expectedDuration: optional(duration(1), null),
  },
  (got, notes) => {
    devicesOrHost(got, notes)
    placeInOneWay(got, notes)
    sizesInOrder(got, notes)
    times(got, notes)
  },
)
type Spec = typeof spec extends Reader<infer A> ? A : never

/** A workload asks for devices, or says what it needs instead. */
const devicesOrHost = ({ preferred, resources, substitutable }: Loose<Spec>, notes: Notes): void => {
  if (preferred?.count === 0) {
    if (resources?.cpu === 0 && resources.memory === 0)
      notes.add(
        '0 devices and no resources: nothing is asked for',
        'state resources.cpu, or a count',
        'preferred',
        'count',
      )
    for (const member of ['accelerator', 'share', 'memory'] as const) {
      const stated = preferred[member]
      if (stated !== null && stated !== undefined)
        notes.add('describes a device, and count is 0', 'remove it, or give a count', 'preferred', member)
    }
    if (substitutable !== undefined && substitutable.length > 0)
      notes.add('stands in for devices, and count is 0', 'remove it, or give a count', 'substitutable')
  } else if (preferred?.share === 0 && preferred.memory === null)
    notes.add('a share by memory, and no memory stated', 'add memory, such as 10Gi', 'preferred', 'share')
}

/** How far devices may lie apart is said by the interconnect or by levels, not by both. */
const placeInOneWay = ({ preferred, topology }: Loose<Spec>, notes: Notes): void => {
  const { minInterconnect, required, preferred: wished, sliceLevel, sliceSize } = topology ?? {}
  const levels = [required, wished, sliceLevel ?? (typeof sliceSize === 'number' ? nodeLevel : null)]
  const level = levels.find((name) => typeof name === 'string')
  if (level === undefined) return
  if (typeof minInterconnect === 'string')
    notes.add(
      `says how far the devices may lie apart, and so does the level ${level}`,
      'state one of the two',
      'topology',
      'minInterconnect',
    )
  noteSlices({ ...(typeof sliceSize === 'number' && { sliceSize }) }, preferred?.count, notes)
}

const sizesInOrder = ({ preferred, topology, elasticity }: Loose<Spec>, notes: Notes): void => {
  if (topology?.gangScheduled === false)
    notes.add(
      'starting with a part of the devices is not possible yet',
      'leave it out, or write true; state a smaller preferred.count to start sooner',
      'topology',
      'gangScheduled',
    )
  if (elasticity === null || elasticity === undefined) return
  const count = preferred?.count
  const min = elasticity.minReplicas ?? count
  const max = elasticity.maxReplicas ?? count
  if (count !== undefined && min !== undefined && min > count)
    notes.add(`${min} is above preferred.count, ${count}`, `give at most ${count}`, 'elasticity', 'minReplicas')
  if (count !== undefined && max !== undefined && max < count)
    notes.add(`${max} is below preferred.count, ${count}`, `give at least ${count}`, 'elasticity', 'maxReplicas')
  if (count === undefined && min !== undefined && max !== undefined && min > max)
    notes.add(`${min} is above maxReplicas, ${max}`, `give at most ${max}`, 'elasticity', 'minReplicas')
}

const times = ({ preemption, expectedDuration }: Loose<Spec>, notes: Notes): void => {
  if (expectedDuration === null || expectedDuration === undefined) return
  const minRuntime = preemption?.minRuntime
  if (minRuntime !== undefined && minRuntime > expectedDuration)
    notes.add(
      `${durationText(minRuntime)} is longer than the whole run, ${durationText(expectedDuration)}`,
      `give at most ${durationText(expectedDuration)}`,
      'preemption',
      'minRuntime',
    )
}

const document = record({
  apiVersion: optional(version(apiVersion), apiVersion),
  kind: optional(oneOf([kind]), kind),
  metadata: optional(
    record({
      name: optional(name, null),
      team: optional(name, 'default'),
      submitter: optional(name, 'unknown'),
    }),
    { name: null, team: 'default', submitter: 'unknown' },
  ),
  spec: needed(spec),
})
type Document = typeof document extends Reader<infer A> ? A : never

/** Every member that a document may have: `spec.preferred.count`, `spec.substitutable[].count`. */
export const intentFields = document.fields
export const intentSchema = document.schema

const placeOf = ({ minInterconnect, ...stated }: Spec['topology']): Pick<PlacementRequest, 'span' | 'topology'> => {
  const topology = topologyOf(stated)
  return topology === null ? { span: spans[minInterconnect ?? 'node'] } : { span: 'anywhere', topology }
}

const intentOf = ({ metadata, spec }: Document, unnamed: string): WorkloadIntent => {
  const { preferred, resources, elasticity, preemption } = spec
  const { count } = preferred
  return {
    name: metadata.name ?? unnamed,
    team: metadata.team,
    submitter: metadata.submitter,
    class: spec.class,
    queue: spec.queue,
    budget: spec.budget,
    modelFamily: spec.modelFamily,
    request: {
      cpuMilli: resources.cpu,
      devices: count,
      hostMemoryMib: resources.memory,
      memoryMib: preferred.memory ?? (0 as Mebibytes),
      milli: count === 0 ? (0 as GpuMilli) : (preferred.share ?? (wholeGpu as GpuMilli)),
      models: preferred.accelerator,
      ...placeOf(spec.topology),
    },
    substitutable: spec.substitutable.map((each) => ({
      accelerators: each.accelerator,
      count: each.count,
      requiresRecompile: each.requiresRecompile,
      recompileCostMs: each.recompileCost,
    })),
    elasticity:
      elasticity === null
        ? null
        : {
            minReplicas: elasticity.minReplicas ?? count,
            maxReplicas: elasticity.maxReplicas ?? count,
            resizeCostMs: elasticity.resizeCost,
          },
    preemption: {
      tolerated: preemption.tolerated,
      gracePeriodMs: preemption.gracePeriod,
      checkpointIntervalMs: preemption.checkpointInterval,
      minRuntimeMs: preemption.minRuntime,
    },
    deadline: spec.deadline,
    expectedDurationMs: spec.expectedDuration,
  }
}

/** @param unnamed what a workload is called whose document gives no name: that of its file, for example */
export const intentDecoder = (unnamed: string): Decode<WorkloadIntent> =>
  decodingDocument(built(document, (got) => intentOf(got, unnamed)))

export const decodeIntent = intentDecoder('workload')

/** The document that says the same, with every default written out. */
export const encodeIntent = (intent: WorkloadIntent): Json => {
  const { request, elasticity, preemption, deadline } = intent
  return {
    apiVersion,
    kind,
    metadata: { name: intent.name, team: intent.team, submitter: intent.submitter },
    spec: {
      class: intent.class,
      queue: intent.queue,
      ...(intent.budget === null ? {} : { budget: intent.budget }),
      ...(intent.modelFamily === null ? {} : { modelFamily: intent.modelFamily }),
      preferred: {
        ...(request.models === null ? {} : { accelerator: request.models }),
        count: request.devices,
        ...(request.devices === 0 ? {} : { share: request.milli === 0 ? 'memory' : request.milli }),
        ...(request.memoryMib === 0 ? {} : { memory: memoryText(request.memoryMib) }),
      },
      resources: { cpu: cpuText(request.cpuMilli), memory: memoryText(request.hostMemoryMib) },
      substitutable: intent.substitutable.map((each) => ({
        accelerator: each.accelerators,
        count: each.count,
        requiresRecompile: each.requiresRecompile,
        recompileCost: durationText(each.recompileCostMs),
      })),
      topology: {
        gangScheduled: true,
        ...(request.topology ?? { minInterconnect: interconnects.find((word) => spans[word] === request.span)! }),
      },
      ...(elasticity === null
        ? {}
        : {
            elasticity: {
              minReplicas: elasticity.minReplicas,
              maxReplicas: elasticity.maxReplicas,
              resizeCost: durationText(elasticity.resizeCostMs),
            },
          }),
      preemption: {
        tolerated: preemption.tolerated,
        gracePeriod: durationText(preemption.gracePeriodMs),
        ...(preemption.checkpointIntervalMs === null
          ? {}
          : { checkpointInterval: durationText(preemption.checkpointIntervalMs) }),
        minRuntime: durationText(preemption.minRuntimeMs),
      },
      ...(deadline === null ? {} : { deadline: instantText(deadline) }),
      ...(intent.expectedDurationMs === null ? {} : { expectedDuration: durationText(intent.expectedDurationMs) }),
    },
  }
}
