import { assert } from '../kernel/decider.ts'

/**
 * Domains by level, from coarse to fine. They are numbered level by level, and within a level in order of their paths:
 * the children of a domain follow each other, and of two domains of a level the one with the lower number has the
 * smaller path. The domains of the lowest level are the leaves.
 */
export class LevelTree {
  readonly levels: ReadonlyArray<string>
  /** Per level, the number of its first domain; one entry more: how many domains there are. */
  readonly firstOf: Int32Array
  /** Per domain; -1 at the top. */
  readonly parent: Int32Array
  /** Per domain, its own name: the last element of its path. */
  readonly names: ReadonlyArray<string>
  /** Per path that the tree was made of, the leaf that it leads to. */
  readonly leafOf: Int32Array
  /** Per domain, the number of its first child; its children end where those of the next domain start. */
  private readonly firstChild: Int32Array

  /** @param paths one name for each level; several may lead to one leaf */
  constructor(levels: ReadonlyArray<string>, paths: ReadonlyArray<ReadonlyArray<string>>) {
    assert(levels.length > 0, 'a topology has a level')
    this.levels = levels
    const sorted = paths.map((_, index) => index).sort((a, b) => comparePaths(paths[a]!, paths[b]!))
    const names: string[] = []
    const parents: number[] = []
    this.firstOf = new Int32Array(levels.length + 1)
    /** Per path, the domain of the level above, then of this one. */
    const domainOf = new Int32Array(paths.length).fill(-1)
    levels.forEach((_, level) => {
      this.firstOf[level] = names.length
      let above = -1
      for (const index of sorted) {
        const name = paths[index]![level]!
        const isNew = names.length === this.firstOf[level] || domainOf[index] !== above || name !== names.at(-1)
        above = domainOf[index]!
        if (isNew) {
          names.push(name)
          parents.push(above)
        }
        domainOf[index] = names.length - 1
      }
    })
    this.firstOf[levels.length] = names.length
    this.names = names
    this.parent = Int32Array.from(parents)
    this.leafOf = domainOf
    this.firstChild = new Int32Array(names.length + 1).fill(names.length)
    for (let domain = names.length - 1; domain >= this.firstOf[1]!; domain--)
      this.firstChild[this.parent[domain]!] = domain
  }

  /** Number of the level; -1: there is none of that name. */
  level(name: string): number {
    return this.levels.indexOf(name)
  }

  get lowest(): number {
    return this.levels.length - 1
  }

  get size(): number {
    return this.names.length
  }

  /** Numbers of the domains of a level: from the first up to, and without, the second. */
  domainsOf(level: number): readonly [first: number, end: number] {
    return [this.firstOf[level]!, this.firstOf[level + 1]!]
  }

  childrenOf(domain: number): readonly [first: number, end: number] {
    return [this.firstChild[domain]!, this.firstChild[domain + 1]!]
  }

  path(domain: number): ReadonlyArray<string> {
    const path: string[] = []
    for (let at = domain; at >= 0; at = this.parent[at]!) path.push(this.names[at]!)
    return path.reverse()
  }
}

const comparePaths = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): number => {
  for (let level = 0; level < a.length; level++) {
    if (a[level]! < b[level]!) return -1
    if (a[level]! > b[level]!) return 1
  }
  return 0
}

/** Every number from the first up to, and without, the second. */
export const numbers = ([first, end]: readonly [first: number, end: number]): ReadonlyArray<number> =>
  Array.from({ length: end - first }, (_, i) => first + i)
