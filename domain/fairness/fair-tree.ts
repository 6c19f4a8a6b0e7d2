import { assert } from '../kernel/decider.ts'
import { compareFractions, endless, fraction, nothing, type Fraction } from './fraction.ts'

/** A user is an association: one person below one account, with an id of its own. */
export interface FairTreeNode {
  readonly id: string
  readonly kind: 'account' | 'user'
  /** Id of an account; null: the root, of which there is one. */
  readonly parent: string | null
  /** Against its siblings; null: it has none of its own and always comes first, as users that inherit do. */
  readonly shares: number | null
}

export interface FairRanks {
  /** Users, those that are served first before the others; those that tie, by the accounts they are in and by id. */
  readonly order: ReadonlyArray<string>
  /** Of each user: as many as there are users for the first, and 1 at least. Those that tie have the same. */
  readonly rank: ReadonlyMap<string, number>
  /** Of each node but the root: its part of its siblings' shares over its part of their usage. */
  readonly levelShares: ReadonlyMap<string, Fraction>
}

interface Branch {
  readonly node: FairTreeNode
  readonly children: Branch[]
  level: Fraction
}

/**
 * Accounts and users below them, as Slurm's Fair Tree ranks them: no user of an account comes before one of a sibling
 * account that ranks higher.
 */
export class FairTree {
  private readonly branches = new Map<string, Branch>()
  private root: Branch | null = null
  private userCount = 0

  /** @param nodes parents before their children */
  constructor(nodes: Iterable<FairTreeNode>) {
    for (const node of nodes) this.add(node)
  }

  get users(): number {
    return this.userCount
  }

  has(id: string): boolean {
    return this.branches.has(id)
  }

  add(node: FairTreeNode): void {
    assert(!this.branches.has(node.id), `the fair tree has one node ${node.id}`)
    const branch: Branch = { node, children: [], level: nothing }
    if (node.parent === null) {
      assert(this.root === null && node.kind === 'account', 'the fair tree has one root, an account')
      this.root = branch
    } else {
      const parent = this.branches.get(node.parent)
      assert(parent?.node.kind === 'account', `${node.parent} is an account of the fair tree`)
      parent.children.push(branch)
    }
    this.branches.set(node.id, branch)
    if (node.kind === 'user') this.userCount++
  }

  /** Only what has nothing below it. */
  remove(id: string): void {
    const branch = this.branches.get(id)
    assert(branch?.children.length === 0, `${id} is a node of the fair tree with nothing below it`)
    this.branches.delete(id)
    if (branch === this.root) this.root = null
    const siblings = this.branches.get(branch.node.parent ?? '')?.children ?? []
    siblings.splice(siblings.indexOf(branch), 1)
    if (branch.node.kind === 'user') this.userCount--
  }

  /** Usage of all nodes, from that of the users: an account's is the sum of what is below it. */
  sums(usageOf: (user: string) => bigint): ReadonlyMap<string, bigint> {
    const usage = new Map<string, bigint>()
    const sum = ({ node, children }: Branch): bigint => {
      let all = node.kind === 'user' ? usageOf(node.id) : 0n
      for (const child of children) all += sum(child)
      usage.set(node.id, all)
      return all
    }
    if (this.root !== null) sum(this.root)
    return usage
  }

  /** @param usage of every node, in any one unit */
  rank(usage: ReadonlyMap<string, bigint>): FairRanks {
    const order: string[] = []
    const rank = new Map<string, number>()
    const levelShares = new Map<string, Fraction>()
    for (const { children } of this.branches.values()) {
      setLevels(children, usage)
      for (const { node, level } of children) levelShares.set(node.id, level)
    }
    let left = this.userCount
    let current = left
    // Those of one list are compared with each other, wherever in the tree they are.
    const visit = (branches: ReadonlyArray<Branch>, tiedWithBefore: boolean): void => {
      const sorted = branches.toSorted(bySeniority)
      for (let at = 0; at < sorted.length;) {
        const { node, level } = sorted[at]!
        const tied = at === 0 ? tiedWithBefore : compareFractions(level, sorted[at - 1]!.level) === 0
        if (node.kind === 'user') {
          if (!tied) current = left
          order.push(node.id)
          rank.set(node.id, current)
          left--
          at++
          continue
        }
        let end = at + 1
        while (end < sorted.length && compareFractions(level, sorted[end]!.level) === 0) end++
        visit(
          sorted.slice(at, end).flatMap(({ children }) => children),
          tied,
        )
        at = end
      }
    }
    visit(this.root?.children ?? [], false)
    return { order, rank, levelShares }
  }
}

const setLevels = (siblings: ReadonlyArray<Branch>, usage: ReadonlyMap<string, bigint>): void => {
  let shares = 0n
  let used = 0n
  for (const { node } of siblings) {
    shares += BigInt(node.shares ?? 0)
    used += usage.get(node.id) ?? 0n
  }
  for (const branch of siblings) {
    const own = branch.node.shares
    const by = usage.get(branch.node.id) ?? 0n
    if (own === 0) branch.level = nothing
    else if (by === 0n || own === null) branch.level = endless
    else branch.level = fraction(BigInt(own) * used, shares * by)
  }
}

/** Higher level share first, users before accounts, then by id. */
const bySeniority = (a: Branch, b: Branch): number =>
  compareFractions(b.level, a.level) ||
  (a.node.kind === b.node.kind ? (a.node.id < b.node.id ? -1 : 1) : a.node.kind === 'user' ? -1 : 1)
