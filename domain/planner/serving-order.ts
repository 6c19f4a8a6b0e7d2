import type { BudgetLedger } from '../budget/ledger.ts'
import type { DecayedUsageSnapshot } from '../fairness/decayed-usage.ts'
import { DominantShares, type DominantSharesSnapshot } from '../fairness/dominant-shares.ts'
import { FairTreeLedger } from '../fairness/fair-tree-ledger.ts'
import type { FairTreeNode } from '../fairness/fair-tree.ts'
import { shownAmount } from '../fairness/fixed-point.ts'
import { compareFractions, nothing as nobodys, type Fraction } from '../fairness/fraction.ts'
import { PeriodDecay } from '../fairness/period-decay.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'

/** What a lease is to an order: whose it is, and what of each resource it takes. */
export interface Tenure {
  /** The person's path. */
  readonly path: string
  /** Milli-units. */
  readonly rate: number
  /** Thousandths of devices, thousandths of cores, MiB. */
  readonly amounts: readonly [devices: number, cpu: number, memory: number]
  readonly since: EpochMs
}

export type OrderSnapshot =
  { readonly fairTree: DecayedUsageSnapshot } | { readonly drf: DominantSharesSnapshot } | null

/** What siblings are compared by where that is not what the ledger has of them. */
export type Factors =
  | {
      readonly by: 'fair-tree'
      /** Decayed, milli-unit hours. */
      readonly usageMilliUnitH: number
      /** Its part of its siblings' shares over its part of their usage; Infinity: it has used nothing. */
      readonly levelShare: number
    }
  | {
      readonly by: 'dominant-share'
      readonly resource: 'devices' | 'cpu' | 'memory'
      /** Of that resource: what it holds, and all there is. */
      readonly held: number
      readonly total: number
      /** Held of the total, over its share. */
      readonly weighted: number
    }

/** Who is next, by nodes of the budget tree. */
export interface ServingOrder {
  /** Siblings: negative where `a` is next, 0 where the ages decide. */
  readonly compare: (a: number, b: number) => number
  /** Whether all of these have had what they are owed and nobody else lacks anything: what is left belongs to nobody. */
  readonly isUnallocated: (parent: number, candidates: ReadonlyArray<number>) => boolean
  /** Persons rank among all, not level by level. */
  readonly isFlat: boolean
  /** Of a node below the root; null: the ledger's charged and owed. */
  readonly factorsOf: (node: number) => Factors | null
  readonly started: (tenure: Tenure, at: EpochMs) => void
  readonly ended: (tenure: Tenure, at: EpochMs) => void
  /** Takes `started` back, as if it had not been, at the same instant. */
  readonly undone: (tenure: Tenure, at: EpochMs) => void
  /** Totals of the same resources. */
  readonly setTotal: (total: Tenure['amounts']) => void
  readonly opened: (person: number) => void
  readonly closed: (path: string) => void
  readonly advance: (at: EpochMs) => void
  readonly snapshot: () => OrderSnapshot
}

const nothing = (): void => undefined
const unmoved = {
  started: nothing,
  ended: nothing,
  undone: nothing,
  setTotal: nothing,
  opened: nothing,
  closed: nothing,
}

/** The default: whoever was served least of what it is owed over the window. */
export const budgetOrder = (ledger: BudgetLedger): ServingOrder => ({
  ...unmoved,
  compare: (a, b) => ledger.compareServed(a, b),
  isUnallocated: (parent, candidates) => {
    for (const child of candidates) if (!ledger.servedFully(child)) return false
    return !ledger.hasBehind(parent)
  },
  isFlat: false,
  factorsOf: () => null,
  advance: nothing,
  snapshot: () => null,
})

const root = 'cell'

