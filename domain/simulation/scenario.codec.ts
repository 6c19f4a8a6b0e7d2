import {
  built,
  decodingDocument,
  flag,
  listOf,
  name,
  needed,
  oneOf,
  optional,
  record,
  version,
  wholeNumber,
  type Decode,
  type Loose,
  type Notes,
  type Reader,
} from '../kernel/document.ts'
import { cpu, duration, memory } from '../kernel/quantity.ts'
import {
  wholeGpu,
  type CpuMilli,
  type DurationMs,
  type EpochMs,
  type GpuMilli,
  type Mebibytes,
} from '../kernel/units.ts'
import type { NodeRegistered } from '../planner/cell-event.ts'
import { requestDevicesMax, requestModelsMax, type Span } from '../workload/request.ts'
import type { TraceJob } from './trace-job.ts'

/** Who comes when, and on which fleet: what a trace says, and that there is none of the machines. */
export interface StatedScenario {
  readonly name: string
  readonly jobs: ReadonlyArray<TraceJob>
  readonly nodes: ReadonlyArray<NodeRegistered['data']>
}

const apiVersion = 'capacity.leasehold.dev/v1'
const kind = 'Scenario'
const entriesMax = 10_000
const jobsMax = 200_000
const nodesMax = 100_000
const nodeDevicesMax = 1_024

const spans = { node: 'node', 'nvlink-domain': 'domain', network: 'anywhere' } as const satisfies Record<string, Span>

const machines = record({
  count: optional(wholeNumber(1, nodesMax), 1),
  gpus: needed(wholeNumber(0, nodeDevicesMax)),
  accelerator: optional(name, null),
  gpuMemory: optional(memory(1), null),
  cpu: optional(cpu(1), null),
  memory: optional(memory(1), null),
  domain: optional(name, null),
})
type Machines = typeof machines extends Reader<infer A> ? A : never

const jobs = record(
  {
    name: needed(name),
    count: optional(wholeNumber(1, jobsMax), 1),
    submit: optional(duration(0), 0 as DurationMs),
    every: optional(duration(0), 0 as DurationMs),
    run: needed(duration(1)),
    estimate: optional(duration(1), null),
    gpus: needed(wholeNumber(0, requestDevicesMax)),
    share: optional(wholeNumber<GpuMilli>(1, wholeGpu), wholeGpu as GpuMilli),
    accelerators: optional(
      listOf(name, 1, requestModelsMax, (model) => model),
      null,
    ),
    gpuMemory: optional(memory(1), 0 as Mebibytes),
    cpu: optional(cpu(0), 0 as CpuMilli),
    memory: optional(memory(0), 0 as Mebibytes),
    minInterconnect: optional(oneOf(['node', 'nvlink-domain', 'network']), 'network'),
    class: optional(name, 'default'),
    queue: optional(name, 'default'),
    budget: optional(name, null),
    team: optional(name, null),
    submitter: optional(name, null),
    preemptible: optional(flag, null),
    checkpoint: optional(duration(1), null),
    minRuntime: optional(duration(0), null),
  },
  ({ count, cpu, every, gpus, memory }, notes) => {
    if (gpus === 0 && cpu === 0 && memory === 0)
      notes.add('0 GPUs and no CPU or memory: nothing is asked for', 'state cpu, or gpus', 'gpus')
    if (count === 1 && every !== undefined && every > 0)
      notes.add('says how far apart they come, and there is one', 'state a count, or leave it out', 'every')
  },
)
type Jobs = typeof jobs extends Reader<infer A> ? A : never

const within = (
  entries: ReadonlyArray<{ readonly count?: number | undefined }> | undefined,
  max: number,
  member: string,
  notes: Notes,
): void => {
  const all = (entries ?? []).reduce((sum, { count = 0 }) => sum + count, 0)
  if (all > max) notes.add(`comes to ${all} in all, above ${max}`, 'state smaller counts', member)
}

const spec = record(
  {
    fleet: needed(listOf(machines, 1, entriesMax)),
    jobs: needed(listOf(jobs, 1, entriesMax, (entry) => entry.name)),
  },
  ({ fleet, jobs }, notes) => {
    within(fleet, nodesMax, 'fleet', notes)
    within(jobs, jobsMax, 'jobs', notes)
    noteRepeats(jobs, notes)
  },
)

/** One of several is named `NAME-N`, which another entry may be called. */
const noteRepeats = (entries: ReadonlyArray<Loose<Jobs>> | undefined, notes: Notes): void => {
  const counts = new Map((entries ?? []).map(({ count = 1, name = '' }) => [name, count]))
  for (const [i, { name = '' }] of (entries ?? []).entries()) {
    const [, stem = '', number = '0'] = /^(.*)-([1-9]\d{0,6})$/.exec(name) ?? []
    const of = counts.get(stem) ?? 1
    if (of > 1 && +number <= of && counts.get(name) === 1)
      notes.add(`${name} is what one of ${stem} is called, too`, 'give one of both another name', 'jobs', i, 'name')
  }
}

const document = built(
  record({
    apiVersion: optional(version(apiVersion), apiVersion),
    kind: needed(oneOf([kind])),
    metadata: needed(record({ name: needed(name) })),
    spec: needed(spec),
  }),
  ({ metadata, spec }): StatedScenario => ({
    name: metadata.name,
    jobs: spec.jobs.flatMap(jobsOf),
    nodes: spec.fleet.flatMap(nodesOf).map((node, i) => ({ ...node, node: `node-${String(i).padStart(4, '0')}` })),
  }),
)

const nodesOf = (of: Machines): ReadonlyArray<Omit<NodeRegistered['data'], 'node'>> =>
  Array.from({ length: of.count }, () => ({
    cpuMilli: of.cpu,
    deviceMemoryMib: of.gpuMemory,
    devices: of.gpus,
    domain: of.domain,
    hostMemoryMib: of.memory,
    model: of.accelerator,
  }))

const jobsOf = (of: Jobs): ReadonlyArray<TraceJob> =>
  Array.from({ length: of.count }, (_, i) => ({
    id: of.count === 1 ? of.name : `${of.name}-${i + 1}`,
    submitAt: (of.submit + i * of.every) as EpochMs,
    runMs: of.run,
    estimateMs: of.estimate,
    class: of.class,
    queue: of.queue,
    team: of.team ?? of.budget?.split('/')[0] ?? of.queue,
    request: {
      cpuMilli: of.cpu,
      devices: of.gpus,
      hostMemoryMib: of.memory,
      memoryMib: of.gpuMemory,
      milli: of.gpus === 0 ? (0 as GpuMilli) : of.share,
      models: of.accelerators?.toSorted() ?? null,
      span: spans[of.minInterconnect],
    },
    stated: {
      budget: of.budget,
      checkpointIntervalMs: of.checkpoint,
      minRuntimeMs: of.minRuntime,
      preemptible: of.preemptible,
      submitter: of.submitter,
    },
  }))

/** What a scenario says, in YAML or JSON. */
export const decodeScenario: Decode<StatedScenario> = decodingDocument(document)
