import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { EvictionLimits } from '../../../domain/planner/eviction-limits.ts'

const hour = 3_600_000
const minute = 60_000
const at = (ms: number) => ms as EpochMs

it('should free an eviction of a team after exactly an hour, and one of the cell after a minute', () => {
  const limits = new EvictionLimits()
  limits.charge('a', at(1_000))
  expect(limits.leftOfTeam('a', at(1_000 + hour - 1), 1)).toBe(0)
  expect(limits.leftOfTeam('a', at(1_000 + hour), 1)).toBe(1)
  expect(limits.leftOfTeam('b', at(1_000), 1)).toBe(1)
  expect(limits.leftOfCell(at(1_000 + minute - 1), 1)).toBe(0)
  expect(limits.leftOfCell(at(1_000 + minute), 1)).toBe(1)
  expect([limits.leftOfTeam('a', at(1_000), null), limits.leftOfCell(at(1_000), null)]).toEqual([Infinity, Infinity])
})

it('should be what is counted anew in the window, never promise too late or too early, and survive being written down', () => {
  const charges = fc.array(fc.record({ gap: fc.nat(hour), team: fc.constantFrom('a', 'b') }), { maxLength: 30 })
  fc.assert(
    fc.property(charges, fc.integer({ min: 1, max: 5 }), (charges, most) => {
      let limits = new EvictionLimits()
      const all: { readonly at: number; readonly team: string }[] = []
      let now = 0
      for (const { gap, team } of charges) {
        now += gap
        limits.charge(team, at(now))
        all.push({ at: now, team })
        const within = (span: number, is: (team: string) => boolean, then = now) =>
          all.filter((each) => each.at > then - span && each.at <= then && is(each.team)).length
        expect(limits.leftOfTeam('a', at(now), most)).toBe(most - within(hour, (each) => each === 'a'))
        expect(limits.leftOfCell(at(now), most)).toBe(most - within(minute, () => true))
        const retryAt = limits.teamRetryAt('a', at(now), most)
        if (retryAt === null) expect(limits.leftOfTeam('a', at(now), most)).toBeGreaterThan(0)
        else {
          expect(limits.leftOfTeam('a', at(retryAt - 1), most)).toBeLessThanOrEqual(0)
          expect(limits.leftOfTeam('a', retryAt, most)).toBeGreaterThan(0)
        }
        if (limits.leftOfCell(at(now), most) <= 0) {
          const cellRetryAt = limits.cellRetryAt(at(now), most, 0)!
          expect(limits.leftOfCell(at(cellRetryAt - 1), most)).toBeLessThanOrEqual(0)
          expect(limits.leftOfCell(cellRetryAt, most)).toBeGreaterThan(0)
        }
        const again = new EvictionLimits()
        again.restore(JSON.parse(JSON.stringify(limits)) as ReturnType<EvictionLimits['toJSON']>)
        expect(again).toEqual(limits)
        limits = again
      }
    }),
  )
})

it('should count those of the same pass when it says when the cell may see its next', () => {
  const limits = new EvictionLimits()
  limits.charge('a', at(1_000))
  limits.charge('a', at(2_000))
  expect(limits.cellRetryAt(at(3_000), 2, 0)).toBe(1_000 + minute)
  expect(limits.cellRetryAt(at(3_000), 2, 1)).toBe(2_000 + minute)
  expect(limits.cellRetryAt(at(3_000), 2, 2)).toBe(3_000 + minute)
  expect(limits.cellRetryAt(at(3_000), 0, 0)).toBeNull()
})
