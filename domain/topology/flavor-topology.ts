import { selects, type Labels } from '../fleet/label-selection.ts'
import { repels, type Toleration } from '../fleet/taint.ts'
import { DomainRoom } from './domain-room.ts'
import { placeGang } from './gang.ts'
import { LevelTree } from './level-tree.ts'
import type { Amounts, NodeStock, StockedNode } from './node-stock.ts'
import { domainRequestOf, type PlacedPodSet, type PlacementProfile, type PodSetPlace } from './pod-set.ts'
import { LeafStock, type Column } from './leaf-stock.ts'
import { shortfallOf, type Exclusions } from './shortfall.ts'

export interface FlavorTopologySpec {
  /** From coarse to fine; a node lies in the domains that its labels name. */
  readonly levels: ReadonlyArray<string>
  /** Whether the domains of the lowest level are nodes: only then do taints and selectors count. */
  readonly lowestIsNode: boolean
  readonly requiredLabels: Labels
  /** Given to whatever runs on the flavor. */
  readonly tolerations: ReadonlyArray<Toleration>
}

/** Replicas on a leaf, and what each of them takes there. */
export interface LeafHolding {
  readonly leaf: number
  readonly replicas: number
  readonly requests: Amounts
}

/**
 * The nodes of one flavor by topology. What is held of a node is known to all flavors that share the stock; where the
 * lowest level is not the node, it is known of a domain only, and only here.
 */
export class FlavorTopology {
  readonly tree: LevelTree
  private readonly spec: FlavorTopologySpec
  private readonly stock: NodeStock
  /** Numbers in the stock, by leaf. */
  private readonly nodesOf: ReadonlyArray<ReadonlyArray<number>>
  private readonly leafAt: ReadonlyMap<string, number>
  /** By leaf, where the lowest level is not the node. */
  private readonly held: LeafStock

  constructor(stock: NodeStock, spec: FlavorTopologySpec) {
    this.stock = stock
    this.spec = spec
    const nodes = stock.nodes.flatMap((node, number) => (belongs(node, spec) ? [number] : []))
    this.tree = new LevelTree(
      spec.levels,
      nodes.map((node) => spec.levels.map((level) => stock.nodes[node]!.labels[level]!)),
    )
    const [first, end] = this.tree.domainsOf(this.tree.lowest)
    const nodesOf: number[][] = Array.from({ length: end - first }, () => [])
    this.tree.leafOf.forEach((leaf, i) => nodesOf[leaf - first]!.push(nodes[i]!))
    this.nodesOf = nodesOf
    this.leafAt = new Map(nodesOf.map((_, i) => [this.keyOf(this.pathOf(first + i)), first + i]))
    this.held = new LeafStock(end - first, stock.resources.length)
  }

  /** Where the domains of the lowest level are nodes the node alone, else the whole path. */
  pathOf(leaf: number): ReadonlyArray<string> {
    const path = this.tree.path(leaf)
    return this.spec.lowestIsNode ? path.slice(-1) : path
  }

  /** Undefined: no node that takes work is there. */
  leaf(path: ReadonlyArray<string>): number | undefined {
    return this.leafAt.get(this.keyOf(path))
  }

  take(holding: LeafHolding): void {
    this.change(holding, 1)
  }

  give(holding: LeafHolding): void {
    this.change(holding, -1)
  }

  /** Whether so much is free there. */
  isFree({ leaf, replicas, requests }: LeafHolding): boolean {
    const row = this.rowOf(leaf)
    return this.columns(requests).every(
      ({ column, amount }) => column >= 0 && amount * replicas <= this.freeAt(row, column, 'now'),
    )
  }

  /**
   * Where the pod sets of one workload would go, each beside those before it; nothing is taken.
   * @param when `empty`: as if no workload held anything
   * @returns one answer for each pod set; the workload finds its place when all are placed
   */
  place(
    podSets: ReadonlyArray<PlacedPodSet>,
    profile: PlacementProfile,
    when: 'now' | 'empty' = 'now',
  ): ReadonlyArray<PodSetPlace> {
    const free = this.freeStock(when)
    const places = new Array<PodSetPlace>(podSets.length)
    podSets.forEach((podSet, i) => {
      if (places[i] !== undefined) return
      const partner = podSet.group === null ? -1 : podSets.findIndex((p, j) => j > i && p.group === podSet.group)
      if (partner < 0) {
        places[i] = this.placeOne(free, podSet, null, profile).workers
        return
      }
      const [workers, leader] = podSets[partner]!.count > podSet.count ? [partner, i] : [i, partner]
      const together = this.placeOne(free, podSets[workers]!, podSets[leader]!, profile)
      places[workers] = together.workers
      places[leader] = together.leader
    })
    return places
  }

