import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Json } from '../../domain/kernel/canonical-json.ts'

export type JsonObject = { readonly [key: string]: Json }

/** Bounds within which two numbers are equal; either one that holds is enough. */
export interface Tolerance {
  readonly abs?: number
  readonly rel?: number
}

/** An input and the outcome that must come of it, in either format; `document` is the whole case as it stands. */
export interface Case {
  readonly id: string
  readonly area: string
  readonly kind: string
  readonly format: 'capacity-policy-cases' | 'fleet-goodput-cases'
  /** `fleet-goodput-cases` of kind `timeline` expect one map for each check; every other case expects one map. */
  readonly expected: JsonObject | ReadonlyArray<JsonObject>
  /** By the figure's name, or a pattern with `*`; a later one wins over an earlier one, an exact name over both. */
  readonly tolerances: ReadonlyArray<readonly [string, Tolerance]>
  readonly document: JsonObject
}

/** What is wrong with a folder or a file: nothing in it is run. */
export class BadCases extends Error {}

/** Every case of every `.json` file of the folder, files in order of their names. */
export const readCases = (folder: string): ReadonlyArray<Case> => {
  let names: ReadonlyArray<string>
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch (cause) {
    throw new BadCases(`${folder}: ${(cause as Error).message}`)
  }
  if (names.length === 0) throw new BadCases(`${folder}: no case files (*.json) in it`)
  const cases = names.toSorted().flatMap((name) => readCaseFile(join(folder, name)))
  const seen = new Set<string>()
  for (const { id } of cases) {
    if (seen.has(id)) throw new BadCases(`${folder}: the id ${id} appears twice`)
    seen.add(id)
  }
  return cases
}

const readCaseFile = (file: string): ReadonlyArray<Case> => {
  let document: unknown
  try {
    document = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new BadCases(`${file}: ${(cause as Error).message}`)
  }
  return parseCases(document as Json, basename(file, '.json'), file)
}

export const parseCases = (document: Json, name: string, file: string): ReadonlyArray<Case> => {
  if (!isObject(document)) throw new BadCases(`${file}: not an object`)
  const { format, version, cases } = document
  if (format !== 'capacity-policy-cases' && format !== 'fleet-goodput-cases')
    throw new BadCases(`${file}: format is ${show(format)}, not capacity-policy-cases or fleet-goodput-cases`)
  if (version !== 1) throw new BadCases(`${file}: version is ${show(version)}; this release reads version 1`)
  if (!isList(cases) || cases.length === 0) throw new BadCases(`${file}: cases is not a list of cases`)
  const policy = format === 'capacity-policy-cases'
  if (policy && document['area'] !== name)
    throw new BadCases(`${file}: area is ${show(document['area'])}, not the file's name`)
  return cases.map((each, index) => {
    const faults = (policy ? policyFaults : goodputFaults)(each, name)
    if (faults.length > 0) throw new BadCases(`${file}: cases[${index}]: ${faults.join('; ')}`)
    const one = each as JsonObject
    const expect = one['expect'] as JsonObject | undefined
    const checks = policy ? undefined : (one['input'] as JsonObject)['checks']
    return {
      id: one['id'] as string,
      area: name,
      kind: one['kind'] as string,
      format,
      expected:
        one['kind'] === 'timeline' && isList(checks)
          ? checks.map((check) => (check as JsonObject)['expect'] as JsonObject)
          : withoutTolerances(expect ?? {}, policy),
      tolerances: policy ? policyTolerances(expect ?? {}) : goodputTolerances(one['tolerance']),
      document: one,
    }
  })
}

const policyFaults = (one: Json, area: string): ReadonlyArray<string> => {
  if (!isObject(one)) return ['not an object']
  return [
    ...missingTexts(one, ['id', 'area', 'kind']),
    ...(one['area'] === area ? [] : [`area is ${show(one['area'])}, not ${area}`]),
    ...(['source', 'settings', 'expect'] as const).flatMap((key) =>
      isObject(one[key]) ? [] : [`${key} is not an object`],
    ),
    ...(isList(one['tags']) && one['tags'].includes(one['kind'] ?? null) ? [] : ['tags does not hold the kind']),
  ]
}

const goodputFaults = (one: Json): ReadonlyArray<string> => {
  if (!isObject(one)) return ['not an object']
  const faults = missingTexts(one, ['id', 'kind'])
  const { input, tolerance } = one
  if (!isObject(input)) return [...faults, 'input is not an object']
  const checks = input['checks']
  const checked = isList(checks) && checks.length > 0 && checks.every((c) => isObject(c) && isObject(c['expect']))
  if (one['kind'] === 'timeline' ? !checked : !isObject(one['expect'])) faults.push('expect is missing')
  const bounds = tolerance === undefined ? [] : isObject(tolerance) ? Object.values(tolerance) : [null]
  const bounded = (bound: Json) =>
    isObject(bound) &&
    Object.keys(bound).length > 0 &&
    Object.entries(bound).every(([key, x]) => (key === 'abs' || key === 'rel') && typeof x === 'number' && x >= 0)
  if (!bounds.every(bounded)) faults.push('tolerance is not a map to {abs, rel}')
  return faults
}

const missingTexts = (one: JsonObject, keys: ReadonlyArray<string>): string[] =>
  keys.flatMap((key) => (typeof one[key] === 'string' && one[key] !== '' ? [] : [`${key} is not a text`]))

const withoutTolerances = (expect: JsonObject, policy: boolean): JsonObject =>
  policy
    ? Object.fromEntries(Object.entries(expect).filter(([key]) => key !== 'tolerance' && key !== 'levelTolerance'))
    : expect

/** Without a stated tolerance a policy case is exact: quantities there are whole. */
const policyTolerances = (expect: JsonObject): Case['tolerances'] => {
  const { tolerance, levelTolerance } = expect
  return [
    ['*', { abs: typeof tolerance === 'number' ? tolerance : 0 }],
    ...(typeof levelTolerance === 'number' ? [['levelShare.*', { abs: levelTolerance }] as const] : []),
  ]
}

const goodputTolerances = (tolerance: Json | undefined): Case['tolerances'] => [
  ['*', { abs: 1e-6 }],
  ...(Object.entries(tolerance ?? {}) as ReadonlyArray<[string, Tolerance]>),
]

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const isList = (value: Json | undefined): value is ReadonlyArray<Json> => Array.isArray(value)

/** A value in a message: short, whatever it is. */
export const show = (value: Json | undefined): string => {
  const text = value === undefined ? 'absent' : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}
