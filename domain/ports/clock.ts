import type { EpochMs } from '../kernel/units.ts'

export interface Clock {
  readonly now: () => EpochMs
}
