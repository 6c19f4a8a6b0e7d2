import { assert } from '../kernel/decider.ts'

/** A quantity of one resource on one flavor; every amount of it is a whole number. */
export interface FlavorResource {
  readonly flavor: string
  readonly resource: string
}

export interface NodeQuota extends FlavorResource {
  readonly nominal: number
  /** Null: without limit. */
  readonly borrowing: number | null
  readonly lending: number | null
}

/** A queue or a cohort, with the quota of its own. */
export interface QuotaNodeSpec {
  readonly name: string
  readonly kind: 'queue' | 'cohort'
  /** Name of a cohort; null: a root. */
  readonly parent: string | null
  /** At least 0, in steps of a thousandth. */
  readonly fairWeight: number
  readonly quotas: ReadonlyArray<NodeQuota>
}

/** Amounts by number of the flavor-resource, each once. */
export type Usage = ReadonlyArray<readonly [flavorResource: number, amount: number]>

/**
 * Quota of queues and cohorts, and what is used of it. Nodes and flavor-resources are numbers; amounts lie in columns,
 * a row per node. Every question costs O(depth). `add` and `remove` are exact inverses of each other while nothing else
 * changes between them.
 * @see the quota tree of Kueue: subtree quota, local quota, usage that bubbles up beyond the local quota
 */
export class QuotaTree {
  readonly nodes: ReadonlyArray<QuotaNodeSpec>
  readonly flavorResources: ReadonlyArray<FlavorResource>
  /** Names of the resources, in byte order. */
  readonly resources: ReadonlyArray<string>
  /** Per flavor-resource: number of its resource. */
  readonly resourceOf: Int32Array
  /** Per node: the flavor-resources that it or anything below it lists, ascending. */
  readonly carried: ReadonlyArray<ReadonlyArray<number>>
  /** Per node, in thousandths. */
  readonly weightMilli: Float64Array
  /** Per node; -1: a root. */
  readonly parent: Int32Array
  readonly depth: Int32Array
  readonly children: ReadonlyArray<ReadonlyArray<number>>
  /** Longest way down to a queue: 0 for a queue, 1 for a cohort of queues. */
  readonly height: Int32Array
  private readonly numberOf = new Map<string, number>()
  private readonly resourceNumber = new Map<string, number>()
  /** Rows of `width` amounts, one per flavor-resource. */
  private readonly width: number
  private readonly nominals: Float64Array
  /** Infinity: without limit. */
  private readonly borrowings: Float64Array
  private readonly subtrees: Float64Array
  private readonly locals: Float64Array
  private readonly potentials: Float64Array
  /** Rows of one amount per resource. */
  private readonly lendables: Float64Array
  private readonly stated: Uint8Array
  private readonly used: Float64Array

  /** Parents may come after their children; their names must exist, and may not go round in a circle. */
  constructor(specs: ReadonlyArray<QuotaNodeSpec>) {
    this.nodes = specs
    specs.forEach(({ name, kind }, node) => this.numberOf.set(keyOf(kind, name), node))
    const flavorResources: FlavorResource[] = []
    for (const { quotas } of specs)
      for (const { flavor, resource } of quotas) {
        const key = resourceKey(flavor, resource)
        if (this.resourceNumber.has(key)) continue
        this.resourceNumber.set(key, flavorResources.length)
        flavorResources.push({ flavor, resource })
      }
    this.flavorResources = flavorResources
    this.width = flavorResources.length
    this.resources = [...new Set(flavorResources.map(({ resource }) => resource))].sort()
    this.resourceOf = Int32Array.from(flavorResources, ({ resource }) => this.resources.indexOf(resource))
    this.weightMilli = Float64Array.from(specs, ({ fairWeight }) => Math.round(fairWeight * 1000))
    this.parent = Int32Array.from(specs, ({ parent }) => (parent === null ? -1 : this.node('cohort', parent)))
    const children: number[][] = specs.map(() => [])
    this.parent.forEach((parent, node) => parent >= 0 && children[parent]!.push(node))
    this.children = children
    const size = specs.length * this.width
    this.nominals = new Float64Array(size)
    this.borrowings = new Float64Array(size).fill(Infinity)
    this.subtrees = new Float64Array(size)
    this.locals = new Float64Array(size)
    this.potentials = new Float64Array(size)
    this.stated = new Uint8Array(size)
    this.used = new Float64Array(size)
    this.depth = new Int32Array(specs.length)
    this.height = new Int32Array(specs.length)
    const order = this.fromTheRoots()
    this.fill(order)
    this.carried = this.carriedBy(order)
    this.lendables = this.sumPerResource(this.potentials)
  }

