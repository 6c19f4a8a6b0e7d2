/** Quota and shares as their definitions read: every question is answered anew, from the quotas and who uses what. */

export interface NaiveQuota {
  readonly nominal: bigint
  /** Null: without limit. */
  readonly borrowing: bigint | null
  readonly lending: bigint | null
}

export interface NaiveNode {
  readonly parent: string | null
  /** Of the fair weight, thousandths. */
  readonly weightMilli: bigint
  /** Flavor -> resource -> quota. */
  readonly quotas: ReadonlyMap<string, ReadonlyMap<string, NaiveQuota>>
}

export interface NaiveShare {
  /** `part` / `of` of what can be lent; 0 / 1: nothing. */
  readonly part: bigint
  readonly of: bigint
  readonly weightMilli: bigint
  readonly resource: string | null
  readonly borrowing: boolean
}

const zero = 0n
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)

export class NaiveQuotaTree {
  private readonly nodes: ReadonlyMap<string, NaiveNode>
  /** Queue -> flavor -> resource -> amount. */
  private readonly used = new Map<string, Map<string, Map<string, bigint>>>()

  /** Queues and cohorts alike, each under a name of its own. */
  constructor(nodes: ReadonlyMap<string, NaiveNode>) {
    this.nodes = nodes
  }

  charge(queue: string, flavor: string, resource: string, amount: bigint): void {
    const flavors = this.used.get(queue) ?? new Map<string, Map<string, bigint>>()
    const resources = flavors.get(flavor) ?? new Map<string, bigint>()
    this.used.set(queue, flavors.set(flavor, resources))
    resources.set(resource, (resources.get(resource) ?? zero) + amount)
  }

  subtree(node: string, flavor: string, resource: string): bigint {
    return this.childrenOf(node).reduce(
      (sum, child) => sum + this.subtree(child, flavor, resource) - this.local(child, flavor, resource),
      this.quotaOf(node, flavor, resource)?.nominal ?? zero,
    )
  }

  local(node: string, flavor: string, resource: string): bigint {
    const lending = this.quotaOf(node, flavor, resource)?.lending ?? null
    return lending === null ? zero : max(zero, this.subtree(node, flavor, resource) - lending)
  }

  usage(node: string, flavor: string, resource: string): bigint {
    const own = this.used.get(node)?.get(flavor)?.get(resource) ?? zero
    return this.childrenOf(node).reduce(
      (sum, child) => sum + max(zero, this.usage(child, flavor, resource) - this.local(child, flavor, resource)),
      own,
    )
  }

  available(node: string, flavor: string, resource: string): bigint {
    const [subtree, local] = [this.subtree(node, flavor, resource), this.local(node, flavor, resource)]
    const usage = this.usage(node, flavor, resource)
    const { parent } = this.nodes.get(node)!
    if (parent === null) return subtree - usage
    const above = this.available(parent, flavor, resource)
    const limit = this.quotaOf(node, flavor, resource)?.borrowing ?? null
    const fromAbove = limit === null ? above : min(subtree - local - max(zero, usage - local) + limit, above)
    return max(zero, local - usage) + fromAbove
  }

  potential(node: string, flavor: string, resource: string): bigint {
    const subtree = this.subtree(node, flavor, resource)
    const { parent } = this.nodes.get(node)!
    if (parent === null) return subtree
    const most = this.local(node, flavor, resource) + this.potential(parent, flavor, resource)
    const limit = this.quotaOf(node, flavor, resource)?.borrowing ?? null
    return limit === null ? most : min(most, subtree + limit)
  }

  share(node: string): NaiveShare {
    const { parent, weightMilli } = this.nodes.get(node)!
    let share: NaiveShare = { part: zero, of: 1n, weightMilli, resource: null, borrowing: false }
    if (parent === null) return share
    for (const resource of [...this.names((_, name) => name)].sort()) {
      let [borrowed, lendable] = [zero, zero]
      for (const flavor of this.names((name) => name)) {
        borrowed += max(zero, this.usage(node, flavor, resource) - this.subtree(node, flavor, resource))
        lendable += this.potential(parent, flavor, resource)
      }
      if (borrowed > zero) share = { ...share, borrowing: true }
      if (lendable > zero && borrowed * share.of > share.part * lendable)
        share = { ...share, part: borrowed, of: lendable, resource }
    }
    return share
  }

  private names(pick: (flavor: string, resource: string) => string): ReadonlySet<string> {
    const names = new Set<string>()
    for (const { quotas } of this.nodes.values())
      for (const [flavor, resources] of quotas)
        for (const resource of resources.keys()) names.add(pick(flavor, resource))
    return names
  }

  private quotaOf(node: string, flavor: string, resource: string): NaiveQuota | undefined {
    return this.nodes.get(node)!.quotas.get(flavor)?.get(resource)
  }

  private childrenOf(node: string): ReadonlyArray<string> {
    return [...this.nodes].filter(([, { parent }]) => parent === node).map(([name]) => name)
  }
}

/** Below 0: the first is lower. Whoever has weight 0 and borrows is above all who have a weight. */
export const compareNaiveShares = (a: NaiveShare, b: NaiveShare): number => {
  const [endlessA, endlessB] = [a, b].map(({ part, weightMilli }) => part > zero && weightMilli === zero)
  if (endlessA !== endlessB) return endlessA === true ? 1 : -1
  const [weightA, weightB] = [a, b].map(({ weightMilli }) => (weightMilli === zero ? 1n : weightMilli))
  const [left, right] = [a.part * b.of * weightB!, b.part * a.of * weightA!]
  return left < right ? -1 : left > right ? 1 : 0
}

/** Thousandths, rounded up; null: without end. */
export const reportedNaiveShare = ({ part, of, weightMilli }: NaiveShare): bigint | null => {
  if (part === zero) return zero
  if (weightMilli === zero) return null
  const [dividend, divisor] = [part * 1000n * 1000n, of * weightMilli]
  return dividend / divisor + (dividend % divisor === zero ? zero : 1n)
}
