import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyFleetVerdict } from '../../../domain/fleet/empty-fleet.ts'
import { Fleet, type NodeSpec, type PlacementPart } from '../../../domain/fleet/fleet.ts'
import { FragmentationMeasure } from '../../../domain/fleet/fragmentation.ts'
import { Placer } from '../../../domain/fleet/placer.ts'
import { ShapeTable } from '../../../domain/fleet/shape.ts'
import { canPlace, largestSpanning } from '../../../domain/fleet/spanning.ts'
import { topologyOf } from '../../../domain/topology/fleet-topology.ts'
import { defaultTopologyLevels } from '../../../domain/policy/allocation-policy.ts'
import { partOf, type PlacementRequest, type TopologyRequest } from '../../../domain/workload/request.ts'
import { anyNode, anyRequest, nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'

const levels = ['block', 'rack']
const rules = {
  policy: { strategy: 'best-fit', seed: 0, mix: null },
  fragmentation: new FragmentationMeasure([]),
} as const

/** Some name no domain of a level, or of none. */
const anyPlacedNode = (number: number): fc.Arbitrary<NodeSpec> =>
  fc
    .tuple(anyNode(number), fc.constantFrom('b1', 'b1', 'b2', null), fc.constantFrom('r1', 'r2', null))
    .map(([node, block, rack]) => ({
      ...node,
      ...((block ?? rack) && { topology: { ...(block && { block }), ...(rack && { rack }) } }),
    }))
const anyPlacedNodes = fc
  .integer({ min: 1, max: 5 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, number) => anyPlacedNode(number))))

const anyTopology = fc.constantFrom<TopologyRequest>(
  { required: 'block' },
  { required: 'rack' },
  { required: 'node' },
  { preferred: 'rack' },
  { preferred: 'node' },
  { sliceLevel: 'rack', sliceSize: 2 },
  { required: 'block', sliceLevel: 'node', sliceSize: 2 },
  { preferred: 'rack', sliceLevel: 'rack', sliceSize: 2 },
  { required: 'rack', sliceLevel: 'block', sliceSize: 1 },
  { required: 'zone' },
)
const anyLevelRequest: fc.Arbitrary<PlacementRequest> = fc
  .tuple(anyRequest, anyTopology)
  .filter(([{ devices }, { sliceSize = 1 }]) => devices > 0 && devices % sliceSize === 0)
  .map(([request, topology]) => ({ ...request, span: 'anywhere', topology }))

class Placing {
  readonly fleet = new Fleet()
  readonly placer = new Placer(this.fleet)
  private readonly table: ShapeTable

  constructor(nodes: ReadonlyArray<NodeSpec>, table = new ShapeTable()) {
    this.table = table
    for (const node of nodes) this.fleet.register(node)
    this.fleet.setLevels(levels)
  }

  shape(request: PlacementRequest) {
    return this.table.intern(request)
  }

  find(request: PlacementRequest): ReadonlyArray<PlacementPart> | null {
    return this.placer.place(this.shape(request), rules, 0)?.parts ?? null
  }

  take(request: PlacementRequest): ReadonlyArray<PlacementPart> | null {
    const parts = this.find(request)
    for (const part of parts ?? []) this.fleet.take(this.shape(request), part)
    return parts
  }

  /** The domain of the level that a node lies in: its path down to there. */
  domainOf(node: number, level: string): string {
    const { node: name, topology = {} } = this.fleet.nodes[node]!
    const path = [...levels.map((each) => topology[each] ?? `alone ${name}`), name]
    return path.slice(0, [...levels, 'node'].indexOf(level) + 1).join('/')
  }

  /** Devices by domain of the level. */
  sums(parts: ReadonlyArray<readonly [node: number, devices: number]>, level: string): ReadonlyArray<number> {
    const sums = new Map<string, number>()
    for (const [node, devices] of parts) {
      const domain = this.domainOf(node, level)
      sums.set(domain, (sums.get(domain) ?? 0) + devices)
    }
    return [...sums.values()].filter((sum) => sum > 0)
  }

  isSound({ topology }: PlacementRequest, parts: ReadonlyArray<readonly [node: number, devices: number]>): boolean {
    const { required, sliceLevel, sliceSize } = topology!
    if (required !== undefined && this.sums(parts, required).length > 1) return false
    return sliceLevel === undefined || this.sums(parts, sliceLevel).every((sum) => sum % sliceSize! === 0)
  }

