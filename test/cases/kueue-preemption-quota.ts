import { dominantShare, reportedShare, shareMilli } from '../../domain/kueue/dominant-share.ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { QuotaNodeSpec, QuotaTree } from '../../domain/quota/quota-tree.ts'
import type { Adapter } from './adapters.ts'
import type { JsonObject } from './case-file.ts'
import {
  addQueueUsage,
  amountsOf,
  holderOf,
  treeOf,
  usageOf,
  type Amounts,
  type CaseHolder,
} from './kueue-preemption-tree.ts'

interface ExpectedNode {
  readonly node: string
  readonly nodeKind: QuotaNodeSpec['kind']
}

const availableQuota: Adapter = {
  run: (one) => {
    const tree = treeOf(one)
    addQueueUsage(tree, (one.document as unknown as { queueUsage: Readonly<Record<string, Amounts>> }).queueUsage)
    return {
      available: perQueue(tree, (queue, which) => Math.max(0, tree.available(queue, which))),
      potentiallyAvailable: perQueue(tree, (queue, which) => tree.potential(queue, which)),
    }
  },
}

const perQueue = (tree: QuotaTree, amount: (queue: number, flavorResource: number) => number): Json =>
  Object.fromEntries(
    tree.nodes.flatMap(({ name, kind }, node) =>
      kind === 'queue' ? [[name, amountsOf(tree, node, (which) => amount(node, which))]] : [],
    ),
  )

const usageAccounting: Adapter = {
  run: (one) => {
    const tree = treeOf(one)
    const { running, operations } = one.document as unknown as {
      running: ReadonlyArray<CaseHolder>
      operations: ReadonlyArray<{ op: 'add' | 'remove'; id: string }>
    }
    const holders = new Map(running.map((holder) => [holder.id, holderOf(tree, holder)]))
    for (const { queue, usage } of holders.values()) tree.add(queue, usage)
    for (const { op, id } of operations) {
      const { queue, usage } = holders.get(id)!
      if (op === 'add') tree.add(queue, usage)
      else tree.remove(queue, usage)
    }
    const { nodeUsage } = one.document['expect'] as unknown as { nodeUsage: ReadonlyArray<ExpectedNode> }
    return {
      nodeUsage: nodeUsage.map(({ node, nodeKind }) => {
        const number = tree.node(nodeKind, node)
        return { node, nodeKind, usage: amountsOf(tree, number, (which) => tree.usage(number, which)) }
      }),
    }
  },
}

const subtreeQuota: Adapter = {
  run: (one) => {
    const tree = treeOf(one)
    const cohorts = tree.nodes.flatMap(({ kind }, node) => (kind === 'cohort' ? [node] : []))
    return {
      subtreeQuota: cohorts.map((node) => ({
        node: tree.nodes[node]!.name,
        quota: amountsOf(tree, node, (which) => tree.subtree(node, which)),
      })),
    }
  },
  unordered: ['subtreeQuota'],
}

const lendable: Adapter = {
  run: (one) => {
    const tree = treeOf(one)
    const node = tree.node('cohort', one.document['node'] as string)
    const amounts = tree.resources.map((resource, number): [string, number] => [resource, tree.lendable(node, number)])
    return { lendable: Object.fromEntries(amounts) }
  },
}

const shareValue: Adapter = {
  run: (one) => {
    const tree = treeOf(one)
    const { queueUsage, extraRequest } = one.document as unknown as {
      queueUsage: Readonly<Record<string, Amounts>>
      extraRequest?: Amounts
    }
    addQueueUsage(tree, queueUsage)
    const { shares } = one.document['expect'] as unknown as { shares: ReadonlyArray<ExpectedNode> }
    return {
      shares: shares.map(({ node, nodeKind }): JsonObject => {
        const share = dominantShare(tree, tree.node(nodeKind, node), usageOf(tree, extraRequest ?? {}))
        return {
          node,
          nodeKind,
          share: finite(reportedShare(share)),
          dominantResource: tree.resources[share.resource] ?? null,
          borrowing: share.borrowing,
        }
      }),
    }
  },
}

const weightedShare: Adapter = {
  run: (one) => {
    const { fairWeight, unweightedRatio } = one.document as unknown as { fairWeight: number; unweightedRatio: number }
    const parts = { borrowed: unweightedRatio, lendable: 1000, weightMilli: fairWeight * 1000 }
    return { weightedShare: finite(shareMilli({ ...parts, resource: 0, borrowing: true })) }
  },
}

const finite = (share: number): Json => (share === Infinity ? 'infinite' : share)

export const kueueQuotaAdapters: ReadonlyArray<readonly [kind: string, adapter: Adapter]> = [
  ['available-quota', availableQuota],
  ['usage-accounting', usageAccounting],
  ['subtree-quota', subtreeQuota],
  ['lendable', lendable],
  ['share-value', shareValue],
  ['weighted-share', weightedShare],
]
