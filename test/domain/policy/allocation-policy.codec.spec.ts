import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decoding } from '../../../domain/kernel/document.ts'
import {
  canonicalPolicy,
  decodedPolicy,
  decodePolicy,
  defaultPolicy,
  encodePolicy,
  policyFields,
  withFreeze,
} from '../../../domain/policy/allocation-policy.codec.ts'
import { defaultCommands, modes, orderings, standingOf, strategies } from '../../../domain/policy/allocation-policy.ts'
import { anyDocument } from '../../support/arbitrary-value.ts'
import { expectReadable, reasonsOf, rightOf } from '../../support/faults.ts'

const kind = { apiVersion: 'capacity.leasehold.dev/v1', kind: 'AllocationPolicy' }
const decodeDecoded = decoding(decodedPolicy)

it('should be the default policy when nothing is stated', () => {
  expect(decodePolicy(kind)).toEqual(E.right(defaultPolicy))
  expect(decodePolicy({ metadata: {}, spec: { placement: {}, pools: {} } })).toEqual(E.right(defaultPolicy))
  expect(defaultPolicy).toMatchObject({
    mode: 'automate',
    placement: { strategy: 'first-fit', mix: null },
    queues: [{ name: 'default', ordering: 'greedy' }],
  })
})

it('should read every member', () => {
  const document = {
    ...kind,
    metadata: {
      name: 'q3',
      owner: 'Ann <ann@example.org>',
      reviewDate: '2026-09-30',
      impactHypothesis: 'Waits\nfall.',
    },
    spec: {
      placement: {
        strategy: 'fgd',
        seed: 42,
        mix: [{ cpu: '500m', count: 1, share: 250, weight: 7 }, { cpu: 8, count: 0 }, { count: 8 }],
      },
      queues: [{ name: 'b', ordering: 'fifo' }, { name: 'a' }],
      mode: 'advise',
      pools: { lab: { mode: 'observe' }, art: { mode: 'automate' } },
    },
  }
  expect(rightOf(decodePolicy(document))).toEqual({
    impactHypothesis: 'Waits\nfall.',
    mode: 'advise',
    name: 'q3',
    owner: 'Ann <ann@example.org>',
    placement: {
      mix: [
        { cpuMilli: 500, devices: 1, milli: 250, weight: 7 },
        { cpuMilli: 8000, devices: 0, milli: 0, weight: 1 },
        { cpuMilli: 0, devices: 8, milli: 1000, weight: 1 },
      ],
      seed: 42,
      strategy: 'fgd',
    },
    poolModes: { art: 'automate', lab: 'observe' },
    queues: [
      { name: 'b', ordering: 'fifo' },
      { name: 'a', ordering: 'greedy' },
    ],
    reviewDate: '2026-09-30',
  })
})

describe('faults', () => {
  it.each([
    [{ spec: { placement: { strategy: 'firstfit' } } }, 'spec.placement.strategy: found the text "firstfit"'],
    [{ spec: { placement: { seed: 2 ** 32 } } }, 'spec.placement.seed: 4294967296 is above 4294967295'],
    [{ spec: { placement: { mix: [] } } }, 'spec.placement.mix: has 0 entries'],
    [
      { spec: { placement: { mix: [{ count: 0, share: 5 }] } } },
      'spec.placement.mix[0].share: is a part of a device, and count is 0',
    ],
    [
      { spec: { placement: { mix: [{ count: 1 }, { count: 1, share: 1000, weight: 2 }] } } },
      'spec.placement.mix[1]: asks for the same as entry 0',
    ],
    [{ spec: { queues: [] } }, 'spec.queues: has 0 entries'],
    [
      { spec: { queues: [{ name: 'a' }, { name: 'b' }, { name: 'a', ordering: 'fifo' }] } },
      'spec.queues[2]: repeats entry 0: a',
    ],
    [{ spec: { queues: [{ ordering: 'fifo' }] } }, 'spec.queues[0].name: is missing'],
    [{ spec: { mode: 'off' } }, 'spec.mode: found the text "off"'],
    [{ spec: { pools: { lab: { mode: null } } } }, 'spec.pools.lab.mode: is empty'],
    [{ spec: { pools: { '7': { mode: 'observe' } } } }, 'spec.pools["7"]: the name "7" has digits only'],
    [{ metadata: { reviewDate: '2026-02-30' } }, 'metadata.reviewDate: "2026-02-30" is a day that does not exist'],
    [{ metadata: { owner: '' } }, 'metadata.owner: is empty'],
    [{ spec: { cohort: [] } }, 'spec.cohort: is not known here'],
    [[], '$: found a list'],
  ])('%j', (value, reason) => {
    expect(reasonsOf(decodePolicy(value))).toEqual([reason])
  })
  it('should refuse a pool that would change a prototype', () => {
    const value: unknown = JSON.parse('{"spec":{"pools":{"__proto__":{"mode":"observe"}}}}')
    expect(reasonsOf(decodePolicy(value))).toEqual(['spec.pools.__proto__: the name "__proto__" is a reserved word'])
  })
})