  /** Tries every number of devices on every node. */
  fitsSlowly(request: PlacementRequest): boolean {
    const counts: number[] = []
    const tryFrom = (node: number, left: number): boolean => {
      if (node === this.fleet.nodes.length)
        return (
          left === 0 &&
          this.isSound(
            request,
            counts.map((devices, i) => [i, devices] as const),
          )
        )
      for (let devices = 0; devices <= left && this.holds(request, node, devices); devices++) {
        counts[node] = devices
        if (tryFrom(node + 1, left - devices)) return true
      }
      return false
    }
    return tryFrom(0, request.devices)
  }

  private holds(request: PlacementRequest, node: number, devices: number): boolean {
    if (devices === 0) return true
    const { fleet } = this
    const { milli, memoryMib, models, cpuMilli, hostMemoryMib, devices: wanted } = request
    const spec = fleet.nodes[node]!
    if (fleet.health[node] !== 'ready') return false
    if (models !== null && spec.model !== null && !models.includes(spec.model)) return false
    if (partOf(cpuMilli, devices, wanted) > fleet.cpuFree[node]!) return false
    if (partOf(hostMemoryMib, devices, wanted) > fleet.hostFree[node]!) return false
    const total = spec.deviceMemoryMib
    const each = milli > 0 ? milli : total === null ? 1 : Math.ceil((1000 * memoryMib) / total)
    let holding = 0
    for (let i = 0; i < spec.devices; i++) {
      const device = fleet.firstDevice[node]! + i
      if (fleet.usable(device) >= each && fleet.deviceMemoryFree[device]! >= memoryMib) holding++
    }
    return holding >= devices
  }
}

const isPossible = ({ topology }: PlacementRequest): boolean =>
  topology!.required !== 'zone' && !(topology!.required === 'rack' && topology!.sliceLevel === 'block')

const anyEvent = fc.oneof(
  { weight: 4, arbitrary: anyLevelRequest.map((request) => ({ request })) },
  { weight: 2, arbitrary: anyRequest.map((request) => ({ request })) },
  { weight: 1, arbitrary: fc.record({ node: fc.nat(4), failed: fc.boolean() }) },
)

