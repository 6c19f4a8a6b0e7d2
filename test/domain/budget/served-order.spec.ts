import fc from 'fast-check'
import { expect, it } from 'vitest'
import { column } from '../../../domain/budget/bucket.ts'
import { newBudgetNode } from '../../../domain/budget/budget-node.ts'
import { compareServed } from '../../../domain/budget/served-order.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'

const hours = 64n

/** Over so many hours: more than a number can say exactly. */
const nodeOf = (charged: bigint, owed: bigint) => {
  const node = newBudgetNode(1, 'a', false, 0 as EpochMs)
  node.entitled = 1
  for (let hour = 0n; hour < hours; hour++) {
    node.window.open[column.charged] = Number(charged / hours + (hour < charged % hours ? 1n : 0n))
    node.window.open[column.owed] = Number(owed / hours + (hour < owed % hours ? 1n : 0n))
    node.window.closeHour(Number(hours))
  }
  return node
}

it('should compare exactly what differs by less than rounding does', () => {
  const amount = fc.bigInt({ min: 2n ** 54n, max: 2n ** 58n })
  fc.assert(
    fc.property(amount, amount, amount, fc.bigInt({ min: -2n, max: 2n }), (charged, owed, otherOwed, off) => {
      const other = (charged * otherOwed) / owed + off
      fc.pre(other < 2n ** 58n)
      const exact = charged * otherOwed - other * owed
      const order = compareServed(nodeOf(charged, owed), nodeOf(other, otherOwed))
      expect(Math.sign(order)).toBe(exact < 0n ? -1 : exact > 0n ? 1 : 0)
    }),
    { numRuns: 500 },
  )
})
