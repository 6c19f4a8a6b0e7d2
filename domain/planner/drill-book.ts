import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { DrillConcluded } from './cell-event.ts'

type Drill = DrillConcluded['data']

/** What a drill is of. */
export interface Drilled {
  readonly team: string
  readonly terms: { readonly modelFamily: string | null }
}

interface Concluded {
  readonly drill: Drill
  readonly at: EpochMs
}

/** What the newest drill of each team and family showed. */
export class DrillBook {
  /** By team, then by family. */
  private readonly newest = new Map<string, Map<string | null, Concluded>>()

  conclude(drill: Drill, at: EpochMs): void {
    let ofTeam = this.newest.get(drill.team)
    if (ofTeam === undefined) this.newest.set(drill.team, (ofTeam = new Map<string | null, Concluded>()))
    const before = ofTeam.get(drill.modelFamily)
    // Told late, it says nothing of now.
    if (before === undefined || before.at <= at) ofTeam.set(drill.modelFamily, { drill, at })
  }

  /** Whether the newest one passed, not longer ago than it is valid. */
  passed(team: string, modelFamily: string | null, now: EpochMs, validMs: DurationMs): boolean {
    const newest = this.newest.get(team)?.get(modelFamily)
    return newest !== undefined && newest.drill.outcome === 'passed' && now - newest.at <= validMs
  }

  get all(): ReadonlyArray<Concluded> {
    return [...this.newest.values()].flatMap((ofTeam) => [...ofTeam.values()])
  }
}

/** A name is one line, and not empty. */
export const drillKey = (team: string, modelFamily: string | null): string => `${team}\n${modelFamily ?? ''}`
