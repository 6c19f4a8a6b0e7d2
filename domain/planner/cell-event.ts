import type { Message } from '../kernel/decider.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import type { PlacementRequest } from '../workload/request.ts'
import type { WorkloadTerms } from '../workload/terms.ts'
import type { CommandCause, CommandOutcome, CommandVerb } from './command.ts'
import type { Edition } from './edition.ts'
import type { ReasonCode } from './reason-code.ts'

/** Every member of `data` below is written in ascending order of its key: what is stored is canonical JSON as it is. */

export type NodeHealth = 'ready' | 'cordoned' | 'draining' | 'failed'

/** Equal devices in one machine; null means without limit (CPU, memory), or that any model will do. */
export type NodeRegistered = Message<
  'NodeRegistered',
  {
    readonly cpuMilli: number | null
    readonly deviceMemoryMib: number | null
    readonly devices: number
    readonly domain: string | null
    readonly hostMemoryMib: number | null
    readonly model: string | null
    readonly node: string
    /** The domain it lies in at each level that it names one for, sorted by level; absent: `domain` says all. */
    readonly topology?: { readonly [level: string]: string }
  }
>
/** `device` null: the node as a whole. Nothing new is placed where health is not `ready`. */
export type NodeHealthChanged = Message<
  'NodeHealthChanged',
  { readonly device: number | null; readonly health: NodeHealth; readonly node: string }
>
/** `edition`: of the planner's rules, from here on; absent: the first. */
export type PolicyActivated = Message<
  'PolicyActivated',
  { readonly document: AllocationPolicy; readonly edition?: Edition; readonly hash: string }
>
export type WorkloadSubmitted = Message<
  'WorkloadSubmitted',
  {
    readonly class: string
    /** How long its submitter, or its history, says it runs; null: unknown. */
    readonly estimateMs: DurationMs | null
    readonly queue: string
    readonly request: PlacementRequest
    readonly team: string
    readonly terms: WorkloadTerms
    readonly workload: string
  }
>
export type AttemptEnded = Message<
  'AttemptEnded',
  { readonly attempt: number; readonly outcome: 'succeeded' | 'failed'; readonly workload: string }
>
/** Somebody wants it ended, whether it waits or runs. */
export type CancelRequested = Message<
  'CancelRequested',
  { readonly actor: string; readonly reason: string | null; readonly workload: string }
>
/**
 * What became of a command, as its adapter says; `expired` says dispatch, when no adapter said anything in time. That an
 * attempt is to stop which does not run is `done`; `refused` is what the adapter cannot or will not do.
 */
export type CommandConcluded = Message<
  'CommandConcluded',
  {
    readonly attempt: number
    readonly command: string
    readonly outcome: CommandOutcome
    readonly reason: string | null
    readonly verb: CommandVerb
    readonly workload: string
  }
>
/** Somebody wants it to wait, whatever is free; what runs goes on, and waits when it comes back. */
export type HoldRequested = Message<
  'HoldRequested',
  { readonly actor: string; readonly reason: string | null; readonly workload: string }
>
export type ReleaseRequested = Message<
  'ReleaseRequested',
  { readonly actor: string; readonly reason: string | null; readonly workload: string }
>
/** What the attempt did until then is durable, and is not lost with it. */
export type CheckpointCommitted = Message<
  'CheckpointCommitted',
  { readonly attempt: number; readonly workload: string }
>
/** A step, a request served or a live power sample: the attempt was not idle then. */
export type ProgressObserved = Message<'ProgressObserved', { readonly attempt: number; readonly workload: string }>
/** Whether such a team's work of this family was seen to go on from a checkpoint; `modelFamily` null: work of none. */
export type DrillConcluded = Message<
  'DrillConcluded',
  { readonly modelFamily: string | null; readonly outcome: 'passed' | 'failed'; readonly team: string }
>
/** Time as data: what is due at `at` is done, and everything that came up to `at` is decided. */
export type Ticked = Message<'Ticked', Record<string, never>>

export type CellInput =
  | NodeRegistered
  | NodeHealthChanged
  | PolicyActivated
  | WorkloadSubmitted
  | AttemptEnded
  | CancelRequested
  | CommandConcluded
  | HoldRequested
  | ReleaseRequested
  | CheckpointCommitted
  | ProgressObserved
  | DrillConcluded
  | Ticked

/** Devices of one node that a lease holds: their indexes, and the thousandths and memory taken of each. */
export interface LeasePart {
  readonly devices: ReadonlyArray<number>
  readonly memoryMib: number
  readonly milli: number
  readonly node: string
}

