import type { VictimOption } from './victim-option.ts'

/** How much may still be taken from whom, while a set of victims is put together. */
export interface Room {
  /** Nothing has been taken yet. */
  readonly reset: () => void
  /** @param before what the same victim gives already, which this replaces */
  readonly allows: (option: VictimOption, before?: VictimOption) => boolean
  readonly take: (option: VictimOption, before?: VictimOption) => void
}

/** What the policy's limits leave: evictions of each team and of the cell, and work lost by one decision. */
export interface RoomLimits {
  readonly teamLeft: (team: string) => number
  readonly cellLeft: number
  readonly lossMax: number
}

/** Room as far as limits bound it. Whoever only shrinks is not evicted. */
export class EvictionRoom implements Room {
  private readonly limits: RoomLimits
  private readonly ofTeam = new Map<string, number>()
  private stops = 0
  private loss = 0

  constructor(limits: RoomLimits) {
    this.limits = limits
  }

  reset(): void {
    this.ofTeam.clear()
    this.stops = 0
    this.loss = 0
  }

  allows({ workload, keeps, loss }: VictimOption): boolean {
    const { cellLeft, lossMax, teamLeft } = this.limits
    if (keeps !== null) return true
    if (this.stops >= cellLeft || this.loss + loss > lossMax) return false
    return (this.ofTeam.get(workload.team) ?? 0) < teamLeft(workload.team)
  }

  take({ workload, keeps, loss }: VictimOption): void {
    if (keeps !== null) return
    this.stops++
    this.loss += loss
    this.ofTeam.set(workload.team, (this.ofTeam.get(workload.team) ?? 0) + 1)
  }
}
