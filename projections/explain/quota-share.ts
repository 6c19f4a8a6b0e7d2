import { dominantShare, isInfinite, reportedShare } from '../../domain/kueue/dominant-share.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { KueueBooks } from '../../domain/planner/kueue-books.ts'
import { kueueOf } from '../../domain/policy/allocation-policy.ts'
import type { QuotaTree } from '../../domain/quota/quota-tree.ts'

/** A part of what one uses that is another's. */
export interface Loan {
  /** Queue or cohort: where it is the own cohort, what that has of its own, or what it borrows itself. */
  readonly node: string
  readonly amount: number
}

/** Quota of one resource of an accelerator. Devices and cores in thousandths, memory in MiB; limits null: none. */
export interface QuotaAmounts {
  readonly accelerator: string
  readonly resource: string
  readonly nominal: number
  /** Its own, and all below it that may be lent. */
  readonly subtree: number
  /** Of a cohort: by those below it, beyond what they keep for themselves. */
  readonly used: number
  readonly borrowed: number
  readonly lent: number
  readonly borrowingLimit: number | null
  readonly lendingLimit: number | null
  /** More that could be used now; below 0: so much too much is used, after a cut. */
  readonly available: number
  /** Most that it could ever hold. */
  readonly most: number
  readonly from: ReadonlyArray<Loan>
  readonly to: ReadonlyArray<Loan>
}

/** A queue or a cohort, and how its quota stands. */
export interface QuotaShare {
  readonly node: string
  readonly kind: 'queue' | 'cohort'
  readonly parent: string | null
  readonly depth: number
  readonly fairWeightMilli: number
  /**
   * What it borrows of what could be lent, over its weight, rounded up; null: shares decide nothing. Without `milli`: of
   * weight 0, above all others.
   */
  readonly share: { readonly milli: number | null; readonly resource: string | null } | null
  readonly running: number
  readonly waiting: number
  readonly quotas: ReadonlyArray<QuotaAmounts>
}

/** How every queue and cohort stands, each with what is below it, or one alone; null: there is no such one. */
export const quotaShares = (cell: Cell, kueue: KueueBooks, only: string | null): ReadonlyArray<QuotaShare> | null => {
  const { tree } = kueue.holdings
  const running = runningIn(cell)
  const loans = loansIn(tree)
  const isFair = kueueOf(cell.policy).fairSharing !== null
  const shares: QuotaShare[] = []
  const visit = (node: number, depth: number): void => {
    const { kind, name, parent } = tree.nodes[node]!
    shares.push({
      node: name,
      kind,
      parent,
      depth,
      fairWeightMilli: tree.weightMilli[node]!,
      share: isFair ? shareOfNode(tree, node) : null,
      running: kind === 'queue' ? (running.get(name) ?? 0) : 0,
      waiting: kind === 'queue' ? (cell.queueNamed.get(name)?.size ?? 0) : 0,
      quotas: tree.carried[node]!.map((one) => amountsOf(tree, node, one, loans)),
    })
    for (const child of tree.children[node]!) visit(child, depth + 1)
  }
  const isAsked = (node: number) => (only === null ? tree.parent[node]! < 0 : tree.nodes[node]!.name === only)
  tree.nodes.forEach((_, node) => {
    if (isAsked(node)) visit(node, only === null ? 0 : tree.depth[node]!)
  })
  return shares.length === 0 && only !== null ? null : shares
}

const runningIn = ({ workloads }: Cell): ReadonlyMap<string, number> => {
  const running = new Map<string, number>()
  for (const { queue, run } of workloads.values())
    if (run !== null) running.set(queue.name, (running.get(queue.name) ?? 0) + 1)
  return running
}

const shareOfNode = (tree: QuotaTree, node: number): QuotaShare['share'] => {
  const share = dominantShare(tree, node)
  return { milli: isInfinite(share) ? null : reportedShare(share), resource: tree.resources[share.resource] ?? null }
}

