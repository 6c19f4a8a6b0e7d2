import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { LeasePart } from './cell-event.ts'

export const commandVerbs = ['start', 'resume', 'checkpoint', 'shrink', 'evict', 'cancel'] as const
/**
 * `start` from the beginning; `resume` from the last checkpoint; `checkpoint` now, and go on; `shrink` to fewer devices;
 * `evict`: stop within its grace period, to run again later; `cancel`: stop for good.
 */
export type CommandVerb = (typeof commandVerbs)[number]

export const commandOutcomes = ['done', 'failed', 'refused', 'expired'] as const
export type CommandOutcome = (typeof commandOutcomes)[number]

export const commandCauses = [
  'admitted',
  'cancel-requested',
  'node-draining',
  'node-failed',
  'preempted',
  'start-expired',
  'stop-expired',
  'time-limit',
] as const
export type CommandCause = (typeof commandCauses)[number]

/**
 * What an adapter is asked to do. The same `command` again is the same command again, and has its effect once. Durations
 * and instants in ms.
 */
export interface Command {
  readonly command: string
  readonly verb: CommandVerb
  readonly cell: string
  readonly workload: string
  readonly attempt: number
  readonly because: CommandCause
  readonly issuedAt: EpochMs
  /** When its outcome is due. */
  readonly deadlineAt: EpochMs
  /** Between asking the attempt to stop and ending it by force. */
  readonly graceMs: DurationMs
  /** What it holds; for `shrink`, what it is to keep. */
  readonly lease: ReadonlyArray<LeasePart>
  readonly team: string
  readonly class: string
  /** How long it is expected to run; null: unknown. */
  readonly estimateMs: DurationMs | null
}
