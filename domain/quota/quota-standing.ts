import type { QuotaTree } from './quota-tree.ts'

/** What a queue may use more is the least of these: `nominal` and `borrowingMax` less `used`, and `cohortLeft`. */
export interface QuotaStanding {
  readonly nominal: number
  readonly used: number
  /** Absent: without limit, or there is nobody to borrow from. */
  readonly borrowingMax?: number
  /** What there is for it, of its own and of what the cohorts above it have; absent: it is in none. */
  readonly cohortLeft?: number
}

export const quotaStanding = (tree: QuotaTree, node: number, flavorResource: number): QuotaStanding => {
  const [nominal, used] = [tree.nominal(node, flavorResource), tree.usage(node, flavorResource)]
  const parent = tree.parent[node]!
  if (parent < 0) return { nominal, used }
  const borrowing = tree.borrowing(node, flavorResource)
  const kept = Math.max(0, tree.local(node, flavorResource) - used)
  return {
    nominal,
    used,
    ...(borrowing < Infinity && { borrowingMax: borrowing }),
    cohortLeft: Math.max(0, kept + tree.available(parent, flavorResource)),
  }
}
