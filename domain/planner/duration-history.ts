import type { DurationMs } from '../kernel/units.ts'
import { RecentByKind } from './recent-values.ts'

/** How long runs took that ended by themselves: by class and team, and by class alone while a team has too few. */
export class DurationHistory {
  private readonly kept = new RecentByKind(enough)

  add(kind: string, team: string, durationMs: number): void {
    this.kept.add(keyOf(kind, team), durationMs)
    this.kept.add(keyOf(kind, null), durationMs)
  }

  /**
   * The duration that so many per mille of such runs did not exceed, of those that ran longer than `beyondMs`; null:
   * none is known.
   */
  quantile(kind: string, team: string, perMille: number, beyondMs = 0): DurationMs | null {
    const own = this.kept.of(keyOf(kind, team))
    const kept = own !== undefined && own.sorted.length >= enough ? own : this.kept.of(keyOf(kind, null))
    if (kept === undefined) return null
    const from = kept.firstNotBelow(beyondMs + 1)
    const count = kept.sorted.length - from
    if (count === 0) return null
    return kept.sorted[from + Math.min(count - 1, Math.floor((count * perMille) / 1000))]! as DurationMs
  }

  toJSON(): ReturnType<RecentByKind['toJSON']> {
    return this.kept.toJSON()
  }

  restore(kinds: ReturnType<DurationHistory['toJSON']>): void {
    this.kept.restore(kinds)
  }
}

/** Of a team's own runs. */
const enough = 8

/** A name is one line, and not empty. */
const keyOf = (kind: string, team: string | null): string => `${kind}\n${team ?? ''}`
