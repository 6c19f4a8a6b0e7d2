import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decoding } from '../../../domain/kernel/document.ts'
import {
  cpu,
  cpuMaxMilli,
  cpuText,
  day,
  duration,
  durationMax,
  durationText,
  instant,
  instantMax,
  instantText,
  memory,
  memoryMaxMib,
  memoryText,
} from '../../../domain/kernel/quantity.ts'
import type { CpuMilli, DurationMs, EpochMs, Mebibytes } from '../../../domain/kernel/units.ts'
import { faultsOf, rightOf } from '../../support/faults.ts'

const durationOf = decoding(duration(0))
const memoryOf = decoding(memory(0))
const cpuOf = decoding(cpu(0))
const instantOf = decoding(instant)

describe('a duration', () => {
  it.each([
    ['90s', 90_000],
    ['2h30m', 9_000_000],
    ['600s', 600_000],
    ['14h', 50_400_000],
    ['1d12h', 129_600_000],
    ['250ms', 250],
    ['5m250ms', 300_250],
    ['0s', 0],
    ['1d1h1m1s1ms', 90_061_001],
    ['3650d', durationMax],
  ])('should read %s', (text, ms) => {
    expect(rightOf(durationOf(text))).toBe(ms)
  })
  it.each([
    '',
    '90',
    's',
    '1.5h',
    '-5s',
    '+5s',
    '1h2h',
    '30s2m',
    '2h 30m',
    ' 2h',
    '5M',
    '5min',
    '1e3s',
    '٣s',
    '3651d',
    '9'.repeat(15) + 'ms',
    '9'.repeat(16) + 'ms',
    '9'.repeat(1_000_000),
    90,
    -1,
    NaN,
    null,
    ['90s'],
    { s: 90 },
  ])('should refuse %j', (value) => {
    expect(faultsOf(durationOf(value))).toHaveLength(1)
  })
  it.each([
    ['90', 'write it with its unit, such as "90s"'],
    [90, 'write it with its unit, such as 90s'],
    ['1.5h', 'use whole numbers: 1h30m, not 1.5h'],
    ['-5s', 'a duration is never negative'],
    [NaN, 'give a duration from 0s to 3650d, such as 90s or 2h30m'],
  ])('should say how to write %j', (value, mend) => {
    expect(faultsOf(durationOf(value))[0]?.mend).toBe(mend)
  })
  it('should read what it writes', () => {
    fc.assert(
      fc.property(fc.nat(durationMax), (ms) => {
        expect(rightOf(durationOf(durationText(ms as DurationMs)))).toBe(ms)
      }),
    )
  })
})

describe('an amount of memory', () => {
  it.each([
    ['60Gi', 61_440],
    ['512Mi', 512],
    ['80G', 76_294],
    ['1k', 1],
    ['1024Ki', 1],
    ['1025Ki', 2],
    ['1T', 953_675],
    ['1024Ti', memoryMaxMib],
    ['0Mi', 0],
  ])('should read %s, rounded up', (text, mib) => {
    expect(rightOf(memoryOf(text))).toBe(mib)
  })
  it.each([
    '',
    '60',
    'Gi',
    '1.5Gi',
    '-1Gi',
    '60GB',
    '60GiB',
    '60gi',
    '1025Ti',
    '1e3Mi',
    '9'.repeat(15) + 'Ki',
    60,
    NaN,
    null,
    [],
  ])('should refuse %j', (value) => {
    expect(faultsOf(memoryOf(value))).toHaveLength(1)
  })
  it('should read what it writes', () => {
    fc.assert(
      fc.property(fc.nat(memoryMaxMib), (mib) => {
        expect(rightOf(memoryOf(memoryText(mib as Mebibytes)))).toBe(mib)
      }),
    )
  })
})

describe('CPU', () => {
  it.each([
    [4, 4000],
    ['4', 4000],
    ['500m', 500],
    [0, 0],
    ['1000000', cpuMaxMilli],
  ])('should read %j', (value, milli) => {
    expect(rightOf(cpuOf(value))).toBe(milli)
  })
  it.each(['', 'm', '0.5', 0.5, -1, '-1', '4cores', '1000001', 1e21, NaN, Infinity, true, null, {}])(
    'should refuse %j',
    (value) => {
      expect(faultsOf(cpuOf(value))).toHaveLength(1)
    },
  )
  it('should read what it writes', () => {
    fc.assert(
      fc.property(fc.nat(cpuMaxMilli), (milli) => {
        expect(rightOf(cpuOf(cpuText(milli as CpuMilli)))).toBe(milli)
      }),
    )
  })
})

describe('an instant', () => {
  it.each([
    ['2026-08-14T00:00:00Z', Date.UTC(2026, 7, 14)],
    ['2026-08-14T02:00:00+02:00', Date.UTC(2026, 7, 14)],
    ['2026-08-13T18:30:00-05:30', Date.UTC(2026, 7, 14)],
    ['2024-02-29T23:59:59.5Z', Date.UTC(2024, 1, 29, 23, 59, 59, 500)],
    ['1970-01-01T00:00:00Z', 0],
  ])('should read %s', (text, at) => {
    expect(rightOf(instantOf(text))).toBe(at)
  })
  it.each([
    '2026-08-14',
    '2026-08-14T00:00:00',
    '2026-08-14 00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-08-14T24:00:00Z',
    '2026-08-14T00:60:00Z',
    '2026-08-14T00:00:60Z',
    '2026-08-14T00:00:00+15:00',
    '1969-12-31T23:59:59Z',
    '0099-01-01T00:00:00Z',
    '14 August 2026',
    '',
    1_786_665_600_000,
    null,
    new Date(0),
  ])('should refuse %j', (value) => {
    expect(faultsOf(instantOf(value))).toHaveLength(1)
  })
  it('should read what it writes, up to the year 9999', () => {
    fc.assert(
      fc.property(fc.nat({ max: Date.UTC(9999, 11, 31) }), (at) => {
        expect(rightOf(instantOf(instantText(at as EpochMs)))).toBe(at)
      }),
    )
    expect(instantText(instantMax as EpochMs)).toBe('+275760-09-13T00:00:00.000Z')
  })
})

it('should read a day that exists', () => {
  expect(rightOf(decoding(day)('2024-02-29'))).toBe('2024-02-29')
  for (const bad of ['2026-02-29', '2026-00-01', '2026-1-1', '', 'soon', 20_261_231, null])
    expect(faultsOf(decoding(day)(bad))).toHaveLength(1)
})