  node(kind: QuotaNodeSpec['kind'], name: string): number {
    const node = this.numberOf.get(keyOf(kind, name))
    assert(node !== undefined, `the quota tree has the ${kind} ${name}`)
    return node
  }

  has(kind: QuotaNodeSpec['kind'], name: string): boolean {
    return this.numberOf.has(keyOf(kind, name))
  }

  /** Undefined: nobody has quota for it. */
  flavorResource(flavor: string, resource: string): number | undefined {
    return this.resourceNumber.get(resourceKey(flavor, resource))
  }

  /** Whether the node itself lists it, be it with 0. */
  lists(node: number, flavorResource: number): boolean {
    return this.stated[this.at(node, flavorResource)] === 1
  }

  nominal(node: number, flavorResource: number): number {
    return this.nominals[this.at(node, flavorResource)]!
  }

  /** Infinity: without limit. */
  borrowing(node: number, flavorResource: number): number {
    return this.borrowings[this.at(node, flavorResource)]!
  }

  /** Its own and all that is below it and may be lent. */
  subtree(node: number, flavorResource: number): number {
    return this.subtrees[this.at(node, flavorResource)]!
  }

  /** The part of it that nobody else can use. */
  local(node: number, flavorResource: number): number {
    return this.locals[this.at(node, flavorResource)]!
  }

  /** Most that it could ever hold: what is available while nothing is used. */
  potential(node: number, flavorResource: number): number {
    return this.potentials[this.at(node, flavorResource)]!
  }

  /** Of a resource over all flavors, the most that its children could ever borrow together. */
  lendable(node: number, resource: number): number {
    return this.lendables[node * this.resources.length + resource]!
  }

  usage(node: number, flavorResource: number): number {
    return this.used[this.at(node, flavorResource)]!
  }

  /** Negative where more is used than there is, after a cut. */
  available(node: number, flavorResource: number): number {
    const at = this.at(node, flavorResource)
    const [subtree, local, used] = [this.subtrees[at]!, this.locals[at]!, this.used[at]!]
    const parent = this.parent[node]!
    if (parent < 0) return subtree - used
    const above = this.available(parent, flavorResource)
    const borrowing = this.borrowings[at]!
    const most = borrowing === Infinity ? Infinity : subtree - local - Math.max(0, used - local) + borrowing
    return Math.max(0, local - used) + Math.min(most, above)
  }

  /** Whether it uses more than its subtree quota. */
  borrows(node: number, flavorResource: number): boolean {
    const at = this.at(node, flavorResource)
    return this.used[at]! > this.subtrees[at]!
  }

  add(node: number, usage: Usage): void {
    for (const [flavorResource, amount] of usage) this.addOne(node, flavorResource, amount)
  }

  remove(node: number, usage: Usage): void {
    for (const [flavorResource, amount] of usage) this.removeOne(node, flavorResource, amount)
  }

  /** What each node uses, to be given back to `restore`. */
  save(): Float64Array {
    return this.used.slice()
  }

  restore(used: Float64Array): void {
    this.used.set(used)
  }

  /** The lowest node that both are below or at; -1: they are in different trees. */
  commonAncestor(a: number, b: number): number {
    const { depth, parent } = this
    while (a !== b && a >= 0 && b >= 0) {
      if (depth[a]! >= depth[b]!) a = parent[a]!
      else b = parent[b]!
    }
    return a === b ? a : -1
  }

  private addOne(node: number, flavorResource: number, amount: number): void {
    for (let at = node, rest = amount; at >= 0 && rest > 0; at = this.parent[at]!) {
      const cell = this.at(at, flavorResource)
      const free = Math.max(0, this.locals[cell]! - this.used[cell]!)
      this.used[cell]! += rest
      rest -= free
    }
  }

