/** Values of one kind that are remembered; older ones are forgotten first. */
const keptMax = 256

/** The last values of a kind: in the order in which they came, and by size. */
export class RecentValues {
  readonly recent: number[] = []
  readonly sorted: number[] = []

  add(value: number): void {
    this.recent.push(value)
    this.sorted.splice(this.firstNotBelow(value), 0, value)
    if (this.recent.length > keptMax) this.sorted.splice(this.firstNotBelow(this.recent.shift()!), 1)
  }

  /** The first place by size whose value is not below; how many there are if all of them are. */
  firstNotBelow(value: number): number {
    const { sorted } = this
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (sorted[middle]! < value) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** By a key of each kind. */
export class RecentByKind {
  private readonly byKind = new Map<string, RecentValues>()
  private readonly enough: number
  /** Kinds of which enough is remembered: none has less again. */
  ample = 0

  /** @param enough values of one kind that are some to go by */
  constructor(enough: number) {
    this.enough = enough
  }

  of(kind: string): RecentValues | undefined {
    return this.byKind.get(kind)
  }

  add(kind: string, value: number): void {
    let kept = this.byKind.get(kind)
    if (kept === undefined) this.byKind.set(kind, (kept = new RecentValues()))
    const before = kept.sorted.length
    kept.add(value)
    if (before < this.enough && kept.sorted.length >= this.enough) this.ample++
  }

  toJSON(): ReadonlyArray<readonly [string, ReadonlyArray<number>]> {
    return [...this.byKind].map(([kind, { recent }]) => [kind, [...recent]])
  }

  restore(kinds: ReturnType<RecentByKind['toJSON']>): void {
    for (const [kind, recent] of kinds) for (const value of recent) this.add(kind, value)
  }
}
