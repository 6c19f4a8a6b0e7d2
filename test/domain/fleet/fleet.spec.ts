import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fleet, type PlacementPart } from '../../../domain/fleet/fleet.ts'
import { hashOfRequest, ShapeTable, type Shape } from '../../../domain/fleet/shape.ts'
import type { NodeHealth } from '../../../domain/planner/cell-event.ts'
import type { PlacementRequest } from '../../../domain/workload/request.ts'
import { anyNode, anyRequest, nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import {
  accepts,
  freeOf,
  naiveNode,
  placeSlowly,
  sum,
  take,
  wholeOf,
  type NaiveNode,
} from '../../support/naive/naive-fleet.ts'

const health = fc.constantFrom<NodeHealth>('ready', 'ready', 'cordoned', 'draining', 'failed')
const step = fc.oneof(
  fc.record({ kind: fc.constant('register' as const), node: anyNode(0) }),
  fc.record({ kind: fc.constant('health' as const), node: fc.nat(), device: fc.option(fc.nat()), health }),
  fc.record({ kind: fc.constant('take' as const), request: anyRequest }),
  fc.record({ kind: fc.constant('give' as const), which: fc.nat() }),
)

/** Everything that the fleet can be asked, without the counts of changes. */
const stateOf = (fleet: Fleet) => ({
  cpu: [...fleet.cpuFree],
  host: [...fleet.hostFree],
  free: [...fleet.freeMilli],
  whole: [...fleet.wholeFree],
  devices: [...fleet.deviceFree],
  memory: [...fleet.deviceMemoryFree],
  total: fleet.freeTotal,
  out: fleet.idleOutOfService,
  wholeTotal: fleet.wholeTotal,
  most: fleet.tree.mostWholeDevices,
  largest: fleet.tree.largestMilli,
})

const expectRecount = (fleet: Fleet, nodes: ReadonlyArray<NaiveNode>, shapes: ReadonlyArray<Shape>) => {
  expect(fleet.freeTotal).toBe(sum(nodes.map(freeOf)))
  expect(fleet.wholeTotal).toBe(sum(nodes.map(wholeOf)))
  const unheld = sum(nodes.flatMap(({ devices }) => devices.map(({ milli }) => milli)))
  expect(fleet.idleOutOfService).toBe(unheld - fleet.freeTotal)
  for (const shape of shapes)
    expect(fleet.freeFor(shape)).toBe(sum(nodes.filter((node) => accepts(shape.request, node)).map(freeOf)))
  nodes.forEach((node, number) => {
    expect(fleet.freeMilli[number]).toBe(freeOf(node))
    expect(fleet.wholeFree[number]).toBe(wholeOf(node))
    expect([fleet.cpuFree[number], fleet.hostFree[number]]).toEqual([node.cpu, node.host])
    expect(fleet.healthOf(number, null)).toBe(node.health)
    node.devices.forEach((device, index) => {
      const at = fleet.firstDevice[number]! + index
      expect(fleet.usable(at)).toBe(device.health === 'ready' ? device.milli : -1)
      expect([fleet.deviceFree[at], fleet.deviceMemoryFree[at]]).toEqual([device.milli, device.memory])
      expect(fleet.healthOf(number, index)).toBe(device.health)
    })
  })
}

it('should have sums that always equal a recount, whatever comes, goes, fails and is registered', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const fleet = new Fleet()
      const nodes: NaiveNode[] = []
      const table = new ShapeTable()
      const taken: { readonly shape: Shape; readonly parts: ReadonlyArray<PlacementPart> }[] = []
      for (const step of steps) {
        if (step.kind === 'register') {
          const spec = { ...step.node, node: `n${nodes.length}` }
          expect(fleet.register(spec)).toBe(nodes.length)
          nodes.push(naiveNode(spec))
        } else if (step.kind === 'health' && nodes.length > 0) {
          const number = step.node % nodes.length
          const node = nodes[number]!
          const device = step.device === null || node.devices.length === 0 ? null : step.device % node.devices.length
          fleet.setHealth(number, device, step.health)
          if (device === null) node.health = step.health
          else node.devices[device]!.health = step.health
        } else if (step.kind === 'take') {
          const shape = table.intern(step.request)
          const parts = placeSlowly(nodes, step.request, 'first-fit')
          if (parts === null) continue
          const before = stateOf(fleet)
          for (const part of parts) fleet.take(shape, part)
          for (const part of parts) fleet.give(shape, part)
          expect(stateOf(fleet)).toEqual(before)
          for (const part of parts) fleet.take(shape, part)
          take(nodes, step.request, parts)
          taken.push({ shape, parts })
        } else if (step.kind === 'give' && taken.length > 0) {
          const [{ shape, parts }] = taken.splice(step.which % taken.length, 1) as [(typeof taken)[number]]
          for (const part of parts) fleet.give(shape, part)
          take(nodes, shape.request, parts, -1)
        }
        expectRecount(fleet, nodes, table.shapes)
      }
      const copy = new Fleet()
      copy.copyFrom(fleet)
      expectRecount(copy, nodes, table.shapes)
      for (const { shape, parts } of taken) for (const part of parts) copy.give(shape, part)
      expectRecount(fleet, nodes, table.shapes)
    }),
    { numRuns: 200 },
  )
})

