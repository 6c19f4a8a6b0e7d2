import type { DomainRoom } from './domain-room.ts'
import { numbers } from './level-tree.ts'
import type { DomainRequest, Shortfall } from './pod-set.ts'
import type { SliceLayer } from './slices.ts'

/** Leaves in all, and those that hold no replica by what keeps it away. */
export interface Exclusions {
  readonly nodes: number
  readonly by: Map<string, number>
}

/** @param fitting slices that would have found a place */
export const shortfallOf = (
  room: DomainRoom,
  { slices, gang }: DomainRequest,
  fitting: number,
  layers: ReadonlyArray<SliceLayer>,
  { nodes, by }: Exclusions,
): Shortfall => ({
  sliceSize: slices.size,
  fitting,
  requested: gang.replicas / slices.size,
  layers: layers.length > 1 ? layersOf(room, gang.level, gang.replicas, layers) : [],
  nodes,
  excluded: by,
})

/** Slices of each layer within the domain of the level that holds the most whole ones. */
const layersOf = (
  room: DomainRoom,
  level: number,
  replicas: number,
  layers: ReadonlyArray<SliceLayer>,
): Shortfall['layers'] => {
  const [first, end] = room.tree.domainsOf(level)
  let most = first
  for (let domain = first; domain < end; domain++) if (room.whole[domain]! > room.whole[most]!) most = domain
  return layers.map(({ level: name, size }) => ({
    level: name,
    fitting: first === end ? 0 : slicesIn(room, most, room.tree.level(name) - level, size),
    requested: Math.floor(replicas / size),
  }))
}

/** Slices of a size in the domains so many levels below. */
const slicesIn = (room: DomainRoom, domain: number, depth: number, size: number): number =>
  depth <= 0
    ? Math.floor(room.replicas[domain]! / size)
    : numbers(room.tree.childrenOf(domain)).reduce((sum, child) => sum + slicesIn(room, child, depth - 1, size), 0)
