import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PendingDebits } from '../../../domain/fairness/pending-debits.ts'

const step = fc.record({
  workload: fc.constantFrom('w1', 'w2', 'w3'),
  amounts: fc.option(fc.tuple(fc.bigInt({ min: 0n, max: 1n << 90n }), fc.bigInt({ min: 0n, max: 9n }))),
})

it('should hold the last debit of each workload that was not withdrawn, and exactly their sum', () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const debits = new PendingDebits(2)
      const expected = new Map<string, readonly [bigint, bigint]>()
      for (const { workload, amounts } of steps) {
        if (amounts === null) {
          debits.withdraw(workload)
          expected.delete(workload)
        } else {
          debits.push(workload, amounts)
          expected.set(workload, amounts)
        }
        expect(debits.pending).toBe(expected.size > 0)
        expect(debits.entries).toEqual([...expected].sort(([a], [b]) => (a < b ? -1 : 1)))
        const sum = (i: 0 | 1) => [...expected.values()].reduce((all, amounts) => all + amounts[i], 0n)
        expect(debits.total).toEqual([sum(0), sum(1)])
      }
    }),
  )
})
