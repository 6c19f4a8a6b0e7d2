import type { Adapters } from './adapters.ts'
import type { Case } from './case-file.ts'
import { differences } from './comparison.ts'

export interface AreaReport {
  readonly area: string
  readonly passed: number
  readonly supported: number
  readonly total: number
  /** Id and what differs, of each case that is supported and did not pass. */
  readonly failures: ReadonlyArray<{ readonly id: string; readonly differences: ReadonlyArray<string> }>
}

/** At least `passed` of an area's `of` cases pass. It holds for a file with that many cases; both may only rise. */
export interface Floor {
  readonly passed: number
  readonly of: number
}
export type Floors = { readonly [area: string]: Floor }

export const reportAreas = (cases: ReadonlyArray<Case>, adapters: Adapters): ReadonlyArray<AreaReport> => {
  const areas = [...new Set(cases.map(({ area }) => area))]
  return areas.map((area) => {
    const mine = cases.filter((one) => one.area === area)
    const outcomes = mine.flatMap((one) => {
      const adapter = adapters.get(one.kind)
      if (adapter === undefined || adapter.supports?.(one) === false) return []
      return [{ id: one.id, differences: attempt(() => differences(one, adapter.run(one), adapter.unordered)) }]
    })
    const failures = outcomes.filter((outcome) => outcome.differences.length > 0)
    return {
      area,
      passed: outcomes.length - failures.length,
      supported: outcomes.length,
      total: mine.length,
      failures,
    }
  })
}

/** A calculator that throws has failed its case, and no other. */
const attempt = (compare: () => ReadonlyArray<string>): ReadonlyArray<string> => {
  try {
    return compare()
  } catch (cause) {
    return [`threw ${String(cause)}`]
  }
}

export const belowFloor = (reports: ReadonlyArray<AreaReport>, floors: Floors): ReadonlyArray<string> =>
  reports.flatMap(({ area, passed, total }) => {
    const floor = Object.hasOwn(floors, area) ? floors[area] : undefined
    if (floor === undefined || floor.of !== total || passed >= floor.passed) return []
    return [`${area}: ${passed} passed, below its floor of ${floor.passed}`]
  })

/** One line for each area, and beneath it one for each case that failed, with the first difference. */
export const describeReports = (reports: ReadonlyArray<AreaReport>): ReadonlyArray<string> =>
  reports.flatMap(({ area, passed, supported, total, failures }) => [
    `${area}: ${passed} / ${supported} / ${total}`,
    ...failures.map((failure) => `  ${failure.id}  ${failure.differences[0] ?? ''}`),
  ])
