import type { EpochMs } from '../kernel/units.ts'

/** What a trace says of a job beyond what was asked for. It is for counting and comparing; no decision reads it. */
export interface RecordedRun {
  /** The models that will do, as they are written: with repeats, in their own order. */
  readonly models: string | null
  readonly phase: string | null
  /** When it was given its devices; null: never, or not recorded. */
  readonly scheduledAt: EpochMs | null
}
