import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Adapters } from './adapters.ts'
import { BadCases, parseCases, readCases } from './case-file.ts'
import { differences, toleranceOf } from './comparison.ts'
import { belowFloor, describeReports, reportAreas, type Floors } from './report.ts'

const goodput = (cases: ReadonlyArray<Json>): Json => ({ format: 'fleet-goodput-cases', version: 1, cases })
const policy = (cases: ReadonlyArray<Json>): Json => ({
  format: 'capacity-policy-cases',
  version: 1,
  area: 'toy',
  cases,
})
const sum = (id: string, expect: Json, more: { readonly [key: string]: Json } = {}): Json => ({
  id,
  kind: 'sum',
  input: { terms: [0.1, 0.2] },
  expect,
  ...more,
})
const order = (id: string, expect: Json): Json => ({
  id,
  area: 'toy',
  kind: 'order',
  source: {},
  settings: {},
  tags: ['order'],
  expect,
})
const onlyCase = (document: Json) => parseCases(document, 'toy', 'toy.json')[0]!

describe('comparing figures', () => {
  const differ = (expect: Json, outcome: Json, tolerance?: Json) =>
    differences(onlyCase(goodput([sum('a', expect, tolerance === undefined ? {} : { tolerance })])), outcome).length > 0

  it.each<[string, Json, Json, Json | undefined, boolean]>([
    ['a number within the default bound', { x: 0.3 }, { x: 0.1 + 0.2 }, undefined, false],
    ['a number outside it', { x: 0.3 }, { x: 0.30001 }, undefined, true],
    ['a number within a stated bound', { x: 100 }, { x: 101 }, { x: { rel: 0.01 } }, false],
    ['either bound being enough', { x: 100 }, { x: 101 }, { x: { abs: 0, rel: 0.01 } }, false],
    ['a stated bound that is narrower', { x: 1 }, { x: 1 + 1e-7 }, { x: { abs: 1e-9 } }, true],
    ['an exact name over a pattern', { 'r.a': 1 }, { 'r.a': 2 }, { 'r.a': { abs: 1 }, 'r.*': { abs: 0 } }, false],
    ['a later pattern over an earlier', { 'r.a': 1 }, { 'r.a': 2 }, { 'r.*': { abs: 1 }, '*': { abs: 0 } }, true],
    ['a number where a text is expected', { x: '1' }, { x: 1 }, undefined, true],
    ['a text where a number is expected', { x: 1 }, { x: '1' }, undefined, true],
    ['not a number', { x: 1 }, { x: NaN }, undefined, true],
    ['null for what is absent', { x: null }, {}, undefined, false],
    ['null for zero', { x: null }, { x: 0 }, undefined, false],
    ['null for a ratio over nothing', { x: null }, { x: NaN }, undefined, false],
    ['null for a figure', { x: null }, { x: 0.5 }, undefined, true],
    ['a bucket that is not reported', { 'bucket.free.stranded': 0 }, {}, undefined, false],
    ['a bucket that should be reported', { 'bucket.free.stranded': 1 }, {}, undefined, true],
    ['another figure that is not reported', { x: 0 }, {}, undefined, true],
    ['lists, element by element', { x: ['a', 1] }, { x: ['a', 1 + 1e-9] }, undefined, false],
    ['lists in another order', { x: ['a', 'b'] }, { x: ['b', 'a'] }, undefined, true],
    ['a list that is longer', { x: ['a'] }, { x: ['a', 'b'] }, undefined, true],
    ['a boolean', { x: true }, { x: false }, undefined, true],
    ['figures that are not named', { x: 1 }, { x: 1, y: 2 }, undefined, false],
    ['a member that only the prototype has', { toString: 'x' }, {}, undefined, true],
  ])('should judge %s', (_, expect_, outcome, tolerance, expected) => {
    expect(differ(expect_, outcome, tolerance)).toBe(expected)
  })

  it('should compare each check of a timeline', () => {
    const timeline = {
      id: 't',
      kind: 'timeline',
      input: { checks: [{ expect: { x: 1 } }, { expect: { x: 2 } }] },
    }
    const one = onlyCase(goodput([timeline]))
    expect(differences(one, [{ x: 1 }, { x: 2 }])).toEqual([])
    expect(differences(one, [{ x: 1 }, { x: 3 }])).toEqual(['checks[1].x: expected 2, found 3'])
    expect(differences(one, [{ x: 1 }])).toHaveLength(1)
  })

  it('should treat dots and brackets of a pattern as themselves', () => {
    const tolerances = [['a.b*', { abs: 1 }]] as const
    expect(toleranceOf({ tolerances }, 'a.bc')).toEqual({ abs: 1 })
    expect(toleranceOf({ tolerances }, 'axbc')).toEqual({})
  })
})

describe('comparing outcomes of a policy', () => {
  it('should be exact, except within a tolerance that the case states', () => {
    expect(differences(onlyCase(policy([order('a', { total: 3 })])), { total: 3.0000001 })).toHaveLength(1)
    expect(differences(onlyCase(policy([order('a', { total: 3, tolerance: 0.001 })])), { total: 3.0001 })).toEqual([])
    const levels = { levelShare: { a: 1 }, factors: { a: 1 }, tolerance: 0.001, levelTolerance: 0.1 }
    const outcome = { levelShare: { a: 1.05 }, factors: { a: 1.05 } }
    expect(differences(onlyCase(policy([order('a', levels)])), outcome)).toEqual(['factors.a: expected 1, found 1.05'])
  })

  it('should take null at its word', () => {
    const one = onlyCase(policy([order('a', { dominant: null })]))
    expect(differences(one, { dominant: null })).toEqual([])
    expect(differences(one, { dominant: 0 })).toHaveLength(1)
    expect(differences(one, {})).toHaveLength(1)
  })

  it('should compare as sets the lists that are sets, and only what an item names', () => {
    const one = onlyCase(policy([order('a', { victims: [{ id: 'x' }, { id: 'y' }] })]))
    const found = { victims: [{ id: 'y', reason: 'r' }, { id: 'x' }] }
    expect(differences(one, found)).toHaveLength(2)
    expect(differences(one, found, ['victims'])).toEqual([])
    expect(differences(one, { victims: [{ id: 'y' }, { id: 'y' }] }, ['victims'])).toHaveLength(1)
  })
})

