/** Sums by key, and the largest of them: looked for again only when it shrinks. */
export class LargestSum {
  private readonly sums = new Map<string | number, number>()
  private most = 0

  get largest(): number {
    return this.most
  }

  add(key: string | number, difference: number): void {
    if (difference === 0) return
    const before = this.sums.get(key) ?? 0
    const after = before + difference
    this.sums.set(key, after)
    if (after >= this.most) this.most = after
    else if (before === this.most) {
      this.most = 0
      for (const sum of this.sums.values()) if (sum > this.most) this.most = sum
    }
  }
}
