import type { LevelTree } from './level-tree.ts'
import type { Slices } from './slices.ts'

/**
 * How many replicas of one kind each domain has room for, counted from the leaves up: replicas, and whole slices down
 * to the level in whose domains slices stay whole. Where a leader goes with them, also how many there is room for
 * beside it, in domains that have a place for it: it is assumed to lie where it costs least.
 */
export class DomainRoom {
  readonly tree: LevelTree
  readonly slices: Slices
  readonly withLeader: boolean
  readonly replicas: Float64Array
  /** Whole slices; 0 below their level. */
  readonly whole: Float64Array
  /** 1: there is a place for the leader. */
  readonly leads: Uint8Array
  readonly replicasBeside: Float64Array
  readonly wholeBeside: Float64Array

  constructor(tree: LevelTree, slices: Slices, withLeader: boolean) {
    this.tree = tree
    this.slices = slices
    this.withLeader = withLeader
    this.replicas = new Float64Array(tree.size)
    this.whole = new Float64Array(tree.size)
    this.leads = new Uint8Array(tree.size)
    this.replicasBeside = withLeader ? new Float64Array(tree.size) : this.replicas
    this.wholeBeside = withLeader ? new Float64Array(tree.size) : this.whole
  }

  copy(): DomainRoom {
    const copy = new DomainRoom(this.tree, this.slices, this.withLeader)
    copy.replicas.set(this.replicas)
    copy.whole.set(this.whole)
    copy.leads.set(this.leads)
    copy.replicasBeside.set(this.replicasBeside)
    copy.wholeBeside.set(this.wholeBeside)
    return copy
  }

  /** Works out every domain above the leaves, whose `replicas`, `leads` and `replicasBeside` are given. */
  count(): void {
    const { tree } = this
    for (let level = tree.lowest; level >= 0; level--) {
      const [first, end] = tree.domainsOf(level)
      for (let domain = first; domain < end; domain++) this.countOne(level, domain)
    }
  }

  /** Works out a domain of the level from its children. */
  countOne(level: number, domain: number): void {
    const { tree, slices, replicas, whole } = this
    if (level < tree.lowest) {
      const unit = slices.unit[level + 1]!
      const [first, end] = tree.childrenOf(domain)
      let sum = 0
      let wholeSum = 0
      for (let child = first; child < end; child++) {
        sum += inUnits(replicas[child]!, unit)
        wholeSum += whole[child]!
      }
      replicas[domain] = sum
      whole[domain] = wholeSum
      if (this.withLeader) this.countBeside(domain, first, end, unit)
    }
    if (level !== slices.level) return
    whole[domain] = Math.floor(replicas[domain]! / slices.size)
    if (this.withLeader) this.wholeBeside[domain] = Math.floor(this.replicasBeside[domain]! / slices.size)
  }

  /** Sets the room of a leaf and mends the domains above it; not where a leader goes with the replicas. */
  change(leaf: number, room: number): void {
    const { tree, slices, replicas, whole } = this
    let level = tree.lowest
    let rise = inUnits(room, slices.unit[level]!) - inUnits(replicas[leaf]!, slices.unit[level]!)
    let wholeRise = 0
    replicas[leaf] = room
    for (let domain = leaf; ;) {
      if (level === slices.level) {
        const now = Math.floor(replicas[domain]! / slices.size)
        wholeRise = now - whole[domain]!
        whole[domain] = now
      }
      domain = tree.parent[domain]!
      if (domain < 0 || (rise === 0 && wholeRise === 0)) return
      level--
      const before = replicas[domain]!
      replicas[domain] = before + rise
      if (level < slices.level) whole[domain]! += wholeRise
      rise = inUnits(before + rise, slices.unit[level]!) - inUnits(before, slices.unit[level]!)
    }
  }

  private countBeside(domain: number, first: number, end: number, unit: number): void {
    const { replicas, whole, leads, replicasBeside, wholeBeside } = this
    let least = Infinity
    let wholeLeast = Infinity
    for (let child = first; child < end; child++) {
      if (leads[child] === 0) continue
      least = Math.min(least, inUnits(replicas[child]!, unit) - inUnits(replicasBeside[child]!, unit))
      wholeLeast = Math.min(wholeLeast, whole[child]! - wholeBeside[child]!)
    }
    leads[domain] = least < Infinity ? 1 : 0
    replicasBeside[domain] = least < Infinity ? replicas[domain]! - least : 0
    wholeBeside[domain] = least < Infinity ? whole[domain]! - wholeLeast : 0
  }
}

const inUnits = (replicas: number, unit: number): number => (unit === 1 ? replicas : Math.floor(replicas / unit) * unit)
