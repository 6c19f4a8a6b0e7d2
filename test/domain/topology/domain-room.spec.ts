import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LevelTree, numbers } from '../../../domain/topology/level-tree.ts'
import { slicesOf } from '../../../domain/topology/slices.ts'
import { anyLayers, anyLeaves, anyTree, levels, roomOf } from './arbitrary-topology.ts'

describe('the tree of levels', () => {
  const paths = [
    ['b2', 'r1', 'z'],
    ['b1', 'r2', 'y'],
    ['b1', 'r1', 'x'],
    ['b2', 'r1', 'a'],
  ]
  const tree = new LevelTree(levels, paths)

  it('should number domains by level, and by path within a level', () => {
    const named = (level: number) => numbers(tree.domainsOf(level)).map((domain) => tree.path(domain).join('/'))
    expect(named(0)).toEqual(['b1', 'b2'])
    expect(named(1)).toEqual(['b1/r1', 'b1/r2', 'b2/r1'])
    expect(named(2)).toEqual(['b1/r1/x', 'b1/r2/y', 'b2/r1/a', 'b2/r1/z'])
    expect(numbers(tree.childrenOf(0)).map((domain) => tree.path(domain).join('/'))).toEqual(['b1/r1', 'b1/r2'])
    expect(numbers(tree.childrenOf(4)).map((domain) => tree.names[domain])).toEqual(['a', 'z'])
    expect(numbers(tree.childrenOf(8))).toEqual([])
  })
  it('should know the leaf of every path, and lead several to one where they are equal', () => {
    expect(paths.map((_, i) => tree.path(tree.leafOf[i]!))).toEqual(paths)
    const shared = new LevelTree(['rack'], [['r2'], ['r1'], ['r2']])
    expect([...shared.leafOf]).toEqual([1, 0, 1])
  })
  it('should tell racks of one name in two blocks apart', () => {
    expect(tree.leafOf[0]).not.toBe(tree.leafOf[2])
    expect(tree.parent[tree.leafOf[0]!]).not.toBe(tree.parent[tree.leafOf[2]!])
  })
  it('should do without any domain', () => {
    const empty = new LevelTree(levels, [])
    expect(levels.map((_, level) => numbers(empty.domainsOf(level)))).toEqual([[], [], []])
  })
})

describe('slices', () => {
  const tree = new LevelTree(levels, [['b1', 'r1', 'x']])
  it('should hand inner layers down in their multiples, at all levels between as well', () => {
    const layers = [
      { level: 'block', size: 12 },
      { level: 'host', size: 3 },
    ]
    expect(slicesOf(tree, layers)).toEqual({ level: 0, size: 12, unit: [1, 3, 3] })
  })
  it.each([
    ['no-such-level', [{ level: 'zone', size: 2 }]],
    [
      'no-such-level',
      [
        { level: 'rack', size: 2 },
        { level: 'zone', size: 2 },
      ],
    ],
    [
      'slice-layers-out-of-order',
      [
        { level: 'rack', size: 4 },
        { level: 'rack', size: 2 },
      ],
    ],
    [
      'slice-layers-out-of-order',
      [
        { level: 'rack', size: 4 },
        { level: 'block', size: 2 },
      ],
    ],
    [
      'slice-sizes-do-not-nest',
      [
        { level: 'rack', size: 4 },
        { level: 'host', size: 3 },
      ],
    ],
  ])('should find: %s', (fault, layers) => {
    expect(slicesOf(tree, layers)).toBe(fault)
  })
})

describe('room', () => {
  it('should be mended by a change as if it were counted anew', () => {
    const changes = fc.array(fc.tuple(fc.nat(9), fc.nat(5)), { maxLength: 12 })
    fc.assert(
      fc.property(anyTree, anyLayers, anyLeaves, changes, (tree, layers, leaves, changes) => {
        const room = roomOf(tree, layers, leaves, false)
        const [first, end] = tree.domainsOf(tree.lowest)
        for (const [at, replicas] of changes) {
          const leaf = first + (at % (end - first))
          room.change(leaf, replicas)
          const anew = room.copy()
          anew.count()
          expect([room.replicas, room.whole]).toEqual([anew.replicas, anew.whole])
        }
      }),
    )
  })
})
