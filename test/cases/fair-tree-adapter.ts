import { FairTree, type FairTreeNode } from '../../domain/fairness/fair-tree.ts'
import type { Adapter } from './adapters.ts'
import type { JsonObject } from './case-file.ts'

interface RankCase {
  readonly nodes: ReadonlyArray<{
    readonly name: string
    readonly kind: FairTreeNode['kind']
    readonly parent: string | null
    readonly shares: number
    readonly usage: number
  }>
}

const fairTreeRank: Adapter = {
  run: ({ document, expected }) => {
    const { nodes } = document as unknown as RankCase
    const tree = new FairTree(nodes.map(({ name, ...rest }) => ({ ...rest, id: name })))
    const usage = new Map(nodes.map(({ name, usage }) => [name, BigInt(Math.round(usage * 1e6))]))
    const { order, rank, levelShares } = tree.rank(usage)
    // Users that tie may stand in any order: here as the case has them. Who ties is ours.
    const listed = ((expected as JsonObject)['order'] ?? []) as ReadonlyArray<string>
    const placeOf = (user: string) => listed.indexOf(user)
    return {
      order: order.toSorted((a, b) => rank.get(b)! - rank.get(a)! || placeOf(a) - placeOf(b)),
      factors: Object.fromEntries([...rank].map(([user, place]) => [user, place / tree.users])),
      levelShare: Object.fromEntries(
        [...levelShares].map(([id, { near }]) => [id, Number.isFinite(near) ? near : 'infinite']),
      ),
    }
  },
}

export const fairTreeAdapters: ReadonlyArray<readonly [string, Adapter]> = [['fair-tree-rank', fairTreeRank]]
