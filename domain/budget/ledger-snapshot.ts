import type { DurationMs, EpochMs } from '../kernel/units.ts'
import { newBudgetNode, within, type BudgetNode } from './budget-node.ts'
import { BudgetTree } from './budget-tree.ts'
import type { ShareRow } from './share-row.ts'
import { BudgetWindow, type WindowSnapshot } from './window.ts'

/** Rates, in milli-units, of what was put at one node itself. */
export interface OwnRates {
  readonly held: number
  readonly waiting: number
  readonly idle: number
}

export interface NodeSnapshot extends OwnRates {
  readonly number: number
  readonly name: string
  /** Null: the cell. */
  readonly parent: number | null
  readonly isPerson: boolean
  readonly share: number
  readonly persons: { readonly [submitter: string]: number }
  /** Null: without limit. */
  readonly allowance: number | null
  readonly claims: number
  readonly window: WindowSnapshot
}

type RowSnapshot = { readonly [K in keyof ShareRow]: ShareRow[K] extends bigint ? string : ShareRow[K] }

/** All of a ledger, as JSON has it. Equal histories give equal snapshots, whatever was read in between. */
export interface LedgerSnapshot {
  readonly at: EpochMs
  readonly version: string
  readonly capacity: number
  readonly windowHours: number
  readonly creditMaxMs: DurationMs
  readonly nodes: ReadonlyArray<NodeSnapshot>
  readonly freeNumbers: ReadonlyArray<number>
  readonly rows: ReadonlyArray<RowSnapshot>
}

/** What each node has that its children have not. */
export const ownRates = (root: BudgetNode): ReadonlyMap<BudgetNode, OwnRates> => {
  const own = new Map<BudgetNode, OwnRates>()
  for (const node of within(root)) {
    let { held, waiting, idle } = node
    for (const child of node.children) {
      held -= child.held
      waiting -= child.waiting
      idle -= child.idle
    }
    own.set(node, { held, waiting, idle })
  }
  return own
}

export const nodeSnapshots = (root: BudgetNode): ReadonlyArray<NodeSnapshot> =>
  [...ownRates(root)].map(([node, own]) => ({
    number: node.number,
    name: node.name,
    parent: node.parent?.number ?? null,
    isPerson: node.isPerson,
    share: node.share,
    persons: node.persons,
    allowance: node.allowance === Infinity ? null : node.allowance,
    claims: node.claims,
    window: node.window.toJSON(),
    ...own,
  }))

/** @returns the tree, in which no rates have been added up yet, and what each node has of its own */
export const restoredTree = (snapshot: LedgerSnapshot): readonly [BudgetTree, ReadonlyMap<BudgetNode, OwnRates>] => {
  const tree = new BudgetTree(snapshot.at)
  const own = new Map<BudgetNode, OwnRates>()
  for (const { number, parent, name, isPerson, ...kept } of snapshot.nodes) {
    const node = parent === null ? tree.root : newBudgetNode(number, name, isPerson, snapshot.at)
    if (parent !== null) tree.restoreNode(node, parent)
    node.share = kept.share
    node.persons = kept.persons
    node.allowance = kept.allowance ?? Infinity
    node.claims = kept.claims
    node.window = BudgetWindow.restore(kept.window)
    own.set(node, { held: kept.held, waiting: kept.waiting, idle: kept.idle })
  }
  tree.restoreFree(snapshot.freeNumbers)
  return [tree, own]
}

export const rowSnapshot = (row: ShareRow): RowSnapshot =>
  Object.fromEntries(
    Object.entries(row).map(([key, value]) => [key, typeof value === 'bigint' ? value.toString() : (value as unknown)]),
  ) as unknown as RowSnapshot

export const restoredRow = (row: RowSnapshot): ShareRow => {
  const { node, hour, version, ...amounts } = row
  const restored = Object.fromEntries(Object.entries(amounts).map(([key, value]) => [key, BigInt(value)]))
  return { node, hour, version, ...restored } as unknown as ShareRow
}
