import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundOf, defaultClass } from '../../../../domain/policy/budget-policy.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { budgetPolicy, hour, minute, minutes } from '../../../support/cell-life.ts'
import { ContestedLife, monday } from '../../../support/contested-life.ts'

interface Stream {
  /** Of each job in turn, minutes. */
  readonly durations: ReadonlyArray<number>
  readonly sizes: ReadonlyArray<number>
  /** Whether they say how long they run. */
  readonly known: boolean
  readonly tolerated: boolean
}

/**
 * Two nodes of four and two programs of equal shares. Jobs of a come without end, as soon as there is room; after three
 * hours b asks for a whole node. Minutes until it starts.
 */
const waitOf = (kind: string, { durations, known, sizes, tolerated }: Stream): number => {
  const life = new ContestedLife(monday)
    .policy(budgetPolicy({ a: 1, b: 1 }, { placement: { mix: null, seed: 0, strategy: 'spread' } }))
    .nodes(2, 4)
    .drilled('a', 'b')
  const ends = new Map<string, number>()
  let made = 0
  const waiting = () => [...life.cell.workloads.values()].filter(({ id, run }) => run === null && id !== 'big').length
  const step = () => {
    for (const [id, at] of ends)
      if (at <= life.now && life.cell.workloads.get(id)?.run != null) {
        life.end(id)
        ends.delete(id)
      }
    while (waiting() < 6) {
      const devices = sizes[made % sizes.length]!
      const lasts = durations[made % durations.length]!
      life.submit(`s${made}-${lasts}`, devices, {
        budget: 'a',
        class: kind,
        estimateMs: known ? minutes(lasts) : null,
        preemption: { tolerated },
        request: requestOf({ devices }),
      })
      made++
    }
    life.tick()
    for (const id of life.running)
      if (id !== 'big' && !ends.has(id)) ends.set(id, life.now + Number(id.split('-')[1]) * minute)
    for (const id of ends.keys()) if (life.cell.workloads.get(id)?.run == null) ends.delete(id)
  }
  const asksAt = monday + 3 * hour
  for (; life.now < asksAt; life.at(life.now + minute)) step()
  life.submit('big', 4, { budget: 'b', class: kind, request: requestOf({ devices: 4 }) })
  for (; life.now <= asksAt + 26 * hour; life.at(life.now + minute)) {
    step()
    if (life.running.includes('big')) return (life.now - asksAt) / minute
  }
  return Infinity
}

const streams = (known: boolean, tolerated: boolean) =>
  fc.record({
    durations: fc.array(fc.integer({ min: 5, max: 60 }), { maxLength: 7, minLength: 1 }),
    known: fc.constant(known),
    sizes: fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 3, minLength: 1 }),
    tolerated: fc.constant(tolerated),
  })

describe('the oldest that is owed its start', () => {
  const kind = 'evaluation'
  const boundMinutes = boundOf(kind) / minute
  it.each([
    ['whose durations are known', true, false],
    ['whose durations nobody states', false, false],
    ['that may be evicted', true, true],
    ['that may be evicted, whose durations nobody states', false, true],
  ])('should start within the bound of its class beside an endless stream of small jobs %s', (_, known, tolerated) => {
    fc.assert(
      fc.property(streams(known, tolerated), (stream) => {
        expect(waitOf(kind, stream)).toBeLessThanOrEqual(boundMinutes)
      }),
      { numRuns: 25 },
    )
  })
})

it('should have bounds of five minutes, two hours and a day, by the name of the class', () => {
  expect(['debug', 'evaluation', 'training', 'anything'].map((name) => defaultClass(name).boundMs)).toEqual([
    5 * minute,
    2 * hour,
    24 * hour,
    24 * hour,
  ])
})