  /** Takes from `free` what it places. */
  private placeOne(
    free: LeafStock,
    workers: PlacedPodSet,
    leader: PlacedPodSet | null,
    profile: PlacementProfile,
  ): { readonly workers: PodSetPlace; readonly leader: PodSetPlace } {
    const request = domainRequestOf(this.tree, workers, profile)
    if (typeof request === 'string') return alike({ type: 'faulty', fault: request })
    const room = new DomainRoom(this.tree, request.slices, leader !== null)
    const excluded = this.fillLeaves(room, free, workers, leader)
    room.count()
    const place = placeGang(room, request.gang)
    if (!place.placed) {
      const layers = profile.nestedSlices ? workers.topology.layers : []
      return alike({ type: 'short', shortfall: shortfallOf(room, request, place.fitting, layers, excluded) })
    }
    const leads = place.shares.flatMap((share) => (share.leader ? [{ ...share, replicas: leader!.count }] : []))
    const works = place.shares.filter(({ replicas }) => replicas > 0)
    for (const { domain, replicas } of works) free.add(this.rowOf(domain), this.columns(workers.requests), -replicas)
    for (const { domain, replicas } of leads) free.add(this.rowOf(domain), this.columns(leader!.requests), -replicas)
    return { workers: { type: 'placed', shares: works }, leader: { type: 'placed', shares: leads } }
  }

  /** Counts what the leaves have room for; returns what keeps replicas away from those that have none. */
  private fillLeaves(
    room: DomainRoom,
    free: LeafStock,
    workers: PlacedPodSet,
    leader: PlacedPodSet | null,
  ): Exclusions {
    const excluded: Exclusions = { nodes: this.nodesOf.length, by: new Map() }
    const asked = this.columns(workers.requests)
    const askedByLeader = leader === null ? [] : this.columns(leader.requests)
    const exclude = (by: string): void => void excluded.by.set(by, (excluded.by.get(by) ?? 0) + 1)
    const first = this.tree.firstOf[this.tree.lowest]!
    for (let row = 0; row < this.nodesOf.length; row++) {
      const leaf = first + row
      const keptAway = this.keptAway(row, workers)
      const { replicas, limit } = free.holds(row, asked)
      if (keptAway === null) room.replicas[leaf] = replicas
      else exclude(keptAway)
      if (keptAway === null && replicas === 0) exclude(`resource:${limit}`)
      if (leader === null) continue
      const leads = this.keptAway(row, leader) === null && free.holds(row, askedByLeader).replicas >= leader.count
      room.leads[leaf] = leads ? 1 : 0
      if (!leads || keptAway !== null) continue
      free.add(row, askedByLeader, -leader.count)
      room.replicasBeside[leaf] = free.holds(row, asked).replicas
      free.add(row, askedByLeader, leader.count)
    }
    return excluded
  }

  /** What the node of the leaf says against such replicas. */
  private keptAway(row: number, { selection, tolerations }: PlacedPodSet): 'taint' | 'node-selector' | null {
    if (!this.spec.lowestIsNode) return null
    const { labels, taints } = this.stock.nodes[this.nodesOf[row]![0]!]!
    if (repels(taints, [...tolerations, ...this.spec.tolerations])) return 'taint'
    return selects(selection, labels) ? null : 'node-selector'
  }

  private freeStock(when: 'now' | 'empty'): LeafStock {
    const resources = this.stock.resources.length
    const free = new LeafStock(this.nodesOf.length, resources)
    for (let row = 0; row < this.nodesOf.length; row++)
      for (let column = 0; column < resources; column++) free.set(row, column, this.freeAt(row, column, when))
    return free
  }

  private freeAt(row: number, column: number, when: 'now' | 'empty'): number {
    let sum = when === 'now' ? -this.held.amount(row, column) : 0
    for (const node of this.nodesOf[row]!) sum += this.stock.freeOn(node, column, when)
    return Math.max(0, sum)
  }

  private change({ leaf, replicas, requests }: LeafHolding, sign: 1 | -1): void {
    const row = this.rowOf(leaf)
    if (this.spec.lowestIsNode) this.stock.add(this.nodesOf[row]![0]!, withReplica(requests), -sign * replicas)
    else this.held.add(row, this.columns(requests), sign * replicas)
  }

  private columns(requests: Amounts): ReadonlyArray<Column> {
    return withReplica(requests)
      .filter(([, amount]) => amount > 0)
      .map(([resource, amount]) => ({ resource, column: this.stock.resource(resource) ?? -1, amount }))
  }

  private rowOf(leaf: number): number {
    return leaf - this.tree.firstOf[this.tree.lowest]!
  }

  private keyOf(path: ReadonlyArray<string>): string {
    return JSON.stringify(path)
  }
}

const belongs = ({ labels, takesWork }: StockedNode, { levels, requiredLabels }: FlavorTopologySpec): boolean =>
  takesWork &&
  levels.every((level) => Object.hasOwn(labels, level)) &&
  Object.entries(requiredLabels).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)

/** The resource of which each replica takes one. */
const replicaResource = 'pods'
const withReplica = (requests: Amounts): Amounts => [
  ...requests.filter(([resource]) => resource !== replicaResource),
  [replicaResource, 1],
]

const alike = (place: PodSetPlace): { readonly workers: PodSetPlace; readonly leader: PodSetPlace } => ({
  workers: place,
  leader: place,
})
