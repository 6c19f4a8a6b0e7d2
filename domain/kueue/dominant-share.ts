import type { QuotaTree, Usage } from '../quota/quota-tree.ts'

/**
 * How far a queue or cohort lives on what is lent to it, by the resource of which it takes the largest part:
 * `borrowed` / `lendable` / weight. Kept as its whole parts, because shares are compared unrounded.
 */
export interface DominantShare {
  /** Zero where nothing is borrowed of what could be lent. */
  readonly borrowed: number
  /** Above zero. */
  readonly lendable: number
  readonly weightMilli: number
  /** Number of the resource; -1: nothing is borrowed. */
  readonly resource: number
  /** More is used than the subtree quota, be it of a resource that nobody can lend. */
  readonly borrowing: boolean
}

/**
 * Share of a node with what is used now. A root has nobody to borrow from: 0.
 * @param incoming counted as if the node used it too
 * @see Kueue's dominant resource share: over what could ever be lent, so that quota alone decides the divisor
 */
export const dominantShare = (tree: QuotaTree, node: number, incoming: Usage = []): DominantShare => {
  const weightMilli = tree.weightMilli[node]!
  let most: DominantShare = { borrowed: 0, lendable: 1, weightMilli, resource: -1, borrowing: false }
  const parent = tree.parent[node]!
  if (parent < 0) return most
  const borrowed = borrowedPerResource(tree, node, incoming)
  for (const [resource, amount] of borrowed) {
    const lendable = tree.lendable(parent, resource)
    if (lendable <= 0) continue
    const one = { borrowed: amount, lendable, weightMilli, resource, borrowing: true }
    const order = compareRatios(one, most)
    if (order > 0 || (order === 0 && resource < most.resource)) most = one
  }
  return borrowed.length > 0 && !most.borrowing ? { ...most, borrowing: true } : most
}

const borrowedPerResource = (tree: QuotaTree, node: number, incoming: Usage): ReadonlyArray<[number, number]> => {
  const borrowed: [number, number][] = []
  for (const flavorResource of tree.carried[node]!) {
    let used = tree.usage(node, flavorResource)
    for (const [which, amount] of incoming) if (which === flavorResource) used += amount
    const above = used - tree.subtree(node, flavorResource)
    if (above <= 0) continue
    const resource = tree.resourceOf[flavorResource]!
    const known = borrowed.find(([one]) => one === resource)
    if (known === undefined) borrowed.push([resource, above])
    else known[1] += above
  }
  return borrowed
}

/**
 * Below 0: a is the lower share. A node of weight 0 that borrows is above all that have a weight; two of them compare
 * as if they had the same.
 */
export const compareShares = (a: DominantShare, b: DominantShare): number => {
  if (isInfinite(a) || isInfinite(b)) {
    if (isInfinite(a) && isInfinite(b)) return compareRatios(a, b)
    return isInfinite(a) ? 1 : -1
  }
  if (a.borrowed === 0 || b.borrowed === 0) return Math.sign(a.borrowed - b.borrowed)
  return compareProducts([a.borrowed, b.lendable, b.weightMilli], [b.borrowed, a.lendable, a.weightMilli])
}

export const isInfinite = ({ borrowed, weightMilli }: DominantShare): boolean => borrowed > 0 && weightMilli === 0

/** In thousandths, as exact as a number can be: to be shown, never to be compared. Infinity: of weight 0. */
export const shareMilli = (share: DominantShare): number => {
  if (share.borrowed === 0) return 0
  if (isInfinite(share)) return Infinity
  return (share.borrowed * 1_000_000) / (share.lendable * share.weightMilli)
}

/** As it is reported: in thousandths, rounded up. Infinity: of weight 0. */
export const reportedShare = (share: DominantShare): number => {
  if (share.borrowed === 0) return 0
  if (isInfinite(share)) return Infinity
  const divisor = BigInt(share.lendable) * BigInt(share.weightMilli)
  return Number((BigInt(share.borrowed) * 1_000_000n + divisor - 1n) / divisor)
}

const compareRatios = (a: DominantShare, b: DominantShare): number =>
  compareProducts([a.borrowed, b.lendable, 1], [b.borrowed, a.lendable, 1])

type Factors = readonly [number, number, number]

/**
 * Of whole factors >= 0, exactly. Three roundings make an error of less than 4e-16 of a product, so only products that
 * are nearer than that need more digits than a number has.
 */
const compareProducts = (a: Factors, b: Factors): number => {
  const [x, y] = [a[0] * a[1] * a[2], b[0] * b[1] * b[2]]
  if (Math.abs(x - y) > 1e-14 * Math.max(x, y)) return x < y ? -1 : 1
  const [left, right] = [exactProduct(a), exactProduct(b)]
  return left < right ? -1 : left > right ? 1 : 0
}

const exactProduct = ([a, b, c]: Factors): bigint => BigInt(a) * BigInt(b) * BigInt(c)