export type WorkloadAdmitted = Message<
  'WorkloadAdmitted',
  {
    /** The best place that was not taken and its score, where the strategy scores places. */
    readonly alternative: { readonly node: string; readonly score: number } | null
    readonly attempt: number
    /** Where it is charged, and milli-units of its lease; absent: nobody keeps such books. */
    readonly budget?: string
    readonly expectedEndAt: EpochMs | null
    /** GPU milli free in the fleet before, and asked for. */
    readonly freeMilli: number
    readonly lease: ReadonlyArray<LeasePart>
    /** It may not be evicted, holds more than its program is entitled to, and therefore has to leave by then. */
    readonly limitAt?: EpochMs
    readonly milliUnits?: number
    readonly needMilli: number
    /** Its place was made free by an eviction. */
    readonly preempted?: true
    /** It goes on from a checkpoint that was asked for; absent: it starts from the beginning. */
    readonly resumes?: true
    /** Path into the policy document. */
    readonly rule: string
    readonly score: number | null
    readonly waitedMs: DurationMs
    readonly workload: string
  }
>
/** The reason changed: its code, or what binds. The numbers are those of this instant. */
export type WorkloadHeld = Message<
  'WorkloadHeld',
  {
    /** The workload that must start first, where there is one. */
    readonly behind: string | null
    readonly code: ReasonCode
    /** The numbers that the code names (docs/reasons.md), by name; absent: it names none. */
    readonly compared?: { readonly [name: string]: number }
    /** What is ahead of it, and itself, at the pace at which its leaf starts work; absent: it has none yet. */
    readonly expectedWaitMs?: number
    readonly freeMilli: number
    /**
     * GPU milli of the largest placement of its kind that one place of its span could take now: whole free devices x
     * 1000 for whole devices, the largest free part of one device for a share.
     */
    readonly largestMilli: number
    readonly needDevices: number
    readonly needMilli: number
    /** It starts between these four times of five, as waits of its kind have gone; absent: too few are known. */
    readonly projectedFrom?: EpochMs
    /**
     * Of one whose place is kept: the latest it starts if nothing overruns; else the middle of what waits of its kind let
     * expect.
     */
    readonly projectedStartAt: EpochMs | null
    readonly projectedTo?: EpochMs
    readonly rule: string
    readonly workload: string
  }
>
export type WorkloadRefused = Message<
  'WorkloadRefused',
  {
    readonly code: ReasonCode
    /** As above, of the empty fleet. */
    readonly largestMilli: number
    readonly needDevices: number
    readonly needMilli: number
    readonly rule: string
    readonly workload: string
  }
>
/** It runs longer than was expected; what waits for its devices is projected anew. */
export type EstimateOverran = Message<
  'EstimateOverran',
  { readonly attempt: number; readonly expectedEndAt: EpochMs; readonly workload: string }
>

/**
 * An adapter is asked to do something with an attempt that was started. The start itself is no such event: it follows
 * from `WorkloadAdmitted` where the pool is automated.
 */
export type CommandIssued = Message<
  'CommandIssued',
  {
    readonly attempt: number
    readonly because: CommandCause
    readonly command: string
    readonly deadlineAt: EpochMs
    /** What `shrink` leaves it; null for the others. */
    readonly keeps: ReadonlyArray<LeasePart> | null
    /** The node that is to be left, where that is the cause. */
    readonly node: string | null
    /** For whom it has to make room, where that is the cause. */
    readonly preemptor?: string
    readonly rule: string
    readonly verb: Exclude<CommandVerb, 'start' | 'resume'>
    readonly workload: string
  }
>
/**
 * Its devices are free again. `only-advised`: its pool is automated now, and nobody was asked to start it. `requeued`: it waits once more, at its old
 * place; else nothing is left of it.
 */
export type AttemptStopped = Message<
  'AttemptStopped',
  {
    readonly attempt: number
    readonly outcome: 'cancelled' | 'evicted' | 'not-started' | 'only-advised'
    readonly requeued: boolean
    readonly rule: string
    readonly workload: string
  }
>
/** It runs on, on these devices alone. */
export type LeaseShrunk = Message<
  'LeaseShrunk',
  {
    readonly attempt: number
    readonly keeps: ReadonlyArray<LeasePart>
    readonly rule: string
    readonly workload: string
  }
>
/** A running attempt that makes room. */
export interface Victim {
  readonly attempt: number
  /** It shrinks to these and runs on; null: it stops. */
  readonly keeps: ReadonlyArray<LeasePart> | null
  /** Work since its last observed checkpoint, milli-unit seconds, rounded up. */
  readonly lossMilliUnitS: number
  readonly milliUnits: number
  readonly workload: string
}
/** How one of the two sides stood where their paths part; milli-units, and milli-unit hours over the window. */
export interface SideStanding {
  readonly chargedMilliUnitH: number
  readonly entitledMilli: number
  readonly heldMilli: number
  readonly node: string
  readonly owedMilliUnitH: number
}
/**
 * Running attempts make room for a workload, whose place is kept until it starts there or the hold expires. The
 * commands to the victims follow in the same append.
 */
