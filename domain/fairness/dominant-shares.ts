import { assert } from '../kernel/decider.ts'
import { compareFractions, fraction, nothing, type Fraction } from './fraction.ts'
import { SiblingHeap, type Placed } from './sibling-heap.ts'

/** Plain data. Who waits is not in it. */
export interface DominantSharesSnapshot {
  /** In order of their paths. */
  readonly weights: ReadonlyArray<readonly [path: string, weightMilli: number]>
  readonly clients: ReadonlyArray<{
    readonly path: string
    readonly held: ReadonlyArray<number>
    /** How often something was given to it. */
    readonly given: number
  }>
}

/** A level of a path, or what the client at a path holds itself: that is a child of it, without a name. */
interface Branch extends Placed {
  readonly name: string
  readonly path: string
  readonly parent: Branch | null
  readonly children: Map<string, Branch>
  /** Those below which somebody waits. */
  readonly waiting: SiblingHeap<Branch>
  readonly held: number[]
  /** How often something was given to it or below it. */
  given: number
  weightMilli: number
  /** Where the weight is 0: without it. */
  share: Fraction
}

/**
 * Weighted dominant shares of clients in a tree of paths such as `a/b`; who is served next is the one with the lowest,
 * level by level. A client that has others below it competes with them by what it holds itself, with the usual weight.
 * An event costs O(depth x (resources + log siblings)). Changes in place.
 * @see Ghodsi et al., Dominant Resource Fairness, NSDI 2011
 */
export class DominantShares {
  private total: ReadonlyArray<number>
  private readonly root: Branch
  private readonly clients = new Map<string, Branch>()

  /** @param total installed, whole numbers, shape [resources]; of a resource with 0 nobody has a share */
  constructor(total: ReadonlyArray<number>, from?: DominantSharesSnapshot) {
    this.total = total
    this.root = newBranch('', '', null, total.length)
    for (const { path, held, given } of from?.clients ?? []) {
      this.add(path)
      this.change(this.client(path), held, 1, given)
    }
    for (const [path, weightMilli] of from?.weights ?? []) this.setWeight(path, weightMilli)
  }

  has(path: string): boolean {
    return this.clients.has(path)
  }

  /** Whether there is a client at the path or below it. */
  hasLevel(path: string): boolean {
    return this.find(path) !== undefined
  }

  add(path: string): void {
    assert(!this.clients.has(path), `${path} is no client yet`)
    const level = this.level(path)
    const client = newBranch('', path, level, this.total.length)
    level.children.set('', client)
    this.clients.set(path, client)
  }

  /** With all it holds. */
  remove(path: string): void {
    this.setWaiting(path, false)
    const client = this.client(path)
    this.change(client, client.held.slice(), -1, -client.given)
    this.clients.delete(path)
    for (let at = client; at.parent !== null && at.children.size === 0; at = at.parent)
      at.parent.children.delete(at.name)
  }

  /** Of a client with all below it, or of a level that is no client. @param weightMilli 0: after all that have one */
  setWeight(path: string, weightMilli: number): void {
    assert(Number.isSafeInteger(weightMilli) && weightMilli >= 0, 'a weight is a natural number of thousandths')
    const branch = this.level(path)
    branch.weightMilli = weightMilli
    this.refresh(branch)
  }

  /** Costs a visit to every node. */
  setTotal(total: ReadonlyArray<number>): void {
    assert(total.length === this.total.length, 'resources stay the same')
    this.total = total
    const visit = (branch: Branch): void => {
      branch.children.forEach(visit)
      if (branch !== this.root) this.refresh(branch)
    }
    visit(this.root)
  }

  /** @param amounts whole numbers, shape [resources] */
  started(path: string, amounts: ReadonlyArray<number>): void {
    this.change(this.client(path), amounts, 1, 1)
  }

  /** Takes `started` back, as if it had not been. */
  undone(path: string, amounts: ReadonlyArray<number>): void {
    this.change(this.client(path), amounts, -1, -1)
  }

  /** That something was given still counts. */
  ended(path: string, amounts: ReadonlyArray<number>): void {
    this.change(this.client(path), amounts, -1, 0)
  }

  /** Whether it takes part in `next`. */
  setWaiting(path: string, waits: boolean): void {
    let branch = this.client(path)
    if (branch.place >= 0 === waits) return
    for (let parent = branch.parent; parent !== null; branch = parent, parent = branch.parent) {
      const others = parent.waiting.size
      if (waits) parent.waiting.add(branch)
      else parent.waiting.remove(branch)
      if (others > (waits ? 0 : 1)) return
    }
  }

