import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import {
  decoding,
  flag,
  listOf,
  mapOf,
  name,
  needed,
  nullable,
  oneOf,
  optional,
  prose,
  record,
  wholeNumber,
  type Decode,
  type Reader,
} from '../../../domain/kernel/document.ts'
import type { JsonSchema } from '../../../domain/kernel/json-schema.ts'
import { cpu, day, duration, instant, memory } from '../../../domain/kernel/quantity.ts'
import {
  decodePolicy,
  defaultPolicy,
  encodePolicy,
  policySchema,
} from '../../../domain/policy/allocation-policy.codec.ts'
import { decodeIntent, encodeIntent, intentSchema } from '../../../domain/workload/intent.codec.ts'
import { rightOf } from '../../support/faults.ts'

const ajv = new Ajv2020({ strict: true, strictTypes: false, formats: { 'date-time': true, date: true } })
const validator = (schema: JsonSchema): ValidateFunction => ajv.compile(schema)

const values = [
  ...[null, true, false, 0, -0, 1, -1, 3, 1.5, 1000, 1001, 1e21, 2 ** 53, '', 'a', 'a b', ' ', 'node', 'memory'],
  ...['0s', '90s', '2h30m', '5ms', '1m5ms', '1h1h', '30', '5 s', '60Gi', '512Mi', '80G', '7', '500m', '4', '0', '-1'],
  ...['2026-08-14T00:00:00Z', '2026-08-14T02:00:00.25+02:00', '2026-12-31', '2026-02-30', 'x'.repeat(253), '\u{1f600}'],
  ...['x'.repeat(254), 'fgd', 'reserve', 'automate', 'f'.repeat(64), [], {}, ['A100'], ['A100', 'H100'], { a: 1 }],
]

const readers: ReadonlyArray<readonly [string, Reader<unknown>]> = [
  ['a name', name],
  ['a whole number', wholeNumber(0, 1000)],
  ['a flag', flag],
  ['one of some words', oneOf(['node', 'memory'])],
  ['prose', prose(100)],
  ['a duration', duration(1)],
  ['memory', memory(1)],
  ['cpu', cpu(0)],
  ['an instant', instant],
  ['a day', day],
  ['a name or null', nullable(name)],
  ['a word or null', nullable(oneOf(['node']))],
  ['a list', listOf(name, 1, 2)],
  ['a map', mapOf(wholeNumber(0, 9), 3)],
  ['a record', record({ a: optional(wholeNumber(0, 9), 0), b: optional(flag, true) })],
  ['a record with a member that is needed', record({ a: needed(wholeNumber(0, 9)) })],
]

describe('the schema of a reader', () => {
  it.each(readers)('should take everything that is read as %s, and tell apart some that is not', (_, reader) => {
    const valid = validator(reader.schema)
    const outcomes = values.map((value) => [E.isRight(decoding(reader)(value)), valid(value)] as const)
    expect(outcomes.filter(([read, allowed]) => read && !allowed)).toEqual([])
    expect(outcomes.some(([read, allowed]) => read && allowed)).toBe(true)
    expect(outcomes.some(([read, allowed]) => !read && !allowed)).toBe(true)
  })

  it('should give defaults as they are written, and none where they are written otherwise', () => {
    const { schema } = record({
      ordering: optional(oneOf(['fifo', 'greedy']), 'greedy'),
      grace: optional(duration(0), 30_000),
      owner: optional(name, null),
      count: needed(wholeNumber(0, 9)),
    })
    expect(schema.properties?.['ordering']?.default).toBe('greedy')
    expect(schema.properties?.['grace']).not.toHaveProperty('default')
    expect(schema.properties?.['owner']).not.toHaveProperty('default')
    expect(schema.required).toEqual(['count'])
    expect(schema.additionalProperties).toBe(false)
  })
})

