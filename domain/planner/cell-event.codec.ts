import { either as E } from 'fp-ts'
import type { Message } from '../kernel/decider.ts'
import {
  built,
  digest,
  flag,
  identifier,
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
  type Reader,
} from '../kernel/document.ts'
import type { Fault } from '../kernel/fault.ts'
import { cpuMaxMilli, durationMax, instantMax, memoryMaxMib } from '../kernel/quantity.ts'
import {
  wholeGpu,
  type CpuMilli,
  type DurationMs,
  type EpochMs,
  type GpuMilli,
  type Mebibytes,
} from '../kernel/units.ts'
import { found, nearest, shown } from '../kernel/wording.ts'
import { decodedPolicy } from '../policy/allocation-policy.codec.ts'
import type { Substitute } from '../workload/intent.ts'
import { requestDevicesMax, requestModelsMax, type PlacementRequest, type Span } from '../workload/request.ts'
import { noteSlices, topologyRequest } from '../workload/topology-request.codec.ts'
import { unstatedTerms, type WorkloadTerms } from '../workload/terms.ts'
import { commandOutcomes, commandVerbs } from './command.ts'
import { cellEventVersions, type CellEvent, type CellInput, type NodeHealth } from './cell-event.ts'
import { editionFirst, editionNow, type Edition } from './edition.ts'

/** Most devices in one node. */
export const nodeDevicesMax = 65_536
/** Most levels that a node may name its domain of. */
export const nodeLevelsMax = 16
const attemptsMax = 1_000_000
/** Characters of what somebody says about an order or an outcome. */
export const reasonMax = 500
const substitutesMax = 64

/** An input as its source sends it; the same `id` again is the same fact again. */
export type CellFact = CellInput & { readonly id: string }

const devices = (max: number) => wholeNumber(0, max)
const milliseconds = wholeNumber<DurationMs>(0, durationMax)

const statedRequest = record(
  {
    cpuMilli: needed(wholeNumber<CpuMilli>(0, cpuMaxMilli)),
    devices: needed(devices(requestDevicesMax)),
    hostMemoryMib: needed(wholeNumber<Mebibytes>(0, memoryMaxMib)),
    memoryMib: needed(wholeNumber<Mebibytes>(0, memoryMaxMib)),
    milli: needed(wholeNumber<GpuMilli>(0, wholeGpu)),
    models: needed(
      nullable(
        built(
          listOf(name, 1, requestModelsMax, (model) => model),
          (models) => models.toSorted(),
        ),
      ),
    ),
    span: needed(oneOf<Span>(['node', 'domain', 'anywhere'])),
    topology: optional(topologyRequest, null),
  },
  ({ devices, memoryMib, milli, span, topology }, notes) => {
    if (devices !== undefined && devices > 0 && milli === 0 && memoryMib === 0)
      notes.add('is 0, and no memory is stated', `give 1 to ${wholeGpu}, or memoryMib`, 'milli')
    if (topology === null || topology === undefined) return
    noteSlices(topology, devices, notes)
    if (span !== undefined && span !== 'anywhere')
      notes.add(`is ${span}, and topology says how far the devices may lie apart`, 'write anywhere', 'span')
  },
)
const request: Reader<PlacementRequest> = built(statedRequest, ({ topology, ...rest }) =>
  topology === null ? rest : { ...rest, topology },
)

const substitute: Reader<Substitute> = record({
  accelerators: needed(listOf(name, 1, requestModelsMax, (model) => model)),
  count: needed(wholeNumber(1, requestDevicesMax)),
  recompileCostMs: needed(milliseconds),
  requiresRecompile: needed(flag),
})

const terms: Reader<WorkloadTerms> = record({
  budget: needed(nullable(name)),
  deadline: needed(nullable(wholeNumber<EpochMs>(0, instantMax))),
  elasticity: needed(
    nullable(
      record({
        maxReplicas: needed(wholeNumber(1, requestDevicesMax)),
        minReplicas: needed(wholeNumber(1, requestDevicesMax)),
        resizeCostMs: needed(milliseconds),
      }),
    ),
  ),
  modelFamily: needed(nullable(name)),
  preemption: needed(
    record({
      checkpointIntervalMs: needed(nullable(wholeNumber<DurationMs>(1, durationMax))),
      gracePeriodMs: needed(milliseconds),
      minRuntimeMs: needed(milliseconds),
      tolerated: needed(flag),
    }),
  ),
  submitter: needed(name),
  substitutable: needed(listOf(substitute, 0, substitutesMax)),
})

const order = record({
  actor: needed(name),
  reason: needed(nullable(prose(reasonMax))),
  workload: needed(name),
})
const ofAttempt = record({ attempt: needed(wholeNumber(0, attemptsMax)), workload: needed(name) })