it('should follow another fleet that has grown since it was last copied', () => {
  const fleet = new Fleet()
  const shadow = new Fleet()
  const nodes: NaiveNode[] = []
  const shape = new ShapeTable().intern(requestOf({ milli: 250 }))
  for (let number = 0; number < 70; number++) {
    const spec = nodeOf(`n${number}`, number % 5, { model: number % 3 === 0 ? null : 'a' })
    fleet.register(spec)
    nodes.push(naiveNode(spec))
    if (spec.devices > 0) {
      const part = { node: number, devices: [spec.devices - 1], milli: 250, memoryMib: 0 }
      fleet.take(shape, part)
      take(nodes, shape.request, [part])
    }
    if (number % 7 === 0) {
      shadow.copyFrom(fleet)
      expectRecount(shadow, nodes, [shape])
    }
  }
})

describe('a lease that the log should never hold', () => {
  const fleet = new Fleet()
  fleet.register(nodeOf('n0', 2, { deviceMemoryMib: 80 }))
  fleet.register(nodeOf('n1', 2, { deviceMemoryMib: 80 }))
  const shape = new ShapeTable().intern(requestOf({ milli: 600, memoryMib: 48 }))
  fleet.take(shape, { node: 0, devices: [0], milli: 600, memoryMib: 48 })

  it.each([
    ['thousandths twice', { node: 0, devices: [0], milli: 600, memoryMib: 0 }],
    ['memory twice', { node: 0, devices: [0], milli: 100, memoryMib: 40 }],
    ['the device of another node', { node: 0, devices: [2], milli: 100, memoryMib: 0 }],
  ])('should not take %s', (_, part) => {
    expect(() => {
      fleet.take(shape, part)
    }).toThrow('broken invariant')
  })
})

it('should never give two requests one shape that differ in anything', () => {
  const models = fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', '*', '|', 'a|b', '*|a', 'null'), { minLength: 1 }))
  const base = fc.constantFrom(requestOf({}), requestOf({ milli: 250 }), requestOf({ span: 'anywhere' }))
  const either = fc.record({ request: fc.oneof(base, base, anyRequest), models }).map(({ request, models }) => ({
    ...request,
    models: models === null ? null : models.toSorted(),
  }))
  fc.assert(
    fc.property(fc.array(either, { maxLength: 12 }), (requests) => {
      const table = new ShapeTable()
      for (const request of requests) expect(table.intern(request).request).toEqual(request)
      expect(table.shapes.length).toBe(new Set(requests.map((request) => JSON.stringify(request, keys))).size)
    }),
  )
})

it('should spread requests over its table that differ in one member only, whichever it is', () => {
  const many = Array.from({ length: 10_000 }, (_, i) => i)
  const varied: ReadonlyArray<ReadonlyArray<PlacementRequest>> = [
    many.map((i) => requestOf({ cpuMilli: i })),
    many.map((i) => requestOf({ hostMemoryMib: i })),
    many.map((i) => requestOf({ memoryMib: i })),
    many.map((i) => requestOf({ devices: i })),
    many.map((i) => requestOf({ models: [`model-${i}`] })),
    many.map((i) => requestOf({ models: [`a${i % 100}`, `b${Math.floor(i / 100)}`] })),
  ]
  for (const requests of varied) expect(new Set(requests.map(hashOfRequest)).size).toBeGreaterThan(9_990)
  const spans = (['node', 'domain', 'anywhere'] as const).map((span) => hashOfRequest(requestOf({ span })))
  expect(new Set(spans).size).toBe(3)
})

const keys = ['cpuMilli', 'devices', 'hostMemoryMib', 'memoryMib', 'milli', 'models', 'span']
