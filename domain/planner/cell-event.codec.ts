import { either as E } from 'fp-ts'
import type { Message } from '../kernel/decider.ts'
import {
  built,
  decoding,
  digest,
  flag,
  listOf,
  name,
  needed,
  nullable,
  oneOf,
  optional,
  prose,
  record,
  wholeNumber,
  type Decode,
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
import { unstatedTerms, type WorkloadTerms } from '../workload/terms.ts'
import { commandOutcomes, commandVerbs } from './command.ts'
import { cellEventVersions, type CellEvent, type CellInput, type NodeHealth } from './cell-event.ts'

/** Most devices in one node. */
export const nodeDevicesMax = 65_536
const attemptsMax = 1_000_000
/** Characters of what somebody says about an order or an outcome. */
export const reasonMax = 500
const substitutesMax = 64
/** Longest line of facts, in UTF-16 units. */
export const factLengthMax = 1_048_576

/** An input as its source sends it, one JSON object in a line; the same `id` again is the same fact again. */
export type CellFact = CellInput & { readonly id: string }

const devices = (max: number) => wholeNumber(0, max)
const milliseconds = wholeNumber<DurationMs>(0, durationMax)

const request: Reader<PlacementRequest> = record(
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
  },
  ({ devices, memoryMib, milli }, notes) => {
    if (devices !== undefined && devices > 0 && milli === 0 && memoryMib === 0)
      notes.add('is 0, and no memory is stated', `give 1 to ${wholeGpu}, or memoryMib`, 'milli')
  },
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

/** Members in ascending order: what is decoded is stored as it is. */
const dataOf: { readonly [T in CellInput['type']]: Reader<Extract<CellInput, { readonly type: T }>['data']> } = {
  NodeRegistered: record({
    cpuMilli: needed(nullable(wholeNumber(0, cpuMaxMilli))),
    deviceMemoryMib: needed(nullable(wholeNumber(0, memoryMaxMib))),
    devices: needed(devices(nodeDevicesMax)),
    domain: needed(nullable(name)),
    hostMemoryMib: needed(nullable(wholeNumber(0, memoryMaxMib))),
    model: needed(nullable(name)),
    node: needed(name),
  }),
  NodeHealthChanged: record({
    device: needed(nullable(wholeNumber(0, nodeDevicesMax - 1))),
    health: needed(oneOf<NodeHealth>(['ready', 'cordoned', 'draining', 'failed'])),
    node: needed(name),
  }),
  PolicyActivated: record({ document: needed(decodedPolicy), hash: needed(digest) }),
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
  CancelRequested: record({
    actor: needed(name),
    reason: needed(nullable(prose(reasonMax))),
    workload: needed(name),
  }),
  CommandConcluded: record({
    attempt: needed(wholeNumber(0, attemptsMax)),
    command: needed(name),
    outcome: needed(oneOf(commandOutcomes)),
    reason: needed(nullable(prose(reasonMax))),
    verb: needed(oneOf(commandVerbs)),
    workload: needed(name),
  }),
  Ticked: record({}),
}

const types = Object.keys(dataOf) as ReadonlyArray<CellInput['type']>

/** One per type, so that a fact's data is checked against its type and nothing else is tried. */
const factOf = new Map<unknown, Reader<unknown>>(
  types.map((type) => [
    type,
    record({
      id: needed(name),
      type: needed(oneOf([type])),
      at: needed(wholeNumber<EpochMs>(0, instantMax)),
      data: needed(dataOf[type] as Reader<unknown>),
    }),
  ]),
)

const untyped = record({
  id: needed(name),
  type: needed(oneOf(types)),
  at: needed(wholeNumber<EpochMs>(0, instantMax)),
  data: needed<unknown>({ expected: 'what happened', fields: [], schema: {}, read: (value) => value ?? null }),
})

const fact: Reader<CellFact> = {
  expected: untyped.expected,
  fields: untyped.fields,
  schema: untyped.schema,
  read: (value, notes) => {
    const type: unknown = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
    return (factOf.get(type) ?? untyped).read(value, notes) as CellFact | undefined
  },
}

/** Strict: whoever sends a member that we do not know means something that we would lose. */
export const decodeCellFact: Decode<CellFact> = decoding(fact)

/** One line of NDJSON. */
export const decodeCellFactLine = (line: string): E.Either<ReadonlyArray<Fault>, CellFact> => {
  if (line.length > factLengthMax)
    return refused(`has ${line.length} characters, above ${factLengthMax}`, 'send one fact a line')
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return refused(`is not JSON: ${error instanceof Error ? plain(error.message) : ''}`, 'send one JSON object a line')
  }
  const decoded = decodeCellFact(value)
  // JSON.parse keeps the last of two members of one name, where another reader may have kept the first.
  return E.isRight(decoded) && membersIn(line) !== membersOf(value)
    ? refused('has a member twice', 'send each member once')
    : decoded
}

/** Members that a JSON text writes: its strings that a colon follows. */
const membersIn = (text: string): number => {
  let members = 0
  for (const [, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)) if (colon !== undefined) members++
  return members
}

/** Of a value that has been decoded, and therefore nests no deeper than a fact does. */
const membersOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const below: ReadonlyArray<unknown> = Object.values(value)
  let members = Array.isArray(value) ? 0 : below.length
  for (const each of below) members += membersOf(each)
  return members
}

const refused = (reason: string, mend: string) => E.left([{ path: '$', reason, mend }])

/** The engine's message repeats what it read, escapes and all. */
const plain = (message: string): string => message.slice(0, 200).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?')

/** What is decoded is already as it travels. */
export const encodeCellFact = ({ id, type, at, data }: CellFact): CellFact => ({ id, type, at, data }) as CellFact

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