describe('requests that name levels', () => {
  it('should be placed exactly when trying everything finds a place, and in a sound one', () => {
    fc.assert(
      fc.property(anyPlacedNodes, fc.array(anyEvent, { maxLength: 10 }), (nodes, events) => {
        const placing = new Placing(nodes)
        for (const event of events) {
          if (!('request' in event)) {
            placing.fleet.setHealth(event.node % nodes.length, null, event.failed ? 'failed' : 'ready')
            continue
          }
          const { request } = event
          const possible = request.topology !== undefined && isPossible(request) && placing.fitsSlowly(request)
          const able = canPlace(placing.fleet, placing.shape(request))
          const parts = placing.take(request)
          expect(able).toBe(parts !== null)
          if (request.topology === undefined) continue
          expect(able).toBe(possible)
          if (parts === null) continue
          expect(parts.reduce((sum, { devices }) => sum + devices.length, 0)).toBe(request.devices)
          expect(
            placing.isSound(
              request,
              parts.map(({ node, devices }) => [node, devices.length]),
            ),
          ).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('should be told of an empty fleet just what can be placed on it', () => {
    fc.assert(
      fc.property(anyPlacedNodes, anyLevelRequest, (nodes, request) => {
        const placing = new Placing(nodes)
        const shape = placing.shape(request)
        const verdict = emptyFleetVerdict(placing.fleet, shape)
        expect(verdict.holds).toBe(canPlace(placing.fleet, shape))
        if (shape.whole) expect(verdict.largestMilli).toBe(largestSpanning(placing.fleet, shape))
      }),
    )
  })

  it('should be told the size of the largest of their kind that would find a place', () => {
    fc.assert(
      fc.property(anyPlacedNodes, fc.array(anyRequest, { maxLength: 4 }), anyTopology, (nodes, before, topology) => {
        const placing = new Placing(nodes)
        for (const request of before) placing.take(request)
        const of = (devices: number) => placing.shape({ ...requestOf({ devices, span: 'anywhere' }), topology })
        const { sliceSize = 1 } = topology
        const largest = largestSpanning(placing.fleet, of(sliceSize)) / 1000
        if (largest > 0) expect(canPlace(placing.fleet, of(largest))).toBe(true)
        expect(canPlace(placing.fleet, of(largest + sliceSize))).toBe(false)
      }),
    )
  })

  it('should be tried on a copy of the fleet as on the fleet itself', () => {
    const anyStep = fc.record({
      request: fc.oneof(anyRequest, anyLevelRequest),
      onCopy: fc.boolean(),
      copied: fc.boolean(),
    })
    fc.assert(
      fc.property(anyPlacedNodes, fc.array(anyStep, { maxLength: 8 }), anyLevelRequest, (nodes, steps, request) => {
        const table = new ShapeTable()
        const placing = new Placing(nodes, table)
        const copy = new Placing([], table)
        const shape = placing.shape(request)
        for (const { request, onCopy, copied } of steps) {
          if (copied || copy.fleet.nodes.length === 0) {
            copy.fleet.copyFrom(placing.fleet)
            expect(canPlace(copy.fleet, shape)).toBe(canPlace(placing.fleet, shape))
          }
          ;(onCopy ? copy : placing).take(request)
          canPlace(copy.fleet, shape)
        }
        copy.fleet.copyFrom(placing.fleet)
        expect(canPlace(copy.fleet, shape)).toBe(canPlace(placing.fleet, shape))
      }),
    )
  })
})

it('should forget what it counted on a copy that was changed, once it is copied to again', () => {
  const table = new ShapeTable()
  const placing = new Placing([nodeOf('n1', 8), nodeOf('n2', 4), nodeOf('n3', 4)], table)
  const copy = new Placing([], table)
  const shapeOf = (devices: number) =>
    table.intern({ ...requestOf({ devices, span: 'anywhere' }), topology: { required: 'rack' } })
  copy.fleet.copyFrom(placing.fleet)
  const part = (devices: number) => ({ node: 0, devices: [...Array(devices).keys()], milli: 1000, memoryMib: 0 })
  copy.fleet.take(shapeOf(1), part(1))
  expect(canPlace(copy.fleet, shapeOf(7))).toBe(true)
  placing.fleet.take(shapeOf(8), part(8))
  copy.fleet.copyFrom(placing.fleet)
  expect(canPlace(copy.fleet, shapeOf(7))).toBe(false)
})

describe('the levels of a fleet', () => {
  const rack = (name: string) => ({ topology: { block: 'b1', rack: name } })
  const request = { ...requestOf({ devices: 6, span: 'anywhere' }), topology: { required: 'rack' } }

  it('should be those of the policy, whenever it is activated', () => {
    const placing = new Placing([nodeOf('n1', 4, rack('r1')), nodeOf('n2', 4, rack('r1'))])
    expect(placing.find(request)).toHaveLength(2)
    placing.fleet.setLevels(defaultTopologyLevels)
    expect(placing.find(request)).toBeNull()
    expect(topologyOf(placing.fleet).faultOf(placing.shape(request))).toBe('no-such-level')
    placing.fleet.setLevels(levels)
    expect(placing.find(request)).toHaveLength(2)
  })
  it('should be the domain that nodes are registered with where the policy names none', () => {
    const placing = new Placing(['x', 'y', 'x'].map((domain, i) => nodeOf(`n${i}`, 4, { domain })))
    placing.fleet.setLevels(defaultTopologyLevels)
    const inDomain = { ...request, topology: { required: 'domain' } }
    expect(placing.find(inDomain)?.map(({ node }) => node)).toEqual([0, 2])
  })
  it('should take a node into account that comes later', () => {
    const placing = new Placing([nodeOf('n1', 4, rack('r1')), nodeOf('n2', 4, rack('r2'))])
    expect(placing.find(request)).toBeNull()
    placing.fleet.register(nodeOf('n3', 4, rack('r2')))
    expect(placing.find(request)?.map(({ node }) => node)).toEqual([1, 2])
  })
  it('should say which domain holds the most', () => {
    const placing = new Placing([nodeOf('n1', 4, rack('r1')), nodeOf('n2', 5, rack('r2')), nodeOf('n3', 7)])
    const largest = (topology: TopologyRequest) =>
      topologyOf(placing.fleet).largest(placing.shape({ ...request, topology }))
    expect(largest({ required: 'block' })).toEqual({ level: 'block', path: ['b1'], devices: 9 })
    expect(largest({ required: 'rack' })).toEqual({ level: 'rack', path: [null, null], devices: 7 })
    expect(largest({ required: 'rack', sliceSize: 3, sliceLevel: 'node' }).devices).toBe(6)
    expect(largest({ preferred: 'rack' })).toEqual({ level: null, path: [], devices: 16 })
  })
  it('should pack a gang into the fewest and fullest nodes of a rack', () => {
    const nodes = [8, 8, 8, 4, 2].map((devices, i) => nodeOf(`n${i}`, devices, rack('r1')))
    const placing = new Placing([...nodes, nodeOf('n9', 8, rack('r2'))])
    const taken = (devices: number) => placing.find({ ...request, devices })?.map(({ node }) => node)
    expect(taken(10)).toEqual([0, 4])
    expect(taken(12)).toEqual([0, 3])
    expect(taken(20)).toEqual([0, 1, 3])
    expect(taken(8)).toEqual([5])
  })
})