/** Members in ascending order: what is decoded is stored as it is. */
export const factData: { readonly [T in CellInput['type']]: Reader<Extract<CellInput, { readonly type: T }>['data']> } =
  {
    NodeRegistered: built(
      record({
        cpuMilli: needed(nullable(wholeNumber(0, cpuMaxMilli))),
        deviceMemoryMib: needed(nullable(wholeNumber(0, memoryMaxMib))),
        devices: needed(devices(nodeDevicesMax)),
        domain: needed(nullable(name)),
        hostMemoryMib: needed(nullable(wholeNumber(0, memoryMaxMib))),
        model: needed(nullable(name)),
        node: needed(name),
        topology: optional(mapOf(name, nodeLevelsMax), null),
      }),
      ({ topology, ...rest }) => (topology === null ? rest : { ...rest, topology }),
    ),
    NodeHealthChanged: record({
      device: needed(nullable(wholeNumber(0, nodeDevicesMax - 1))),
      health: needed(oneOf<NodeHealth>(['ready', 'cordoned', 'draining', 'failed'])),
      node: needed(name),
    }),
    PolicyActivated: built(
      record({
        document: needed(decodedPolicy),
        edition: optional(wholeNumber<Edition>(editionFirst, editionNow), editionNow),
        hash: needed(digest),
      }),
      ({ document, edition, hash }) => (edition === editionFirst ? { document, hash } : { document, edition, hash }),
    ),
    WorkloadSubmitted: record({
      class: needed(name),
      estimateMs: needed(nullable(milliseconds)),
      queue: needed(name),
      request: needed(request),
      team: needed(name),
      terms: optional(terms, unstatedTerms),
      workload: needed(name),
    }),
    AttemptEnded: record({
      attempt: needed(wholeNumber(0, attemptsMax)),
      outcome: needed(oneOf<'succeeded' | 'failed'>(['succeeded', 'failed'])),
      workload: needed(name),
    }),
    CancelRequested: order,
    CommandConcluded: record({
      attempt: needed(wholeNumber(0, attemptsMax)),
      command: needed(identifier),
      outcome: needed(oneOf(commandOutcomes)),
      reason: needed(nullable(prose(reasonMax))),
      verb: needed(oneOf(commandVerbs)),
      workload: needed(name),
    }),
    HoldRequested: order,
    ReleaseRequested: order,
    CheckpointCommitted: ofAttempt,
    ProgressObserved: ofAttempt,
    DrillConcluded: record({
      modelFamily: needed(nullable(name)),
      outcome: needed(oneOf<'passed' | 'failed'>(['passed', 'failed'])),
      team: needed(name),
    }),
    Ticked: record({}),
  }

// ---- What is stored

/** Lifts the data of one version to the next: entry n - 1 of a type's list takes version n. */
type Upcasters = { readonly [type: string]: ReadonlyArray<(data: unknown) => unknown> }

/** This release has written the first version of every event and no other. */
const upcasters: Upcasters = {}

/**
 * An event of the log as this release knows it, however old the release that wrote it. The log is our own: its data
 * is not checked member by member, so that what a newer writer added within a version stops no older reader.
 */
export const upcast = (
  message: Message<string, unknown>,
  version: number,
  table: Upcasters = upcasters,
  versions: { readonly [type: string]: number } = cellEventVersions,
): E.Either<Fault, CellEvent> => {
  const { type } = message
  const current = Object.hasOwn(versions, type) ? versions[type] : undefined
  if (version === current) return E.right(message as CellEvent)
  if (current === undefined) {
    const meant = nearest(type, Object.keys(versions))
    const like = meant === null ? '' : ` (it knows ${meant})`
    return E.left({
      path: 'type',
      reason: `this release knows no event ${shown(type)}${like}`,
      mend: 'a newer release wrote it: upgrade to that release',
    })
  }
  const steps = Object.hasOwn(table, type) ? table[type]! : []
  if (!Number.isSafeInteger(version) || version < 1 || (version < current && steps.length < current - 1))
    return E.left({
      path: 'version',
      reason: `${type} has no version ${found(version)}; this release reads 1 to ${current}`,
      mend: 'the log is damaged or was written by hand: run audit verify',
    })
  if (version > current)
    return E.left({
      path: 'version',
      reason: `${type} is of version ${version}; this release reads up to version ${current}`,
      mend: 'a newer release wrote it: upgrade to that release',
    })
  let { data } = message
  for (const lift of steps.slice(version - 1, current - 1)) data = lift(data)
  return E.right({ ...message, data } as CellEvent)
}
