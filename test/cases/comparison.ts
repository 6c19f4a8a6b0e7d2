import type { Json } from '../../domain/kernel/canonical-json.ts'
import { isList, isObject, show, type Case, type Tolerance } from './case-file.ts'

/** What the calculator gave: one map, or one for each check of a timeline. */
export type Outcome = Json

/**
 * Where an outcome differs from what a case expects; empty when it passes. Only what the case names is compared.
 * @param unordered paths (`victims`, `jobs[].tasks`) of lists that are sets
 */
export const differences = (
  one: Case,
  outcome: Outcome,
  unordered: ReadonlyArray<string> = [],
): ReadonlyArray<string> => {
  const flat = one.format === 'fleet-goodput-cases'
  const compare = (expected: Json, actual: Json | undefined, path: string, figure: string): ReadonlyArray<string> => {
    const differs = [`${path}: expected ${show(expected)}, found ${show(actual)}`]
    if (expected === null) return (flat ? isNothing(actual) : actual === null) ? [] : differs
    if (typeof expected === 'number') {
      const found = flat && actual === undefined && /^(bucket|sub)\./.test(figure) ? 0 : actual
      return typeof found === 'number' && isClose(expected, found, toleranceOf(one, figure)) ? [] : differs
    }
    if (isList(expected)) {
      if (!isList(actual) || actual.length !== expected.length) return differs
      const isSet = unordered.includes(path.replace(/\[\d+\]/g, '[]'))
      return isSet
        ? unmatched(expected, actual, path, (e, a) => compare(e, a, path, figure).length === 0)
        : expected.flatMap((item, index) => compare(item, actual[index], `${path}[${index}]`, figure))
    }
    if (isObject(expected)) {
      if (!isObject(actual)) return differs
      return Object.entries(expected).flatMap(([key, value]) =>
        compare(value, Object.hasOwn(actual, key) ? actual[key] : undefined, join(path, key), join(figure, key)),
      )
    }
    return expected === actual ? [] : differs
  }
  if (!isList(one.expected)) return compare(one.expected, outcome, '', '')
  if (!isList(outcome) || outcome.length !== one.expected.length)
    return [`expected one map for each of ${one.expected.length} checks, found ${show(outcome)}`]
  return one.expected.flatMap((expected, index) => compare(expected, outcome[index], `checks[${index}]`, ''))
}

/** Absent, zero, or undefined: a ratio over nothing. */
const isNothing = (actual: Json | undefined): boolean =>
  actual === undefined || actual === null || actual === 0 || Number.isNaN(actual)

const isClose = (expected: number, actual: number, { abs, rel }: Tolerance): boolean => {
  if (expected === actual) return true
  const apart = Math.abs(expected - actual)
  return (abs !== undefined && apart <= abs) || (rel !== undefined && apart <= rel * Math.abs(expected))
}

export const toleranceOf = (one: Pick<Case, 'tolerances'>, figure: string): Tolerance => {
  const exact = one.tolerances.findLast(([name]) => name === figure)
  return (exact ?? one.tolerances.findLast(([pattern]) => matches(pattern, figure)))?.[1] ?? {}
}

const matches = (pattern: string, figure: string): boolean =>
  new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  ).test(figure)

/** Each expected item takes the first actual one that it equals; the lists are short and their items have ids. */
const unmatched = (
  expected: ReadonlyArray<Json>,
  actual: ReadonlyArray<Json>,
  path: string,
  equal: (expected: Json, actual: Json) => boolean,
): ReadonlyArray<string> => {
  const left = [...actual]
  const missing: string[] = []
  for (const item of expected) {
    const at = left.findIndex((candidate) => equal(item, candidate))
    if (at < 0) missing.push(`${path}: expected to hold ${show(item)}, found ${show(actual)}`)
    else left.splice(at, 1)
  }
  return missing
}

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`)
