import fc from 'fast-check'
import { expect, it } from 'vitest'
import { searchCounts } from '../../../domain/kueue/partial-admission.ts'

const podSet = fc.tuple(fc.nat(6), fc.nat(6)).map(([minCount, slack]) => ({ minCount, count: minCount + slack }))

it('should find the first of all steps that works, and try the logarithm of them', () => {
  fc.assert(
    fc.property(fc.array(podSet, { maxLength: 4 }), fc.nat(40), (podSets, limit) => {
      const slack = podSets.reduce((sum, { count, minCount }) => sum + count - minCount, 0)
      const steps = Array.from({ length: slack + 1 }, (_, step) =>
        podSets.map(({ count, minCount }) => count - Math.floor(((count - minCount) * step) / slack)),
      )
      const works = (counts: ReadonlyArray<number>) => counts.reduce((sum, count) => sum + count, 0) <= limit
      let tried = 0
      const found = searchCounts(podSets, (counts) => {
        tried++
        return works(counts) ? counts : null
      })
      expect(found).toEqual(slack === 0 ? null : (steps.find(works) ?? null))
      expect(tried).toBeLessThanOrEqual(Math.ceil(Math.log2(slack + 2)))
    }),
  )
})

it.each([
  [12, [8, 4]],
  [11, [7, 4]],
  [8, [5, 3]],
  [4, [2, 2]],
])('should shrink pod sets of 8 and 4 that may have 2 each, when %i fit in all, to %j', (limit, counts) => {
  const podSets = [
    { count: 8, minCount: 2 },
    { count: 4, minCount: 2 },
  ]
  expect(searchCounts(podSets, (counts) => (counts[0]! + counts[1]! <= limit ? counts : null))).toEqual(counts)
})

it('should count exactly where the slack times the step is above what a number holds', () => {
  const count = 3_000_000_019
  const limit = 1_234_567_891
  const found = searchCounts(
    [
      { count, minCount: 0 },
      { count, minCount: 0 },
    ],
    (counts) => (counts[0]! <= limit ? counts : null),
  )
  expect(found).toEqual([limit, limit])
})
