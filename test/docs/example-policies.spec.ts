import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { decodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import { warningsOf } from '../../domain/policy/policy-warnings.ts'
import type { SuppliedNode } from '../../domain/policy/supply.ts'
import { quotaNodesOf } from '../../domain/policy/quota-nodes.ts'
import { QuotaTree } from '../../domain/quota/quota-tree.ts'
import { readDocument } from '../../infra/yaml/document.ts'
import { rightOf } from '../support/faults.ts'

const folder = new URL('../../docs/examples/policies/', import.meta.url)
const text = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const policy = (name: string) => rightOf(readDocument(text(name), decodePolicy))
/** Dates in the examples are held against this one, so that the test says the same every day. */
const now = Date.UTC(2026, 11, 1) as EpochMs

const nodes = (model: string, count: number, from = 0): ReadonlyArray<SuppliedNode> =>
  Array.from({ length: count }, (_, i) => ({ devices: 8, model, node: `node-${String(from + i).padStart(4, '0')}` }))

const fleets: Readonly<Record<string, ReadonlyArray<SuppliedNode>>> = {
  'small-team.yaml': nodes('H100-SXM-80GB', 1),
  'cohort.yaml': nodes('a100-80gb', 96),
  'two-programs.yaml': nodes('H100-SXM-80GB', 1),
  'company.yaml': [
    ...nodes('H100-SXM-80GB', 650),
    ...nodes('A100-SXM-80GB', 300, 650),
    ...nodes('B300-288GB', 300, 950),
  ],
}

describe('the examples of policies', () => {
  it('should each have a fleet that they are meant for', () => {
    expect(readdirSync(folder).sort()).toEqual(Object.keys(fleets).sort())
  })
  it.each(Object.entries(fleets))('should hold %s to having no fault and no warning', (name, fleet) => {
    expect(warningsOf(policy(name), fleet, now)).toEqual([])
  })
  it.each(Object.keys(fleets))('should explain %s where it stands', (name) => {
    expect(text(name).match(/^ *# /gm)!.length).toBeGreaterThan(4)
    expect(text(name)).toContain(`leasehold policy check docs/examples/policies/${name} --nodes`)
  })
  it('should show every part of a policy in the largest', () => {
    const { spec } = parse(text('company.yaml')) as { spec: Readonly<Record<string, unknown>> }
    expect(Object.keys(spec)).toEqual(
      expect.arrayContaining([
        ...['sharing', 'accelerators', 'topology', 'classes', 'queues', 'cohorts', 'budgets', 'contract', 'limits'],
        ...['caps', 'protectedPools', 'reservations', 'headroom', 'exceptions', 'placement', 'mode', 'pools'],
      ]),
    )
    expect(fleets['company.yaml']!.reduce((sum, { devices }) => sum + devices, 0)).toBe(10_000)
  })
})

it('should say of the cohort of two teams what its comments do', () => {
  const tree = new QuotaTree(quotaNodesOf(policy('cohort.yaml')))
  const devices = tree.flavorResource('a100-80gb', 'devices')!
  const [research, platform] = [tree.node('queue', 'research'), tree.node('queue', 'platform')]
  expect(tree.potential(research, devices)).toBe(768_000)
  expect(tree.local(research, devices)).toBe(64_000)
  expect(tree.potential(platform, devices)).toBe(704_000)
})
