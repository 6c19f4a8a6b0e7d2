import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fleet, type NodeSpec } from '../../../domain/fleet/fleet.ts'
import { FragmentationMeasure, scoreStepMilli } from '../../../domain/fleet/fragmentation.ts'
import { Placer, type PlacementRules } from '../../../domain/fleet/placer.ts'
import { ShapeTable } from '../../../domain/fleet/shape.ts'
import { canPlace, largestSpanning } from '../../../domain/fleet/spanning.ts'
import { largestOnOneNode } from '../../../domain/fleet/placement.ts'
import type { NodeHealth } from '../../../domain/planner/cell-event.ts'
import type { MixClass, Strategy } from '../../../domain/policy/allocation-policy.ts'
import type { PlacementRequest } from '../../../domain/workload/request.ts'
import { anyNodes, anyRequest, nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import {
  fitsOn,
  fragmentationSlowly,
  largestSlowly,
  milliEach,
  naiveNode,
  placeSlowly,
  take,
  type NaiveNode,
  type OrderedStrategy,
} from '../../support/naive/naive-fleet.ts'

/** A fleet and its naive double, kept alike. */
class Twin {
  readonly fleet = new Fleet()
  readonly placer = new Placer(this.fleet)
  readonly table = new ShapeTable()
  readonly nodes: NaiveNode[] = []

  register(spec: NodeSpec): void {
    this.fleet.register(spec)
    this.nodes.push(naiveNode(spec))
  }

  setHealth(node: number, device: number | null, health: NodeHealth): void {
    this.fleet.setHealth(node, device, health)
    if (device === null) this.nodes[node]!.health = health
    else this.nodes[node]!.devices[device]!.health = health
  }

  /** By the strategy under test; the double follows. */
  place(request: PlacementRequest, rules: PlacementRules, draw = 0) {
    const shape = this.table.intern(request)
    const placement = this.placer.place(shape, rules, draw)
    for (const part of placement?.parts ?? []) this.fleet.take(shape, part)
    take(this.nodes, request, placement?.parts ?? [])
    return placement
  }
}

const twinOf = (specs: ReadonlyArray<NodeSpec>): Twin => {
  const twin = new Twin()
  for (const spec of specs) twin.register(spec)
  return twin
}

const rulesOf = (strategy: Strategy, mix: ReadonlyArray<MixClass> = [], seed = 0): PlacementRules => ({
  policy: { strategy, seed, mix: null },
  fragmentation: new FragmentationMeasure(mix),
})

const health = fc.record({ node: fc.nat(), device: fc.option(fc.nat()) })

const failSome = (twin: Twin, faults: ReadonlyArray<{ readonly node: number; readonly device: number | null }>) => {
  for (const { node, device } of faults) {
    const number = node % twin.nodes.length
    const { length } = twin.nodes[number]!.devices
    twin.setHealth(number, device === null || length === 0 ? null : device % length, 'failed')
  }
}

describe.each<OrderedStrategy>(['first-fit', 'best-fit', 'spread', 'model-aware'])('%s', (strategy) => {
  it('should place as its definition says, one after the other', () => {
    fc.assert(
      fc.property(
        anyNodes(),
        fc.array(health, { maxLength: 2 }),
        fc.array(anyRequest, { maxLength: 12 }),
        (specs, faults, requests) => {
          const twin = twinOf(specs)
          failSome(twin, faults)
          const rules = rulesOf(strategy)
          for (const request of requests) {
            const expected = placeSlowly(twin.nodes, request, strategy)
            const second =
              expected === null || strategy === 'first-fit'
                ? null
                : placeSlowly(twin.nodes, request, strategy, expected[0]!.node)
            const shape = twin.table.intern(request)
            expect(canPlace(twin.fleet, shape)).toBe(expected !== null)
            const { span } = request
            const largest = span === 'node' ? largestOnOneNode(twin.fleet, shape) : largestSpanning(twin.fleet, shape)
            if (request.devices > 0) expect(largest).toBe(shownLargest(twin.nodes, request))
            const only = [...twin.nodes.keys()]
            const narrowed = twin.placer.place(shape, rules, 0, { only, except: -1 })
            const placement = twin.place(request, rules)
            expect(placement?.parts ?? null).toEqual(expected)
            expect(narrowed).toEqual(placement)
            if (span !== 'node' || request.devices === 0) continue
            expect(placement?.alternative?.node ?? null).toBe(second?.[0]!.node ?? null)
            if (placement?.score != null) expect(Object.is(placement.score, -0)).toBe(false)
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})

/** Whole devices that are only counted may be more than are asked for. */
const shownLargest = (nodes: ReadonlyArray<NaiveNode>, request: PlacementRequest): number => {
  const { cpuMilli, hostMemoryMib, memoryMib, milli, models, span } = request
  const plain = cpuMilli === 0 && hostMemoryMib === 0 && memoryMib === 0 && models === null && milli === 1000
  return largestSlowly(nodes, plain && span === 'anywhere' ? { ...request, devices: 1000 } : request)
}

describe('fgd', () => {
  const mixClass = fc.record({
    cpuMilli: fc.constantFrom(0, 500, 1000, 3000, 9000),
    devices: fc.constantFrom(0, 1, 1, 2, 3),
    milli: fc.constantFrom(130, 250, 500, 810, 1000),
    weight: fc.integer({ min: 1, max: 9 }),
  })

  it('should take the node whose expected fragmentation rises least, in steps, and on it the device that does', () => {
    fc.assert(
      fc.property(
        anyNodes(),
        fc.array(health, { maxLength: 2 }),
        fc.array(mixClass, { minLength: 1, maxLength: 6 }),
        fc.array(
          anyRequest.map((request) => ({ ...request, span: 'node' as const })),
          { maxLength: 12 },
        ),
        (specs, faults, mix, requests) => {
          const twin = twinOf(specs)
          failSome(twin, faults)
          const rules = rulesOf('fgd', mix)
          for (const request of requests) {
            const expected = leastFragmenting(twin.nodes, request, mix)
            const placement = twin.place(request, rules)
            expect(placement === null ? null : { parts: placement.parts, score: placement.score }).toEqual(expected)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('should measure nodes of any size by the definition', () => {
    const free = Int32Array.from({ length: 1500 }, (_, i) => (i * 37) % 1001)
    const mix = [
      { cpuMilli: 0, devices: 1, milli: 500, weight: 3 },
      { cpuMilli: 1000, devices: 2, milli: 1000, weight: 2 },
      { cpuMilli: 4000, devices: 1, milli: 130, weight: 5 },
      { cpuMilli: 0, devices: 0, milli: 0, weight: 1 },
    ]
    const measure = new FragmentationMeasure(mix)
    for (const cpu of [0, 1000, 5000]) {
      measure.withCpu(cpu)
      expect(measure.of(free, 0, free.length)).toBe(fragmentationSlowly([...free], cpu, mix))
      expect(measure.of(free, 40, 3)).toBe(fragmentationSlowly([...free.subarray(40, 43)], cpu, mix))
    }
  })
})

/** Scored on every node and every device, by the definition. */
const leastFragmenting = (nodes: ReadonlyArray<NaiveNode>, request: PlacementRequest, mix: ReadonlyArray<MixClass>) => {
  const weight = mix.reduce((sum, entry) => sum + entry.weight, 0)
  let best: { readonly parts: ReadonlyArray<object>; readonly score: number } | null = null
  for (const [number, node] of nodes.entries()) {
    if (!fitsOn(request, node)) continue
    const free = node.devices.map(({ milli }) => milli)
    const before = fragmentationSlowly(free, node.cpu, mix)
    const milli = milliEach(request, node)
    for (const devices of choicesOn(request, node, milli)) {
      const left = free.map((each, index) => (devices.includes(index) ? each - milli : each))
      const rise = fragmentationSlowly(left, node.cpu - request.cpuMilli, mix) - before
      const score = Math.floor(rise / (weight * scoreStepMilli))
      const exact = { parts: [{ node: number, devices, milli, memoryMib: request.memoryMib }], score, rise }
      // On one node the exact rise decides, between nodes the step does.
      const known = best as (typeof exact & { readonly number: number }) | null
      if (known === null || (known.number === number ? rise < known.rise : score < known.score))
        best = Object.assign(exact, { number })
    }
  }
  return best === null ? null : { parts: best.parts, score: best.score }
}

/** Each device alone; for a gang the one choice that there is: the fullest that hold it, lowest first. */
const choicesOn = (request: PlacementRequest, node: NaiveNode, milli: number): ReadonlyArray<ReadonlyArray<number>> => {
  const holding = [...node.devices.keys()].filter((index) => {
    const device = node.devices[index]!
    return device.health === 'ready' && device.milli >= milli && device.memory >= request.memoryMib
  })
  if (request.devices === 1) return holding.map((index) => [index])
  holding.sort((a, b) => node.devices[a]!.milli - node.devices[b]!.milli || a - b)
  return [holding.slice(0, request.devices)]
}

describe('random', () => {
  it('should take a node and devices that fit, the same for the same seed and draw', () => {
    fc.assert(
      fc.property(
        anyNodes(),
        fc.array(anyRequest.map((request) => ({ ...request, span: 'node' as const }))),
        fc.integer(),
        (specs, requests, seed) => {
          const [one, two] = [twinOf(specs), twinOf(specs)]
          requests.forEach((request, draw) => {
            const fits = one.nodes.map((node) => fitsOn(request, node))
            const placement = one.place(request, rulesOf('random', [], seed), draw)
            expect(placement !== null).toBe(fits.includes(true))
            expect(two.place(request, rulesOf('random', [], seed), draw)).toEqual(placement)
            if (placement === null) return
            const { node, devices } = placement.parts[0]!
            expect(fits[node]).toBe(true)
            expect(new Set(devices).size).toBe(request.devices)
          })
        },
      ),
    )
  })

  it('should use every node and device about as often, and another order for another seed', () => {
    const twin = twinOf([nodeOf('n0', 4), nodeOf('n1', 4), nodeOf('n2', 4), nodeOf('n3', 4), nodeOf('n4', 4)])
    const shape = twin.table.intern(requestOf({ milli: 250 }))
    const draws = 20_000
    const placesOf = (seed: number) =>
      Array.from({ length: draws }, (_, draw) => {
        const { node, devices } = twin.placer.place(shape, rulesOf('random', [], seed), draw)!.parts[0]!
        return node * 4 + devices[0]!
      })
    const places = placesOf(42)
    for (let place = 0; place < 20; place++) {
      const share = places.filter((each) => each === place).length / draws
      expect(share).toBeGreaterThan(0.04)
      expect(share).toBeLessThan(0.06)
    }
    const again = placesOf(43)
    expect(places.filter((place, i) => place === again[i]).length / draws).toBeLessThan(0.08)
  })

  it('should take the lowest devices of its node for a gang of shares', () => {
    const twin = twinOf([nodeOf('n0', 4)])
    twin.fleet.take(twin.table.intern(requestOf({ milli: 900 })), { node: 0, devices: [1], milli: 900, memoryMib: 0 })
    twin.fleet.take(twin.table.intern(requestOf({ milli: 250 })), { node: 0, devices: [0], milli: 250, memoryMib: 0 })
    const placement = twin.place(requestOf({ devices: 2, milli: 500 }), rulesOf('random'))
    expect(placement?.parts[0]!.devices).toEqual([0, 2])
  })
})

it('should put a rare model last, however large the nodes are', () => {
  const twin = twinOf([nodeOf('rare', 1, { model: 'b' }), nodeOf('large', 1024, { model: 'a', cpuMilli: 900_000 })])
  const placement = twin.place(requestOf({ models: ['a', 'b'] }), rulesOf('model-aware'))
  expect(placement?.parts[0]!.node).toBe(1)
})

describe('what of a device a request takes', () => {
  const gib = 1024
  const of80 = () => twinOf([nodeOf('n0', 1, { deviceMemoryMib: 80 * gib })])
  const slice = (memoryGib: number) => requestOf({ milli: 0, memoryMib: memoryGib * gib })

  it('should be the part that its memory makes of the device, where no share is stated', () => {
    const twin = of80()
    expect(twin.place(slice(48), rulesOf('first-fit'))?.parts).toEqual([
      { node: 0, devices: [0], milli: 600, memoryMib: 48 * gib },
    ])
    expect(twin.place(slice(40), rulesOf('first-fit'))).toBeNull()
    expect(twin.place(slice(30), rulesOf('first-fit'))?.parts).toEqual([
      { node: 0, devices: [0], milli: 375, memoryMib: 30 * gib },
    ])
    expect([twin.fleet.deviceFree[0], twin.fleet.deviceMemoryFree[0]]).toEqual([25, 2 * gib])
  })

  it('should be rounded up, and the least thousandth where the memory of the device is not known', () => {
    const third = twinOf([nodeOf('n0', 1, { deviceMemoryMib: 3 })])
    expect(third.place(requestOf({ milli: 0, memoryMib: 1 }), rulesOf('first-fit'))?.parts[0]!.milli).toBe(334)
    const unknown = twinOf([nodeOf('n0', 1)])
    expect(unknown.place(slice(999), rulesOf('first-fit'))?.parts[0]!.milli).toBe(1)
  })

  it('should count stated share and memory both', () => {
    const twin = of80()
    expect(twin.place(requestOf({ milli: 100, memoryMib: 70 * gib }), rulesOf('first-fit'))).not.toBeNull()
    expect(twin.place(requestOf({ milli: 100, memoryMib: 11 * gib }), rulesOf('first-fit'))).toBeNull()
    expect(twin.place(requestOf({ milli: 901, memoryMib: gib }), rulesOf('first-fit'))).toBeNull()
    expect(twin.place(requestOf({ milli: 900, memoryMib: 10 * gib }), rulesOf('first-fit'))).not.toBeNull()
  })

  it('should be whole devices that have its memory', () => {
    const twin = twinOf([
      nodeOf('small', 4, { deviceMemoryMib: 40 * gib }),
      nodeOf('large', 4, { deviceMemoryMib: 80 * gib }),
    ])
    expect(twin.place(requestOf({ devices: 3, memoryMib: 60 * gib }), rulesOf('first-fit'))?.parts[0]!.node).toBe(1)
    expect(twin.place(requestOf({ devices: 2, memoryMib: 60 * gib }), rulesOf('first-fit'))).toBeNull()
  })
})

describe('a gang that may span nodes', () => {
  it('should take CPU and host memory of each node in proportion, rounded up', () => {
    const twin = twinOf([nodeOf('n0', 2, { cpuMilli: 700 }), nodeOf('n1', 8, { cpuMilli: 700 })])
    const request = requestOf({ devices: 3, cpuMilli: 1000, span: 'anywhere' })
    const placement = twin.place(request, rulesOf('first-fit'))
    expect(placement?.parts.map(({ node, devices }) => [node, devices.length])).toEqual([
      [0, 2],
      [1, 1],
    ])
    expect([...twin.fleet.cpuFree.subarray(0, 2)]).toEqual([700 - 667, 700 - 334])
  })

  it('should go to the domain that has the fewest devices and yet enough', () => {
    const twin = twinOf([
      nodeOf('n0', 4, { domain: 'wide' }),
      nodeOf('n1', 2, { domain: 'tight' }),
      nodeOf('n2', 4, { domain: 'wide' }),
      nodeOf('n3', 3, { domain: 'tight' }),
      nodeOf('n4', 4),
    ])
    const request = requestOf({ devices: 5, span: 'domain' })
    expect(twin.place(request, rulesOf('first-fit'))?.parts.map(({ node }) => node)).toEqual([1, 3])
    expect(twin.place(request, rulesOf('first-fit'))?.parts.map(({ node }) => node)).toEqual([0, 2])
    expect(twin.place(request, rulesOf('first-fit'))).toBeNull()
    expect(twin.place({ ...request, span: 'anywhere' }, rulesOf('first-fit'))?.parts).toHaveLength(2)
  })
})
