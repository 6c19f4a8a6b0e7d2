import type { DurationMs } from '../kernel/units.ts'
import { column } from './bucket.ts'
import type { BudgetNode } from './budget-node.ts'
import { creditCap, creditOf, debtOf } from './served-order.ts'

/** One node at an instant. Rates are milli-units; what is said to be over the window is milli-units x ms. */
export interface BudgetReading {
  readonly path: string
  readonly share: number
  /** Rate that its share comes to now. */
  readonly entitled: number
  /** Rate of the leases at it and below. */
  readonly held: number
  /** Held and waiting, as far as its allowance goes. */
  readonly demand: number
  /** The smaller of demand and entitled. */
  readonly owedRate: number
  /** Held beyond entitled. */
  readonly excess: number
  /** Holds less than it is owed, and has work that waits. */
  readonly behind: boolean
  /** Holds more than it is entitled to while a sibling is behind. */
  readonly isOver: boolean
  readonly owed: bigint
  readonly charged: bigint
  /** Excess while no sibling was behind: charged to nobody, except where it was idle. */
  readonly unallocated: bigint
  /** Excess while a sibling was behind: charged. */
  readonly over: bigint
  /** What is in `charged` only because it was idle. */
  readonly idleCharged: bigint
  readonly heldIntegral: bigint
  /** Owed less charged where positive. */
  readonly debt: bigint
  /** What it left unused and did not take back as unallocated excess, up to `creditCap`. */
  readonly credit: bigint
  readonly creditCap: bigint
}

/** @param node settled @param isShort the cell has less than what all hold */
export const readingOf = (node: BudgetNode, creditMaxMs: DurationMs, isShort: boolean): BudgetReading => ({
  path: node.path,
  share: node.share,
  entitled: node.entitled,
  held: node.held,
  demand: node.demand,
  owedRate: node.owedRate,
  excess: Math.max(0, node.held - node.entitled),
  behind: node.lacks && !isShort,
  isOver: !isShort && isBeyond(node),
  owed: node.window.total(column.owed),
  charged: node.window.total(column.charged),
  unallocated: node.window.total(column.unallocated),
  over: node.window.total(column.over),
  idleCharged: node.window.total(column.idle),
  heldIntegral: node.window.total(column.held),
  debt: debtOf(node),
  credit: creditOf(node, creditMaxMs),
  creditCap: creditCap(node, creditMaxMs),
})

/** Has excess that a sibling lacks. */
export const isBeyond = ({ parent, held, entitled }: BudgetNode): boolean =>
  parent !== null && parent.lackingChildren > 0 && held > entitled
