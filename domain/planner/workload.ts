import type { Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { WorkloadTerms } from '../workload/terms.ts'
import type { Account } from './books.ts'
import type { CommandIssued } from './cell-event.ts'
import type { Line } from './line.ts'
import type { Projected } from './projected-start.ts'
import type { WaitingQueue } from './waiting-queue.ts'
import type { ReasonCode } from './reason-code.ts'

/** A workload that waits or runs, as its cell keeps it. The cell owns it and changes it. */
export interface Workload {
  readonly id: string
  /** Order of submission in the cell. */
  readonly seq: number
  readonly class: string
  readonly team: string
  readonly shape: Shape
  readonly queue: WaitingQueue
  readonly estimateMs: DurationMs | null
  readonly submittedAt: EpochMs
  readonly terms: WorkloadTerms
  /** Where its time is charged; null: nobody keeps books, or they have no place for it. */
  account: Account | null
  /** When it came into its queue for the last time, and how long it had waited before that. */
  queuedAt: EpochMs
  waitedBeforeMs: DurationMs
  /** Since when it could have started: it came into its queue, or was let go by who held it back. */
  wantsSince: EpochMs
  attempt: number
  /** A checkpoint was made when it was asked for: the next attempt goes on from there. */
  checkpointed: boolean
  /** Its attempt does. */
  resumes: boolean
  startsFailed: number
  lastFailedStart: FailedStart | null
  /** Somebody wants it to wait. */
  onHold: boolean
  /** Of its attempts, so many made room for others. */
  preemptions: number
  /** It was said that it is no victim any more. */
  promoted: boolean
  /** Others were asked to make room for it since it waits: they may leave after its place was given up, too. */
  roomMade: boolean
  /** While it waits. */
  hold: Hold | null
  /** What it was told when it was held first, since it waits. */
  projected: Projected | null
  previous: Workload | null
  next: Workload | null
  line: Line | null
  slot: number
  /** While it runs. */
  run: Run | null
}

export interface Hold {
  readonly code: ReasonCode
  readonly rule: string
  readonly behind: string | null
  readonly since: EpochMs
  readonly projectedStartAt: EpochMs | null
}

/** A start that failed, or was refused, as the adapter said. */
export interface FailedStart {
  readonly at: EpochMs
  /** Null: it gave none. */
  readonly reason: string | null
}

export interface Run {
  readonly startedAt: EpochMs
  readonly expectedEndAt: EpochMs | null
  readonly parts: Placement['parts']
  /** Admitted where the pool was automated: an adapter is asked to start it. */
  readonly commanded: boolean
  /** The adapter has said that it started. */
  readonly confirmed: boolean
  /** When it did: from then on it is protected, and its work may be lost. Without an adapter, when it was admitted. */
  readonly confirmedAt: EpochMs | null
  /** Newest durable checkpoint of this attempt, and newest sign of progress. */
  readonly checkpointAt: EpochMs | null
  readonly progressAt: EpochMs | null
  /** Counts as idle. */
  readonly idle: boolean
  /** Others were made to make room for it. */
  readonly preempted: boolean
  /** It has to leave by then. */
  readonly limitAt: EpochMs | null
  /** What the adapter has been asked to do with it since, and has not concluded. */
  readonly open: OpenCommand | null
  /** Commands after the start, so that each has a number of its own. */
  readonly issued: number
  /** Were asked for on this attempt already, and are not asked for again. */
  readonly tried: ReadonlyArray<'checkpoint' | 'shrink'>
}

export type OpenCommand = CommandIssued['data'] & { readonly issuedAt: EpochMs }

/** How long it has waited by then, in all: while it ran it did not. */
export const waitedBy = ({ queuedAt, run, waitedBeforeMs }: Workload, now: EpochMs): DurationMs =>
  (waitedBeforeMs + Math.max(0, (run?.startedAt ?? now) - queuedAt)) as DurationMs

/** Id of the command by which its attempt starts. */
export const startCommandOf = ({ id, attempt, resumes }: Pick<Workload, 'id' | 'attempt' | 'resumes'>): string =>
  `${id}/${attempt}/${resumes ? 'resume' : 'start'}`

/** The job was ended by our own order to leave: it has not failed. */
export const endedByEviction = ({ run }: Workload, outcome: 'succeeded' | 'failed'): boolean =>
  outcome === 'failed' && run?.open?.verb === 'evict'
