import { describe, expect, it } from 'vitest'
import { hashOfRequest, ShapeTable } from '../../../domain/fleet/shape.ts'
import { canonicalJson, type Json } from '../../../domain/kernel/canonical-json.ts'
import { decodeFact } from '../../../domain/planner/cloud-event.ts'
import type { TopologyRequest } from '../../../domain/workload/request.ts'
import { nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import { reasonsOf, rightOf } from '../../support/faults.ts'

const fact = (type: string, data: object) => ({
  specversion: '1.0',
  id: '1',
  source: '/slurm/a',
  time: '2026-08-14T10:00:00.000Z',
  type: `dev.leasehold.${type}.v1`,
  data,
})
const registered = (stated: object) => fact('node.registered', { ...nodeOf('n1', 8), ...stated })
const submitted = (stated: object) => {
  const request = { ...requestOf({ devices: 8, span: 'anywhere' }), ...stated }
  return fact('workload.submitted', { class: 'c', estimateMs: null, queue: 'q', request, team: 't', workload: 'w' })
}
const dataOf = (value: object) => rightOf(decodeFact(value)).data as { readonly [key: string]: Json }
const reasons = (value: object) => reasonsOf(decodeFact(value))

describe('what is recorded of a topology', () => {
  it('should be canonical, in whatever order it comes', () => {
    const node = dataOf(registered({ topology: { rack: 'r1', block: 'b1' } }))
    expect(node['topology']).toEqual({ block: 'b1', rack: 'r1' })
    expect(JSON.stringify(node)).toBe(canonicalJson(node))
    const { request } = dataOf(submitted({ topology: { sliceSize: 4, sliceLevel: 'rack', required: 'block' } }))
    expect(request).toMatchObject({ topology: { required: 'block', sliceLevel: 'rack', sliceSize: 4 } })
    expect(JSON.stringify(request)).toBe(canonicalJson(request!))
  })
  it('should not be there where nothing is stated', () => {
    expect(dataOf(registered({}))).not.toHaveProperty('topology')
    expect(dataOf(submitted({}))['request']).not.toHaveProperty('topology')
  })
  it.each<[object, string]>([
    [registered({ topology: null }), 'data.topology: is empty'],
    [registered({ topology: { rack: 'r 1' } }), 'data.topology.rack: "r 1" has a blank in it (U+0020)'],
    [submitted({ topology: {} }), 'data.request.topology: states nothing'],
    [
      submitted({ topology: { required: 'a', preferred: 'b' } }),
      'data.request.topology.preferred: the level is required already: a',
    ],
    [
      submitted({ topology: { sliceLevel: 'a' } }),
      'data.request.topology.sliceSize: is missing, and sliceLevel is stated',
    ],
    [submitted({ topology: { sliceSize: 3 } }), 'data.request.topology.sliceSize: 8 devices are not whole slices of 3'],
    [
      submitted({ topology: { required: 'a' }, span: 'node' }),
      'data.request.span: is node, and topology says how far the devices may lie apart',
    ],
    [
      submitted({ topology: { required: 'a' }, devices: 0, milli: 0 }),
      'data.request.topology: says where devices lie, and none are asked for',
    ],
  ])('should be refused: %#', (value, reason) => {
    expect(reasons(value)).toEqual([reason])
  })
})

describe('requests that differ in their topology alone', () => {
  const topologies: ReadonlyArray<TopologyRequest | undefined> = [
    undefined,
    { required: 'rack' },
    { preferred: 'rack' },
    { required: 'block' },
    { sliceLevel: 'rack', sliceSize: 2 },
    { sliceLevel: 'rack', sliceSize: 4 },
    { required: 'rack', sliceLevel: 'rack', sliceSize: 4 },
  ]
  const requests = topologies.map((topology) => ({
    ...requestOf({ devices: 8, span: 'anywhere' }),
    ...(topology && { topology }),
  }))

  it('should be shapes of their own', () => {
    const table = new ShapeTable()
    const shapes = requests.map((request) => table.intern(request))
    expect(new Set(shapes).size).toBe(topologies.length)
    expect(requests.map((request) => table.intern(structuredClone(request)))).toEqual(shapes)
    expect(new Set(requests.map(hashOfRequest)).size).toBe(topologies.length)
  })
})
