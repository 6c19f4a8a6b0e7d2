import type { LabelSelection } from '../fleet/label-selection.ts'
import type { Toleration } from '../fleet/taint.ts'
import type { DomainShare } from './division.ts'
import type { GangMode, GangRequest } from './gang.ts'
import type { LevelTree } from './level-tree.ts'
import type { Amounts } from './node-stock.ts'
import { slicesOf, type SliceFault, type SliceLayer, type Slices } from './slices.ts'

/** How far the replicas of a pod set may lie apart, and which of them stay together. */
export interface PodSetTopology {
  /** `unspecified`: nothing but slices, or nothing at all. */
  readonly mode: GangMode | 'unspecified'
  /** Of `required` and `preferred`; null of the others. */
  readonly level: string | null
  /** Outer first; empty: none. */
  readonly layers: ReadonlyArray<SliceLayer>
}

export interface PlacedPodSet {
  readonly name: string
  readonly count: number
  /** For one replica, each resource once. */
  readonly requests: Amounts
  readonly topology: PodSetTopology
  /** Two pod sets of one group are placed together, the smaller one as the leader; null: alone. */
  readonly group: string | null
  readonly selection: LabelSelection
  readonly tolerations: ReadonlyArray<Toleration>
}

/** How placing differs from its defaults. */
export interface PlacementProfile {
  /** Spread `preferred` gangs evenly where that can be done. */
  readonly balanced: boolean
  /** What is asked for nowhere in particular fills the fullest domains first. */
  readonly fullestFirst: boolean
  /** Inner layers of slices count; else only the outer one does. */
  readonly nestedSlices: boolean
}

export const defaultProfile: PlacementProfile = { balanced: false, fullestFirst: true, nestedSlices: true }

/** Why replicas found no place, for people: nothing is decided by it. */
export interface Shortfall {
  /** Slices that would have found a place, of those asked for; a slice of one replica is that replica. */
  readonly sliceSize: number
  readonly fitting: number
  readonly requested: number
  /** Where layers nest, the same for each, within the domain that holds the most. */
  readonly layers: ReadonlyArray<{ readonly level: string; readonly fitting: number; readonly requested: number }>
  readonly nodes: number
  /** Leaves that hold no replica at all, by what keeps it away: `taint`, `node-selector`, `resource:cpu`. */
  readonly excluded: ReadonlyMap<string, number>
}

export type PodSetPlace =
  | { readonly type: 'placed'; readonly shares: ReadonlyArray<DomainShare> }
  | { readonly type: 'short'; readonly shortfall: Shortfall }
  | { readonly type: 'faulty'; readonly fault: SliceFault }

/** What a pod set asks of the domains of a tree. */
export interface DomainRequest {
  readonly slices: Slices
  readonly gang: GangRequest
}

export const domainRequestOf = (
  tree: LevelTree,
  { count, topology }: Pick<PlacedPodSet, 'count' | 'topology'>,
  { balanced, fullestFirst, nestedSlices }: PlacementProfile,
): DomainRequest | SliceFault => {
  const slices = slicesOf(tree, nestedSlices ? topology.layers : topology.layers.slice(0, 1))
  if (typeof slices === 'string') return slices
  if (count % slices.size !== 0) return 'count-is-not-whole-slices'
  const mode = topology.mode === 'unspecified' ? 'unconstrained' : topology.mode
  const anywhere = topology.layers.length > 0 ? 0 : tree.lowest
  const level = mode === 'unconstrained' ? anywhere : tree.level(topology.level ?? '')
  if (level < 0) return 'no-such-level'
  if (level > slices.level) return 'slice-level-above-podset-level'
  const fit = mode === 'unconstrained' && fullestFirst ? 'fullest' : 'tightest'
  return { slices, gang: { replicas: count, mode, level, fit, balanced } }
}
