import type { EpochMs } from '../kernel/units.ts'
import { addRates } from './bucket.ts'
import { BudgetWindow } from './window.ts'

/** A node of the budget tree and its ledger. Rates are milli-units. */
export interface BudgetNode {
  readonly number: number
  name: string
  /** Names down from the cell, joined by slashes; that of the cell is empty. */
  path: string
  parent: BudgetNode | null
  /** By name. */
  children: BudgetNode[]
  /** Opened on demand below a leaf of the policy. */
  readonly isPerson: boolean
  share: number
  /** Of a leaf: the shares of persons that differ from 1. */
  persons: { readonly [submitter: string]: number }
  /** What its own quota and caps allow; Infinity: without limit. */
  allowance: number
  /** The least allowance on the way up, its own included. */
  limit: number
  entitled: number
  /** At it and below, like `waiting` and `idle`. */
  held: number
  waiting: number
  idle: number
  /** How many leases and waiting workloads have been put at this very node. */
  claims: number
  demand: number
  owedRate: number
  /** It would be behind if the cell had at least what all hold. */
  lacks: boolean
  lackingChildren: number
  /** How long some child lacked, by the ledger's clock; up to `lackingSince` where one does. */
  lackingMs: number
  lackingSince: number
  /** Its rates have been counted up to here. */
  settledAt: EpochMs
  /** What the parent's lacking time was then. */
  lackingSeen: number
  window: BudgetWindow
}

export const newBudgetNode = (number: number, name: string, isPerson: boolean, at: EpochMs): BudgetNode => ({
  number,
  name,
  path: name,
  parent: null,
  children: [],
  isPerson,
  share: 1,
  persons: {},
  allowance: Infinity,
  limit: Infinity,
  entitled: 0,
  held: 0,
  waiting: 0,
  idle: 0,
  claims: 0,
  demand: 0,
  owedRate: 0,
  lacks: false,
  lackingChildren: 0,
  lackingMs: 0,
  lackingSince: 0,
  settledAt: at,
  lackingSeen: 0,
  window: new BudgetWindow(),
})

/** How long some child of `parent` has lacked. @param clock ms in which the cell had at least what all hold */
export const lackingTime = (parent: BudgetNode | null, clock: number): number => {
  if (parent === null) return 0
  return parent.lackingChildren > 0 ? parent.lackingMs + clock - parent.lackingSince : parent.lackingMs
}

/** Counts the rates that held since the last time. To be called before any of them changes. */
export const settle = (node: BudgetNode, at: EpochMs, clock: number): void => {
  const ms = at - node.settledAt
  if (ms === 0) return
  const seen = lackingTime(node.parent, clock)
  addRates(node.window.open, node, ms, seen - node.lackingSeen)
  node.settledAt = at
  node.lackingSeen = seen
}

/** Derives what follows from the rates, after one has changed. What lacks has excess itself never: `held` < `entitled`. */
export const derive = (node: BudgetNode, clock: number): void => {
  node.demand = Math.min(node.held + node.waiting, node.limit)
  node.owedRate = Math.min(node.demand, node.entitled)
  const lacks = node.held < node.owedRate
  if (lacks === node.lacks) return
  node.lacks = lacks
  const parent = node.parent
  if (parent === null) return
  if (lacks) {
    if (parent.lackingChildren++ === 0) parent.lackingSince = clock
  } else if (--parent.lackingChildren === 0) parent.lackingMs += clock - parent.lackingSince
}

/** The node and all below it, parents first, siblings by name. */
export const within = (node: BudgetNode): ReadonlyArray<BudgetNode> => {
  const found: BudgetNode[] = []
  const visit = (each: BudgetNode): void => {
    found.push(each)
    each.children.forEach(visit)
  }
  visit(node)
  return found
}

export const pathBelow = (parent: BudgetNode, name: string): string =>
  parent.parent === null ? name : `${parent.path}/${name}`

export const byName = (a: BudgetNode, b: BudgetNode): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
