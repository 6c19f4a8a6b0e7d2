import type { JsonSchema } from '../../domain/kernel/json-schema.ts'
import { commandCauses, commandVerbs } from '../../domain/planner/command.ts'
import { exceptionMembers, grounds, hintSchema } from './budget-schemas.ts'
import {
  anything,
  data,
  flag,
  instant,
  list,
  nullable,
  number,
  object,
  text,
  variants,
  whole,
  word,
  type Members,
} from './schema-words.ts'

/*
 * Of what is answered. An answer has exactly these members, all of them but for those in `optional`; times are in
 * milliseconds since 1970, durations in milliseconds, GPU in thousandths of a device, memory in MiB.
 */

export const faultSchema = object({ path: text, reason: text, mend: text }, { line: whole, column: whole })

export const errorSchema = object({
  error: object({ code: text, reason: text, mend: text }, { faults: list(faultSchema) }),
})

export const ordered: Members = { id: text, outcome: word('recorded', 'duplicate'), position: nullable(whole) }
export const orderedSchema = object(ordered)
export const holdOrderedSchema = object({ ...ordered, runs: flag })
const standing: Members = {
  workload: text,
  state: word(
    'waiting',
    'starting',
    'running',
    'stopping',
    'succeeded',
    'failed',
    'refused',
    'cancelled',
    'not-started',
  ),
  /** Of the reason why it waits or was refused. */
  code: nullable(text),
  text,
}
export const stateSchema = object({ ...standing, attempt: whole, since: instant })
export const submittedSchema = list(object({ ...ordered, ...standing }))

export const factsSchema = object({
  recorded: whole,
  duplicate: whole,
  unneeded: whole,
  refused: whole,
  undecodable: whole,
  objections: list(object({ id: text, outcome: word('refused', 'undecodable'), reason: text })),
})

const leaseSchema = list(object({ devices: list(whole), memoryMib: whole, milli: whole, node: text }))

/** What the policy lets the pool do. */
const standingSchema = word('observe', 'advise', 'automate', 'frozen', 'no-policy')

const asked: Members = {
  at: instant,
  workload: text,
  queue: text,
  budget: nullable(text),
  class: text,
  needDevices: whole,
  needMilli: whole,
  needMemoryMib: whole,
  submittedAt: instant,
  standing: standingSchema,
  waitedMs: whole,
  preemptions: whole,
  failedStarts: nullable(object({ count: whole, countMax: whole, at: instant, reason: nullable(text) })),
  outOfServiceMilli: whole,
}
export const whySchema = variants(
  object({
    ...asked,
    state: word('waiting'),
    code: nullable(text),
    rule: nullable(text),
    policy: nullable(text),
    heldSince: nullable(instant),
    queuedAt: instant,
    position: whole,
    behind: nullable(text),
    ahead: list(text),
    aheadCount: whole,
    ...grounds,
    quotaOf: nullable(word('devices', 'cpu', 'memory')),
    keptFor: list(text),
    quotaFor: list(text),
    claim: nullable(
      object({ node: text, lackingMilli: whole, at: instant }, { spared: object({ until: nullable(instant) }) }),
    ),
    exemptions: list(
      object({
        ...exceptionMembers,
        workloads: list(text),
        workloadsCount: whole,
      }),
    ),
    freeMilli: whole,
    largestMilli: whole,
    projectedFrom: nullable(instant),
    projectedStartAt: nullable(instant),
    projectedTo: nullable(instant),
    expectedWaitMs: nullable(whole),
    projection: text,
    projectedNodes: list(text),
    projectedAfter: list(text),
    hints: list(hintSchema),
    hintsCut: flag,
    misnamed: nullable(
      object({
        kind: word('queue', 'budget'),
        name: nullable(text),
        byQueue: { type: 'boolean' },
        meant: nullable(text),
        leaves: list(text),
      }),
    ),
  }),
  object({
    ...asked,
    state: word('running'),
    phase: word('advised', 'starting', 'running', 'stopping'),
    command: nullable(text),
    because: nullable(word(...commandCauses)),
    deadlineAt: nullable(instant),
    attempt: whole,
    startedAt: instant,
    expectedEndAt: nullable(instant),
    lease: leaseSchema,
    onHold: flag,
  }),
)

