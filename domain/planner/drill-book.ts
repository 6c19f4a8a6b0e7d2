import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { DrillConcluded } from './cell-event.ts'

type Drill = DrillConcluded['data']

/** What a drill is of. */
export interface Drilled {
  readonly team: string
  readonly terms: { readonly modelFamily: string | null }
}

/** What the newest drill of each team and family showed. */
export class DrillBook {
  private readonly newest = new Map<string, { readonly drill: Drill; readonly at: EpochMs }>()

  conclude(drill: Drill, at: EpochMs): void {
    const key = drillKey(drill.team, drill.modelFamily)
    const before = this.newest.get(key)
    // Told late, it says nothing of now.
    if (before === undefined || before.at <= at) this.newest.set(key, { drill, at })
  }

  /** Whether the newest one passed, not longer ago than it is valid. */
  passed(team: string, modelFamily: string | null, now: EpochMs, validMs: DurationMs): boolean {
    const newest = this.newest.get(drillKey(team, modelFamily))
    return newest !== undefined && newest.drill.outcome === 'passed' && now - newest.at <= validMs
  }

  get all(): ReadonlyArray<{ readonly drill: Drill; readonly at: EpochMs }> {
    return [...this.newest.values()]
  }
}

/** A name is one line, and not empty. */
export const drillKey = (team: string, modelFamily: string | null): string => `${team}\n${modelFamily ?? ''}`
