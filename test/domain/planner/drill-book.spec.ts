import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import { DrillBook } from '../../../domain/planner/drill-book.ts'

const valid = 1_000 as DurationMs
const drill = (team: string, modelFamily: string | null, outcome: 'passed' | 'failed') => ({
  modelFamily,
  outcome,
  team,
})
const passed = (book: DrillBook, team: string, family: string | null, at: number) =>
  book.passed(team, family, at as EpochMs, valid)

it('should count what passed for as long as it is valid, for its own team and family alone', () => {
  const book = new DrillBook()
  book.conclude(drill('a', 'llm', 'passed'), 500 as EpochMs)
  expect([500, 1_500, 1_501].map((at) => passed(book, 'a', 'llm', at))).toEqual([true, true, false])
  expect([passed(book, 'b', 'llm', 600), passed(book, 'a', 'vision', 600), passed(book, 'a', null, 600)]).toEqual([
    false,
    false,
    false,
  ])
})

it('should not take for one what only reads like one', () => {
  const book = new DrillBook()
  book.conclude(drill('a","b', null, 'passed'), 0 as EpochMs)
  book.conclude(drill('c', 'null', 'passed'), 0 as EpochMs)
  expect([passed(book, 'a', 'b', 0), passed(book, 'c', null, 0)]).toEqual([false, false])
})

it('should go by the newest, in whatever order they are told', () => {
  const drills = fc.uniqueArray(fc.record({ at: fc.nat(3_000), outcome: fc.constantFrom('passed', 'failed') }), {
    maxLength: 8,
    selector: ({ at }) => at,
  })
  fc.assert(
    fc.property(drills, fc.nat(4_000), (drills, now) => {
      const [told, sorted] = [new DrillBook(), [...drills].sort((a, b) => a.at - b.at)]
      for (const { at, outcome } of drills) told.conclude(drill('a', null, outcome), at as EpochMs)
      const newest = sorted.at(-1)
      const expected = newest !== undefined && newest.outcome === 'passed' && now - newest.at <= valid
      expect(passed(told, 'a', null, now)).toBe(expected)
    }),
  )
})
