import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CyclePlacer, type FlavorHolding } from '../../../domain/topology/cycle-placer.ts'
import { FlavorTopology, type FlavorTopologySpec } from '../../../domain/topology/flavor-topology.ts'
import { NodeStock, type StockedNode } from '../../../domain/topology/node-stock.ts'
import { defaultProfile, type PlacedPodSet } from '../../../domain/topology/pod-set.ts'
import type { PodSetAssignment } from '../../../domain/kueue/assignment.ts'
import type { Head } from '../../../domain/kueue/head.ts'
import type { Holder } from '../../../domain/kueue/holdings.ts'

const nodeIn = (rack: string, host: string, gpu: number, stated: Partial<StockedNode> = {}): StockedNode => ({
  name: host,
  labels: { rack, host, ...stated.labels },
  taints: stated.taints ?? [],
  takesWork: stated.takesWork ?? true,
  capacity: [
    ['gpu', gpu],
    ['pods', 100],
  ],
  usedByOthers: stated.usedByOthers ?? [],
})
const byHost: FlavorTopologySpec = { levels: ['rack', 'host'], lowestIsNode: true, requiredLabels: {}, tolerations: [] }
const byRack: FlavorTopologySpec = { ...byHost, levels: ['rack'], lowestIsNode: false }

const podSet = (count: number, stated: Partial<PlacedPodSet> = {}): PlacedPodSet => ({
  name: 'main',
  count,
  requests: [['gpu', 1]],
  topology: { mode: 'required', level: 'rack', layers: [] },
  group: null,
  selection: { labels: {}, terms: [] },
  tolerations: [],
  ...stated,
})

/** `host count` for each leaf, or what stands in the way. */
const lieOf = (flavor: FlavorTopology, ...podSets: ReadonlyArray<PlacedPodSet>) =>
  flavor.place(podSets, defaultProfile).map((place) => {
    if (place.type === 'faulty') return place.fault
    if (place.type === 'short') return Object.fromEntries(place.shortfall.excluded)
    return place.shares.map(({ domain, replicas }) => `${flavor.pathOf(domain).join('/')} ${replicas}`).sort()
  })

describe('nodes of a flavor', () => {
  it.each<[string, Partial<StockedNode>, object]>([
    ['that is tainted', { taints: [{ key: 'k', value: 'v', effect: 'noSchedule' }] }, { taint: 1 }],
    ['that has no room', { usedByOthers: [['gpu', 8]] }, { 'resource:gpu': 1 }],
    ['that takes as many pods as it has', { usedByOthers: [['pods', 100]] }, { 'resource:pods': 1 }],
  ])('should hold nothing on one %s', (_, stated, excluded) => {
    const flavor = new FlavorTopology(new NodeStock([nodeIn('r1', 'h1', 8, stated)]), byHost)
    expect(lieOf(flavor, podSet(1))).toEqual([excluded])
  })
  it('should be chosen by labels and tolerations, where the lowest level is the node', () => {
    const taints = [{ key: 'k', value: 'v', effect: 'noSchedule' }] as const
    const nodes = [
      nodeIn('r1', 'h1', 8, { labels: { zone: 'a' } }),
      nodeIn('r1', 'h2', 8, { labels: { zone: 'b' }, taints }),
    ]
    const asked = podSet(1, { selection: { labels: { zone: 'b' }, terms: [] } })
    const tolerations = [{ key: 'k', operator: 'exists', value: '', effect: null }] as const
    const flavor = new FlavorTopology(new NodeStock(nodes), byHost)
    expect(lieOf(flavor, asked)).toEqual([{ 'node-selector': 1, taint: 1 }])
    expect(lieOf(flavor, { ...asked, tolerations })).toEqual([['h2 1']])
    const tolerated = new FlavorTopology(new NodeStock(nodes), { ...byHost, tolerations })
    expect(lieOf(tolerated, asked)).toEqual([['h2 1']])
    expect(lieOf(new FlavorTopology(new NodeStock(nodes), byRack), { ...asked, count: 16 })).toEqual([['r1 16']])
  })
  it('should not be there when they take no work, or lack a label of a level or of the flavor', () => {
    const nodes = [nodeIn('r1', 'h1', 8, { takesWork: false }), nodeIn('r1', 'h2', 8)]
    const flavor = new FlavorTopology(new NodeStock([nodes[0]!, { ...nodes[1]!, labels: { host: 'h2' } }]), byHost)
    expect(flavor.tree.size).toBe(0)
    expect(lieOf(flavor, podSet(1))).toEqual([{}])
    const other = new FlavorTopology(new NodeStock(nodes), { ...byHost, requiredLabels: { zone: 'a' } })
    expect(other.tree.size).toBe(0)
  })
  it('should put each pod set of a workload beside those before it', () => {
    const flavor = new FlavorTopology(new NodeStock([nodeIn('r1', 'h1', 4), nodeIn('r2', 'h2', 5)]), byHost)
    expect(lieOf(flavor, podSet(3), podSet(3), podSet(2))).toEqual([['h1 3'], ['h2 3'], ['h2 2']])
    expect(lieOf(flavor, podSet(3))).toEqual([['h1 3']])
  })
  it('should keep the leader of a group with its workers', () => {
    const flavor = new FlavorTopology(new NodeStock([nodeIn('r1', 'h1', 4), nodeIn('r2', 'h2', 5)]), byHost)
    const leader = podSet(1, { name: 'leader', group: 'g' })
    expect(lieOf(flavor, leader, podSet(4, { group: 'g' }))).toEqual([['h2 1'], ['h2 4']])
    expect(lieOf(flavor, podSet(4, { group: 'g' }), leader)).toEqual([['h2 4'], ['h2 1']])
  })
})

