import fc from 'fast-check'
import { expect, it } from 'vitest'
import { DominantShares, type DominantSharesSnapshot } from '../../../domain/fairness/dominant-shares.ts'

interface SlowClient {
  held: number[]
  given: number
  waits: boolean
}

/** Clients by path, and every order worked out anew from what they hold. */
class SlowShares {
  total: ReadonlyArray<number>
  readonly clients = new Map<string, SlowClient>()
  readonly weights = new Map<string, number>()

  constructor(total: ReadonlyArray<number>) {
    this.total = total
  }

  order(level = ''): ReadonlyArray<string> {
    const below = [...this.clients.keys()].filter((path) => level === '' || path.startsWith(`${level}/`))
    const names = [...new Set(below.map((path) => path.slice(level === '' ? 0 : level.length + 1).split('/')[0]!))]
    const siblings = names.map((name) => {
      const path = level === '' ? name : `${level}/${name}`
      const members = [...this.clients].filter(([at]) => at === path || at.startsWith(`${path}/`))
      return this.sibling(name, this.weights.get(path) ?? 1000, members, () => this.order(path))
    })
    const own = this.clients.get(level)
    if (own !== undefined) siblings.push(this.sibling('', 1000, [[level, own]], () => (own.waits ? [level] : [])))
    return siblings.sort(compareSiblings).flatMap(({ order }) => order())
  }

  private sibling(
    name: string,
    weight: number,
    members: ReadonlyArray<readonly [string, SlowClient]>,
    order: () => ReadonlyArray<string>,
  ) {
    const scale = this.total.reduce((all, amount) => all * BigInt(Math.max(1, amount)), 1n)
    // All shares over one denominator.
    const shares = this.total.map((amount, i) => {
      const held = members.reduce((sum, [, client]) => sum + client.held[i]!, 0)
      return amount === 0 ? 0n : BigInt(held) * (scale / BigInt(amount))
    })
    const share = shares.reduce((a, b) => (a > b ? a : b), 0n)
    return { name, weight, share, given: members.reduce((sum, [, client]) => sum + client.given, 0), order }
  }
}

type SlowSibling = { name: string; weight: number; share: bigint; given: number; order: () => ReadonlyArray<string> }

const compareSiblings = (a: SlowSibling, b: SlowSibling): number => {
  if ((a.weight === 0) !== (b.weight === 0)) return a.weight === 0 ? 1 : -1
  const [left, right] = [a.share * BigInt(b.weight || 1), b.share * BigInt(a.weight || 1)]
  if (left !== right) return left < right ? -1 : 1
  return a.given - b.given || (a.name < b.name ? -1 : 1)
}

const paths = ['a', 'b', 'c', 'a/x', 'a/y', 'b/x/p', 'b/x/q'] as const
const path = fc.constantFrom(...paths)
const amount = fc.oneof(fc.nat(3), fc.nat(2 ** 45))
const amounts = fc.tuple(amount, amount)
const step = fc.oneof(
  fc.record({ do: fc.constantFrom('add', 'remove', 'wait', 'rest', 'start').map((verb) => verb), path, amounts }),
  fc.record({ do: fc.constantFrom('start', 'end', 'undo', 'wait'), path, amounts }),
  fc.record({
    do: fc.constant('weigh'),
    path: fc.oneof(path, fc.constant('b/x')),
    weight: fc.constantFrom(0, 200, 1000, 3000),
  }),
  fc.record({ do: fc.constant('total'), total: fc.tuple(fc.nat(4), fc.integer({ min: 1, max: 2 ** 50 })) }),
  fc.record({ do: fc.constant('store') }),
)
type Step = { do: string; path?: string; amounts?: [number, number]; weight?: number; total?: [number, number] }

