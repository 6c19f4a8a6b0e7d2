import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, type Json } from '../../../domain/kernel/canonical-json.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import {
  decodeCellFact,
  decodeCellFactLine,
  encodeCellFact,
  factLengthMax,
  upcast,
} from '../../../domain/planner/cell-event.codec.ts'
import { cellEventVersions } from '../../../domain/planner/cell-event.ts'
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
  { type: 'PolicyActivated', data: { document: defaultPolicy, hash: '0'.repeat(64) } },
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
  { type: 'Ticked', data: {} },
].map((fact, i) => ({ id: `fact-${i}`, at: 1000 * i, ...fact }))
const dataFault = (type: string, change: object) => {
  const { data, ...rest } = facts.find((fact) => fact.type === type)!
  return reasonsOf(decodeCellFact({ ...rest, data: { ...data, ...change } }))
}
const submitted = facts[3]!

describe('a fact', () => {
  it('should declare nothing where it states no terms', () => {
    const data = { ...submitted.data, terms: undefined }
    const line = JSON.stringify({ ...submitted, data })
    expect(rightOf(decodeCellFactLine(line)).data).toEqual({ ...data, terms: unstatedTerms })
  })

  it.each(facts)('should be read as it is sent: $type', (fact) => {
    const read = rightOf(decodeCellFactLine(JSON.stringify(fact)))
    expect(read).toEqual(fact)
    expect(decodeCellFact(encodeCellFact(read))).toEqual(E.right(read))
    expect(JSON.stringify(read.data)).toBe(canonicalJson(read.data as unknown as Json))
  })
  it('should be stored in canonical order, however it is sent', () => {
    const reversed = Object.fromEntries(Object.entries(submitted.data).reverse())
    const read = rightOf(
      decodeCellFact({
        data: { ...reversed, request: { ...request, models: ['T4', 'P100'] } },
        type: submitted.type,
        at: 0,
        id: 'x',
      }),
    )
    expect(JSON.stringify(read.data)).toBe(canonicalJson(read.data as unknown as Json))
    expect(read.data).toMatchObject({ request: { models: ['P100', 'T4'] } })
  })
})

describe('faults', () => {
  it.each([
    [{ ...submitted, type: 'WorkloadSubmited' }, 'type: found the text "WorkloadSubmited"'],
    [{ ...submitted, id: 'a b' }, 'id: "a b" has a blank in it (U+0020)'],
    [{ ...submitted, at: -1 }, 'at: -1 is below 0'],
    [{ ...submitted, at: 2 ** 53 }, 'at: 9007199254740992 is above 8640000000000000'],
    [{ ...submitted, at: '2026-08-14T00:00:00Z' }, 'at: found the text "2026-08-14T00:00:00Z"'],
    [{ ...submitted, extra: 1 }, 'extra: is not known here'],
    [{ ...submitted, data: undefined }, 'data: found nothing'],
    [{ type: 'WorkloadAdmitted', id: 'x', at: 0, data: {} }, 'type: found the text "WorkloadAdmitted"'],
    [[], '$: found a list'],
    [null, '$: found nothing'],
  ])('%j', (value, reason) => {
    expect(reasonsOf(decodeCellFact(value))).toEqual([reason])
  })
  it('should be those of the type that is stated, and of no other', () => {
    expect(
      reasonsOf(decodeCellFact({ type: 'AttemptEnded', at: 1.5, data: { attempt: '1', outcome: 'ok', job: 7 } })),
    ).toEqual([
      'id: is missing',
      'at: 1.5 is not a whole number',
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
    const faults = faultsOf(decodeCellFactLine(line))
    expect(faults).toHaveLength(1)
    expect(faults[0]?.reason).toContain(reason)
    expectReadable(faults)
  })
  it('should refuse a number that JSON cannot hold, and keys that change a prototype', () => {
    expect(reasonsOf(decodeCellFactLine('{"id":"a","type":"Ticked","at":1e999,"data":{}}'))).toEqual([
      'at: Infinity is not a number that can be counted with',
    ])
    expect(reasonsOf(decodeCellFactLine('{"id":"a","type":"Ticked","at":1,"data":{"__proto__":{"x":1}}}'))).toEqual([
      'data.__proto__: is a key that no document may use',
    ])
  })
  it('should be a member given twice, at any depth and however it is spaced, and no text that looks like one', () => {
    const twice = '{"id":"a","id":"b","type":"Ticked","at":1,"data":{}}'
    const within = JSON.stringify(facts[4]).replace('"attempt":1', '"attempt":2 , "attempt" :\t1')
    for (const line of [twice, within]) expect(reasonsOf(decodeCellFactLine(line))).toEqual(['$: has a member twice'])
    const likely = { ...facts[4]!, id: 'a":"b\\":' }
    expect(rightOf(decodeCellFactLine(JSON.stringify(likely)))).toEqual(likely)
  })
  it('should be readable whatever is sent', () => {
    const names = ['id', 'type', 'at', 'data', 'request', 'document', ...facts.flatMap(({ data }) => Object.keys(data))]
    fc.assert(
      fc.property(anyDocument(names), fc.constantFrom(...facts), fc.boolean(), (value, fact, inside) => {
        const decoded = decodeCellFact(inside ? { ...fact, data: value } : value)
        if (E.isLeft(decoded)) expectReadable(decoded.left)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('a stored event', () => {
  const message = { type: 'Ticked', at: 0 as EpochMs, data: {} }
  it('should be taken as it is when this release wrote it, whatever a newer writer added', () => {
    for (const [type, version] of Object.entries(cellEventVersions)) {
      const stored = { ...message, type, data: { addedLater: 1 } }
      expect(upcast(stored, version)).toEqual(E.right(stored))
    }
  })
  it('should be refused when it is of a newer version, with both versions and what to do', () => {
    expect(upcast(message, 2)).toEqual(
      E.left({
        path: 'version',
        reason: 'Ticked is of version 2; this release reads up to version 1',
        mend: 'a newer release wrote it: upgrade to that release',
      }),
    )
  })
  it('should be refused when its type is not known', () => {
    for (const type of ['WorkloadPreempted', 'Tickd', 'toString', '__proto__', '\u001b[2J']) {
      const lifted = upcast({ ...message, type }, 1)
      expect(E.isLeft(lifted)).toBe(true)
      if (E.isLeft(lifted)) expectReadable([lifted.left])
    }
  })
  it.each([0, -1, 1.5, NaN])('should be refused at version %s, which nobody wrote', (version) => {
    const lifted = upcast(message, version)
    expect(E.isLeft(lifted) && lifted.left.mend).toContain('audit verify')
  })
  it('should be lifted version by version', () => {
    const table = { Ticked: [(data: unknown) => ({ was1: data }), (data: unknown) => ({ was2: data })] }
    const versions = { Ticked: 3 }
    expect(upcast(message, 1, table, versions)).toEqual(E.right({ ...message, data: { was2: { was1: {} } } }))
    expect(upcast(message, 2, table, versions)).toEqual(E.right({ ...message, data: { was2: {} } }))
    expect(upcast(message, 3, table, versions)).toEqual(E.right(message))
    expect(E.isLeft(upcast(message, 1, {}, versions))).toBe(true)
  })
})
