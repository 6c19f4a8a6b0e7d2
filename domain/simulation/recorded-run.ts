import type { EpochMs } from '../kernel/units.ts'

/** What a trace says its own scheduler did with a job. It is for comparing; no decision reads it. */
export interface RecordedRun {
  readonly phase: string | null
  /** When it was given its devices; null: never, or not recorded. */
  readonly scheduledAt: EpochMs | null
}
