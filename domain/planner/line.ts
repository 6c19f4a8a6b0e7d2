import type { Shape } from '../fleet/shape.ts'
import { assert } from '../kernel/decider.ts'
import type { WaitKeys } from './wait-keys.ts'
import type { Workload } from './workload.ts'

/**
 * Workloads of one queue that ask for the same, in order of submission. The first that ends soon enough is found in
 * O(log members) by a tree of least estimates, which is only grown when somebody asks.
 */
export class Line {
  readonly shape: Shape
  /** What its members have in common besides. */
  readonly key: string | number
  /** Kinds of work that all members are of, where members of a line have their class in common. */
  readonly kinds: ReadonlyArray<string>
  /** Whether its members count as demand. */
  isDemand = true
  /** What its members' waits are remembered under, once somebody has asked. */
  waits: WaitKeys | null = null
  private members: (Workload | null)[] = []
  private begin = 0
  private live = 0
  /** Leaves of the tree; 0: there is none. */
  private room = 0
  private least = new Float64Array(0)

  constructor(shape: Shape, key: string | number, kinds: ReadonlyArray<string> = []) {
    this.shape = shape
    this.kinds = kinds
    this.key = key
  }

  get size(): number {
    return this.live
  }

  get first(): Workload | null {
    return this.atOrAfter(this.begin)
  }

  add(workload: Workload): void {
    if (this.members.length > closeUpMin && this.live * 2 < this.members.length) this.closeUp()
    workload.line = this
    this.live++
    if ((this.last?.seq ?? -1) > workload.seq) {
      this.insert(workload)
      return
    }
    workload.slot = this.members.length
    this.members.push(workload)
    if (workload.slot >= this.room) this.room = 0
    else this.setEstimate(workload.slot, estimateOf(workload))
  }

  remove(workload: Workload): void {
    assert(workload.line === this && this.members[workload.slot] === workload, 'a workload leaves the line it is in')
    this.members[workload.slot] = null
    if (this.room > 0) this.setEstimate(workload.slot, Infinity)
    this.live--
    workload.line = null
    while (this.begin < this.members.length && this.members[this.begin] === null) this.begin++
  }

  /** The first member at this slot or behind it. */
  atOrAfter(slot: number): Workload | null {
    const { members } = this
    for (let i = Math.max(slot, this.begin); i < members.length; i++) {
      const member = members[i]
      if (member != null) return member
    }
    return null
  }

  /** Adds the first so many members to a list. */
  gather(into: Workload[], count: number): void {
    const { begin, members } = this
    for (let i = begin, left = count; left > 0 && i < members.length; i++) {
      const member = members[i]
      if (member == null) continue
      into.push(member)
      left--
    }
  }

  /** How many members stand before one of them. */
  countBefore({ slot }: Workload): number {
    return this.countUpTo(slot)
  }

  /** How many members pass, where all who do stand before all who do not. */
  countWhile(passes: (member: Workload) => boolean): number {
    const { members } = this
    let low = this.begin
    let high = members.length
    while (low < high) {
      const middle = (low + high) >> 1
      let at = middle
      while (at < high && members[at] === null) at++
      if (at === high) high = middle
      else if (passes(members[at]!)) low = at + 1
      else high = middle
    }
    return this.countUpTo(low)
  }

  /** The first member at this slot or behind it that is expected to run no longer than `limitMs`. */
  endingWithin(slot: number, limitMs: number): Workload | null {
    if (slot >= this.members.length) return null
    if (this.room === 0) this.growTree()
    const { least, room } = this
    let i = slot + room
    for (;;) {
      if (least[i]! <= limitMs) {
        if (i >= room) return this.members[i - room]!
        i *= 2
        continue
      }
      while (i & 1) i >>= 1
      if (i === 0) return null
      i += 1
    }
  }

  /** How many members there are before a slot. */
  private countUpTo(slot: number): number {
    const { begin, members } = this
    if (this.live === members.length - begin) return slot - begin
    let count = 0
    for (let i = begin; i < slot; i++) if (members[i] !== null) count++
    return count
  }

  private get last(): Workload | null {
    for (let i = this.members.length - 1; i >= this.begin; i--) if (this.members[i] != null) return this.members[i]!
    return null
  }

  /** Between those submitted before it and those after. */
  private insert(workload: Workload): void {
    const at = this.members.findIndex((member) => member !== null && member.seq > workload.seq)
    this.members.splice(at, 0, workload)
    this.closeUp()
  }

  private setEstimate(slot: number, estimate: number): void {
    const { least } = this
    let i = slot + this.room
    least[i] = estimate
    for (i >>= 1; i >= 1; i >>= 1) {
      const lower = Math.min(least[2 * i]!, least[2 * i + 1]!)
      if (least[i] === lower) return
      least[i] = lower
    }
  }

  /** Drops the gaps that left members made, also those behind one that stays. */
  private closeUp(): void {
    this.members = this.members.filter((member) => member !== null)
    this.begin = 0
    this.room = 0
    this.members.forEach((member, slot) => (member!.slot = slot))
  }

  private growTree(): void {
    this.room = 8
    while (this.room < 2 * this.members.length) this.room *= 2
    this.least = new Float64Array(2 * this.room).fill(Infinity)
    this.members.forEach((member, slot) => {
      if (member !== null) this.least[this.room + slot] = estimateOf(member)
    })
    for (let i = this.room - 1; i >= 1; i--) this.least[i] = Math.min(this.least[2 * i]!, this.least[2 * i + 1]!)
  }
}

/** Fewer places than this are not worth the work. */
const closeUpMin = 32

/** Unknown is for ever: it never ends soon enough. */
const estimateOf = (workload: Workload): number => workload.estimateMs ?? Number.MAX_VALUE
