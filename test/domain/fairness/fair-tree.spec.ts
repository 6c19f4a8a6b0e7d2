import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FairTree, type FairRanks, type FairTreeNode } from '../../../domain/fairness/fair-tree.ts'
import { compareFractions } from '../../../domain/fairness/fraction.ts'

type Told = readonly [id: string, parent: string | null, shares: number | null, usage?: number]

/** Who has usage stated, or no children, is a user. */
const ranked = (...told: ReadonlyArray<Told>): FairRanks => {
  const tree = new FairTree(
    told.map(([id, parent, shares]) => ({ id, parent, shares, kind: /^[a-z]/.test(id) ? 'user' : 'account' })),
  )
  const usage = new Map(told.map(([id, , , used = 0]) => [id, BigInt(used)]))
  return tree.rank(tree.sums((user) => usage.get(user)!))
}

const factors = ({ rank }: FairRanks): { readonly [user: string]: number } =>
  Object.fromEntries([...rank].map(([user, place]) => [user, place / rank.size]))

describe('the published example', () => {
  const below = (sharesOfA: number, sharesOfB: number): FairRanks =>
    ranked(
      ['ROOT', null, 1],
      ['A', 'ROOT', sharesOfA],
      ['B', 'ROOT', sharesOfB],
      ['a1', 'A', 1, 100],
      ['a2', 'A', 1, 300],
      ['b1', 'B', 1, 400],
    )

  it('should rank users of the account that has used less of its part first', () => {
    const ranks = below(40, 60)
    expect([...ranks.levelShares].map(([id, { near }]) => [id, Math.round(near * 1000) / 1000])).toEqual([
      ['A', 0.8],
      ['B', 1.2],
      ['a1', 2],
      ['a2', 0.667],
      ['b1', 1],
    ])
    expect(ranks.order).toEqual(['b1', 'a1', 'a2'])
    expect(factors(ranks)).toEqual({ b1: 1, a1: 2 / 3, a2: 1 / 3 })
  })

  it('should sort the users of accounts that tie as one list', () => {
    const ranks = below(50, 50)
    expect(ranks.order).toEqual(['a1', 'b1', 'a2'])
    expect(factors(ranks)).toEqual({ a1: 1, b1: 2 / 3, a2: 1 / 3 })
  })
})

it('should put no shares last, no usage first, and who inherits first whatever was used', () => {
  const ranks = ranked(
    ['ROOT', null, 1],
    ['used', 'ROOT', 5, 10],
    ['shareless', 'ROOT', 0, 0],
    ['fresh', 'ROOT', 1, 0],
    ['heir', 'ROOT', null, 1000],
  )
  expect(ranks.order).toEqual(['fresh', 'heir', 'used', 'shareless'])
  expect(factors(ranks)).toEqual({ fresh: 1, heir: 1, used: 0.5, shareless: 0.25 })
})

it('should count the shares of an heir for nobody, and its usage for all', () => {
  const { levelShares } = ranked(['ROOT', null, 1], ['a', 'ROOT', 1, 10], ['heir', 'ROOT', null, 30])
  expect(levelShares.get('a')!.near).toBe(4)
})

it('should let a user that ties with an account share the rank of the first one in it', () => {
  const ranks = ranked(['ROOT', null, 1], ['A', 'ROOT', 1], ['z', 'ROOT', 1, 10], ['a1', 'A', 1, 4], ['a2', 'A', 1, 6])
  expect(ranks.order).toEqual(['z', 'a1', 'a2'])
  expect(factors(ranks)).toEqual({ z: 1, a1: 1, a2: 1 / 3 })
})

interface RandomTree {
  readonly nodes: ReadonlyArray<FairTreeNode>
  readonly usage: ReadonlyMap<string, bigint>
}

