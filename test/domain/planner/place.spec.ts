import { expect, it } from 'vitest'
import { Fleet, type PlacementPart } from '../../../domain/fleet/fleet.ts'
import { ShapeTable } from '../../../domain/fleet/shape.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { PreemptionDecided } from '../../../domain/planner/cell-event.ts'
import { Place } from '../../../domain/planner/place.ts'
import { nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'

const decision = { workload: 'taker' } as PreemptionDecided['data']
const shapes = new ShapeTable()
const half = shapes.intern(requestOf({ devices: 1, memoryMib: 20, milli: 500 }))
const most = shapes.intern(requestOf({ devices: 2, memoryMib: 60, milli: 800 }))
const part = (devices: ReadonlyArray<number>, milli: number, memoryMib: number): PlacementPart => ({
  devices,
  memoryMib,
  milli,
  node: 0,
})

/** Half of device 0 is held; both of its devices are to be kept but for a fifth. */
const waiting = () => {
  const fleet = new Fleet()
  fleet.register(nodeOf('n', 2, { deviceMemoryMib: 80 }))
  const held = part([0], 500, 50)
  fleet.take(half, held)
  const place = new Place(decision, 0 as EpochMs, most, [part([0, 1], 800, 60)])
  place.gather(fleet, null)
  return { fleet, held, place }
}
const free = ({ deviceFree, deviceMemoryFree }: Fleet) => [
  [...deviceFree.subarray(0, 2)],
  [...deviceMemoryFree.subarray(0, 2)],
]

it('should keep what is free of its devices, no more than it needs, and the rest as it comes', () => {
  const { fleet, held, place } = waiting()
  expect(free(fleet)).toEqual([
    [0, 200],
    [0, 20],
  ])
  expect([place.isComplete(), place.keptMilli]).toEqual([false, 1_300])
  fleet.give(half, held)
  place.gather(fleet, new Set([1]))
  expect(place.isComplete()).toBe(false)
  place.gather(fleet, new Set([0]))
  expect([place.isComplete(), place.keptMilli]).toEqual([true, 1_600])
  expect(free(fleet)).toEqual([
    [200, 200],
    [20, 20],
  ])
})

it('should give back all that it kept, complete or not', () => {
  const { fleet, held, place } = waiting()
  place.release(fleet)
  expect(place.keptMilli).toBe(0)
  fleet.give(half, held)
  expect(free(fleet)).toEqual([
    [1_000, 1_000],
    [80, 80],
  ])
})

it('should be lost with its node and with each of its devices, and with no other', () => {
  const { fleet, place } = waiting()
  expect(place.isLost(fleet)).toBe(false)
  for (const device of [null, 0, 1]) {
    for (const health of ['cordoned', 'draining', 'failed'] as const) {
      fleet.setHealth(0, device, health)
      expect(place.isLost(fleet), `${device} ${health}`).toBe(true)
    }
    fleet.setHealth(0, device, 'ready')
    expect(place.isLost(fleet)).toBe(false)
  }
})
