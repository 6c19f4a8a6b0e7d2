import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, type Json } from '../../../domain/kernel/canonical-json.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { shown } from '../../../domain/kernel/wording.ts'
import type { CellInput } from '../../../domain/planner/cell-event.ts'
import {
  cloudEventTypes,
  decodeFact,
  decodeFactLine,
  encodeFact,
  factLengthMax,
} from '../../../domain/planner/cloud-event.ts'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { unstatedTerms } from '../../../domain/workload/terms.ts'
import { anyDocument } from '../../support/arbitrary-value.ts'
import { expectReadable, faultsOf, reasonsOf, rightOf } from '../../support/faults.ts'

const request = {
  cpuMilli: 4000,
  devices: 8,
  hostMemoryMib: 0,
  memoryMib: 0,
  milli: 1000,
  models: ['T4'],
  span: 'node',
}
const terms = {
  budget: 'research/ranking',
  deadline: 1_786_665_600_000,
  elasticity: { maxReplicas: 4, minReplicas: 1, resizeCostMs: 90_000 },
  modelFamily: 'transformer-7b',
  preemption: { checkpointIntervalMs: 600_000, gracePeriodMs: 120_000, minRuntimeMs: 1_800_000, tolerated: true },
  submitter: 'u-4711',
  substitutable: [{ accelerators: ['H100'], count: 2, recompileCostMs: 0, requiresRecompile: false }],
}
const facts = [
  {
    type: 'NodeRegistered',
    data: {
      cpuMilli: null,
      deviceMemoryMib: 81_920,
      devices: 8,
      domain: 'rack-1',
      hostMemoryMib: null,
      model: 'T4',
      node: 'n-1',
    },
  },
  { type: 'NodeHealthChanged', data: { device: null, health: 'draining', node: 'n-1' } },
  { type: 'PolicyActivated', data: { document: defaultPolicy, edition: 2, hash: '0'.repeat(64) } },
  {
    type: 'WorkloadSubmitted',
    data: {
      class: 'default',
      estimateMs: 60_000,
      queue: 'default',
      request,
      team: 'ranking',
      terms,
      workload: 'sweep-7',
    },
  },
  { type: 'AttemptEnded', data: { attempt: 1, outcome: 'succeeded', workload: 'sweep-7' } },
  { type: 'CancelRequested', data: { actor: 'u-4711', reason: 'no longer needed', workload: 'sweep-7' } },
  {
    type: 'CommandConcluded',
    data: {
      attempt: 1,
      command: 'sweep-7/1/evict/1',
      outcome: 'done',
      reason: null,
      verb: 'evict',
      workload: 'sweep-7',
    },
  },
  { type: 'Ticked', data: {} },
].map((fact, i) => ({
  specversion: '1.0',
  id: `fact-${i}`,
  source: '/slurm/a',
  time: new Date(1000 * i).toISOString(),
  ...fact,
  type: cloudEventTypes[fact.type as CellInput['type']],
}))
const typeOf = (type: string): string => cloudEventTypes[type as CellInput['type']]
const dataFault = (type: string, change: object) => {
  const { data, ...rest } = facts.find((fact) => fact.type === typeOf(type))!
  return reasonsOf(decodeFact({ ...rest, data: { ...data, ...change } }))
}
const submitted = facts[3]!
const without = (object: object, member: string): object =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== member))