describe('what is held', () => {
  const nodes = [nodeIn('r1', 'h1', 4), nodeIn('r1', 'h2', 4)]
  it('should be known to every flavor that shares the nodes', () => {
    const stock = new NodeStock(nodes)
    const [one, other] = [new FlavorTopology(stock, byHost), new FlavorTopology(stock, byHost)]
    one.take({ leaf: one.leaf(['h1'])!, replicas: 3, requests: [['gpu', 1]] })
    expect(lieOf(other, podSet(1))).toEqual([['h1 1']])
    expect(lieOf(other, podSet(5))).toEqual([['h1 1', 'h2 4']])
    expect(lieOf(other, podSet(6))).toEqual([{}])
  })
  it('should be known of a domain where that is all that is known', () => {
    const flavor = new FlavorTopology(new NodeStock(nodes), byRack)
    const holding = { leaf: flavor.leaf(['r1'])!, replicas: 6, requests: [['gpu', 1]] } as const
    flavor.take(holding)
    expect(lieOf(flavor, podSet(2))).toEqual([['r1 2']])
    expect(lieOf(flavor, podSet(3))).toEqual([{}])
    flavor.give(holding)
    expect(lieOf(flavor, podSet(8))).toEqual([['r1 8']])
  })
  it('should always be free where something is placed, and be given back exactly', () => {
    const anyNodes = fc.array(fc.tuple(fc.constantFrom('r1', 'r2'), fc.nat(4)), { minLength: 1, maxLength: 6 })
    const anySets = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 2 })), {
      minLength: 1,
      maxLength: 3,
    })
    fc.assert(
      fc.property(anyNodes, anySets, anySets, (nodes, before, after) => {
        const stocked = nodes.map(([rack, gpu], i) => nodeIn(rack, `h${i}`, gpu))
        const flavor = new FlavorTopology(new NodeStock(stocked), byHost)
        const sets = (all: typeof before) => all.map(([count, gpu]) => podSet(count, { requests: [['gpu', gpu]] }))
        const wanted = lieOf(flavor, ...sets(after))
        const taken: Parameters<FlavorTopology['take']>[0][] = []
        flavor.place(sets(before), defaultProfile).forEach((place, i) => {
          if (place.type !== 'placed') return
          for (const { domain, replicas } of place.shares) {
            const holding = { leaf: domain, replicas, requests: sets(before)[i]!.requests }
            expect(flavor.isFree(holding)).toBe(true)
            flavor.take(holding)
            taken.push(holding)
          }
        })
        expect(flavor.place(sets(after), defaultProfile, 'empty')).toEqual(
          new FlavorTopology(new NodeStock(stocked), byHost).place(sets(after), defaultProfile),
        )
        for (const holding of taken) flavor.give(holding)
        expect(lieOf(flavor, ...sets(after))).toEqual(wanted)
      }),
    )
  })
})

