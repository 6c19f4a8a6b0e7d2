import fc from 'fast-check'
import { DomainRoom } from '../../../domain/topology/domain-room.ts'
import { LevelTree, numbers } from '../../../domain/topology/level-tree.ts'
import { slicesOf, type SliceLayer, type Slices } from '../../../domain/topology/slices.ts'

export const levels = ['block', 'rack', 'host']

/** Up to ten hosts, in few blocks and racks. */
export const anyTree: fc.Arbitrary<LevelTree> = fc
  .array(fc.tuple(fc.constantFrom('b1', 'b2'), fc.constantFrom('r1', 'r2', 'r3')), { minLength: 1, maxLength: 10 })
  .map(
    (racks) =>
      new LevelTree(
        levels,
        racks.map(([block, rack], i) => [block, rack, `h${i}`]),
      ),
  )

export const anyLayers: fc.Arbitrary<ReadonlyArray<SliceLayer>> = fc.constantFrom(
  [],
  [{ level: 'host', size: 2 }],
  [{ level: 'rack', size: 2 }],
  [{ level: 'rack', size: 3 }],
  [{ level: 'block', size: 2 }],
  [
    { level: 'block', size: 4 },
    { level: 'host', size: 2 },
  ],
  [
    { level: 'rack', size: 4 },
    { level: 'host', size: 2 },
  ],
)

/** What the leaves hold, by place in the list: replicas, what the leader would leave of them, and whether it could. */
export type LeafRoom = readonly [replicas: number, lost: number, leads: boolean]
export const anyLeaves: fc.Arbitrary<ReadonlyArray<LeafRoom>> = fc.array(fc.tuple(fc.nat(5), fc.nat(3), fc.boolean()), {
  minLength: 10,
  maxLength: 10,
})

export const roomOf = (
  tree: LevelTree,
  layers: ReadonlyArray<SliceLayer>,
  leaves: ReadonlyArray<LeafRoom>,
  withLeader: boolean,
): DomainRoom => {
  const room = new DomainRoom(tree, slicesOf(tree, layers) as Slices, withLeader)
  numbers(tree.domainsOf(tree.lowest)).forEach((leaf, i) => {
    const [replicas, lost, leads] = leaves[i]!
    room.replicas[leaf] = replicas
    if (!withLeader) return
    room.leads[leaf] = leads ? 1 : 0
    room.replicasBeside[leaf] = leads ? Math.max(0, replicas - lost) : 0
  })
  room.count()
  return room
}

/** The domain of the level that a leaf lies in. */
export const domainAt = (tree: LevelTree, leaf: number, level: number): number => {
  let domain = leaf
  for (let at = tree.lowest; at > level; at--) domain = tree.parent[domain]!
  return domain
}
