import type { taskEither as TE } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { DrillConcluded, NodeHealth } from '../../domain/planner/cell-event.ts'
import type { Command } from '../../domain/planner/command.ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import type {
  QueryLimits,
  QueryRefused,
  QueryResult,
  RebuiltTable,
  ViewsUnavailable,
} from '../../domain/ports/views.ts'
import type { WorkloadIntent } from '../../domain/workload/intent.ts'
import type { FleetAnswer } from '../../projections/explain/fleet.ts'
import type { DrillRow } from '../../projections/explain/drills.ts'
import type { PlanAnswer } from '../../projections/explain/plan.ts'
import type { PolicyAnswer } from '../../projections/explain/policy.ts'
import type { PositionAnswer } from '../../projections/explain/position.ts'
import type { PrioAnswer } from '../../projections/explain/prio.ts'
import type { QueueAnswer } from '../../projections/explain/queue.ts'
import type { ShareAnswer } from '../../projections/explain/share.ts'
import type { WhyPreempted } from '../../projections/explain/why-preempted.ts'
import type { Why } from '../../projections/explain/why.ts'

export type DeskFault =
  | LogUnavailable
  | ViewsUnavailable
  | QueryRefused
  /** What was asked about is not there. */
  | { readonly type: 'NotFound'; readonly reason: string; readonly mend: string }
  /** Understood, and not done. */
  | { readonly type: 'Refused'; readonly reason: string; readonly mend: string }
  | { readonly type: 'Invalid'; readonly faults: ReadonlyArray<Fault> }
  /** The process that owns the folder does not answer, or not as one of ours does. */
  | { readonly type: 'OwnerUnreachable'; readonly reason: string; readonly mend: string }

export type Answered<A> = TE.TaskEither<DeskFault, A>

/** Null: now, the end of the log. */
export type AsOf = EpochMs | null

/** Whose word an order is, for the record; unproven. */
export interface Orderer {
  readonly actor: string
  readonly reason: string | null
}

/** `position`: where the order, or the first of what it led to, stands in the log. */
export interface Ordered {
  readonly id: string
  readonly outcome: 'recorded' | 'duplicate'
  readonly position: number | null
}
/** `workloads`: so many of that team wait or run. Where there are none, `meant` may be the team that was meant. */
/** `recorded`: it was not so before. `runs`: it does, and goes on; whether it starts again is what the order changes. */
export type HoldOrdered = Ordered & { readonly runs: boolean }
/** `known`: somebody of that name waits or runs, or the policy names them; else `meant` may be who was meant. */
export type ExceptionOrdered = Ordered & { readonly known: boolean; readonly meant: string | null }
/** Exceptions that were granted before and hold under it too, and what of it will surprise. */
export type PolicyOrdered = Ordered & {
  readonly kept: ReadonlyArray<{ readonly name: string; readonly owner: string; readonly expires: string | null }>
  readonly warnings: ReadonlyArray<Fault>
}
export type DrillOrdered = Ordered & { readonly workloads: number; readonly meant: string | null }
/** And where the workload stands right after. */
export type Submitted = Ordered & Pick<WorkloadState, 'workload' | 'state' | 'code' | 'text'>

/** Where a workload has got to. */
export interface WorkloadState {
  readonly workload: string
  readonly state:
    'waiting' | 'starting' | 'running' | 'stopping' | 'succeeded' | 'failed' | 'refused' | 'cancelled' | 'not-started'
  /** Of the reason why it waits or was refused (docs/reasons.md); null in any other state. */
  readonly code: string | null
  readonly attempt: number
  /** When it came into this state. */
  readonly since: EpochMs
  readonly text: string
}

/** Sums over everything that was sent; lists hold the first of each kind and are bounded. */
export interface FactsAnswer {
  readonly recorded: number
  readonly duplicate: number
  readonly unneeded: number
  readonly refused: number
  readonly undecodable: number
  readonly objections: ReadonlyArray<{
    readonly id: string
    readonly outcome: 'refused' | 'undecodable'
    readonly reason: string
  }>
}

export interface DeadLetterRow {
  readonly id: string
  readonly at: EpochMs
  readonly bytes: number
  readonly reason: string
  /** `cut`: only its beginning was kept. */
  readonly state: 'waiting' | 'cut' | 'replayed' | 'dropped'
  readonly head: string
}
export type DeadLetterDetail = DeadLetterRow & { readonly faults: ReadonlyArray<Fault>; readonly body: string | null }

export interface DecisionFilter {
  readonly type: string | null
  readonly workload: string | null
  readonly at: AsOf
  /** The last so many; 0: all. */
  readonly limit: number
}
export interface EventRow {
  readonly position: number
  readonly id: string
  readonly at: EpochMs
  readonly type: string
  readonly causation: string | null
  readonly policy: string | null
  readonly data: { readonly [key: string]: Json }
}

