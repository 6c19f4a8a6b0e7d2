import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadTo, mixOf } from '../../../domain/simulation/load.ts'
import type { TraceJob } from '../../../domain/simulation/trace-job.ts'
import { requestedMilli } from '../../../domain/workload/request.ts'
import { anyRequest, requestOf } from '../../support/arbitrary-fleet.ts'

const jobOf = (id: string, request = requestOf({})): TraceJob => ({
  id,
  submitAt: null,
  runMs: null,
  estimateMs: null,
  class: 'test',
  queue: 'q0',
  team: 'test',
  request,
})
const milliOf = (jobs: ReadonlyArray<TraceJob>) => jobs.reduce((sum, { request }) => sum + requestedMilli(request), 0)

describe('a load', () => {
  it('should reach its target with the last job and not before, whole rounds through the list before that', () => {
    const jobs = fc.array(anyRequest, { maxLength: 12 })
    fc.assert(
      fc.property(jobs, fc.nat(60_000), fc.integer(), (requests, target, seed) => {
        const list = requests.map((request, i) => jobOf(`j${i}`, request))
        const before = list.slice()
        const loaded = loadTo(list, target, seed)
        expect(list).toEqual(before)
        expect(loadTo(list, target, seed)).toEqual(loaded)
        if (milliOf(list) === 0 || target === 0) {
          expect(loaded).toEqual([])
          return
        }
        expect(milliOf(loaded)).toBeGreaterThanOrEqual(target)
        expect(milliOf(loaded.slice(0, -1))).toBeLessThan(target)
        expect(new Set(loaded.map(({ id }) => id)).size).toBe(loaded.length)
        for (let from = 0, round = 1; from < loaded.length; from += list.length, round++) {
          const ids = loaded.slice(from, from + list.length).map(({ id }) => id)
          const named = list.map(({ id }) => (round === 1 ? id : `${id}~${round}`))
          if (ids.length === list.length) expect(ids.toSorted()).toEqual(named.toSorted())
          else expect(named).toEqual(expect.arrayContaining(ids))
        }
      }),
    )
  })

  it('should take another order for another seed, and in another round, each about as often', () => {
    const list = ['a', 'b', 'c'].map((id) => jobOf(id))
    const orders = new Map<string, number>()
    for (let seed = 0; seed < 3000; seed++) {
      const order = loadTo(list, 3000, seed).map(({ id }) => id)
      orders.set(order.join(''), (orders.get(order.join('')) ?? 0) + 1)
    }
    expect(orders.size).toBe(6)
    for (const times of orders.values()) {
      expect(times).toBeGreaterThan(400)
      expect(times).toBeLessThan(600)
    }
    const rounds = loadTo(
      Array.from({ length: 30 }, (_, i) => jobOf(`${i}`)),
      60_000,
      1,
    )
    const [first, second] = [rounds.slice(0, 30), rounds.slice(30)]
    expect(first.map(({ id }) => `${id}~2`)).not.toEqual(second.map(({ id }) => id))
  })
})

it('should find in a mix each kind of request once, with how many of it there are', () => {
  const jobs = [
    jobOf('a', requestOf({ milli: 500, cpuMilli: 1000 })),
    jobOf('b', requestOf({ milli: 500, cpuMilli: 2000 })),
    jobOf('c', requestOf({ milli: 500, cpuMilli: 1000, memoryMib: 7, models: ['x'] })),
    jobOf('d', requestOf({ devices: 0, milli: 0, cpuMilli: 1000 })),
  ]
  expect(mixOf(jobs)).toEqual([
    { cpuMilli: 1000, devices: 1, milli: 500, weight: 2 },
    { cpuMilli: 2000, devices: 1, milli: 500, weight: 1 },
    { cpuMilli: 1000, devices: 0, milli: 0, weight: 1 },
  ])
  expect(mixOf([])).toEqual([])
})
