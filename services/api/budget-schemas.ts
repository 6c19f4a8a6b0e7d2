import type { JsonSchema } from '../../domain/kernel/json-schema.ts'
import {
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

/* Of what is answered about budgets: see schemas.ts for the units. */

export const turnSchema = object({
  at: instant,
  because: word('protected-window', 'exception', 'reservation', 'expected-end'),
  workload: text,
})
/** Milli-units, and milli-unit hours over the window. */
export const nodeStanding: Members = {
  node: text,
  chargedMilliUnitH: whole,
  owedMilliUnitH: whole,
  heldMilli: whole,
  entitledMilli: whole,
}
/** What a reason rests on, worked out when it is asked for; the numbers are named in docs/reasons.md. */
export const grounds: Members = {
  compared: { type: 'object', additionalProperties: whole },
  own: nullable(object(nodeStanding)),
  other: nullable(object(nodeStanding)),
  holders: list(text),
  holdersCount: whole,
  nextTurn: nullable(turnSchema),
}
/** What would start it now: each change with what it changes. */
export const hintSchema = object(
  {
    change: word(
      'fewer-devices',
      'smaller-share',
      'less-memory',
      'fewer-cores',
      'less-host-memory',
      'accelerator',
      'shorter',
      'preemptible',
      'limits',
      'ends',
    ),
    nodes: list(text),
  },
  {
    devices: whole,
    milli: whole,
    memoryMib: whole,
    cpuMilli: whole,
    hostMemoryMib: whole,
    models: list(text),
    estimateMs: whole,
    drill: flag,
    limits: list(object({ rule: text, resource: word('devices', 'cpu', 'memory'), from: whole, to: whole })),
    workloads: list(text),
  },
)

const positionRow: Members = { position: whole, workload: text, team: text, submitter: text, class: text }
export const positionSchema = object({
  at: instant,
  workload: text,
  queue: text,
  budget: nullable(text),
  position: whole,
  aheadCount: whole,
  ahead: list(object({ ...positionRow, needDevices: whole, waitedMs: whole, code: nullable(text) })),
  others: list(object({ person: text, waiting: whole, goesFirst: flag })),
})

const sibling: Members = { node: text, own: flag, rank: nullable(whole), waiting: whole }
const levelBy = (by: JsonSchema, factors: Members): JsonSchema =>
  object({ parent: text, by, siblings: list(object({ ...sibling, ...factors })) })

export const prioSchema = object({
  at: instant,
  workload: text,
  budget: nullable(text),
  queue: text,
  sharing: word('budgets', 'fair-tree', 'drf', 'kueue', 'queues'),
  levels: list(
    variants(
      levelBy(word('charged-of-owed', 'yield-credit'), {
        share: whole,
        entitledMilli: whole,
        chargedMilliUnitH: whole,
        owedMilliUnitH: whole,
        creditMilliUnitH: whole,
      }),
      levelBy(word('fair-tree'), { share: whole, usageMilliUnitH: whole, levelShare: nullable(number) }),
      levelBy(word('dominant-share'), {
        share: whole,
        resource: word('devices', 'cpu', 'memory'),
        held: whole,
        total: whole,
        weighted: number,
      }),
      levelBy(word('borrowing', 'quota-share', 'priority'), {
        kind: word('queue', 'cohort'),
        first: nullable(text),
        fits: nullable(word('now', 'evicting', 'no')),
        borrows: nullable(flag),
        borrowLevel: nullable(whole),
        shareMilli: nullable(whole),
        shareResource: nullable(text),
        priority: nullable(whole),
        submittedAt: nullable(instant),
      }),
    ),
  ),
  leaf: object({
    by: word('usage', 'class', 'age'),
    usage: nullable(number),
    class: text,
    priority: whole,
    aged: whole,
    agingMs: nullable(whole),
    submittedAt: instant,
    waitedMs: whole,
    position: whole,
    ahead: list(text),
    aheadCount: whole,
  }),
})

const loanSchema = object({ node: text, amount: whole })
/** Devices and cores in thousandths, memory in MiB. */
const quotaSchema = object({
  accelerator: text,
  resource: word('devices', 'cpu', 'memory'),
  nominal: whole,
  subtree: whole,
  used: whole,
  borrowed: whole,
  lent: whole,
  borrowingLimit: nullable(whole),
  lendingLimit: nullable(whole),
  available: whole,
  most: whole,
  from: list(loanSchema),
  to: list(loanSchema),
})

export const shareSchema = object({
  at: instant,
  cell: text,
  policy: nullable(text),
  sharing: word('budgets', 'fair-tree', 'drf', 'kueue', 'queues'),
  windowHours: whole,
  nodes: list(
    object({
      node: text,
      depth: whole,
      kind: word('cell', 'budget', 'person'),
      share: whole,
      entitledMilli: whole,
      heldMilli: whole,
      demandMilli: whole,
      owedMilli: whole,
      chargedMilliUnitH: whole,
      owedMilliUnitH: whole,
      heldMilliUnitH: whole,
      deliveredMilli: nullable(whole),
      debtMilliUnitH: whole,
      creditMilliUnitH: whole,
      standing: word('behind', 'over', 'even'),
      waiting: whole,
      nextTurn: nullable(turnSchema),
      owner: nullable(text),
      reviewDate: nullable(text),
    }),
  ),
  quotas: list(
    object({
      node: text,
      kind: word('queue', 'cohort'),
      parent: nullable(text),
      depth: whole,
      fairWeightMilli: whole,
      share: nullable(object({ milli: nullable(whole), resource: nullable(text) })),
      running: whole,
      waiting: whole,
      quotas: list(quotaSchema),
    }),
  ),
})

/** Of an exception in a policy, by which rule it stands there. */
export const exceptionMembers: Members = { rule: text, name: text, owner: text, reason: text, expires: nullable(text) }

const sideSchema = nullable(object(nodeStanding))
export const whyPreemptedSchema = object({
  at: instant,
  workload: text,
  promotedAt: nullable(instant),
  preemptions: list(
    object({
      at: instant,
      rule: text,
      policy: nullable(text),
      event: text,
      attempt: whole,
      preemptor: text,
      how: word('evicted', 'shrunk'),
      lossMilliUnitS: whole,
      milliUnits: whole,
      side: sideSchema,
      victimSide: sideSchema,
      needMilli: whole,
      freedMilli: whole,
      looked: whole,
      alsoLeft: list(text),
      exceptions: list(
        object({
          ...exceptionMembers,
          allows: word('cap', 'not-preempted', 'non-preemptible-over-entitlement'),
          capMilli: nullable(whole),
          whose: word('workload', 'preemptor'),
          held: flag,
        }),
      ),
      withoutAt: nullable(instant),
      leftAt: nullable(instant),
      usedAt: nullable(instant),
      resumedAt: nullable(instant),
      waitedMs: nullable(whole),
    }),
  ),
})

export const drillOrderedSchema = object({
  id: text,
  outcome: word('recorded', 'duplicate'),
  position: nullable(whole),
  workloads: whole,
  meant: nullable(text),
})

export const drillsSchema = list(
  object({
    team: text,
    modelFamily: nullable(text),
    outcome: word('passed', 'failed'),
    at: instant,
    validUntil: nullable(instant),
    counts: flag,
    required: flag,
  }),
)
