import type { EpochMs } from '../kernel/units.ts'

const hourMs = 3_600_000
const minuteMs = 60_000

/** Who was evicted lately, oldest first, as far back as a limit looks. */
export class EvictionLimits {
  private readonly byTeam = new Map<string, number[]>()
  private ofCell: number[] = []

  charge(team: string, at: EpochMs): void {
    const charged = this.byTeam.get(team) ?? []
    this.byTeam.set(team, [...charged.filter((then) => then > at - hourMs), at])
    this.ofCell = [...this.ofCell.filter((then) => then > at - minuteMs), at]
  }

  /** How many more of the team may be evicted, of so many in an hour. */
  leftOfTeam(team: string, at: EpochMs, perHour: number | null): number {
    if (perHour === null) return Infinity
    return perHour - (this.byTeam.get(team) ?? []).filter((then) => then > at - hourMs).length
  }

  /** How many more evictions the cell may see, of so many in a minute. */
  leftOfCell(at: EpochMs, perMinute: number | null): number {
    return perMinute === null ? Infinity : perMinute - this.ofCell.filter((then) => then > at - minuteMs).length
  }

  /** When a team's next may be evicted, after `now` more of them now; null: at once, or never. */
  teamRetryAt(team: string, at: EpochMs, perHour: number | null, now = 0): EpochMs | null {
    const before = (this.byTeam.get(team) ?? []).filter((then) => then > at - hourMs)
    const live = [...before, ...new Array<EpochMs>(now).fill(at)]
    if (perHour === null || perHour === 0 || live.length < perHour) return null
    return (live[live.length - perHour]! + hourMs) as EpochMs
  }

  /** When the cell may see its next one, after so many more than are charged. */
  cellRetryAt(at: EpochMs, perMinute: number, more: number): EpochMs | null {
    if (perMinute === 0) return null
    const live = this.ofCell.filter((then) => then > at - minuteMs)
    const free = live[live.length + more - perMinute] ?? at
    return (free + minuteMs) as EpochMs
  }

  toJSON(): {
    readonly teams: ReadonlyArray<readonly [string, ReadonlyArray<number>]>
    readonly cell: ReadonlyArray<number>
  } {
    return { teams: [...this.byTeam], cell: this.ofCell }
  }

  restore({ teams, cell }: ReturnType<EvictionLimits['toJSON']>): void {
    for (const [team, times] of teams) this.byTeam.set(team, [...times])
    this.ofCell = [...cell]
  }
}
