import { expect, it } from 'vitest'
import { instantText } from '../../../projections/explain/wording.ts'
import { instantFrom } from '../../../services/cli/instant.ts'

it.each([
  ['2026-08-14T00:00:00Z', 1_786_665_600_000],
  ['2026-08-14T02:00:00+02:00', 1_786_665_600_000],
  ['12523614000', 12_523_614_000],
  ['12523614s', 12_523_614_000],
  ['day 144 22:46:54', 12_523_614_000],
])('should read %s', (text, instant) => {
  expect(instantFrom(text)).toBe(instant)
})

it('should read what the verbs print of a trace', () => {
  for (const instant of [0, 59_000, 3_599_000, 86_399_000, 69_776_000, 946_684_799_000])
    expect(instantFrom(instantText(instant))).toBe(instant)
})

it.each(['-5', 'abc', '12,5', 'day 3', 'day 3 24:00:00', 'day 3 00:60:00', '1e9', ''])('should refuse %j', (text) => {
  expect(() => instantFrom(text)).toThrow('the command line is not valid')
})
