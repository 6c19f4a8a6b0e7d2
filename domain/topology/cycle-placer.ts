import type { PodSetAssignment } from '../kueue/assignment.ts'
import type { Head } from '../kueue/head.ts'
import type { Holder } from '../kueue/holdings.ts'
import type { Placement, Placer, PodSetPlacement } from '../kueue/placer.ts'
import { assert } from '../kernel/decider.ts'
import type { FlavorTopology, LeafHolding } from './flavor-topology.ts'
import type { PlacedPodSet, PlacementProfile } from './pod-set.ts'

/** Replicas on a leaf of a flavor. */
export interface FlavorHolding extends LeafHolding {
  readonly flavor: string
}

export interface CyclePlacerSpec {
  /** Flavors whose nodes have a topology, by name; they share one stock of nodes. */
  readonly flavors: ReadonlyMap<string, FlavorTopology>
  /** What each holder has on which leaf, by its id; what is on nodes that are gone is left out. */
  readonly held: ReadonlyMap<string, ReadonlyArray<FlavorHolding>>
  /** One for each pod set of the head, in the same order. */
  readonly podSetsOf: (head: Head) => ReadonlyArray<PlacedPodSet>
  readonly profile: PlacementProfile
}

/** A pod set, with as many replicas as are to be placed, and the flavor whose nodes it goes to. */
interface Placing {
  readonly flavor: string
  readonly podSet: PlacedPodSet
}

/** Finds places for the heads of an admission cycle by the topology of their flavors. */
export class CyclePlacer implements Placer {
  private readonly spec: CyclePlacerSpec
  /** What heads of this cycle hold, by their id. */
  private readonly heads = new Map<string, ReadonlyArray<FlavorHolding>>()

  constructor(spec: CyclePlacerSpec) {
    this.spec = spec
    for (const holdings of spec.held.values()) this.takeAll(holdings)
  }

  concerns(_head: Head, _podSet: number, flavor: string): boolean {
    return this.spec.flavors.has(flavor)
  }

  place(
    head: Head,
    podSets: ReadonlyArray<PodSetAssignment>,
    out: ReadonlyArray<Holder> | 'everyone',
  ): Placement | null {
    const placings = this.placingsOf(head, podSets)
    return out === 'everyone'
      ? this.placeAll(placings, 'empty')
      : this.without(out, () => this.placeAll(placings, 'now'))
  }

  isFree(
    head: Head,
    podSets: ReadonlyArray<PodSetAssignment>,
    placement: Placement,
    out: ReadonlyArray<Holder>,
  ): boolean {
    const holdings = this.holdingsOf(head, podSets, placement)
    return this.without(out, () => {
      const taken: FlavorHolding[] = []
      for (const holding of holdings) {
        if (!this.topologyOf(holding.flavor).isFree(holding)) break
        this.takeAll([holding])
        taken.push(holding)
      }
      this.giveAll(taken)
      return taken.length === holdings.length
    })
  }

  hold(head: Head, podSets: ReadonlyArray<PodSetAssignment>, placement: Placement): void {
    assert(!this.heads.has(head.id), 'a head holds one place')
    const holdings = this.holdingsOf(head, podSets, placement)
    this.heads.set(head.id, holdings)
    this.takeAll(holdings)
  }

  release(head: Head): void {
    const holdings = this.heads.get(head.id)
    assert(holdings !== undefined, 'a head that gives back a place has one')
    this.heads.delete(head.id)
    this.giveAll(holdings)
  }

  /** Flavor by flavor, since pod sets on one are placed together; each beside those placed before. */
  private placeAll(placings: ReadonlyArray<Placing>, when: 'now' | 'empty'): Placement | null {
    const found = new Map<string, PodSetPlacement>()
    const taken: FlavorHolding[] = []
    for (const flavor of new Set(placings.map((placing) => placing.flavor))) {
      const mine = placings.flatMap((placing) => (placing.flavor === flavor ? [placing.podSet] : []))
      const topology = this.topologyOf(flavor)
      const places = topology.place(mine, this.spec.profile, when)
      const holdings = mine.flatMap(({ name, requests }, i): ReadonlyArray<FlavorHolding> => {
        const place = places[i]!
        if (place.type !== 'placed') return []
        const shares = place.shares.toSorted((a, b) => a.domain - b.domain)
        const domains = shares.map(({ domain, replicas }) => ({ path: topology.pathOf(domain), count: replicas }))
        found.set(name, { podSet: name, domains })
        return shares.map(({ domain, replicas }) => ({ flavor, leaf: domain, replicas, requests }))
      })
      // What is placed on one flavor may lie on nodes of the next.
      this.takeAll(holdings)
      taken.push(...holdings)
    }
    this.giveAll(taken)
    return found.size === placings.length ? placings.map(({ podSet }) => found.get(podSet.name)!) : null
  }

  /** What comes of `look` while those are gone. */
  private without<A>(out: ReadonlyArray<Holder>, look: () => A): A {
    const gone = out.flatMap(({ id }) => this.spec.held.get(id) ?? [])
    this.giveAll(gone)
    const outcome = look()
    this.takeAll(gone)
    return outcome
  }

  private placingsOf(head: Head, podSets: ReadonlyArray<PodSetAssignment>): ReadonlyArray<Placing> {
    const stated = this.spec.podSetsOf(head)
    return podSets.flatMap(({ flavors, count }, i) => {
      const chosen = flavors.find(({ flavor }) => this.spec.flavors.has(flavor))
      return chosen === undefined ? [] : [{ flavor: chosen.flavor, podSet: { ...stated[i]!, count } }]
    })
  }

  private holdingsOf(
    head: Head,
    podSets: ReadonlyArray<PodSetAssignment>,
    placement: Placement,
  ): ReadonlyArray<FlavorHolding> {
    const placings = new Map(this.placingsOf(head, podSets).map((placing) => [placing.podSet.name, placing]))
    return placement.flatMap(({ podSet: name, domains }) => {
      const { flavor, podSet } = placings.get(name)!
      return domains.map(({ path, count }) => {
        const leaf = this.topologyOf(flavor).leaf(path)
        assert(leaf !== undefined, 'a place found in a cycle is there in the same cycle')
        return { flavor, leaf, replicas: count, requests: podSet.requests }
      })
    })
  }

  private takeAll(holdings: ReadonlyArray<FlavorHolding>): void {
    for (const holding of holdings) this.topologyOf(holding.flavor).take(holding)
  }

  private giveAll(holdings: ReadonlyArray<FlavorHolding>): void {
    for (const holding of holdings) this.topologyOf(holding.flavor).give(holding)
  }

  private topologyOf(flavor: string): FlavorTopology {
    const topology = this.spec.flavors.get(flavor)
    assert(topology !== undefined, 'what is held on a flavor with a topology is held on one of these')
    return topology
  }
}