const amountsOf = (
  tree: QuotaTree,
  node: number,
  one: number,
  loans: ReadonlyArray<ReadonlyArray<Flow>>,
): QuotaAmounts => {
  const { flavor, resource } = tree.flavorResources[one]!
  const stated = tree.nodes[node]!.quotas.find((quota) => quota.flavor === flavor && quota.resource === resource)
  const named = (flows: ReadonlyArray<Flow>, end: 'from' | 'to') =>
    flows.map((flow): Loan => ({ node: tree.nodes[flow[end]]!.name, amount: flow.amount }))
  const to = loans[one]!.filter(({ from }) => from === node)
  return {
    accelerator: flavor,
    resource,
    nominal: tree.nominal(node, one),
    subtree: tree.subtree(node, one),
    used: tree.usage(node, one),
    borrowed: borrowedBy(tree, node, one),
    lent: to.reduce((sum, { amount, way }) => sum + (way === 'down' ? 0 : amount), 0),
    borrowingLimit: stated?.borrowing ?? null,
    lendingLimit: stated?.lending ?? null,
    available: tree.available(node, one),
    most: tree.potential(node, one),
    from: named(
      loans[one]!.filter((flow) => flow.to === node && flow.way !== 'up'),
      'from',
    ),
    to: named(
      to.filter(({ way }) => way !== 'down'),
      'to',
    ),
  }
}

const borrowedBy = (tree: QuotaTree, node: number, one: number): number =>
  tree.parent[node]! < 0 ? 0 : Math.max(0, tree.usage(node, one) - tree.subtree(node, one))

/** `up`: what a child gives its cohort for others beyond it; `down`: what a cohort that borrows hands on. */
interface Flow {
  readonly from: number
  readonly to: number
  readonly amount: number
  readonly way: 'across' | 'up' | 'down'
}

/** By flavor-resource, cohort by cohort from the roots. */
const loansIn = (tree: QuotaTree): ReadonlyArray<ReadonlyArray<Flow>> =>
  tree.flavorResources.map((_, one) => {
    const flows: Flow[] = []
    const visit = (cohort: number): void => {
      if (tree.children[cohort]!.length === 0) return
      flows.push(...flowsWithin(tree, cohort, one, lentBy(flows, cohort)))
      for (const child of tree.children[cohort]!) visit(child)
    }
    tree.parent.forEach((parent, node) => {
      if (parent < 0) visit(node)
    })
    return flows
  })

const lentBy = (flows: ReadonlyArray<Flow>, node: number): number =>
  flows.reduce((sum, { amount, from }) => sum + (from === node ? amount : 0), 0)

/**
 * A cohort's quota is one pot: whose part is used by whom is told as if its own went first, then what those leave who
 * leave most.
 */
const flowsWithin = (tree: QuotaTree, cohort: number, one: number, lentUp: number): ReadonlyArray<Flow> => {
  const children = tree.children[cohort]!
  const takers = [
    { node: cohort, amount: lentUp },
    ...children.map((node) => ({ node, amount: borrowedBy(tree, node, one) })),
  ]
  const givers = [
    { node: cohort, amount: tree.nominal(cohort, one), way: 'across' as const },
    ...children
      .map((node) => ({ node, amount: idleOf(tree, node, one), way: 'across' as const }))
      .sort((a, b) => b.amount - a.amount),
    { node: cohort, amount: borrowedBy(tree, cohort, one), way: 'down' as const },
  ]
  const flows: Flow[] = []
  for (const taker of takers) {
    let wanted = taker.amount
    for (const giver of givers) {
      const amount = Math.min(wanted, giver.amount)
      if (amount <= 0) continue
      giver.amount -= amount
      wanted -= amount
      // What the cohort lends of its own is told where it is lent.
      if (giver.node === taker.node) continue
      flows.push({ from: giver.node, to: taker.node, amount, way: taker.node === cohort ? 'up' : giver.way })
    }
  }
  return flows
}

const idleOf = (tree: QuotaTree, node: number, one: number): number => {
  const [subtree, local] = [tree.subtree(node, one), tree.local(node, one)]
  return Math.min(subtree - local, Math.max(0, subtree - tree.usage(node, one)))
}