/** What `doctor` and the metrics say about a system, running or not. */
export interface SystemStatus {
  readonly version: string
  readonly cell: string
  readonly events: number
  readonly now: EpochMs
  readonly mode: 'observe' | 'advise' | 'automate' | 'frozen' | 'no-policy'
  /** Null where nothing runs. */
  readonly running: {
    readonly pid: number
    readonly address: string
    readonly startedAt: EpochMs
    readonly adapter: string | null
    readonly clock: 'wall' | 'events'
    readonly openCommands: number
  } | null
  readonly views: {
    readonly kind: 'chdb' | 'server'
    readonly engine: string | null
    readonly projected: number
    /** Events that are in the log and not in the views. */
    readonly lagEvents: number
    readonly lagMs: DurationMs
  } | null
  readonly deadLetters: number
  readonly degraded: ReadonlyArray<{ readonly what: string; readonly reason: string; readonly mend: string }>
}

/**
 * Everything that people ask of Leasehold and order from it, wherever they stand: over HTTP, from the command line
 * beside a running system, or on a folder that nobody owns. Answers are plain JSON.
 */
export interface Desk {
  readonly submit: (intents: ReadonlyArray<WorkloadIntent>, by: Orderer) => Answered<ReadonlyArray<Submitted>>
  readonly cancel: (workload: string, by: Orderer) => Answered<Ordered>
  /** It waits, whatever is free, until it is released. */
  readonly hold: (workload: string, by: Orderer) => Answered<HoldOrdered>
  readonly release: (workload: string, by: Orderer) => Answered<HoldOrdered>
  /** Whether such work was seen to go on from a checkpoint. */
  readonly concludeDrill: (drill: DrillConcluded['data'], by: Orderer) => Answered<DrillOrdered>
  /** NDJSON of CloudEvents, of any length. */
  readonly facts: (lines: AsyncIterable<Uint8Array>) => Answered<FactsAnswer>
  readonly setHealth: (node: string, device: number | null, health: NodeHealth, by: Orderer) => Answered<Ordered>
  /** A whole policy document, decoded by the caller's side from YAML or JSON; what was granted before holds on. */
  readonly activatePolicy: (document: Json, by: Orderer) => Answered<PolicyOrdered>
  /** The policy in force with one exception more, as a document has it (docs/policy.md). */
  readonly grantException: (exception: Json, by: Orderer) => Answered<ExceptionOrdered>
  /** The policy in force without one, whoever granted it. */
  readonly revokeException: (name: string, by: Orderer) => Answered<Ordered>
  /** Stops commands, of one pool or all; or lets them go again. */
  readonly freeze: (pool: string | null, frozen: boolean, by: Orderer) => Answered<Ordered>

  /** What adapters are to do and have not concluded, at most so many; none while nothing is sent. */
  readonly commands: (limit: number, at: AsOf) => Answered<ReadonlyArray<Command>>

  readonly state: (workload: string) => Answered<WorkloadState>
  readonly why: (workload: string, at: AsOf) => Answered<Why>
  /** Each time it made room for others, and what had come of it by then. */
  readonly whyPreempted: (workload: string, at: AsOf) => Answered<WhyPreempted>
  /** Whose turn it is, level by level. */
  readonly prio: (workload: string, at: AsOf) => Answered<PrioAnswer>
  /** Who goes before it; at most so many are listed. */
  readonly position: (workload: string, limit: number, at: AsOf) => Answered<PositionAnswer>
  /** How the budget tree stands, or a node of it and what is below. */
  readonly share: (node: string | null, at: AsOf) => Answered<ShareAnswer>
  readonly drills: (at: AsOf) => Answered<ReadonlyArray<DrillRow>>
  /** The policy in force, what it grants to whom until when, and what is made of that. */
  readonly policy: (at: AsOf) => Answered<PolicyAnswer>
  readonly plan: (intents: ReadonlyArray<WorkloadIntent>, at: AsOf) => Answered<ReadonlyArray<PlanAnswer>>
  readonly queue: (queue: string | null, limit: number, at: AsOf) => Answered<QueueAnswer>
  readonly fleet: (at: AsOf) => Answered<FleetAnswer>
  readonly decisions: (filter: DecisionFilter) => Answered<ReadonlyArray<EventRow>>
  /** Every event of one workload up to then. */
  readonly life: (workload: string, at: AsOf) => Answered<ReadonlyArray<EventRow>>

  readonly sql: (query: string, limits: QueryLimits) => Answered<QueryResult>
  readonly rebuild: () => Answered<ReadonlyArray<RebuiltTable>>

  readonly deadLetters: () => Answered<ReadonlyArray<DeadLetterRow>>
  readonly deadLetter: (id: string) => Answered<DeadLetterDetail>
  readonly replayDeadLetter: (id: string, by: Orderer) => Answered<Ordered>
  readonly dropDeadLetter: (id: string, by: Orderer) => Answered<Ordered>

  readonly status: () => Answered<SystemStatus>
}