const decision = (type: string): JsonSchema => object({ type: word(type), at: instant, data })
const planned: Members = {
  workload: text,
  queue: text,
  at: instant,
  need: object({ devices: whole, milli: whole, memoryMib: whole }),
  fleetMilli: whole,
  notes: list(text),
}
export const planSchema = list(
  variants(
    object({ ...planned, outcome: word('starts'), decision: decision('WorkloadAdmitted'), startAt: instant }),
    object({
      ...planned,
      outcome: word('waits'),
      decision: nullable(decision('WorkloadHeld')),
      position: whole,
      startAt: nullable(instant),
    }),
    object({ ...planned, outcome: word('refused'), decision: decision('WorkloadRefused') }),
    object({
      ...planned,
      outcome: word('not taken'),
      rejection: { type: 'object', properties: { type: text }, required: ['type'], additionalProperties: true },
    }),
  ),
)

export const queueSchema = object({
  at: instant,
  rows: list(
    object({
      queue: text,
      budget: nullable(text),
      position: nullable(whole),
      workload: text,
      class: text,
      needDevices: whole,
      needMilli: whole,
      needMemoryMib: whole,
      submittedAt: instant,
      waitedMs: whole,
      code: nullable(text),
      projectedStartAt: nullable(instant),
    }),
  ),
  more: whole,
  running: whole,
  onHold: whole,
  heldRunning: list(text),
  standing: standingSchema,
})

export const healthSchema = word('ready', 'cordoned', 'draining', 'failed')

export const fleetSchema = object({
  at: instant,
  cell: text,
  standing: standingSchema,
  total: object({
    nodes: whole,
    devices: whole,
    installedMilli: whole,
    schedulableMilli: whole,
    allocatedMilli: whole,
    freeMilli: whole,
    largestWholeMilli: whole,
    largestShareMilli: whole,
    running: whole,
    waiting: whole,
    onHold: whole,
  }),
  nodes: list(
    object({
      node: text,
      model: nullable(text),
      domain: nullable(text),
      health: healthSchema,
      devices: whole,
      unready: list(object({ device: whole, health: healthSchema })),
      freeWhole: whole,
      freeMilli: whole,
      allocatedMilli: whole,
      freeMemoryMib: nullable(whole),
      freeCpuMilli: nullable(whole),
      freeHostMemoryMib: nullable(whole),
      running: whole,
      workloads: list(text),
    }),
  ),
})

export const eventRowSchema = object({
  position: whole,
  id: text,
  at: instant,
  type: text,
  causation: nullable(text),
  policy: nullable(text),
  data,
})
export const eventsSchema = list(eventRowSchema)

export const queryResultSchema = object({
  columns: list(object({ name: text, type: text })),
  rows: list(list(anything)),
})

export const rebuiltSchema = list(
  object({ table: text, rowsBefore: whole, hashBefore: text, rowsAfter: whole, hashAfter: text }),
)

const letter: Members = {
  id: text,
  at: instant,
  bytes: whole,
  reason: text,
  state: word('waiting', 'cut', 'replayed', 'dropped'),
  head: text,
}
export const lettersSchema = list(object(letter))
export const letterSchema = object({ ...letter, faults: list(faultSchema), body: nullable(text) })

export const statusSchema = object({
  version: text,
  cell: text,
  events: whole,
  now: instant,
  mode: standingSchema,
  running: nullable(
    object({
      pid: whole,
      address: text,
      startedAt: instant,
      adapter: nullable(text),
      clock: word('wall', 'events'),
      openCommands: whole,
    }),
  ),
  views: nullable(
    object({
      kind: word('chdb', 'server'),
      engine: nullable(text),
      projected: whole,
      lagEvents: whole,
      lagMs: number,
    }),
  ),
  deadLetters: whole,
  degraded: list(object({ what: text, reason: text, mend: text })),
})

export const commandsSchema = list(
  object({
    command: text,
    verb: word(...commandVerbs),
    cell: text,
    workload: text,
    attempt: whole,
    because: word(...commandCauses),
    issuedAt: instant,
    deadlineAt: instant,
    graceMs: number,
    lease: leaseSchema,
    team: text,
    class: text,
    estimateMs: nullable(number),
  }),
)

export const healthzSchema = object({ status: word('alive') })
export const readySchema = object({
  status: word('ready', 'unready'),
  reasons: list(text),
  /** What does not stand in the way, such as views that lag. */
  notes: list(text),
})

/** For media types that are no JSON. */
export const plainText: JsonSchema = text
export const openApiSchema: JsonSchema = { type: 'object', additionalProperties: anything }