/** As Slurm's Fair Tree has it: decayed usage against shares, ranked over the whole tree. */
export const fairTreeOrder = (
  ledger: BudgetLedger,
  halfLifeMs: DurationMs,
  from: DecayedUsageSnapshot | undefined,
): ServingOrder => {
  const idOf = (node: number): string => (ledger.parent(node) < 0 ? root : `${root}/${ledger.path(node)}`)
  const nodeOf = (node: number, isPerson: boolean): FairTreeNode => ({
    id: idOf(node),
    kind: isPerson ? 'user' : 'account',
    parent: ledger.parent(node) < 0 ? null : idOf(ledger.parent(node)),
    shares: ledger.read(node).share,
  })
  const isPerson = (node: number): boolean => ledger.parent(node) >= 0 && ledger.isLeaf(ledger.parent(node))
  const tree = new FairTreeLedger(
    ledger.nodes().map((node) => nodeOf(node, isPerson(node))),
    PeriodDecay.slurm(halfLifeMs),
    from,
  )
  const rankOf = (node: number): number => tree.ranks.rank.get(idOf(node)) ?? 0
  return {
    ...unmoved,
    compare: (a, b) => rankOf(b) - rankOf(a),
    isUnallocated: () => false,
    isFlat: true,
    factorsOf: (node) => ({
      by: 'fair-tree',
      usageMilliUnitH: Math.round(shownAmount(tree.usageOf(idOf(node))) / 3600),
      levelShare: tree.ranks.levelShares.get(idOf(node))!.near,
    }),
    started: ({ path, rate }, at) => {
      tree.started(`${root}/${path}`, rate, at)
    },
    ended: ({ path, rate, since }, at) => {
      tree.ended(`${root}/${path}`, rate, since, at)
    },
    undone: ({ path, rate }, at) => {
      tree.ended(`${root}/${path}`, rate, at, at)
    },
    opened: (person) => {
      if (!tree.has(idOf(person))) tree.add(nodeOf(person, true))
    },
    closed: (path) => {
      tree.remove(`${root}/${path}`)
    },
    advance: (at) => {
      tree.advance(at)
    },
    snapshot: () => ({ fairTree: tree.snapshot() }),
  }
}

const resources = ['devices', 'cpu', 'memory'] as const

/** The lowest weighted dominant share of devices, CPU and memory. */
export const dominantOrder = (ledger: BudgetLedger, from: DominantSharesSnapshot | undefined): ServingOrder => {
  let total: Tenure['amounts'] = [0, 0, 0]
  const shares = new DominantShares(total, from)
  const open = (person: number): void => {
    const path = ledger.path(person)
    if (!shares.has(path)) shares.add(path)
    for (let node = person; ledger.parent(node) >= 0; node = ledger.parent(node))
      shares.setWeight(ledger.path(node), ledger.read(node).share * 1000)
  }
  for (const node of ledger.nodes()) if (ledger.parent(node) >= 0 && ledger.isLeaf(ledger.parent(node))) open(node)
  const weightless = (node: number): number => (ledger.read(node).share === 0 ? 1 : 0)
  /** Nobody of it may have come yet. */
  const shareOf = (path: string): Fraction => (shares.hasLevel(path) ? shares.shareOf(path) : nobodys)
  return {
    ...unmoved,
    compare: (a, b) =>
      weightless(a) - weightless(b) || compareFractions(shareOf(ledger.path(a)), shareOf(ledger.path(b))),
    isUnallocated: () => false,
    isFlat: false,
    factorsOf: (node) => {
      const path = ledger.path(node)
      const held = shares.hasLevel(path) ? shares.heldBy(path) : [0, 0, 0]
      const parts = held.map((amount, i) => (total[i] === 0 ? 0 : amount / total[i]!))
      const dominant = parts.indexOf(Math.max(...parts))
      return {
        by: 'dominant-share',
        resource: resources[dominant]!,
        held: held[dominant]!,
        total: total[dominant]!,
        weighted: shareOf(path).near,
      }
    },
    started: ({ path, amounts }) => {
      shares.started(path, amounts)
    },
    ended: ({ path, amounts }) => {
      shares.ended(path, amounts)
    },
    undone: ({ path, amounts }) => {
      shares.undone(path, amounts)
    },
    setTotal: (amounts) => {
      total = amounts
      shares.setTotal(amounts)
    },
    opened: open,
    closed: (path) => {
      shares.remove(path)
    },
    advance: nothing,
    snapshot: () => ({ drf: shares.snapshot() }),
  }
}
