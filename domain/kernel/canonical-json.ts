import { assert } from './decider.ts'

export type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }

/**
 * One text per value: keys in ascending order of their UTF-16 units, no white space, numbers as JSON.stringify prints
 * them; members that are undefined are left out.
 * @throws broken invariant on a number that JSON cannot hold: values are decoded before they get here
 * @see    RFC 8785, JSON Canonicalization Scheme
 */
export const canonicalJson = (value: Json): string => {
  if (typeof value === 'number') assert(Number.isFinite(value), 'canonical JSON holds finite numbers')
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key]!)}`)
  return `{${members.join(',')}}`
}

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)