/** What happens to both; what they would refuse is left out. */
const apply = (at: Step, shares: DominantShares, slow: SlowShares, running: Map<string, [number, number][]>): void => {
  const path = at.path ?? ''
  const client = slow.clients.get(path)
  if (at.do === 'total') {
    slow.total = at.total!
    shares.setTotal(at.total!)
  } else if (at.do === 'weigh') {
    // The weight of what does not exist is forgotten with the last that is below it.
    if (![...slow.clients.keys()].some((one) => one === path || one.startsWith(`${path}/`))) return
    slow.weights.set(path, at.weight!)
    shares.setWeight(path, at.weight!)
  } else if (client === undefined) {
    slow.clients.set(path, { held: [0, 0], given: 0, waits: false })
    shares.add(path)
    running.set(path, [])
  } else if (at.do === 'remove') {
    slow.clients.delete(path)
    shares.remove(path)
    for (const key of slow.weights.keys())
      if (![...slow.clients.keys()].some((one) => one === key || one.startsWith(`${key}/`))) slow.weights.delete(key)
  } else if (at.do === 'wait' || at.do === 'rest') {
    client.waits = at.do === 'wait'
    shares.setWaiting(path, client.waits)
  } else if (at.do === 'start') {
    client.held = client.held.map((held, i) => held + at.amounts![i]!)
    client.given++
    running.get(path)!.push(at.amounts!)
    shares.started(path, at.amounts!)
  } else if (at.do === 'end' || at.do === 'undo') {
    const last = running.get(path)!.pop()
    if (last === undefined) return
    client.held = client.held.map((held, i) => held - last[i]!)
    if (at.do === 'undo') client.given--
    if (at.do === 'undo') shares.undone(path, last)
    else shares.ended(path, last)
  }
}

it('should have the order that is worked out anew from what everybody holds', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps: ReadonlyArray<Step>) => {
      let shares = new DominantShares([4, 1000])
      const slow = new SlowShares([4, 1000])
      const running = new Map<string, [number, number][]>()
      for (const at of steps) {
        if (at.do === 'store') {
          const stored = JSON.parse(JSON.stringify(shares.snapshot())) as DominantSharesSnapshot
          shares = new DominantShares(slow.total, stored)
          for (const [path, { waits }] of slow.clients) shares.setWaiting(path, waits)
          expect(shares.snapshot()).toEqual(stored)
        } else apply(at, shares, slow, running)
        const expected = slow.order()
        expect([...shares.inOrder()]).toEqual(expected)
        expect(shares.next).toBe(expected[0] ?? null)
      }
    }),
    { numRuns: 500 },
  )
})

it('should tell apart what differs by one in products beyond 2^53', () => {
  const large = 2 ** 52
  const shares = new DominantShares([2 ** 53 - 1])
  for (const [path, held] of [
    ['a', large + 1],
    ['b', large],
  ] as const) {
    shares.add(path)
    shares.started(path, [held])
    shares.setWeight(path, 999)
    shares.setWaiting(path, true)
  }
  expect(shares.next).toBe('b')
  shares.setWaiting('b', false)
  expect(shares.next).toBe('a')
  shares.setWaiting('a', false)
  expect(shares.next).toBeNull()
})

it('should show what a subtree holds, and its share by the resource that is largest, over its weight', () => {
  const shares = new DominantShares([100, 10, 0])
  shares.add('a/x')
  shares.add('a/y')
  shares.started('a/x', [10, 2, 5])
  shares.started('a/y', [20, 0, 5])
  expect(shares.heldBy('a')).toEqual([30, 2, 10])
  expect(['a', 'a/x', 'a/y'].map((path) => shares.shareOf(path).near)).toEqual([0.3, 0.2, 0.2])
  shares.setWeight('a', 2000)
  expect(shares.shareOf('a').near).toBe(0.15)
})

it('should refuse to give back what is not held, and paths that name nobody', () => {
  const shares = new DominantShares([10])
  shares.add('a')
  expect(() => {
    shares.ended('a', [1])
  }).toThrow('natural number')
  expect(() => {
    shares.add('a')
  }).toThrow('no client yet')
  expect(() => {
    shares.add('a//b')
  }).toThrow('made of names')
  expect(() => {
    shares.started('b', [1])
  }).toThrow('b is a client')
  expect(() => shares.shareOf('b')).toThrow('a level of the tree')
})