const intents = [
  { spec: { preferred: { count: 1 } } },
  {
    apiVersion: 'capacity.leasehold.dev/v1',
    kind: 'WorkloadIntent',
    metadata: { name: 'sweep', team: 'vision', submitter: 'ann' },
    spec: {
      class: 'training',
      budget: 'b',
      modelFamily: 'm',
      preferred: { accelerator: ['A100', 'H100'], count: 4, share: 500, memory: '10Gi' },
      resources: { cpu: 4, memory: '60Gi' },
      substitutable: [{ accelerator: 'V100', count: 8, requiresRecompile: true, recompileCost: '5m' }],
      topology: { gangScheduled: true, minInterconnect: 'network' },
      elasticity: { minReplicas: 1, maxReplicas: 8, resizeCost: '10s' },
      preemption: { tolerated: true, gracePeriod: '1m', checkpointInterval: '1h', minRuntime: '5m' },
      deadline: '2026-08-14T00:00:00Z',
      expectedDuration: '2h30m',
    },
  },
]
const policies = [
  {},
  {
    metadata: { name: 'p', owner: 'ann and bob', reviewDate: '2026-12-31', impactHypothesis: 'less waiting' },
    spec: {
      placement: { strategy: 'fgd', seed: 7, mix: [{ cpu: '500m', count: 1, share: 250, weight: 3 }, { count: 8 }] },
      queues: [{ name: 'default', ordering: 'reserve' }, { name: 'batch' }],
      mode: 'advise',
      pools: { 'cell-a': { mode: 'observe' } },
    },
  },
]

const documents: ReadonlyArray<readonly [string, ReadonlyArray<unknown>, JsonSchema, Decode<unknown>]> = [
  ['an intent', intents, intentSchema, decodeIntent],
  ['a policy', policies, policySchema, decodePolicy],
]

/** The document with one value somewhere in it replaced, left out or added. */
const altered = (document: unknown): fc.Arbitrary<unknown> => {
  const paths: ReadonlyArray<ReadonlyArray<string>> = pathsOf(document)
  const change = fc.record({
    at: fc.constantFrom(...paths),
    how: fc.constantFrom('replace', 'replace', 'remove', 'add'),
    value: fc.constantFrom<unknown>(...values),
  })
  return fc.array(change, { maxLength: 3 }).map((changes) => {
    const copy = structuredClone({ document })
    for (const { at, how, value } of changes) {
      let holder: unknown = copy
      for (const step of at.slice(0, -1)) holder = isHolder(holder) ? holder[step] : undefined
      const last = at.at(-1)!
      if (!isHolder(holder)) continue
      if (how === 'replace') holder[last] = value
      else if (how === 'remove' && at.length > 1) Reflect.deleteProperty(holder, last)
      else if (how === 'add' && isHolder(holder[last])) holder[last]['added'] = value
    }
    return copy.document
  })
}
const isHolder = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const pathsOf = (value: unknown, at: ReadonlyArray<string> = ['document']): ReadonlyArray<ReadonlyArray<string>> =>
  isHolder(value) ? [at, ...Object.keys(value).flatMap((key) => pathsOf(value[key], [...at, key]))] : [at]

describe.each(documents)('the schema of %s', (_, good, schema, decode) => {
  const valid = validator(schema)

  it('should take every document that is read, and nothing that it refuses be read', () => {
    const seen = { both: 0, neither: 0 }
    fc.assert(
      fc.property(fc.oneof(...good.map(altered)), (document) => {
        const read = E.isRight(decode(document))
        const allowed = valid(document)
        if (read) expect([document, allowed, valid.errors]).toEqual([document, true, null])
        if (!allowed) expect(read).toBe(false)
        if (read) seen.both++
        else if (!allowed) seen.neither++
      }),
      { numRuns: 3_000 },
    )
    expect(seen.both).toBeGreaterThan(100)
    expect(seen.neither).toBeGreaterThan(100)
  })

  it('should take the examples as they stand', () => {
    for (const document of good) {
      expect(valid(document)).toBe(true)
      rightOf(decode(document))
    }
  })
})

it('should take what is encoded', () => {
  expect(validator(policySchema)(encodePolicy(defaultPolicy))).toBe(true)
  for (const intent of intents) expect(validator(intentSchema)(encodeIntent(rightOf(decodeIntent(intent))))).toBe(true)
})
