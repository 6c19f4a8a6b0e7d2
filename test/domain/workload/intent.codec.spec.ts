import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeIntent, encodeIntent, intentDecoder, intentFields } from '../../../domain/workload/intent.codec.ts'
import type { WorkloadIntent } from '../../../domain/workload/intent.ts'
import { anyDocument } from '../../support/arbitrary-value.ts'
import { expectReadable, reasonsOf, rightOf } from '../../support/faults.ts'

const preferred = { count: 1 }
const specOf = (spec: object) => ({ spec: { preferred, ...spec } })
const requestOf = (preferred: object, rest: object = {}) =>
  rightOf(decodeIntent({ spec: { preferred, ...rest } })).request

describe('defaults', () => {
  it('should ask for a count of devices and nothing else', () => {
    expect(rightOf(decodeIntent({ spec: { preferred: { count: 8 } } }))).toEqual({
      name: 'workload',
      team: 'default',
      submitter: 'unknown',
      class: 'default',
      queue: 'default',
      budget: null,
      modelFamily: null,
      request: { cpuMilli: 0, devices: 8, hostMemoryMib: 0, memoryMib: 0, milli: 1000, models: null, span: 'node' },
      substitutable: [],
      elasticity: null,
      preemption: { tolerated: false, gracePeriodMs: 30_000, checkpointIntervalMs: null, minRuntimeMs: 0 },
      deadline: null,
      expectedDurationMs: null,
    })
  })
  it('should be those of each part that is stated in part', () => {
    const read = rightOf(
      decodeIntent({
        metadata: { team: 'ranking' },
        spec: {
          preferred: { count: 8 },
          topology: {},
          preemption: { tolerated: true },
          elasticity: { minReplicas: 2 },
          resources: { cpu: 4 },
          substitutable: [{ accelerator: 'h100', count: 4 }],
        },
      }),
    )
    expect(read).toMatchObject({
      name: 'workload',
      team: 'ranking',
      submitter: 'unknown',
      request: { cpuMilli: 4000, hostMemoryMib: 0, span: 'node' },
      elasticity: { minReplicas: 2, maxReplicas: 8, resizeCostMs: 0 },
      preemption: { tolerated: true, gracePeriodMs: 30_000 },
      substitutable: [{ accelerators: ['h100'], count: 4, requiresRecompile: false, recompileCostMs: 0 }],
    })
  })
  it('should call an unnamed workload what the reader says', () => {
    expect(rightOf(intentDecoder('sweep')({ spec: { preferred } })).name).toBe('sweep')
    expect(rightOf(intentDecoder('sweep')({ metadata: { name: 'mine' }, spec: { preferred } })).name).toBe('mine')
  })
})

describe('the request', () => {
  it('should take any of several models, sorted', () => {
    expect(requestOf({ count: 1, accelerator: ['T4', 'P100'] }).models).toEqual(['P100', 'T4'])
    expect(requestOf({ count: 1, accelerator: 'T4' }).models).toEqual(['T4'])
  })
  it('should take a part of each of several devices', () => {
    expect(requestOf({ count: 4, share: 250, memory: '10Gi' })).toMatchObject({
      devices: 4,
      milli: 250,
      memoryMib: 10_240,
    })
  })
  it('should take the part that its memory makes', () => {
    expect(requestOf({ count: 1, share: 'memory', memory: '10Gi' })).toMatchObject({ milli: 0, memoryMib: 10_240 })
  })
  it('should do without devices when it needs the host only', () => {
    expect(requestOf({ count: 0 }, { resources: { cpu: '500m' } })).toEqual({
      cpuMilli: 500,
      devices: 0,
      hostMemoryMib: 0,
      memoryMib: 0,
      milli: 0,
      models: null,
      span: 'node',
    })
  })
  it.each([
    ['node', 'node'],
    ['nvlink-domain', 'domain'],
    ['network', 'anywhere'],
  ])('should lie within %s', (minInterconnect, span) => {
    expect(requestOf({ count: 16 }, { topology: { minInterconnect } }).span).toBe(span)
  })
  it.each([
    [{ required: 'rack' }],
    [{ preferred: 'block', sliceLevel: 'rack', sliceSize: 4 }],
    [{ sliceLevel: 'node', sliceSize: 8 }],
    [{ required: 'rack', sliceLevel: 'rack', sliceSize: 16 }],
  ])('should lie in the domains of levels: %o', (topology) => {
    expect(requestOf({ count: 16 }, { topology })).toMatchObject({ span: 'anywhere', topology })
    expect(requestOf({ count: 16 }, { topology: {} })).not.toHaveProperty('topology')
  })
  it('should keep slices of which no level is stated in one node', () => {
    const topology = { sliceLevel: 'node', sliceSize: 4 }
    expect(requestOf({ count: 16 }, { topology: { sliceSize: 4 } }).topology).toEqual(topology)
  })
})

