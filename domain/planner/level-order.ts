import type { Books } from './books.ts'

/** Nodes of the budget tree for whom something waits, in the order in which they are served as things stand. */
export class LevelOrder {
  private readonly books: Books
  private readonly waits = new Map<number, number>()
  /** Of what waits at a node and below. */
  private readonly oldest = new Map<number, number>()
  /** Where persons rank among all of them: the first of those at or below a node. */
  private readonly firstRank: ReadonlyMap<number, number> | null

  constructor(books: Books) {
    this.books = books
    for (const [person, lines] of books.lines)
      for (const line of lines)
        for (const node of books.upwards(person)) {
          this.waits.set(node, this.waiting(node) + line.size)
          this.oldest.set(node, Math.min(this.oldest.get(node) ?? Infinity, line.first!.seq))
        }
    this.firstRank = books.order.isFlat ? this.rankedFlat() : null
  }

  waiting(node: number): number {
    return this.waits.get(node) ?? 0
  }

  /** What is free is owed to none of those below for whom something waits. */
  isUnallocated(parent: number): boolean {
    return this.books.order.isUnallocated(parent, this.candidates(parent))
  }

  /** Children of the node, the next one first. */
  ranked(parent: number): ReadonlyArray<number> {
    const { firstRank } = this
    if (firstRank !== null) return this.candidates(parent).sort((a, b) => firstRank.get(a)! - firstRank.get(b)!)
    const byCredit = this.isUnallocated(parent)
    return this.candidates(parent).sort((a, b) => this.compare(a, b, byCredit))
  }

  private candidates(parent: number): number[] {
    return this.books.ledger.children(parent).filter((child) => this.waits.has(child))
  }

  private compare(a: number, b: number, byCredit: boolean): number {
    const { ledger, order } = this.books
    return (
      (byCredit ? ledger.compareCredit(a, b) : 0) ||
      order.compare(a, b) ||
      this.oldest.get(a)! - this.oldest.get(b)! ||
      (ledger.path(a) < ledger.path(b) ? -1 : 1)
    )
  }

  private rankedFlat(): ReadonlyMap<number, number> {
    const first = new Map<number, number>()
    const persons = [...this.books.lines.keys()].sort((a, b) => this.compare(a, b, false))
    for (const [rank, person] of persons.entries())
      for (const node of this.books.upwards(person)) if (!first.has(node)) first.set(node, rank)
    return first
  }
}