export type PreemptionDecided = Message<
  'PreemptionDecided',
  {
    /** Milli-units that the victims give back. */
    readonly freedMilli: number
    readonly holdUntil: EpochMs
    readonly lease: ReadonlyArray<LeasePart>
    /** Running attempts that were looked at. */
    readonly looked: number
    /** Milli-units that the workload takes. */
    readonly needMilli: number
    readonly rule: string
    readonly side: SideStanding | null
    readonly victims: ReadonlyArray<Victim>
    readonly victimSide: SideStanding | null
    /** When it would have started without; null: not known. */
    readonly withoutAt: EpochMs | null
    readonly workload: string
  }
>
/** A place is no longer kept: its time was up, or it cannot be had any more. */
export type PlaceReleased = Message<
  'PlaceReleased',
  { readonly because: 'expired' | 'lost' | 'withdrawn' | 'blocked'; readonly rule: string; readonly workload: string }
>
/** It was preempted so often that it is no longer a victim. */
export type WorkloadPromoted = Message<
  'WorkloadPromoted',
  { readonly preemptions: number; readonly rule: string; readonly workload: string }
>
/** It has made no progress since: until it does, what it holds spends the budget of who launched it. */
export type LeaseIdled = Message<
  'LeaseIdled',
  {
    readonly attempt: number
    readonly idleSince: EpochMs
    readonly milliUnits: number
    readonly rule: string
    readonly workload: string
  }
>
/** A node of the budget tree came, changed its share, or went; with what lapsed, milli-unit hours over the window. */
export type BudgetChanged = Message<
  'BudgetChanged',
  {
    readonly chargedMilliUnitH: number
    readonly creditMilliUnitH: number
    readonly debtMilliUnitH: number
    readonly from: number | null
    readonly node: string
    readonly owedMilliUnitH: number
    readonly rule: string
    /** Shares, before and after; null: it was, or is, not there. */
    readonly to: number | null
  }
>
/** A reservation or an exception of the policy ended by its date. */
export type GrantLapsed = Message<
  'GrantLapsed',
  { readonly grant: 'reservation' | 'exception'; readonly name: string; readonly owner: string; readonly rule: string }
>
/** It waited, or was never sent to an adapter, and is gone. */
export type WorkloadCancelled = Message<'WorkloadCancelled', { readonly rule: string; readonly workload: string }>

export type CellDecision =
  | WorkloadAdmitted
  | WorkloadHeld
  | WorkloadRefused
  | EstimateOverran
  | CommandIssued
  | AttemptStopped
  | LeaseShrunk
  | WorkloadCancelled
  | PreemptionDecided
  | PlaceReleased
  | WorkloadPromoted
  | LeaseIdled
  | BudgetChanged
  | GrantLapsed
export type CellEvent = CellInput | CellDecision

/** Version of each event's data, as this release writes it. */
export const cellEventVersions: { readonly [T in CellEvent['type']]: number } = {
  NodeRegistered: 1,
  NodeHealthChanged: 1,
  PolicyActivated: 1,
  WorkloadSubmitted: 1,
  AttemptEnded: 1,
  CancelRequested: 1,
  CommandConcluded: 1,
  HoldRequested: 1,
  ReleaseRequested: 1,
  CheckpointCommitted: 1,
  ProgressObserved: 1,
  DrillConcluded: 1,
  Ticked: 1,
  WorkloadAdmitted: 1,
  WorkloadHeld: 1,
  WorkloadRefused: 1,
  EstimateOverran: 1,
  CommandIssued: 1,
  AttemptStopped: 1,
  LeaseShrunk: 1,
  WorkloadCancelled: 1,
  PreemptionDecided: 1,
  PlaceReleased: 1,
  WorkloadPromoted: 1,
  LeaseIdled: 1,
  BudgetChanged: 1,
  GrantLapsed: 1,
}

/** The workload that a decision is about; null: it is about none. */
export const workloadOf = ({ data }: CellDecision): string | null => ('workload' in data ? data.workload : null)

const inputTypes: ReadonlySet<string> = new Set<CellInput['type']>([
  'NodeRegistered',
  'NodeHealthChanged',
  'PolicyActivated',
  'WorkloadSubmitted',
  'AttemptEnded',
  'CancelRequested',
  'CommandConcluded',
  'HoldRequested',
  'ReleaseRequested',
  'CheckpointCommitted',
  'ProgressObserved',
  'DrillConcluded',
  'Ticked',
])
export const isInput = (event: CellEvent): event is CellInput => inputTypes.has(event.type)
