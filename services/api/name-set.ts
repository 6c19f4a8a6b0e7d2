import { randomBytes } from 'node:crypto'

/**
 * Names that were ever seen, in 8 bytes each to twice that: of each a number of 53 bits is kept, mixed with a seed of
 * this process. Two names of one number are taken for one; among ten million that is likely once in 200 such sets.
 */
export class NameSet {
  private slots = new Float64Array(1_024)
  private count = 0
  private readonly seeds = new Uint32Array(randomBytes(8).buffer.slice(0, 8))

  get size(): number {
    return this.count
  }

  has(name: string): boolean {
    return this.slots[this.slotOf(this.numberOf(name))] !== 0
  }

  add(name: string): void {
    const number = this.numberOf(name)
    const slot = this.slotOf(number)
    if (this.slots[slot] !== 0) return
    this.slots[slot] = number
    if (++this.count * 2 > this.slots.length) this.grow()
  }

  private grow(): void {
    const old = this.slots
    this.slots = new Float64Array(2 * old.length)
    for (const number of old) if (number !== 0) this.slots[this.slotOf(number)] = number
  }

  /** Where the number is, or would be put. */
  private slotOf(number: number): number {
    const mask = this.slots.length - 1
    let slot = number & mask
    while (this.slots[slot] !== 0 && this.slots[slot] !== number) slot = (slot + 1) & mask
    return slot
  }

  private numberOf(name: string): number {
    let low = this.seeds[0]!
    let high = this.seeds[1]!
    for (let i = 0; i < name.length; i++) {
      const unit = name.charCodeAt(i)
      low = Math.imul(low ^ unit, 0x9e3779b1)
      low ^= low >>> 15
      high = Math.imul(high ^ unit, 0x85ebca6b)
      high ^= high >>> 13
    }
    // Zero stands for a free slot.
    return (high >>> 11) * 2 ** 32 + (low >>> 0) || 1
  }
}
