import fc from 'fast-check'
import { expect, it } from 'vitest'
import { quotaStanding } from '../../../domain/quota/quota-standing.ts'
import { QuotaTree, type NodeQuota, type QuotaNodeSpec } from '../../../domain/quota/quota-tree.ts'

const limit = fc.option(fc.nat(6))
const quotas: fc.Arbitrary<ReadonlyArray<NodeQuota>> = fc
  .record({ nominal: fc.nat(6), borrowing: limit, lending: limit })
  .map((amounts) => [{ flavor: 'x', resource: 'devices', ...amounts }])
const parents = [null, 'root', 'below', 'below', 'root', null]
const trees = fc.tuple(...parents.map(() => quotas)).map((each) =>
  each.map((own, i): QuotaNodeSpec => ({
    name: ['root', 'below'][i] ?? `queue-${i}`,
    kind: i < 2 ? 'cohort' : 'queue',
    parent: parents[i]!,
    fairWeight: 1,
    // Without a cohort there is nobody to borrow from.
    quotas: parents[i] === null ? own.map((one) => ({ ...one, borrowing: null, lending: null })) : own,
  })),
)

it('should add up to what a queue may use more, whatever is used and lent', () => {
  fc.assert(
    fc.property(trees, fc.array(fc.tuple(fc.integer({ min: 2, max: 5 }), fc.nat(4))), (specs, used) => {
      const tree = new QuotaTree(specs)
      for (const [queue, amount] of used) tree.add(queue, [[0, amount]])
      for (const queue of [2, 3, 4, 5]) {
        const { borrowingMax = Infinity, cohortLeft, nominal, used } = quotaStanding(tree, queue, 0)
        const most = cohortLeft === undefined ? nominal - used : Math.min(nominal + borrowingMax - used, cohortLeft)
        expect(Math.max(0, most)).toBe(Math.max(0, tree.available(queue, 0)))
      }
    }),
  )
})
