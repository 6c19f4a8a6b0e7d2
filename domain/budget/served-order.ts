import type { DurationMs } from '../kernel/units.ts'
import { column } from './bucket.ts'
import type { BudgetNode } from './budget-node.ts'

/** Two products of rounded sums that differ by more than this part of the larger differ exactly, too. */
const roundingMax = 1e-14

/**
 * By charged / owed over the window, exactly. What is entitled to nothing comes last, what was owed nothing first.
 * Both are settled.
 * @returns negative where `a` comes first; 0 where the order is for others to say
 */
export const compareServed = (a: BudgetNode, b: BudgetNode): number => {
  if (a.entitled === 0 || b.entitled === 0) return Number(a.entitled === 0) - Number(b.entitled === 0)
  const owedA = a.window.rounded(column.owed)
  const owedB = b.window.rounded(column.owed)
  if (owedA === 0 || owedB === 0) return Number(owedB === 0) - Number(owedA === 0)
  const left = a.window.rounded(column.charged) * owedB
  const right = b.window.rounded(column.charged) * owedA
  if (Math.abs(left - right) > roundingMax * Math.max(left, right)) return left - right
  return sign(
    a.window.total(column.charged) * b.window.total(column.owed) -
      b.window.total(column.charged) * a.window.total(column.owed),
  )
}

/** The highest yield credit per entitled rate first; what is entitled to nothing comes last. */
export const compareCredit = (a: BudgetNode, b: BudgetNode, creditMaxMs: DurationMs): number => {
  if (a.entitled === 0 || b.entitled === 0) return Number(a.entitled === 0) - Number(b.entitled === 0)
  return sign(creditOf(b, creditMaxMs) * BigInt(a.entitled) - creditOf(a, creditMaxMs) * BigInt(b.entitled))
}

export const servedFully = (node: BudgetNode): boolean => {
  if (node.entitled === 0) return true
  const charged = node.window.rounded(column.charged)
  const owed = node.window.rounded(column.owed)
  if (Math.abs(charged - owed) > roundingMax * Math.max(charged, owed)) return charged > owed
  return node.window.total(column.charged) >= node.window.total(column.owed)
}

/** Owed less charged where positive, milli-units x ms. */
export const debtOf = (node: BudgetNode): bigint => {
  const debt = node.window.total(column.owed) - node.window.total(column.charged)
  return debt > 0n ? debt : 0n
}

/** Its debt is at least so long a time of its entitled rate. */
export const debtAtLeast = (node: BudgetNode, duration: DurationMs): boolean => {
  const least = duration * node.entitled
  if (least === 0) return true
  const owed = node.window.rounded(column.owed)
  const needed = node.window.rounded(column.charged) + least
  if (Math.abs(owed - needed) > roundingMax * Math.max(owed, needed)) return owed > needed
  return debtOf(node) >= BigInt(duration) * BigInt(node.entitled)
}

export const creditCap = (node: BudgetNode, creditMaxMs: DurationMs): bigint =>
  BigInt(creditMaxMs) * BigInt(node.entitled)

export const creditOf = (node: BudgetNode, creditMaxMs: DurationMs): bigint => {
  const credit = node.window.credit()
  const cap = creditCap(node, creditMaxMs)
  return credit < cap ? credit : cap
}

const sign = (amount: bigint): number => (amount < 0n ? -1 : amount > 0n ? 1 : 0)