describe('faults between members', () => {
  it.each([
    [{ spec: { preferred: { count: 0 } } }, 'spec.preferred.count: 0 devices and no resources: nothing is asked for'],
    [
      specOf({ preferred: { count: 8 }, topology: { minInterconnect: 'node', required: 'rack' } }),
      'spec.topology.minInterconnect: says how far the devices may lie apart, and so does the level rack',
    ],
    [
      specOf({ preferred: { count: 8 }, topology: { preferred: 'block', required: 'rack' } }),
      'spec.topology.preferred: the level is required already: rack',
    ],
    [
      specOf({ preferred: { count: 8 }, topology: { sliceLevel: 'rack' } }),
      'spec.topology.sliceSize: is missing, and sliceLevel is stated',
    ],
    [
      specOf({ preferred: { count: 8 }, topology: { sliceLevel: 'rack', sliceSize: 3 } }),
      'spec.topology.sliceSize: 8 devices are not whole slices of 3',
    ],
    [
      specOf({ preferred: { count: 0 }, resources: { cpu: 1 }, topology: { required: 'rack' } }),
      'spec.topology: says where devices lie, and none are asked for',
    ],
    [
      { spec: { preferred: { count: 0, accelerator: 'T4' }, resources: { cpu: 1 } } },
      'spec.preferred.accelerator: describes a device, and count is 0',
    ],
    [
      { spec: { preferred: { count: 0, share: 'memory' }, resources: { cpu: 1 } } },
      'spec.preferred.share: describes a device, and count is 0',
    ],
    [
      specOf({
        preferred: { count: 0 },
        resources: { memory: '1Gi' },
        substitutable: [{ accelerator: 'a', count: 1 }],
      }),
      'spec.substitutable: stands in for devices, and count is 0',
    ],
    [
      { spec: { preferred: { count: 1, share: 'memory' } } },
      'spec.preferred.share: a share by memory, and no memory stated',
    ],
    [specOf({ elasticity: { minReplicas: 2 } }), 'spec.elasticity.minReplicas: 2 is above preferred.count, 1'],
    [
      { spec: { preferred: { count: 4 }, elasticity: { maxReplicas: 2 } } },
      'spec.elasticity.maxReplicas: 2 is below preferred.count, 4',
    ],
    [
      specOf({ preemption: { minRuntime: '2h' }, expectedDuration: '1h' }),
      'spec.preemption.minRuntime: 2h is longer than the whole run, 1h',
    ],
    [
      specOf({ topology: { gangScheduled: false } }),
      'spec.topology.gangScheduled: starting with a part of the devices is not possible yet',
    ],
    [
      specOf({ substitutable: [{ accelerator: 'a', count: 1, recompileCost: '5m' }] }),
      'spec.substitutable[0].recompileCost: costs time, and nothing is recompiled',
    ],
    [
      { spec: { preferred: { count: 1, accelerator: ['a', 'b', 'a'] } } },
      'spec.preferred.accelerator[2]: repeats entry 0: a',
    ],
  ])('%j', (value, reason) => {
    expect(reasonsOf(decodeIntent(value))).toEqual([reason])
  })
  it('should be told beside the faults of members', () => {
    const value = {
      spec: {
        preferred: { count: 4, memory: 60 },
        elasticity: { minReplicas: 8, maxReplicas: 2, resizeCost: 'soon' },
        preemption: { minRuntime: '2h', tolerated: 1 },
        expectedDuration: '1h',
      },
    }
    expect(reasonsOf(decodeIntent(value)).toSorted()).toEqual([
      'spec.elasticity.maxReplicas: 2 is below preferred.count, 4',
      'spec.elasticity.minReplicas: 8 is above preferred.count, 4',
      'spec.elasticity.resizeCost: "soon" is not a duration',
      'spec.preemption.minRuntime: 2h is longer than the whole run, 1h',
      'spec.preemption.tolerated: found 1',
      'spec.preferred.memory: 60 has no unit',
    ])
  })
})