  private removeOne(node: number, flavorResource: number, amount: number): void {
    for (let at = node, rest = amount; at >= 0 && rest > 0; at = this.parent[at]!) {
      const cell = this.at(at, flavorResource)
      const above = this.used[cell]! - this.locals[cell]!
      this.used[cell]! -= rest
      rest = Math.min(rest, above)
    }
  }

  private at(node: number, flavorResource: number): number {
    return node * this.width + flavorResource
  }

  /** Nodes in an order in which parents come before their children. */
  private fromTheRoots(): ReadonlyArray<number> {
    const order: number[] = []
    this.parent.forEach((parent, node) => parent < 0 && order.push(node))
    for (let i = 0; i < order.length; i++) {
      for (const child of this.children[order[i]!]!) {
        this.depth[child] = this.depth[order[i]!]! + 1
        order.push(child)
      }
    }
    assert(order.length === this.nodes.length, 'cohorts do not go round in a circle')
    return order
  }

  private fill(order: ReadonlyArray<number>): void {
    const lendings = new Float64Array(this.nominals.length).fill(Infinity)
    this.nodes.forEach(({ quotas }, node) => {
      for (const { flavor, resource, nominal, borrowing, lending } of quotas) {
        const at = this.at(node, this.flavorResource(flavor, resource)!)
        this.stated[at] = 1
        this.nominals[at] = Math.min(unlimited, nominal)
        if (borrowing !== null) this.borrowings[at] = borrowing
        if (lending !== null) lendings[at] = lending
      }
    })
    for (const node of order.toReversed()) {
      const parent = this.parent[node]!
      if (parent >= 0) this.height[parent] = Math.max(this.height[parent]!, this.height[node]! + 1)
      for (let fr = 0; fr < this.width; fr++) {
        const at = this.at(node, fr)
        this.subtrees[at] = Math.min(unlimited, this.subtrees[at]! + this.nominals[at]!)
        if (lendings[at]! < Infinity) this.locals[at] = Math.max(0, this.subtrees[at] - lendings[at]!)
        if (parent >= 0) this.subtrees[this.at(parent, fr)]! += this.subtrees[at] - this.locals[at]!
      }
    }
    this.fillPotentials(order)
  }

  private fillPotentials(order: ReadonlyArray<number>): void {
    for (const node of order)
      for (let fr = 0; fr < this.width; fr++) {
        const at = this.at(node, fr)
        const parent = this.parent[node]!
        const most = this.subtrees[at]! + this.borrowings[at]!
        this.potentials[at] =
          parent < 0
            ? this.subtrees[at]!
            : Math.min(unlimited, most, this.locals[at]! + this.potentials[this.at(parent, fr)]!)
      }
  }

  private carriedBy(order: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<number>> {
    const below = this.nodes.map(() => new Set<number>())
    for (const node of order.toReversed()) {
      for (let fr = 0; fr < this.width; fr++) if (this.lists(node, fr)) below[node]!.add(fr)
      const parent = this.parent[node]!
      if (parent >= 0) for (const fr of below[node]!) below[parent]!.add(fr)
    }
    return below.map((set) => [...set].sort((a, b) => a - b))
  }

  private sumPerResource(amounts: Float64Array): Float64Array {
    const sums = new Float64Array(this.nodes.length * this.resources.length)
    for (let node = 0; node < this.nodes.length; node++)
      for (let fr = 0; fr < this.width; fr++) {
        const at = node * this.resources.length + this.resourceOf[fr]!
        sums[at] = Math.min(unlimited, sums[at]! + amounts[this.at(node, fr)]!)
      }
    return sums
  }
}

/** Amounts that are larger count as this one, so that a sum of them is still whole, and without limit for all uses. */
const unlimited = Number.MAX_SAFE_INTEGER

const keyOf = (kind: QuotaNodeSpec['kind'], name: string): string => `${kind} ${name}`
const resourceKey = (flavor: string, resource: string): string => JSON.stringify([flavor, resource])
