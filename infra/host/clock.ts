import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Clock } from '../../domain/ports/clock.ts'

export const systemClock: Clock = { now: () => Date.now() as EpochMs }
