import type { LevelTree } from './level-tree.ts'

/** Replicas that stay together: `size` of them in one domain of `level`. */
export interface SliceLayer {
  readonly level: string
  readonly size: number
}

/** How replicas may be told apart on their way down the levels. */
export interface Slices {
  /** Number of the level in whose domains a slice stays whole. */
  readonly level: number
  /** Replicas of a slice. */
  readonly size: number
  /** Per level below that one: in such multiples its domains are given replicas; 1: one by one. */
  readonly unit: ReadonlyArray<number>
}

export type SliceFault =
  | 'no-such-level'
  | 'slice-level-above-podset-level'
  | 'slice-layers-out-of-order'
  | 'slice-sizes-do-not-nest'
  | 'count-is-not-whole-slices'

/** Replicas that need not stay together with any other. */
const singly = (tree: LevelTree): Slices => ({
  level: tree.lowest,
  size: 1,
  unit: tree.levels.map(() => 1),
})

/** @param layers outer first; the sizes of inner ones divide those of outer ones. Empty: one by one */
export const slicesOf = (tree: LevelTree, layers: ReadonlyArray<SliceLayer>): Slices | SliceFault => {
  const [outer, ...inner] = layers
  if (outer === undefined) return singly(tree)
  const level = tree.level(outer.level)
  if (level < 0) return 'no-such-level'
  const unit = tree.levels.map(() => 1)
  let above = { level, size: outer.size }
  for (const layer of inner) {
    const below = tree.level(layer.level)
    if (below < 0) return 'no-such-level'
    if (below <= above.level) return 'slice-layers-out-of-order'
    if (above.size % layer.size !== 0) return 'slice-sizes-do-not-nest'
    for (let at = above.level + 1; at <= below; at++) unit[at] = layer.size
    above = { level: below, size: layer.size }
  }
  return { level, size: outer.size, unit }
}
