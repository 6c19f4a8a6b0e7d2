import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DomainShare } from '../../../domain/topology/division.ts'
import type { DomainRoom } from '../../../domain/topology/domain-room.ts'
import { placeGang, type GangMode } from '../../../domain/topology/gang.ts'
import { LevelTree, numbers } from '../../../domain/topology/level-tree.ts'
import { anyLayers, anyLeaves, anyTree, domainAt, levels, roomOf } from './arbitrary-topology.ts'

const anyMode = fc.constantFrom<GangMode>('required', 'preferred', 'unconstrained')

const sums = (shares: ReadonlyArray<DomainShare>, keyOf: (leaf: number) => number): ReadonlyMap<number, number> => {
  const sums = new Map<number, number>()
  for (const { domain, replicas } of shares) sums.set(keyOf(domain), (sums.get(keyOf(domain)) ?? 0) + replicas)
  return sums
}

/** What holds of any place: room is kept to, slices stay whole, and the leader is there once. */
const expectSound = (room: DomainRoom, shares: ReadonlyArray<DomainShare>, replicas: number): void => {
  const { tree, slices } = room
  expect(shares.reduce((sum, share) => sum + share.replicas, 0)).toBe(replicas)
  expect(new Set(shares.map(({ domain }) => domain)).size).toBe(shares.length)
  for (const { domain, replicas: taken, leader } of shares) {
    if (leader) expect(room.leads[domain]).toBe(1)
    expect(taken).toBeLessThanOrEqual((leader ? room.replicasBeside : room.replicas)[domain]!)
  }
  expect(shares.filter(({ leader }) => leader)).toHaveLength(room.withLeader ? 1 : 0)
  for (let level = slices.level; level <= tree.lowest; level++) {
    const unit = level === slices.level ? slices.size : slices.unit[level]!
    for (const taken of sums(shares, (leaf) => domainAt(tree, leaf, level)).values()) expect(taken % unit).toBe(0)
  }
}

describe('a gang', () => {
  it('should lie soundly wherever it is placed, with or without a leader', () => {
    const level = fc.nat(2)
    fc.assert(
      fc.property(
        anyTree,
        anyLayers,
        anyLeaves,
        fc.boolean(),
        anyMode,
        level,
        fc.integer({ min: 1, max: 5 }),
        fc.boolean(),
        fc.boolean(),
        (tree, layers, leaves, withLeader, mode, level, units, fullest, balanced) => {
          const room = roomOf(tree, layers, leaves, withLeader)
          const replicas = units * room.slices.size
          const at = Math.min(level, room.slices.level)
          const fit = fullest ? 'fullest' : 'tightest'
          const place = placeGang(room, { replicas, mode, level: at, fit, balanced })
          if (!place.placed) {
            if (!withLeader) expect(place.fitting).toBeLessThan(units)
            return
          }
          expectSound(room, place.shares, replicas)
          if (mode === 'required') expect(sums(place.shares, (leaf) => domainAt(tree, leaf, at)).size).toBe(1)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('should be placed exactly when there is room for it somewhere', () => {
    fc.assert(
      fc.property(
        anyTree,
        anyLayers,
        anyLeaves,
        anyMode,
        fc.nat(2),
        fc.integer({ min: 1, max: 5 }),
        (tree, layers, leaves, mode, level, units) => {
          const room = roomOf(tree, layers, leaves, false)
          const at = Math.min(level, room.slices.level)
          const held = numbers(tree.domainsOf(mode === 'required' ? at : 0)).map((domain) => room.whole[domain]!)
          const most = mode === 'required' ? Math.max(...held) : held.reduce((sum, one) => sum + one, 0)
          const request = {
            replicas: units * room.slices.size,
            mode,
            level: at,
            fit: 'tightest',
            balanced: false,
          } as const
          expect(placeGang(room, request).placed).toBe(most >= units)
        },
      ),
    )
  })

  it('should leave the domain that has least to spare with the rest', () => {
    const tree = new LevelTree(
      levels,
      ['a', 'b', 'c', 'd'].map((host) => ['b1', 'r1', host]),
    )
    const room = roomOf(
      tree,
      [],
      [4, 5, 2, 1].map((replicas) => [replicas, 0, false] as const),
      false,
    )
    const place = (replicas: number) => {
      const gang = placeGang(room, { replicas, mode: 'required', level: 1, fit: 'tightest', balanced: false })
      return gang.placed ? gang.shares.map(({ domain, replicas }) => `${tree.names[domain]}${replicas}`).sort() : null
    }
    expect(place(5)).toEqual(['b5'])
    expect(place(2)).toEqual(['c2'])
    expect(place(6)).toEqual(['b5', 'd1'])
    expect(place(8)).toEqual(['a3', 'b5'])
    expect(place(13)).toBeNull()
  })

  it('should say how many slices the roomiest domain holds where none holds all', () => {
    const tree = new LevelTree(levels, [
      ['b1', 'r1', 'x'],
      ['b1', 'r2', 'y'],
    ])
    const room = roomOf(
      tree,
      [{ level: 'rack', size: 2 }],
      [
        [5, 0, false],
        [3, 0, false],
      ],
      false,
    )
    const request = { replicas: 8, mode: 'required', level: 1, fit: 'tightest', balanced: false } as const
    expect(placeGang(room, request)).toEqual({ placed: false, fitting: 2 })
    expect(placeGang(room, { ...request, mode: 'preferred' })).toEqual({ placed: false, fitting: 3 })
  })
})

describe('a balanced gang', () => {
  it('should give the least loaded domain as much as possible, in as few domains as will do', () => {
    const tree = new LevelTree(
      ['rack', 'host'],
      ['a', 'b', 'c'].map((host) => ['r1', host]),
    )
    const room = roomOf(
      tree,
      [],
      [10, 10, 3].map((replicas) => [replicas, 0, false] as const),
      false,
    )
    const place = placeGang(room, { replicas: 12, mode: 'preferred', level: 0, fit: 'tightest', balanced: true })
    expect(place.placed && place.shares.map(({ replicas }) => replicas)).toEqual([6, 6])
  })
  it('should do so whatever the hosts of a rack hold', () => {
    const hosts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(hosts, fc.integer({ min: 1, max: 30 }), (held, replicas) => {
        const tree = new LevelTree(
          ['rack', 'host'],
          held.map((_, i) => ['r1', `h${i}`]),
        )
        const room = roomOf(
          tree,
          [],
          held.map((each) => [each, 0, false] as const),
          false,
        )
        const place = placeGang(room, { replicas, mode: 'preferred', level: 0, fit: 'tightest', balanced: true })
        const roomiest = held.toSorted((a, b) => b - a)
        const used = roomiest.findIndex((_, i) => roomiest.slice(0, i + 1).reduce((a, b) => a + b, 0) >= replicas) + 1
        expect(place.placed).toBe(used > 0)
        if (!place.placed) return
        const shares = place.shares.map((share) => share.replicas)
        expect(shares).toHaveLength(used)
        expect(Math.min(...shares)).toBe(Math.min(Math.floor(replicas / used), roomiest[used - 1]!))
        expect(shares.reduce((a, b) => a + b, 0)).toBe(replicas)
      }),
    )
  })
})