describe('a fact', () => {
  it('should declare nothing where it states no terms', () => {
    const data = { ...submitted.data, terms: undefined }
    const line = JSON.stringify({ ...submitted, data })
    expect(rightOf(decodeFactLine(line)).data).toEqual({ ...data, terms: unstatedTerms })
  })

  it('should put a policy into force by the newest edition of the rules, unless it names another', () => {
    const { data, ...rest } = facts[2]!
    const editionOf = (change: object) => {
      const decoded = rightOf(decodeFact({ ...rest, data: { ...without(data, 'edition'), ...change } }))
      expect(rightOf(decodeFactLine(encodeFact(decoded)))).toEqual(decoded)
      return decoded.type === 'PolicyActivated' ? decoded.data.edition : null
    }
    expect(editionOf({})).toBe(2)
    // As what the first releases recorded is exported.
    expect(editionOf({ edition: 1 })).toBeUndefined()
    expect(dataFault('PolicyActivated', { edition: 3 })).toContain('data.edition: 3 is above 2')
  })
  it('should be taken with attributes that concern its way here, which are not kept', () => {
    const extended = { ...submitted, traceparent: '00-1', subject: 'sweep-7', partitionkey: 'p', sampledrate: 3 }
    expect(rightOf(decodeFact(extended))).toEqual(rightOf(decodeFact(submitted)))
  })
  it('should be told at any instant that the calendar holds, in any zone', () => {
    const at = (time: string) => rightOf(decodeFact({ ...submitted, time })).at
    expect(at('1970-01-01T02:00:00.001+02:00')).toBe(1)
    const far = { id: 'x', source: 's', type: 'Ticked', at: 8_640_000_000_000_000 as EpochMs, data: {} } as const
    expect(rightOf(decodeFactLine(encodeFact(far)))).toEqual(far)
  })

  it.each(facts)('should be read as it is sent: $type', (fact) => {
    const read = rightOf(decodeFactLine(JSON.stringify(fact)))
    expect(read).toMatchObject({ id: fact.id, source: fact.source, at: Date.parse(fact.time), data: fact.data })
    expect(JSON.parse(encodeFact(read))).toEqual(fact)
    expect(decodeFactLine(encodeFact(read))).toEqual(E.right(read))
    expect(JSON.stringify(read.data)).toBe(canonicalJson(read.data as unknown as Json))
  })
  it('should be stored in canonical order, however it is sent', () => {
    const reversed = Object.fromEntries(Object.entries(submitted.data).reverse())
    const read = rightOf(
      decodeFact({
        data: { ...reversed, request: { ...request, models: ['T4', 'P100'] } },
        ...without(submitted, 'data'),
      }),
    )
    expect(JSON.stringify(read.data)).toBe(canonicalJson(read.data as unknown as Json))
    expect(read.data).toMatchObject({ request: { models: ['P100', 'T4'] } })
  })
})

