import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { BudgetNodePolicy } from '../policy/budget-policy.ts'
import { byName, newBudgetNode, pathBelow, within, type BudgetNode } from './budget-node.ts'

export interface Rebuilt {
  readonly opened: ReadonlyArray<BudgetNode>
  /** Out of the tree, otherwise as they were; by the path they had. */
  readonly removed: ReadonlyArray<BudgetNode>
}

/** Which nodes there are, by number and by path. Knows nothing of rates. */
export class BudgetTree {
  readonly root: BudgetNode
  private readonly nodes: (BudgetNode | null)[] = []
  private readonly byPath = new Map<string, BudgetNode>()
  private readonly free: number[] = []

  constructor(at: EpochMs) {
    this.root = this.open('', false, at)
    this.byPath.set('', this.root)
  }

  get(number: number): BudgetNode {
    const node = this.nodes[number]
    assert(node !== undefined && node !== null, `there is a budget node ${number}`)
    return node
  }

  find(path: string): BudgetNode | undefined {
    return this.byPath.get(path)
  }

  /** Numbers that were given up, the one that is used next at the end. */
  get freeNumbers(): ReadonlyArray<number> {
    return this.free
  }

  addPerson(leaf: BudgetNode, submitter: string, at: EpochMs): BudgetNode {
    const person = this.open(submitter, true, at)
    this.hang(person, leaf)
    leaf.children.splice(placeOf(submitter, leaf.children), 0, person)
    person.share = personShare(leaf, submitter)
    this.byPath.set(person.path, person)
    return person
  }

  removePerson(person: BudgetNode): void {
    const leaf = person.parent!
    leaf.children = leaf.children.filter((child) => child !== person)
    this.close(person)
  }

  /**
   * Gives every node of the policy the ledger that it had, by the path that `renamed` names or else by its name below
   * its parent.
   */
  rebuild(policies: ReadonlyArray<BudgetNodePolicy>, renamed: ReadonlyMap<string, string>, at: EpochMs): Rebuilt {
    const before = within(this.root).filter(({ parent }) => parent !== null)
    // Names change as nodes are put in their new places.
    const named = new Map(
      within(this.root).map((node) => [node, new Map(node.children.map((child) => [child.name, child]))] as const),
    )
    const asked = new Set<BudgetNode>()
    for (const path of renamed.values()) {
      const node = this.byPath.get(path)
      if (node !== undefined) asked.add(node)
    }
    const kept = new Set<BudgetNode>()
    const opened: BudgetNode[] = []
    const find = (path: string, inherited: BudgetNode | undefined): BudgetNode | undefined => {
      const from = renamed.get(path)
      const node = from === undefined ? inherited : this.byPath.get(from)
      if (node === undefined || node.isPerson || node.parent === null || kept.has(node)) return undefined
      return from === undefined && asked.has(node) ? undefined : node
    }
    const place = (parent: BudgetNode, policy: Pick<BudgetNodePolicy, 'children' | 'persons'>): void => {
      const previous = named.get(parent)
      parent.persons = policy.persons
      parent.children = policy.children.map((each) => {
        const found = find(pathBelow(parent, each.name), previous?.get(each.name))
        const child = found ?? this.open(each.name, false, at)
        if (found === undefined) opened.push(child)
        kept.add(child)
        child.name = each.name
        child.share = each.share
        this.hang(child, parent)
        place(child, each)
        return child
      })
      if (policy.children.length === 0) this.keepPersons(parent, [...(previous?.values() ?? [])], kept)
      parent.children.sort(byName)
    }
    place(this.root, { children: policies, persons: {} })
    const removed = before.filter((node) => !kept.has(node))
    this.byPath.clear()
    for (const node of within(this.root)) this.byPath.set(node.path, node)
    for (const node of removed) this.giveUp(node)
    return { opened, removed }
  }

  /** Puts a node of a snapshot where it was; parents come before their children, siblings by name. */
  restoreNode(node: BudgetNode, parent: number): void {
    const above = this.get(parent)
    this.nodes[node.number] = node
    this.hang(node, above)
    above.children.push(node)
    this.byPath.set(node.path, node)
  }

  restoreFree(numbers: ReadonlyArray<number>): void {
    for (const number of numbers) this.nodes[number] = null
    this.free.push(...numbers)
  }

  private keepPersons(leaf: BudgetNode, previous: ReadonlyArray<BudgetNode>, kept: Set<BudgetNode>): void {
    leaf.children = previous.filter(({ isPerson }) => isPerson)
    for (const person of leaf.children) {
      kept.add(person)
      person.share = personShare(leaf, person.name)
      this.hang(person, leaf)
    }
  }

  private open(name: string, isPerson: boolean, at: EpochMs): BudgetNode {
    const number = this.free.pop() ?? this.nodes.length
    const node = newBudgetNode(number, name, isPerson, at)
    this.nodes[number] = node
    return node
  }

  private hang(node: BudgetNode, parent: BudgetNode): void {
    node.parent = parent
    node.path = pathBelow(parent, node.name)
  }

  private close(node: BudgetNode): void {
    this.byPath.delete(node.path)
    this.giveUp(node)
  }

  private giveUp(node: BudgetNode): void {
    this.nodes[node.number] = null
    this.free.push(node.number)
  }
}

/** Before the first sibling, in order of names, whose name is not smaller. */
const placeOf = (name: string, siblings: ReadonlyArray<BudgetNode>): number => {
  let [low, high] = [0, siblings.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (siblings[middle]!.name < name) low = middle + 1
    else high = middle
  }
  return low
}

const personShare = (leaf: BudgetNode, submitter: string): number =>
  Object.hasOwn(leaf.persons, submitter) ? leaf.persons[submitter]! : 1
