import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import { derive, lackingTime, settle, within, type BudgetNode } from './budget-node.ts'
import type { BudgetTree } from './budget-tree.ts'
import { entitlements } from './entitlement.ts'
import type { OwnRates } from './ledger-snapshot.ts'

/** How the rates at one node change: milli-units, and leases and waiting workloads as `claims`. */
export interface RateChange {
  readonly held?: number
  readonly waiting?: number
  readonly idle?: number
  readonly claims?: number
}

/**
 * What every node of a tree holds, is entitled to and is owed now. Before a rate changes, what it came to so far is
 * counted into the node's open bucket.
 */
export class BudgetRates {
  /** How many nodes have been brought up to date so far: what all the work has cost. */
  visits = 0
  readonly tree: BudgetTree
  now: EpochMs
  /** The cell has less than what all hold: nobody is behind. */
  isShort = false
  /** How long the cell was not short, ms: the clock by which children lack. */
  private clock = 0

  constructor(tree: BudgetTree, at: EpochMs) {
    this.tree = tree
    this.now = at
  }

  /** Within the open hour. */
  moveTo(at: EpochMs): void {
    if (!this.isShort) this.clock += at - this.now
    this.now = at
  }

  settle(node: BudgetNode): void {
    this.visits++
    settle(node, this.now, this.clock)
  }

  settleAll(): void {
    for (const node of within(this.tree.root)) this.settle(node)
  }

  /** O(depth). */
  shift(number: number, { held = 0, waiting = 0, idle = 0, claims = 0 }: RateChange): void {
    assert(Number.isSafeInteger(held + waiting + idle), 'a rate is a whole number of milli-units')
    const changed = this.tree.get(number)
    changed.claims += claims
    assert(changed.claims >= 0, 'what ends at a budget node began there')
    for (let node: BudgetNode | null = changed; node !== null; node = node.parent) {
      this.settle(node)
      node.held += held
      node.waiting += waiting
      node.idle += idle
      assert(node.held >= 0 && node.waiting >= 0 && node.idle >= 0, 'no more ends at a budget node than began there')
      derive(node, this.clock)
    }
    this.compareWithCapacity()
  }

  setCapacity(rate: number): void {
    this.entitle(this.tree.root, rate)
    this.compareWithCapacity()
  }

  /** The new node counts from now on. */
  openPerson(leaf: BudgetNode, submitter: string): BudgetNode {
    const person = this.tree.addPerson(leaf, submitter, this.now)
    person.limit = leaf.limit
    person.lackingSeen = lackingTime(leaf, this.clock)
    this.divide(leaf)
    return person
  }

  /** Gives the children of a node their parts of what it is entitled to. O(nodes below whose part changes). */
  divide(parent: BudgetNode): void {
    const rates = entitlements(
      parent.entitled,
      parent.children.map(({ share }) => share),
    )
    parent.children.forEach((child, i) => {
      this.entitle(child, rates[i]!)
    })
  }

  /** To be called when the allowance of a node has changed. */
  setLimit(node: BudgetNode): void {
    const limit = Math.min(node.allowance, node.parent?.limit ?? Infinity)
    if (limit === node.limit) return
    this.settle(node)
    node.limit = limit
    derive(node, this.clock)
    for (const child of node.children) this.setLimit(child)
  }

  /** Derives every rate of a tree that has changed from what each node has of its own; all are settled. */
  addUp(own: ReadonlyMap<BudgetNode, OwnRates>): void {
    const nodes = within(this.tree.root)
    for (const node of nodes) {
      node.lackingMs = lackingTime(node, this.clock)
      node.lackingSince = this.clock
      node.lackingChildren = 0
      node.lacks = false
      const { held, waiting, idle } = own.get(node) ?? { held: 0, waiting: 0, idle: 0 }
      node.held = held
      node.waiting = waiting
      node.idle = idle
    }
    for (const { parent, held, waiting, idle } of nodes.toReversed()) {
      if (parent === null) continue
      parent.held += held
      parent.waiting += waiting
      parent.idle += idle
    }
    for (const node of nodes) {
      this.visits++
      node.limit = Math.min(node.allowance, node.parent?.limit ?? Infinity)
      const rates = entitlements(
        node.entitled,
        node.children.map(({ share }) => share),
      )
      node.children.forEach((child, i) => (child.entitled = rates[i]!))
      derive(node, this.clock)
      node.lackingSeen = lackingTime(node.parent, this.clock)
    }
    this.compareWithCapacity()
  }

  private entitle(node: BudgetNode, rate: number): void {
    if (node.entitled === rate) return
    this.settle(node)
    node.entitled = rate
    derive(node, this.clock)
    this.divide(node)
  }

  private compareWithCapacity(): void {
    this.isShort = this.tree.root.entitled < this.tree.root.held
  }
}
