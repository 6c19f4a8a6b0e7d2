import type { Placement } from '../fleet/fleet.ts'
import type { Shape } from '../fleet/shape.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { Line } from './line.ts'
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
  attempt: number
  /** While it waits. */
  hold: Hold | null
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

export interface Run {
  readonly startedAt: EpochMs
  readonly expectedEndAt: EpochMs | null
  readonly parts: Placement['parts']
}