describe('reports', () => {
  const adapters: Adapters = new Map([
    [
      'sum',
      {
        supports: (one) => one.id !== 'later',
        run: (one) => {
          const { terms } = one.document['input'] as { terms: number[] }
          if (one.id === 'broken') throw new Error('no sum')
          return { total: terms.reduce((a, b) => a + b) }
        },
      },
    ],
  ])
  const document = goodput([
    sum('right', { total: 0.3 }),
    sum('wrong', { total: 0.4 }),
    sum('broken', { total: 0.3 }),
    sum('later', { total: 0.4 }),
    { id: 'other', kind: 'unknown', input: {}, expect: {} },
  ])
  const reports = reportAreas(parseCases(document, 'toy', 'toy.json'), adapters)

  it('should count what passed, what is supported, and all, and name what failed', () => {
    expect(describeReports(reports)).toEqual([
      'toy: 1 / 3 / 5',
      '  wrong  total: expected 0.4, found 0.30000000000000004',
      '  broken  threw Error: no sum',
    ])
  })

  it('should hold an area to its floor, where the file has the cases that the floor is over', () => {
    expect(belowFloor(reports, { toy: { passed: 1, of: 5 } })).toEqual([])
    expect(belowFloor(reports, { toy: { passed: 2, of: 5 } })).toEqual(['toy: 1 passed, below its floor of 2'])
    expect(belowFloor(reports, { toy: { passed: 2, of: 6 } })).toEqual([])
    expect(belowFloor(reports, {})).toEqual([])
  })
})

describe('bad files', () => {
  it.each<[string, Json, string]>([
    ['a list', [], 'not an object'],
    ['another format', { format: 'x', version: 1, cases: [{}] }, 'format is "x"'],
    ['a later version', { ...(goodput([{}]) as object), version: 2 }, 'version is 2'],
    ['no cases', goodput([]), 'cases is not a list'],
    ['a case without id', goodput([{ kind: 'sum', input: {}, expect: {} }]), 'cases[0]: id is not a text'],
    ['a case without input', goodput([{ id: 'a', kind: 'sum', expect: {} }]), 'input is not an object'],
    ['a case without expect', goodput([{ id: 'a', kind: 'sum', input: {} }]), 'expect is missing'],
    ['a timeline without checks', goodput([{ id: 'a', kind: 'timeline', input: {}, expect: {} }]), 'expect is missing'],
    ['a bad tolerance', goodput([sum('a', {}, { tolerance: { x: 1 } })]), 'tolerance is not a map'],
    ['an area that is not the file', { ...(policy([order('a', {})]) as object), area: 'x' }, 'area is "x"'],
    ['tags without the kind', policy([{ ...(order('a', {}) as object), tags: [] }]), 'tags does not hold the kind'],
  ])('should refuse %s', (_, document, reason) => {
    expect(() => parseCases(document, 'toy', 'toy.json')).toThrow(BadCases)
    expect(() => parseCases(document, 'toy', 'toy.json')).toThrow(reason)
  })

  it('should refuse a folder that is missing, empty, broken or has an id twice', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cases-'))
    expect(() => readCases(join(folder, 'none'))).toThrow(BadCases)
    expect(() => readCases(folder)).toThrow('no case files')
    writeFileSync(join(folder, 'a.json'), JSON.stringify(goodput([sum('x', {})])))
    expect(readCases(folder)).toHaveLength(1)
    writeFileSync(join(folder, 'b.json'), JSON.stringify(goodput([sum('x', {})])))
    expect(() => readCases(folder)).toThrow('the id x appears twice')
    writeFileSync(join(folder, 'b.json'), '{')
    expect(() => readCases(folder)).toThrow(BadCases)
  })
})

describe('the committed floors', () => {
  const path = 'test/cases/floors.json'
  const now = JSON.parse(readFileSync(path, 'utf8')) as Floors

  it('should be counts within their areas', () => {
    for (const { passed, of } of Object.values(now)) {
      expect(Number.isInteger(passed) && passed >= 0 && passed <= of).toBe(true)
    }
  })

  it('should only have risen since they were first committed', () => {
    const git = (...words: string[]): string =>
      execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    let commits: ReadonlyArray<string>
    try {
      commits = git('log', '--format=%H', '--', path).split('\n').filter(Boolean)
    } catch {
      return // An archive without history: the shape is all that can be checked.
    }
    for (const commit of commits) {
      const then = JSON.parse(git('show', `${commit}:${path}`)) as Floors
      for (const [area, floor] of Object.entries(then)) {
        expect(now[area]?.passed, `${area} at ${commit}`).toBeGreaterThanOrEqual(floor.passed)
        expect(now[area]?.of, `${area} at ${commit}`).toBeGreaterThanOrEqual(floor.of)
      }
    }
  })
})
