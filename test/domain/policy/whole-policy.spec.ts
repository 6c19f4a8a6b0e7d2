import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
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
    { numRuns: 500 },
  )
  expect(seen.size).toBe(23)
})

it('should read it back from an event, in the same bytes', () => {
  fc.assert(
    fc.property(anyWholePolicy, (policy) => {
      const stored: unknown = JSON.parse(canonicalPolicy(policy))
      expect(JSON.stringify(rightOf(decodeDecoded(stored)))).toBe(canonicalPolicy(policy))
    }),
    { numRuns: 300 },
  )
})

it('should have a schema that takes whatever is written', () => {
  const valid = new Ajv2020({ strict: true, strictTypes: false, formats: { date: true } }).compile(policySchema)
  fc.assert(
    fc.property(anyWholePolicy, (policy) => {
      expect([valid(throughJson(encodePolicy(policy))), valid.errors]).toEqual([true, null])
    }),
    { numRuns: 300 },
  )
})
