import { describe, expect, it } from 'vitest'
import {
  compareShares,
  dominantShare,
  reportedShare,
  shareMilli,
  type DominantShare,
} from '../../../domain/kueue/dominant-share.ts'
import { QuotaTree, type NodeQuota } from '../../../domain/quota/quota-tree.ts'
import { devices, node } from './contested-quota.ts'

const share = (borrowed: number, lendable: number, weight = 1): DominantShare => {
  return { borrowed, lendable, weightMilli: weight * 1000, resource: 0, borrowing: borrowed > 0 }
}

describe('three queues of one cohort', () => {
  const tree = new QuotaTree([
    node('cohort', 'all', null, []),
    node('queue', 'a', 'all', devices(10), 2),
    node('queue', 'b', 'all', devices(10), 1),
    node('queue', 'c', 'all', devices(10), 0),
  ])
  const [a, b, c] = [1, 2, 3]
  tree.add(a, [[0, 16]])
  tree.add(b, [[0, 12]])
  tree.add(c, [[0, 2]])

  it('should divide what is borrowed by what could be lent, and by the weight', () => {
    expect([a, b, c].map((queue) => shareMilli(dominantShare(tree, queue)))).toEqual([100, 2000 / 30, 0])
    expect([a, b, c].map((queue) => reportedShare(dominantShare(tree, queue)))).toEqual([100, 67, 0])
  })

  it('should count what is asked for as if it were used', () => {
    expect(shareMilli(dominantShare(tree, b, [[0, 3]]))).toBeCloseTo(166.67, 2)
    expect(shareMilli(dominantShare(tree, c, [[0, 9]]))).toBe(Infinity)
  })
})

it('should take the resource of which most is borrowed, and the first by name between equals', () => {
  const quota = (resource: string, nominal: number, lending: number | null = null): NodeQuota => {
    return { flavor: 'f', resource, nominal, borrowing: null, lending }
  }
  const tree = new QuotaTree([
    node('cohort', 'all', null, []),
    node('queue', 'a', 'all', [quota('memory', 10), quota('devices', 10), quota('licence', 1, 0)]),
  ])
  const [memory, count, licence] = ['memory', 'devices', 'licence'].map((one) => tree.flavorResource('f', one)!)
  const dominant = (usage: ReadonlyArray<readonly [number, number]>) => {
    const { resource, borrowing } = dominantShare(tree, 1, usage)
    return [tree.resources[resource] ?? null, borrowing]
  }
  expect(dominant([[memory!, 13], [count!, 12]])).toEqual(['memory', true]) // prettier-ignore
  expect(dominant([[memory!, 12], [count!, 12]])).toEqual(['devices', true]) // prettier-ignore
  expect(dominant([[licence!, 5]])).toEqual([null, true])
  expect(dominant([[licence!, 1]])).toEqual([null, false])
})

describe('comparing', () => {
  it('should tell apart what a number of 53 bits cannot', () => {
    const [a, b] = [share(9_999_999_999_998, 9_999_999_999_999), share(9_999_999_999_999, 10_000_000_000_000)]
    expect(a.borrowed / a.lendable).toBe(b.borrowed / b.lendable)
    expect(compareShares(a, b)).toBe(-1)
    expect(compareShares(b, a)).toBe(1)
    expect(compareShares(a, { ...a })).toBe(0)
  })

  it('should find equal what is, in whatever terms', () => {
    expect(compareShares(share(1, 3), share(2_000_000_000_002, 6_000_000_000_006))).toBe(0)
    expect(compareShares(share(1, 3, 0.1), share(10, 3))).toBe(0)
    expect(compareShares(share(7, 10, 1.01), share(7, 10, 0.99))).toBe(-1)
  })

  it('should put a borrower of weight 0 above all that have a weight, and below one that borrows more', () => {
    expect(compareShares(share(1, 1000, 0), share(1000, 1))).toBe(1)
    expect(compareShares(share(1, 10, 0), share(2, 10, 0))).toBe(-1)
    expect(compareShares(share(0, 10, 0), share(1, 10))).toBe(-1)
    expect(compareShares(share(0, 10, 0), share(0, 5))).toBe(0)
  })
})

it('should report the next whole thousandth, exactly', () => {
  expect(reportedShare(share(1, 1000))).toBe(1)
  expect(reportedShare(share(1_000_000_000_001, 1_000_000_000_000_000))).toBe(2)
  expect(reportedShare(share(0, 7, 0))).toBe(0)
  expect(reportedShare(share(1, 7, 0))).toBe(Infinity)
})
