import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import type { ExceptionPolicy } from '../policy/contract-policy.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import { exceptionFor, exceptionRule } from './protection.ts'
import { lacksRoom } from './room-reason.ts'
import type { Workload } from './workload.ts'

/** An exception that keeps others from making room for somebody who waits. */
export interface Exemption {
  /** Path into the policy document. */
  readonly rule: string
  readonly name: string
  readonly owner: string
  readonly reason: string
  /** A date, from the beginning of which (UTC) it no longer holds; null: for as long as the policy does. */
  readonly expires: string | null
  /** What runs and is spared by it: the first of them, and how many there are. */
  readonly workloads: ReadonlyArray<string>
  readonly workloadsCount: number
}

const namedMax = 10

/**
 * What spares those who hold more than they are entitled to beside a side of it that holds less than it is owed; where
 * quota is shared, what it was told that spares them. In the policy's order. O(what runs beside), and nothing where the
 * policy makes no exceptions.
 */
export const exemptionsFor = (cell: Cell, workload: Workload): ReadonlyArray<Exemption> => {
  const { books, policy } = cell
  const { account, hold } = workload
  if (policy?.exceptions === undefined || hold === null) return []
  const spared = new Map<ExceptionPolicy, string[]>()
  for (const exception of policy.exceptions)
    if (hold.rule === exceptionRule(policy, exception)) spared.set(exception, [])
  if (books !== null && account !== null && lacksRoom.has(hold.code))
    for (const one of besideOf(books, account.node)) {
      const exception = sparing(cell, policy, one)
      if (exception === null) continue
      const there = spared.get(exception)
      if (there === undefined) spared.set(exception, [one.id])
      else there.push(one.id)
    }
  return policy.exceptions.flatMap((exception) => {
    const there = spared.get(exception)
    if (there === undefined) return []
    const { expires, name, owner, reason } = exception
    const workloads = there.slice(0, namedMax)
    return [
      { rule: exceptionRule(policy, exception), name, owner, reason, expires, workloads, workloadsCount: there.length },
    ]
  })
}

function* besideOf(books: Books, node: number): Generator<Workload> {
  const { ledger } = books
  for (const side of books.upwards(node)) {
    if (ledger.parent(side) < 0 || !ledger.isBehind(side)) continue
    for (const sibling of ledger.overBeside(side)) yield* books.runningBelow(sibling)
  }
}

/** It is not evicted by name, or started beyond its share although it cannot be. */
const sparing = (cell: Cell, policy: AllocationPolicy, one: Workload): ExceptionPolicy | null =>
  exceptionFor(policy, one, cell.now, 'not-preempted') ??
  (cell.isPreemptible(one, cell.now)
    ? null
    : (exceptionFor(policy, one, cell.now, 'non-preemptible-over-entitlement') ?? null))