/** Few different shares and usages, so that much ties. */
const trees: fc.Arbitrary<RandomTree> = fc
  .array(
    fc.record({
      above: fc.nat(1000),
      isUser: fc.boolean(),
      shares: fc.option(fc.nat(3), { freq: 9 }),
      used: fc.nat(3),
    }),
    { minLength: 1, maxLength: 30, size: 'max' },
  )
  .map((drawn) => {
    const nodes: FairTreeNode[] = [{ id: 'N', kind: 'account', parent: null, shares: 1 }]
    const accounts = ['N']
    const usage = new Map<string, bigint>()
    drawn.forEach(({ above, isUser, shares, used }, index) => {
      const id = `${isUser ? 'u' : 'A'}${index}`
      nodes.push({ id, kind: isUser ? 'user' : 'account', parent: accounts[above % accounts.length]!, shares })
      if (isUser) usage.set(id, BigInt(used))
      else accounts.push(id)
    })
    return { nodes, usage }
  })

const rankOf = ({ nodes, usage }: RandomTree): FairRanks => {
  const tree = new FairTree(nodes)
  return tree.rank(tree.sums((user) => usage.get(user)!))
}

const usersBelow = (nodes: ReadonlyArray<FairTreeNode>, id: string): ReadonlyArray<string> =>
  nodes
    .filter(({ parent }) => parent === id)
    .flatMap((node) => (node.kind === 'user' ? [node.id] : usersBelow(nodes, node.id)))

it('should rank every user of an account above every user of a sibling with a lower level share', () => {
  fc.assert(
    fc.property(trees, (drawn) => {
      const { nodes } = drawn
      const { rank, levelShares, order } = rankOf(drawn)
      for (const x of nodes)
        for (const y of nodes) {
          if (x.parent !== y.parent || x.parent === null) continue
          if (compareFractions(levelShares.get(x.id)!, levelShares.get(y.id)!) <= 0) continue
          const all = ({ id, kind }: FairTreeNode) => (kind === 'user' ? [id] : usersBelow(nodes, id))
          for (const high of all(x))
            for (const low of all(y)) {
              expect(rank.get(high)).toBeGreaterThan(rank.get(low)!)
              expect(order.indexOf(high)).toBeLessThan(order.indexOf(low))
            }
        }
    }),
    { numRuns: 300 },
  )
})

it('should give each user a rank: that of its place from behind, or of those before it that it ties with', () => {
  fc.assert(
    fc.property(trees, (drawn) => {
      const { order, rank } = rankOf(drawn)
      expect(order.toSorted()).toEqual([...drawn.usage.keys()].sort())
      order.forEach((user, place) => {
        const own = order.length - place
        const before = place === 0 ? undefined : rank.get(order[place - 1]!)
        expect([own, before]).toContain(rank.get(user))
      })
    }),
  )
})

it('should rank the same whatever the unit of usage and the order in which siblings were added', () => {
  fc.assert(
    fc.property(trees, fc.bigInt({ min: 1n, max: 1n << 90n }), (drawn, unit) => {
      const { nodes, usage } = drawn
      const depthOf = ({ parent }: FairTreeNode): number =>
        parent === null ? 0 : 1 + depthOf(nodes.find(({ id }) => id === parent)!)
      const others = nodes.toReversed().sort((a, b) => depthOf(a) - depthOf(b))
      const scaled = new Map([...usage].map(([user, used]) => [user, used * unit]))
      const [one, other] = [rankOf(drawn), rankOf({ nodes: others, usage: scaled })]
      expect(other.order).toEqual(one.order)
      expect([...other.rank].sort()).toEqual([...one.rank].sort())
    }),
  )
})

it('should refuse what is no tree', () => {
  const root: FairTreeNode = { id: 'R', kind: 'account', parent: null, shares: 1 }
  const user: FairTreeNode = { id: 'u', kind: 'user', parent: 'R', shares: 1 }
  expect(() => new FairTree([root, root])).toThrow('one node R')
  expect(() => new FairTree([root, { ...root, id: 'S' }])).toThrow('one root')
  expect(() => new FairTree([root, user, { ...user, id: 'v', parent: 'u' }])).toThrow('u is an account')
  const tree = new FairTree([root, user])
  expect(() => {
    tree.remove('R')
  }).toThrow('nothing below it')
  tree.remove('u')
  expect([tree.users, tree.has('u'), tree.rank(new Map()).order]).toEqual([0, false, []])
})