describe('faults', () => {
  it.each([
    [{}, 'spec: is missing'],
    [{ spec: {} }, 'spec.preferred: is missing'],
    [{ spec: { preferred: {} } }, 'spec.preferred.count: is missing'],
    [{ ...specOf({}), kind: 'AllocationPolicy' }, 'kind: found the text "AllocationPolicy"'],
    [
      { ...specOf({}), apiVersion: 'capacity.leasehold.dev/v2' },
      'apiVersion: found the text "capacity.leasehold.dev/v2", and this release reads capacity.leasehold.dev/v1',
    ],
    [{ spec: { preferred: { count: -1 } } }, 'spec.preferred.count: -1 is below 0'],
    [{ spec: { preferred: { count: 1e12 } } }, 'spec.preferred.count: 1000000000000 is above 1000000'],
    [{ spec: { preferred: { count: NaN } } }, 'spec.preferred.count: NaN is not a number that can be counted with'],
    [{ spec: { preferred: { count: 1, share: 0 } } }, 'spec.preferred.share: 0 is below 1'],
    [{ spec: { preferred: { count: 1, share: 'half' } } }, 'spec.preferred.share: found the text "half"'],
    [{ spec: { preferred: { count: 1, accelerator: [] } } }, 'spec.preferred.accelerator: has 0 entries'],
    [{ spec: { preferred: { count: 1, accelerator: 4 } } }, 'spec.preferred.accelerator: found 4'],
    [specOf({ queue: '\u001b[2Jgone' }), 'spec.queue: "\\u001b[2Jgone" has an unprintable character in it (U+001B)'],
    [specOf({ deadline: '2026-08-14' }), 'spec.deadline: "2026-08-14" is not an instant'],
    [specOf({ expectedDuration: '0s' }), 'spec.expectedDuration: "0s" is below 1ms'],
    [specOf({ preferrd: 1 }), 'spec.preferrd: is not known here'],
    [specOf({ substitutable: [{ accelerator: 'a', count: 0 }] }), 'spec.substitutable[0].count: 0 is below 1'],
    [7, '$: found 7'],
  ])('%j', (value, reason) => {
    expect(reasonsOf(decodeIntent(value))).toEqual([reason])
  })
})

const name = fc.string({
  minLength: 1,
  maxLength: 12,
  unit: fc.constantFrom(...Array.from('abcdefghijklmnop0123456789-./')),
})
const text = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined })
const seconds = fc.integer({ min: 1, max: 100_000 }).map((each) => `${each}s`)
const stated = (members: object) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
const accelerator = fc.oneof(name, fc.uniqueArray(name, { minLength: 1, maxLength: 4 }))
const anyIntent = fc
  .record({
    count: fc.integer({ min: 1, max: 1000 }),
    share: text(fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant('memory'))),
    memory: fc.integer({ min: 1, max: 99_999 }).map((mib) => `${mib}Mi`),
    accelerator: text(accelerator),
    queue: text(name),
    budget: text(name),
    modelFamily: text(name),
    min: text(fc.integer({ min: 0, max: 9 })),
    max: text(fc.integer({ min: 0, max: 9 })),
    resizeCost: text(seconds),
    cpu: text(
      fc.oneof(
        fc.nat(100),
        fc.nat(9999).map((milli) => `${milli}m`),
      ),
    ),
    topology: text(
      fc.oneof(
        fc.constantFrom('node', 'nvlink-domain', 'network').map((minInterconnect) => ({ minInterconnect })),
        name.map((required) => ({ required })),
        fc.record({ preferred: name, sliceLevel: name, sliceSize: fc.constant(1) }),
      ),
    ),
    preemption: text(
      fc.record({ tolerated: fc.boolean(), gracePeriod: seconds, checkpointInterval: seconds }, { requiredKeys: [] }),
    ),
    substitutable: text(
      fc.array(
        fc.record({
          accelerator,
          count: fc.integer({ min: 1, max: 9 }),
          requiresRecompile: fc.constant(true),
          recompileCost: seconds,
        }),
        { maxLength: 3 },
      ),
    ),
    deadline: text(fc.nat(4_000_000_000_000).map((at) => new Date(at).toISOString())),
    expectedDuration: text(seconds),
    metadata: text(fc.record({ name, team: name, submitter: name }, { requiredKeys: [] })),
  })
  .map(({ count, share, memory, accelerator, min, max, resizeCost, cpu, metadata, ...rest }) =>
    stated({
      metadata,
      spec: stated({
        preferred: stated({ count, share, memory, accelerator }),
        elasticity: stated({
          minReplicas: min === undefined ? undefined : Math.max(1, count - min),
          maxReplicas: max === undefined ? undefined : count + max,
          resizeCost,
        }),
        resources: stated({ cpu }),
        ...rest,
      }),
    }),
  )

describe('always', () => {
  it('should read what it writes, and write out every default', () => {
    fc.assert(
      fc.property(anyIntent, (value) => {
        const intent: WorkloadIntent = rightOf(decodeIntent(value))
        const written = encodeIntent(intent)
        expect(decodeIntent(written)).toEqual(E.right(intent))
        expect(decodeIntent(JSON.parse(JSON.stringify(written)))).toEqual(E.right(intent))
      }),
    )
    const cpuOnly = rightOf(decodeIntent({ spec: { preferred: { count: 0 }, resources: { cpu: 1 } } }))
    expect(decodeIntent(encodeIntent(cpuOnly))).toEqual(E.right(cpuOnly))
  })

  it('should answer whatever it is given, with an intent or with faults that can be read', () => {
    const names = [...new Set(intentFields.flatMap((field) => field.split(/[.[\]]+/)))].filter((each) => each !== '')
    fc.assert(
      fc.property(anyDocument(names), (value) => {
        const decoded = decodeIntent(value)
        if (E.isLeft(decoded)) expectReadable(decoded.left)
        else expect(decodeIntent(encodeIntent(decoded.right))).toEqual(decoded)
      }),
      { numRuns: 2000 },
    )
  })
})
