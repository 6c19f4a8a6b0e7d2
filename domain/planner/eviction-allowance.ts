import type { EpochMs } from '../kernel/units.ts'
import { limitsOf } from '../policy/allocation-policy.ts'
import type { LimitsPolicy } from '../policy/contract-policy.ts'
import type { Cell } from './cell.ts'

/** How many more may be evicted at one instant, by the policy's limits: those that a pass decides on count as they come. */
export class EvictionAllowance {
  private readonly cell: Cell
  private readonly at: EpochMs
  private readonly limits: LimitsPolicy
  private evictions = 0
  private readonly ofTeam = new Map<string, number>()

  constructor(cell: Cell, at: EpochMs) {
    this.cell = cell
    this.at = at
    this.limits = limitsOf(cell.policy)
  }

  get leftOfCell(): number {
    return this.cell.evictionLimits.leftOfCell(this.at, this.limits.evictionsPerMinute) - this.evictions
  }

  leftOfTeam(team: string): number {
    const left = this.cell.evictionLimits.leftOfTeam(team, this.at, this.limits.preemptionsPerTeamHour)
    return left - this.evictedOf(team)
  }

  /** When the team's next may be evicted; null: at once, or never. */
  teamRetryAt(team: string): EpochMs | null {
    const { preemptionsPerTeamHour } = this.limits
    return this.cell.evictionLimits.teamRetryAt(team, this.at, preemptionsPerTeamHour, this.evictedOf(team))
  }

  /** When the cell may see the next; null: at once, or never. */
  get cellRetryAt(): EpochMs | null {
    const { evictionsPerMinute } = this.limits
    return evictionsPerMinute === null
      ? null
      : this.cell.evictionLimits.cellRetryAt(this.at, evictionsPerMinute, this.evictions)
  }

  evict(team: string): void {
    this.evictions++
    this.ofTeam.set(team, this.evictedOf(team) + 1)
  }

  private evictedOf(team: string): number {
    return this.ofTeam.get(team) ?? 0
  }
}