  /** Of those that wait; on a tie the one that was given less often, then by path. Null: nobody waits. */
  get next(): string | null {
    let at = this.root
    for (let first = at.waiting.first; first !== undefined; first = at.waiting.first) at = first
    return at === this.root ? null : at.path
  }

  /** All that wait, from the first, as they stand when they are reached. */
  *inOrder(): Generator<string> {
    yield* below(this.root)
  }

  /** Of a client or a level, with all below it, over its weight; with a weight of 0 as if it were 1. */
  shareOf(path: string): Fraction {
    return this.known(path).share
  }

  /** With all below it, shape [resources]. */
  heldBy(path: string): ReadonlyArray<number> {
    return this.known(path).held
  }

  snapshot(): DominantSharesSnapshot {
    const weights: (readonly [string, number])[] = []
    const visit = (branch: Branch): void => {
      if (branch.weightMilli !== usualWeight) weights.push([branch.path, branch.weightMilli])
      branch.children.forEach(visit)
    }
    visit(this.root)
    const clients = [...this.clients].map(([path, { held, given }]) => ({ path, held: [...held], given }))
    return {
      weights: weights.sort(([a], [b]) => (a < b ? -1 : 1)),
      clients: clients.sort((a, b) => (a.path < b.path ? -1 : 1)),
    }
  }

  private client(path: string): Branch {
    const client = this.clients.get(path)
    assert(client !== undefined, `${path} is a client`)
    return client
  }

  /** Made where it is not there yet. */
  private level(path: string): Branch {
    let at = this.root
    for (const name of path.split('/')) {
      assert(name !== '', 'a path is made of names')
      let child = at.children.get(name)
      if (child === undefined) {
        child = newBranch(name, at === this.root ? name : `${at.path}/${name}`, at, this.total.length)
        at.children.set(name, child)
      }
      at = child
    }
    return at
  }

  private known(path: string): Branch {
    const branch = this.find(path)
    assert(branch !== undefined, `${path} is a level of the tree`)
    return branch
  }

  private find(path: string): Branch | undefined {
    let at: Branch | undefined = this.root
    for (const name of path.split('/')) at = at?.children.get(name)
    return at
  }

  private change(client: Branch, amounts: ReadonlyArray<number>, sign: 1 | -1, given: number): void {
    assert(amounts.length === this.total.length, 'amounts have one entry per resource')
    for (let at = client; at.parent !== null; at = at.parent) {
      for (let i = 0; i < amounts.length; i++) {
        const held = at.held[i]! + sign * amounts[i]!
        assert(Number.isSafeInteger(held) && held >= 0, 'what is held is a natural number')
        at.held[i] = held
      }
      at.given += given
      this.refresh(at)
    }
  }

  private refresh(branch: Branch): void {
    branch.share = this.shareIn(branch)
    if (branch.place >= 0) branch.parent!.waiting.moved(branch)
  }

  private shareIn({ held, weightMilli }: Branch): Fraction {
    let dominant = nothing
    for (let i = 0; i < held.length; i++) {
      if (held[i] === 0 || this.total[i] === 0) continue
      const share = fraction(BigInt(held[i]!), BigInt(this.total[i]!))
      if (compareFractions(share, dominant) > 0) dominant = share
    }
    return weightMilli === usualWeight || weightMilli === 0
      ? dominant
      : fraction(dominant.over * BigInt(usualWeight), dominant.under * BigInt(weightMilli))
  }
}

/** Thousandths: a weight of 1. */
const usualWeight = 1000

const newBranch = (name: string, path: string, parent: Branch | null, width: number): Branch => ({
  name,
  path,
  parent,
  children: new Map(),
  waiting: new SiblingHeap(isServedBefore),
  held: new Array<number>(width).fill(0),
  given: 0,
  weightMilli: usualWeight,
  share: nothing,
  place: -1,
})

const isServedBefore = (a: Branch, b: Branch): boolean => {
  if ((a.weightMilli === 0) !== (b.weightMilli === 0)) return b.weightMilli === 0
  const apart = compareFractions(a.share, b.share) || a.given - b.given
  return apart < 0 || (apart === 0 && a.name < b.name)
}

function* below(branch: Branch): Generator<string> {
  if (branch.name === '' && branch.parent !== null) yield branch.path
  else for (const child of branch.waiting.sorted()) yield* below(child)
}
