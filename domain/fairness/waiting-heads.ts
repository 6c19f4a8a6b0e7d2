import { bySeniority, type Candidate } from './candidate.ts'
import { SiblingHeap, type Placed } from './sibling-heap.ts'

interface Party extends Placed {
  readonly name: string
  head: Candidate
}

/**
 * Parties that have something waiting, each with what it would start first: those with the better claim come first, and
 * of equal claims the senior head. A change of one party costs O(log parties).
 */
export class WaitingHeads {
  private readonly parties = new Map<string, Party>()
  private readonly heap: SiblingHeap<Party>

  /** @param compareClaims below 0: the first has the better claim. It changes only where that is told below. */
  constructor(compareClaims: (a: string, b: string) => number) {
    this.heap = new SiblingHeap((a, b) => (compareClaims(a.name, b.name) || bySeniority(a.head, b.head)) < 0)
  }

  get next(): string | null {
    return this.heap.first?.name ?? null
  }

  /** All of them, in order. */
  get sorted(): ReadonlyArray<string> {
    return this.heap.sorted().map(({ name }) => name)
  }

  /** @param head null: nothing waits there any more */
  set(name: string, head: Candidate | null): void {
    const party = this.parties.get(name)
    if (head === null) {
      if (party === undefined) return
      this.heap.remove(party)
      this.parties.delete(name)
    } else if (party === undefined) {
      const added: Party = { name, head, place: -1 }
      this.parties.set(name, added)
      this.heap.add(added)
    } else {
      party.head = head
      this.heap.moved(party)
    }
  }

  /** The claim of one has changed. */
  moved(name: string): void {
    const party = this.parties.get(name)
    if (party !== undefined) this.heap.moved(party)
  }

  /** Claims of any number of them have changed. */
  reordered(): void {
    this.heap.reordered()
  }
}
