import { assert } from '../kernel/decider.ts'

/** Knows where in its heap it is; -1: in none. */
export interface Placed {
  place: number
}

/** A binary heap whose members may leave it or change their order: the first of them at once, a change in O(log n). */
export class SiblingHeap<A extends Placed> {
  private readonly members: A[] = []
  private readonly before: (a: A, b: A) => boolean

  /** @param before a total order: of two members one is before the other */
  constructor(before: (a: A, b: A) => boolean) {
    this.before = before
  }

  get size(): number {
    return this.members.length
  }

  get first(): A | undefined {
    return this.members[0]
  }

  /** All of them, in order. */
  sorted(): ReadonlyArray<A> {
    return this.members.toSorted((a, b) => (this.before(a, b) ? -1 : 1))
  }

  add(member: A): void {
    assert(member.place < 0, 'a member is in a heap once')
    this.members.push(member)
    this.rise(member, this.members.length - 1)
  }

  remove(member: A): void {
    assert(this.members[member.place] === member, 'who leaves a heap is in it')
    const { place } = member
    const last = this.members.pop()!
    member.place = -1
    if (last === member) return
    last.place = place
    this.members[place] = last
    this.moved(last)
  }

  /** To be told after the order of any number of members has changed. */
  reordered(): void {
    this.members.sort((a, b) => (this.before(a, b) ? -1 : 1))
    this.members.forEach((member, place) => (member.place = place))
  }

  /** To be told after a member's order has changed, one member at a time. */
  moved(member: A): void {
    this.rise(member, member.place)
    this.sink(member, member.place)
  }

  private rise(member: A, from: number): void {
    const { members, before } = this
    let at = from
    while (at > 0) {
      const parent = members[(at - 1) >> 1]!
      if (!before(member, parent)) break
      members[at] = parent
      parent.place = at
      at = (at - 1) >> 1
    }
    members[at] = member
    member.place = at
  }

  private sink(member: A, from: number): void {
    const { members, before } = this
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= members.length) break
      if (child + 1 < members.length && before(members[child + 1]!, members[child]!)) child++
      const first = members[child]!
      if (!before(first, member)) break
      members[at] = first
      first.place = at
      at = child
    }
    members[at] = member
    member.place = at
  }
}
