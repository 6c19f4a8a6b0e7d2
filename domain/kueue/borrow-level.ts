import type { QuotaTree } from '../quota/quota-tree.ts'

export interface BorrowLevel {
  /** 0: without borrowing; else the height of the lowest subtree whose unused quota covers what is asked for. */
  readonly level: number
  /** It is covered below the root. */
  readonly belowRoot: boolean
}

/** How far up a queue has to borrow for that much more; the root's height where not even the root has it unused. */
export const borrowLevel = (tree: QuotaTree, queue: number, flavorResource: number, amount: number): BorrowLevel => {
  const root = tree.parent[queue]! < 0
  if (root || tree.usage(queue, flavorResource) + amount <= tree.nominal(queue, flavorResource))
    return { level: 0, belowRoot: !root }
  let rest = amount - unusedLocal(tree, queue, flavorResource)
  let node = tree.parent[queue]!
  for (; ; node = tree.parent[node]!) {
    const isRoot = tree.parent[node]! < 0
    const unused = tree.subtree(node, flavorResource) - tree.usage(node, flavorResource)
    if (isRoot || unused >= rest) return { level: tree.height[node]!, belowRoot: !isRoot }
    rest -= unusedLocal(tree, node, flavorResource)
  }
}

/** What is left of the part of its quota that nobody else can use. */
export const unusedLocal = (tree: QuotaTree, node: number, flavorResource: number): number =>
  Math.max(0, tree.local(node, flavorResource) - tree.usage(node, flavorResource))
