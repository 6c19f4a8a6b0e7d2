import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dominantShare, shareMilli } from '../../../domain/kueue/dominant-share.ts'
import { QuotaTree, type NodeQuota, type QuotaNodeSpec } from '../../../domain/quota/quota-tree.ts'

type Limits = { readonly borrowing?: number; readonly lending?: number }
const gpus = (nominal: number, { borrowing, lending }: Limits = {}): ReadonlyArray<NodeQuota> => [
  { flavor: 'h100', resource: 'devices', nominal, borrowing: borrowing ?? null, lending: lending ?? null },
]
const cohort = (name: string, parent: string | null, quotas: ReadonlyArray<NodeQuota> = []): QuotaNodeSpec => {
  return { name, kind: 'cohort', parent, fairWeight: 1, quotas }
}
const queue = (name: string, parent: string | null, quotas: ReadonlyArray<NodeQuota>): QuotaNodeSpec => {
  return { name, kind: 'queue', parent, fairWeight: 1, quotas }
}

describe('one cohort', () => {
  const tree = new QuotaTree([
    queue('research', 'all', gpus(256, { borrowing: 512, lending: 192 })),
    queue('platform', 'all', gpus(512)),
    cohort('all', null),
  ])
  const [research, platform, all] = [0, 1, 2]

  it('should set aside what is not lent', () => {
    expect(tree.subtree(all, 0)).toBe(704)
    expect(tree.local(research, 0)).toBe(64)
    expect(tree.potential(research, 0)).toBe(768)
    expect(tree.potential(platform, 0)).toBe(704)
  })

  it('should charge the cohort only with what is beyond it', () => {
    tree.add(platform, [[0, 700]])
    expect([tree.available(platform, 0), tree.available(research, 0)]).toEqual([4, 68])
    expect(shareMilli(dominantShare(tree, platform))).toBeCloseTo(267.05, 2)
    tree.add(research, [[0, 64]])
    expect(tree.usage(all, 0)).toBe(700)
    tree.add(research, [[0, 4]])
    expect(tree.usage(all, 0)).toBe(704)
    expect([tree.available(platform, 0), tree.available(research, 0)]).toEqual([0, 0])
  })
})

describe('three levels', () => {
  const tree = new QuotaTree([
    cohort('root', null, gpus(4)),
    cohort('left', 'root', gpus(2)),
    queue('q1', 'left', gpus(6, { lending: 2 })),
    queue('q2', 'left', gpus(6, { borrowing: 4 })),
    queue('q3', 'root', gpus(8, { lending: 0 })),
  ])
  const [root, left, q1, q2, q3] = [0, 1, 2, 3, 4]

  it('should add up quota from the leaves', () => {
    expect([tree.subtree(left, 0), tree.subtree(root, 0)]).toEqual([10, 14])
    expect([tree.local(q1, 0), tree.local(q3, 0)]).toEqual([4, 8])
    expect([q1, q2, q3].map((node) => tree.potential(node, 0))).toEqual([18, 10, 22])
    expect([q1, left, root].map((node) => tree.height[node])).toEqual([0, 1, 2])
    expect(tree.commonAncestor(q1, q3)).toBe(root)
    expect(tree.commonAncestor(q1, q2)).toBe(left)
  })

  it('should let a queue have what its limits and its ancestors leave it', () => {
    tree.add(q2, [[0, 10]])
    expect([q1, q2, q3].map((node) => tree.available(node, 0))).toEqual([8, 0, 12])
    expect(shareMilli(dominantShare(tree, q2))).toBeCloseTo(285.71, 2)
    expect(shareMilli(dominantShare(tree, left))).toBe(0)
  })
})

describe('edges', () => {
  it('should say by how much more is used than there is', () => {
    const tree = new QuotaTree([queue('alone', null, gpus(3))])
    tree.add(0, [[0, 5]])
    expect(tree.available(0, 0)).toBe(-2)
  })

  it('should stop at what counts as unlimited, instead of losing whole numbers', () => {
    const most = Number.MAX_SAFE_INTEGER
    const tree = new QuotaTree([
      cohort('all', null),
      queue('a', 'all', gpus(2 ** 63)),
      queue('b', 'all', gpus(most, { borrowing: most })),
    ])
    expect([0, 1, 2].map((node) => tree.subtree(node, 0))).toEqual([most, most, most])
    expect([0, 1, 2].map((node) => tree.potential(node, 0))).toEqual([most, most, most])
    expect(tree.lendable(0, 0)).toBe(most)
  })

  it('should refuse cohorts that go round in a circle', () => {
    expect(() => new QuotaTree([cohort('a', 'b'), cohort('b', 'a')])).toThrow('round in a circle')
  })

  it('should tell a quota of 0 from none', () => {
    const tree = new QuotaTree([queue('a', null, gpus(0)), queue('b', null, [])])
    expect([tree.lists(0, 0), tree.lists(1, 0)]).toEqual([true, false])
    expect(tree.carried).toEqual([[0], []])
  })

  it('should give back in any order what was taken in any order', () => {
    const steps = fc.array(fc.tuple(fc.nat(2), fc.nat(9)), { maxLength: 20 })
    const limited = fc.record({ nominal: fc.nat(9), borrowing: fc.nat(9), lending: fc.nat(9) })
    fc.assert(
      fc.property(
        fc.tuple(limited, limited, limited, limited),
        steps,
        fc.infiniteStream(fc.nat()),
        (all, taken, pick) => {
          const [mid, ...queues] = all.map(({ nominal, ...limits }) => gpus(nominal, limits))
          const tree = new QuotaTree([
            ...queues.map((quotas, i) => queue(`q${i}`, i < 2 ? 'mid' : 'root', quotas)),
            cohort('mid', 'root', mid),
            cohort('root', null),
          ])
          for (const [node, amount] of taken) tree.add(node, [[0, amount]])
          const left = [...taken]
          while (left.length > 0) {
            const [one] = left.splice(pick.next().value % left.length, 1)
            tree.remove(one![0], [[0, one![1]]])
          }
          expect([...tree.save()]).toEqual([0, 0, 0, 0, 0])
        },
      ),
    )
  })
})