describe('faults', () => {
  it.each([
    [{ ...submitted, type: 'WorkloadSubmitted' }, 'type: found the text "WorkloadSubmitted"'],
    [{ ...submitted, specversion: '0.3' }, 'specversion: found the text "0.3"'],
    [{ ...submitted, datacontenttype: 'text/xml' }, 'datacontenttype: found the text "text/xml"'],
    [{ ...submitted, source: 'a b' }, 'source: "a b" has a blank in it (U+0020)'],
    [{ ...submitted, id: 'a b' }, 'id: "a b" has a blank in it (U+0020)'],
    [{ ...submitted, id: 'x'.repeat(601) }, `id: ${shown('x'.repeat(601))} has 601 characters, above 600`],
    [{ ...submitted, time: 7 }, 'time: found 7'],
    [{ ...submitted, time: '1969-12-31T23:59:59Z' }, 'time: "1969-12-31T23:59:59Z" is no instant from 1970 on'],
    [{ ...submitted, time: '2026-02-30T00:00:00Z' }, 'time: "2026-02-30T00:00:00Z" is no instant from 1970 on'],
    [{ ...submitted, time: '2026-08-14' }, 'time: "2026-08-14" is no instant from 1970 on'],
    [{ ...submitted, Extra: 1 }, 'Extra: is not known here'],
    [{ ...submitted, extra: {} }, 'extra: is not known here'],
    [{ ...submitted, data: undefined }, 'data: found nothing'],
    [
      { ...submitted, type: 'dev.leasehold.workload.admitted.v1' },
      'type: found the text "dev.leasehold.workload.admitted.v1"',
    ],
    [[], '$: found a list'],
    [null, '$: found nothing'],
  ])('should be named: %#', (value, reason) => {
    expect(reasonsOf(decodeFact(value))).toEqual([reason])
  })
  it('should be those of the type that is stated, and of no other', () => {
    expect(
      reasonsOf(
        decodeFact({
          specversion: '1.0',
          source: 's',
          type: typeOf('AttemptEnded'),
          time: 'now',
          data: { attempt: '1', outcome: 'ok', job: 7 },
        }),
      ),
    ).toEqual([
      'id: is missing',
      'time: "now" is no instant from 1970 on',
      'data.attempt: found the text "1"',
      'data.outcome: found the text "ok"',
      'data.workload: is missing',
      'data.job: is not known here',
    ])
  })
  it.each([
    ['Ticked', { now: 1 }, 'data.now: is not known here'],
    ['NodeRegistered', { devices: -8 }, 'data.devices: -8 is below 0'],
    ['NodeRegistered', { devices: 1e9 }, 'data.devices: 1000000000 is above 65536'],
    ['NodeRegistered', { model: undefined }, 'data.model: found nothing'],
    ['NodeHealthChanged', { health: 'Ready' }, 'data.health: found the text "Ready"'],
    ['PolicyActivated', { hash: 'abc' }, 'data.hash: found the text "abc"'],
    ['PolicyActivated', { document: { ...defaultPolicy, queues: [] } }, 'data.document.queues: has 0 entries'],
    ['WorkloadSubmitted', { request: { ...request, milli: 0 } }, 'data.request.milli: is 0, and no memory is stated'],
    ['WorkloadSubmitted', { request: { ...request, milli: 1001 } }, 'data.request.milli: 1001 is above 1000'],
    ['WorkloadSubmitted', { request: { ...request, span: 'rack' } }, 'data.request.span: found the text "rack"'],
    [
      'WorkloadSubmitted',
      { request: { ...request, models: ['a', 'a'] } },
      'data.request.models[1]: repeats entry 0: a',
    ],
    ['WorkloadSubmitted', { estimateMs: 1e300 }, 'data.estimateMs: 1e+300 is above 315360000000'],
  ])('%s %j', (type, change, reason) => {
    expect(dataFault(type, change)).toEqual([reason])
  })
  it.each([
    ['', 'is not JSON'],
    ['{', 'is not JSON'],
    ['{"id":NaN}', 'is not JSON'],
    ['\u001b[2J', 'is not JSON'],
    ['\ud800 \u202e', 'is not JSON'],
    [`"${'x'.repeat(factLengthMax)}"`, `has ${factLengthMax + 2} characters`],
    ['['.repeat(500_000) + ']'.repeat(500_000), 'found a list'],
  ])('of a line should be one: %.20j', (line, reason) => {
    const faults = faultsOf(decodeFactLine(line))
    expect(faults).toHaveLength(1)
    expect(faults[0]?.reason).toContain(reason)
    expectReadable(faults)
  })
  it('should refuse a number that JSON cannot hold, and keys that change a prototype', () => {
    const tick = JSON.stringify(facts.at(-1))
    const ended = JSON.stringify(facts[4])
    expect(reasonsOf(decodeFactLine(ended.replace('"attempt":1', '"attempt":1e999')))).toEqual([
      'data.attempt: Infinity is not a number that can be counted with',
    ])
    expect(reasonsOf(decodeFactLine(tick.replace('"data":{}', '"data":{"__proto__":{"x":1}}')))).toEqual([
      'data.__proto__: is a key that no document may use',
    ])
  })
  it('should be a member given twice, at any depth and however it is spaced, and no text that looks like one', () => {
    const twice = JSON.stringify(facts.at(-1)).replace('"id":', '"id":"b","id":')
    const within = JSON.stringify(facts[4]).replace('"attempt":1', '"attempt":2 , "attempt" :\t1')
    for (const line of [twice, within]) expect(reasonsOf(decodeFactLine(line))).toEqual(['$: has a member twice'])
    const likely = { ...facts[4]!, id: 'a":"b\\":' }
    expect(rightOf(decodeFactLine(JSON.stringify(likely))).id).toBe(likely.id)
  })
  it('should be readable whatever is sent', () => {
    const names = [
      'id',
      'type',
      'time',
      'data',
      'request',
      'document',
      ...facts.flatMap(({ data }) => Object.keys(data)),
    ]
    fc.assert(
      fc.property(anyDocument(names), fc.constantFrom(...facts), fc.boolean(), (value, fact, inside) => {
        const decoded = decodeFact(inside ? { ...fact, data: value } : value)
        if (E.isLeft(decoded)) expectReadable(decoded.left)
      }),
      { numRuns: 2000 },
    )
  })
})
