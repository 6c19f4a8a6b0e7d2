/** A binary heap: the least item first, by a number that each item carries. */
export class Heap<A> {
  private readonly items: A[] = []
  private readonly rank: (item: A) => number

  constructor(rank: (item: A) => number) {
    this.rank = rank
  }

  get size(): number {
    return this.items.length
  }

  get least(): A | undefined {
    return this.items[0]
  }

  push(item: A): void {
    const { items, rank } = this
    let at = items.length
    items.push(item)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (rank(items[parent]!) <= rank(item)) break
      items[at] = items[parent]!
      at = parent
    }
    items[at] = item
  }

  pop(): A | undefined {
    const { items, rank } = this
    const least = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return least
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= items.length) break
      if (child + 1 < items.length && rank(items[child + 1]!) < rank(items[child]!)) child++
      if (rank(items[child]!) >= rank(last)) break
      items[at] = items[child]!
      at = child
    }
    items[at] = last
    return least
  }
}