describe('places in a cycle', () => {
  const headOf = (id: string) => ({ id }) as Head
  const holderOf = (id: string) => ({ id }) as Holder
  const assigned = (name: string, count: number, flavor: string): PodSetAssignment => ({
    name,
    count,
    flavors: [{ resource: 'gpu', flavor, flavorResource: 0, mode: 'fit', amount: count }],
  })
  const placerOf = (held: (flavor: FlavorTopology) => ReadonlyMap<string, ReadonlyArray<FlavorHolding>>) => {
    const stock = new NodeStock([nodeIn('r1', 'h1', 4), nodeIn('r2', 'h2', 2)])
    const flavors = new Map(['a', 'b'].map((name) => [name, new FlavorTopology(stock, byHost)]))
    const podSetsOf = () => [podSet(9), podSet(9, { name: 'second' })]
    return new CyclePlacer({ flavors, held: held(flavors.get('a')!), podSetsOf, profile: defaultProfile })
  }
  const runsOnH1 = (flavor: FlavorTopology) =>
    new Map([['runs', [{ flavor: 'a', leaf: flavor.leaf(['h1'])!, replicas: 3, requests: [['gpu', 1]] as const }]]])

  it('should be beside what is held, or as if some, or all, were gone', () => {
    const placer = placerOf(runsOnH1)
    const four = [assigned('main', 4, 'a')]
    const place = [{ podSet: 'main', domains: [{ path: ['h1'], count: 4 }] }]
    expect(placer.place(headOf('x'), four, [])).toBeNull()
    expect(placer.place(headOf('x'), four, [holderOf('runs'), holderOf('unknown')])).toEqual(place)
    expect(placer.place(headOf('x'), four, 'everyone')).toEqual(place)
    expect(placer.isFree(headOf('x'), four, place, [])).toBe(false)
    expect(placer.isFree(headOf('x'), four, place, [holderOf('runs')])).toBe(true)
    expect(placer.place(headOf('x'), four, [])).toBeNull()
  })
  it('should be kept from later heads until they are given back', () => {
    const placer = placerOf(() => new Map())
    const three = [assigned('main', 3, 'a')]
    const place = placer.place(headOf('x'), three, [])!
    placer.hold(headOf('x'), three, place)
    expect(placer.isFree(headOf('y'), three, place, [])).toBe(false)
    expect(placer.place(headOf('y'), three, [])).toBeNull()
    placer.release(headOf('x'))
    expect(placer.place(headOf('y'), three, [])).toEqual(place)
    const again = () => {
      placer.release(headOf('x'))
    }
    expect(again).toThrow('a head that gives back a place has one')
  })
  it('should not lie on each other where pod sets of a head get two flavors of the same nodes', () => {
    const placer = placerOf(() => new Map())
    const both = [assigned('main', 3, 'a'), assigned('second', 2, 'b')]
    expect(placer.place(headOf('x'), both, [])).toEqual([
      { podSet: 'main', domains: [{ path: ['h1'], count: 3 }] },
      { podSet: 'second', domains: [{ path: ['h2'], count: 2 }] },
    ])
    expect(placer.place(headOf('x'), [assigned('main', 3, 'a'), assigned('second', 3, 'b')], [])).toBeNull()
    expect(placer.place(headOf('x'), both, [])).not.toBeNull()
  })
  it('should concern only flavors whose nodes have a topology', () => {
    const placer = placerOf(() => new Map())
    expect(['a', 'c'].map((flavor) => placer.concerns(headOf('x'), 0, flavor))).toEqual([true, false])
    expect(placer.place(headOf('x'), [assigned('main', 9, 'c')], [])).toEqual([])
  })
})