const name = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...Array.from('abcdefgh-./')) })
const anyPolicy = fc.record(
  {
    metadata: fc.record(
      { name, owner: name, reviewDate: fc.constant('2026-09-30'), impactHypothesis: name },
      { requiredKeys: [] },
    ),
    spec: fc.record(
      {
        placement: fc.record(
          {
            strategy: fc.constantFrom(...strategies),
            seed: fc.nat(),
            mix: fc.uniqueArray(
              fc.record(
                {
                  cpu: fc.nat(99),
                  count: fc.integer({ min: 1, max: 8 }),
                  share: fc.integer({ min: 1, max: 999 }),
                  weight: fc.integer({ min: 1, max: 99 }),
                },
                { requiredKeys: ['cpu', 'count', 'share'] },
              ),
              { minLength: 1, maxLength: 5, selector: ({ cpu, count, share }) => `${cpu} ${count} ${share}` },
            ),
          },
          { requiredKeys: [] },
        ),
        queues: fc.uniqueArray(
          fc.record({ name, ordering: fc.constantFrom(...orderings) }, { requiredKeys: ['name'] }),
          {
            minLength: 1,
            maxLength: 5,
            selector: (queue) => queue.name,
          },
        ),
        mode: fc.constantFrom(...modes),
        pools: fc.dictionary(
          name,
          fc.record({ mode: fc.constantFrom(...modes), freeze: fc.boolean() }, { requiredKeys: [] }),
          { noNullPrototype: true },
        ),
        freeze: fc.boolean(),
        commands: fc.record(
          {
            startsMax: fc.integer({ min: 1, max: 100 }),
            startWithin: fc.constantFrom('1ms', '2m', '3h'),
            stopWithin: fc.constantFrom('90s', '2m'),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)

describe('freezing', () => {
  const standingIn = (value: unknown, pool: string) => standingOf(rightOf(decodePolicy(value)), pool)
  it('should hold for all pools, or for those that are named, whatever their mode', () => {
    const some = { spec: { mode: 'advise', pools: { a: { freeze: true }, b: { mode: 'observe' } } } }
    expect(['a', 'b', 'c'].map((pool) => standingIn(some, pool))).toEqual(['frozen', 'observe', 'advise'])
    expect(standingIn({ spec: { freeze: true } }, 'any')).toBe('frozen')
  })
  it('should be put on and lifted without a trace', () => {
    const all = withFreeze(defaultPolicy, null, true)
    expect(standingOf(all, 'a')).toBe('frozen')
    const some = withFreeze(withFreeze(defaultPolicy, 'b', true), 'a', true)
    expect(some.frozen).toEqual(['a', 'b'])
    for (const lifted of [withFreeze(all, null, false), withFreeze(withFreeze(some, 'a', false), 'b', false)])
      expect(canonicalPolicy(lifted)).toBe(canonicalPolicy(defaultPolicy))
    expect(withFreeze(all, 'a', false)).toBe(all)
  })
})

it('should leave the limits of commands out where they are the defaults, so that older policies keep their hash', () => {
  const { startsMax } = defaultCommands
  expect(decodePolicy({ spec: { commands: { startsMax, startWithin: '2m' } } })).toEqual(E.right(defaultPolicy))
  expect(rightOf(decodePolicy({ spec: { commands: { stopWithin: '90s' } } })).commands).toEqual({
    ...defaultCommands,
    stopWithinMs: 90_000,
  })
})

describe('always', () => {
  it('should read what it writes, in canonical order, from a document and from an event', () => {
    fc.assert(
      fc.property(anyPolicy, (value) => {
        const policy = rightOf(decodePolicy(value))
        expect(decodePolicy(JSON.parse(JSON.stringify(encodePolicy(policy))))).toEqual(E.right(policy))
        expect(JSON.stringify(policy)).toBe(canonicalPolicy(policy))
        const stored = rightOf(decodeDecoded(JSON.parse(JSON.stringify(policy))))
        expect(JSON.stringify(stored)).toBe(canonicalPolicy(policy))
      }),
    )
  })
  it('should have one canonical form, whatever is written out', () => {
    expect(canonicalPolicy(rightOf(decodePolicy(encodePolicy(defaultPolicy))))).toBe(canonicalPolicy(defaultPolicy))
    expect(canonicalPolicy(defaultPolicy)).toBe(
      '{"impactHypothesis":null,"mode":"automate","name":"default","owner":null,"placement":{"mix":null,"seed":0,' +
        '"strategy":"first-fit"},"poolModes":{},"queues":[{"name":"default","ordering":"greedy"}],"reviewDate":null}',
    )
  })
  it('should answer whatever it is given, with a policy or with faults that can be read', () => {
    const names = [...new Set(policyFields.flatMap((field) => field.split(/[.[\]]+/)))].filter((each) => each !== '')
    fc.assert(
      fc.property(anyDocument([...names, ...Object.keys(defaultPolicy)]), (value) => {
        for (const decoded of [decodePolicy(value), decodeDecoded(value)])
          if (E.isLeft(decoded)) expectReadable(decoded.left)
      }),
      { numRuns: 2000 },
    )
  })
})
