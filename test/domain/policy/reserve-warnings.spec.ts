import { expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { warningsOf } from '../../../domain/policy/policy-warnings.ts'
import type { SuppliedNode } from '../../../domain/policy/supply.ts'
import { rightOf } from '../../support/faults.ts'

const metadata = { name: 'p', owner: 'Ann', reviewDate: '2027-01-01', impactHypothesis: 'Waits fall.' }
const programs = ['a', 'b'].map((name) => ({ name, share: 1, owner: name }))
const queues = programs.map(({ name }) => ({ name, budget: name }))
const classes = [{ name: 'training' }, { name: 'debug', reserve: 1 }]
const spec = { budgets: { tree: programs }, classes, queues }
const exception = (name: string, expires: string) => ({
  name,
  subject: { kind: 'budget', name },
  allows: { kind: 'non-preemptible-over-entitlement' },
  owner: 'Ann',
  reason: 'The launch.',
  expires,
})

const fleetOf = (devices: number): ReadonlyArray<SuppliedNode> => [{ devices, model: 'h100', node: 'n' }]
const warningsIn = (more: object, fleet: ReadonlyArray<SuppliedNode> | null = null) =>
  warningsOf(rightOf(decodePolicy({ metadata, spec: { ...spec, ...more } })), fleet, Date.UTC(2026, 11, 1) as EpochMs)
const warned = (more: object) => warningsIn(more).filter(({ reason }) => reason.includes('entitlement'))

it('should warn of a reserve that work which may not be evicted cannot use beyond its program', () => {
  const warning = {
    path: 'spec.classes[1].reserve',
    reason: "keeps devices free and lifts no entitlement: debug that may not be evicted waits beyond its program's",
    mend: 'let debug jobs tolerate preemption, with a drill, to use the reserve beyond it',
    severity: 'warning',
  }
  expect(warned({})).toEqual([warning])
  expect(warned({ exceptions: [exception('a', '2027-06-01')] })).toEqual([warning])
  expect(warned({ exceptions: [exception('a', '2027-06-01'), exception('b', '2026-12-01')] })).toEqual([warning])
})

it.each<readonly [string, object]>([
  ['there is no reserve', { classes: [{ name: 'debug' }] }],
  ['one program is entitled to all', { budgets: { tree: [programs[0]] }, queues: [queues[0]] }],
  ['nobody has an entitlement', { sharing: 'drf' }],
  ['all are excepted', { exceptions: programs.map(({ name }) => exception(name, '2027-06-01')) }],
])('should say nothing of it where %s', (_, more) => {
  expect(warned(more)).toEqual([])
})

it('should warn of a reserve that is larger than a share', () => {
  const four = { classes: [{ name: 'debug', reserve: 4 }] }
  const reasons = (devices: number) => warningsIn(four, fleetOf(devices)).map(({ reason }) => reason)
  const larger = 'is larger than the share of a, 3.5 units: debug has more than a program'
  expect(reasons(7)).toContain(larger)
  expect(reasons(8).join()).not.toContain('larger')
})
