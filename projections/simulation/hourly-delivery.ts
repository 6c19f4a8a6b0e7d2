const hourMs = 3_600_000

/** What one budget held and was owed, hour by hour: milli-units x ms, exact below 2^53 in any window of 250 days of 10,000 devices. */
export class HourlyDelivery {
  private readonly held: number[] = []
  private readonly owed: number[] = []

  /** @param heldRate milli-units, and so `owedRate`: both as they were from one instant to the other */
  add(from: number, to: number, heldRate: number, owedRate: number): void {
    for (let at = from; at < to;) {
      const hour = Math.floor(at / hourMs)
      const end = Math.min(to, (hour + 1) * hourMs)
      this.held[hour] = (this.held[hour] ?? 0) + heldRate * (end - at)
      this.owed[hour] = (this.owed[hour] ?? 0) + owedRate * (end - at)
      at = end
    }
  }

  get total(): { readonly held: number; readonly owed: number } {
    return this.between(0, this.held.length)
  }

  /** @returns what of the time owed was held, the surplus of one hour making up for another's lack; null: nothing was owed */
  get delivered(): number | null {
    return ratioOf(this.total)
  }

  /**
   * The least that was delivered in any window of so many hours.
   * @param fromHour the first hour, counted from the beginning of time, with which a window may end
   */
  worst(hours: number, fromHour: number): number | null {
    let worst: number | null = null
    for (let end = Math.max(hours, fromHour); end <= this.held.length; end++) {
      const delivered = ratioOf(this.between(end - hours, end))
      if (delivered !== null && (worst === null || delivered < worst)) worst = delivered
    }
    return worst
  }

  private between(from: number, to: number): { readonly held: number; readonly owed: number } {
    let held = 0
    let owed = 0
    for (let hour = from; hour < to; hour++) {
      held += this.held[hour] ?? 0
      owed += this.owed[hour] ?? 0
    }
    return { held, owed }
  }
}

const ratioOf = ({ held, owed }: { readonly held: number; readonly owed: number }): number | null =>
  owed === 0 ? null : Math.min(held, owed) / owed
