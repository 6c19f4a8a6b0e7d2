import type { DurationMs } from '../kernel/units.ts'

/** Runs of one kind that are remembered; older ones are forgotten first. */
const keptMax = 256

interface Kept {
  /** In order of their ends. */
  readonly recent: number[]
  readonly sorted: number[]
}

/** How long runs took that ended by themselves: by class and team, and by class alone while a team has too few. */
export class DurationHistory {
  private readonly byKind = new Map<string, Kept>()

  add(kind: string, team: string, durationMs: number): void {
    this.keep(keyOf(kind, team), durationMs)
    this.keep(keyOf(kind, null), durationMs)
  }

  /**
   * The duration that so many per mille of such runs did not exceed, of those that ran longer than `beyondMs`; null:
   * none is known.
   */
  quantile(kind: string, team: string, perMille: number, beyondMs = 0): DurationMs | null {
    const own = this.byKind.get(keyOf(kind, team))
    const kept = own !== undefined && own.sorted.length >= enough ? own : this.byKind.get(keyOf(kind, null))
    if (kept === undefined) return null
    const from = placeOf(kept.sorted, beyondMs + 1)
    const count = kept.sorted.length - from
    if (count === 0) return null
    return kept.sorted[from + Math.min(count - 1, Math.floor((count * perMille) / 1000))]! as DurationMs
  }

  toJSON(): ReadonlyArray<readonly [string, ReadonlyArray<number>]> {
    return [...this.byKind].map(([key, { recent }]) => [key, recent])
  }

  restore(kinds: ReturnType<DurationHistory['toJSON']>): void {
    for (const [key, recent] of kinds) for (const duration of recent) this.keep(key, duration)
  }

  private keep(key: string, duration: number): void {
    let kept = this.byKind.get(key)
    if (kept === undefined) this.byKind.set(key, (kept = { recent: [], sorted: [] }))
    kept.recent.push(duration)
    kept.sorted.splice(placeOf(kept.sorted, duration), 0, duration)
    if (kept.recent.length <= keptMax) return
    const oldest = kept.recent.shift()!
    kept.sorted.splice(placeOf(kept.sorted, oldest), 1)
  }
}

/** Of a team's own runs. */
const enough = 8

/** A name is one line, and not empty. */
const keyOf = (kind: string, team: string | null): string => `${kind}\n${team ?? ''}`

/** The first place whose value is not below. */
const placeOf = (sorted: ReadonlyArray<number>, value: number): number => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
