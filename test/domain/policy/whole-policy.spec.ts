import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import { decoding } from '../../../domain/kernel/document.ts'
import {
  canonicalPolicy,
  decodedPolicy,
  decodePolicy,
  encodePolicy,
  policySchema,
} from '../../../domain/policy/allocation-policy.codec.ts'
import { rightOf } from '../../support/faults.ts'
import { anyWholePolicy } from './arbitrary-policy.ts'

const decodeDecoded = decoding(decodedPolicy)
const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

it('should read back every policy that it writes, whatever its parts', () => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(anyWholePolicy, (policy) => {
      const read = rightOf(decodePolicy(throughJson(encodePolicy(policy))))
      expect(read).toEqual(policy)
      expect(JSON.stringify(read)).toBe(canonicalPolicy(policy))
      for (const part of Object.keys(policy)) seen.set(part, (seen.get(part) ?? 0) + 1)
    }),
    { numRuns: 200 },
  )
  expect(seen.size).toBe(23)
})

it('should read it back from an event, in the same bytes', () => {
  fc.assert(
    fc.property(anyWholePolicy, (policy) => {
      const stored: unknown = JSON.parse(canonicalPolicy(policy))
      expect(JSON.stringify(rightOf(decodeDecoded(stored)))).toBe(canonicalPolicy(policy))
    }),
    { numRuns: 100 },
  )
})

it('should have a schema that takes whatever is written', () => {
  const valid = new Ajv2020({ strict: true, strictTypes: false, formats: { date: true } }).compile(policySchema)
  fc.assert(
    fc.property(anyWholePolicy, (policy) => {
      expect([valid(throughJson(encodePolicy(policy))), valid.errors]).toEqual([true, null])
    }),
    { numRuns: 100 },
  )
})

const values = [null, true, 0, 1.5, -1, 2 ** 53, '', 'a', '5m', '1Gi', 'unlimited', '2026-12-31', [], {}, ['a']]

/** A document with one value somewhere in it replaced, or left out. */
const altered = (document: unknown): fc.Arbitrary<unknown> => {
  const places: Array<{ readonly holder: Record<string, unknown>; readonly key: string }> = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, below] of Object.entries(value)) {
      places.push({ holder: value as Record<string, unknown>, key })
      walk(below)
    }
  }
  walk(document)
  return fc.tuple(fc.constantFrom(...places), fc.constantFrom(undefined, ...values)).map(([{ holder, key }, value]) => {
    const before = holder[key]
    holder[key] = value
    const copy = throughJson(document)
    holder[key] = before
    return copy
  })
}

it('should have a schema that refuses nothing that is read', () => {
  const valid = new Ajv2020({ strict: true, strictTypes: false, formats: { date: true } }).compile(policySchema)
  const seen = { read: 0, refused: 0, refusedByBoth: 0 }
  const document = anyWholePolicy.chain((policy) => altered(throughJson(encodePolicy(policy))))
  fc.assert(
    fc.property(document, (value) => {
      const [isRead, isValid] = [E.isRight(decodePolicy(value)), valid(value)]
      if (isRead) expect([value, isValid, valid.errors]).toEqual([value, true, null])
      if (isRead) seen.read++
      else seen.refused++
      if (!isRead && !isValid) seen.refusedByBoth++
    }),
    { numRuns: 400 },
  )
  // Rules between members are beyond a schema; most of what is refused it refuses as well.
  expect(seen.read).toBeGreaterThan(20)
  expect(seen.refusedByBoth).toBeGreaterThan(seen.refused / 2)
})
