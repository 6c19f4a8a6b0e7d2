import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { emptyFleetVerdict } from '../../../domain/fleet/empty-fleet.ts'
import { Fleet } from '../../../domain/fleet/fleet.ts'
import { ShapeTable } from '../../../domain/fleet/shape.ts'
import type { NodeSpec } from '../../../domain/fleet/fleet.ts'
import type { PlacementRequest } from '../../../domain/workload/request.ts'
import { anyNodes, anyRequest, nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import { accepts, naiveNode, placeSlowly } from '../../support/naive/naive-fleet.ts'

const fleetOf = (specs: ReadonlyArray<NodeSpec>): Fleet => {
  const fleet = new Fleet()
  for (const spec of specs) fleet.register(spec)
  return fleet
}
const verdictOf = (fleet: Fleet, request: PlacementRequest) =>
  emptyFleetVerdict(fleet, new ShapeTable().intern(request))

it('should say that the fleet could hold what can be placed with nothing on it, and nothing else', () => {
  fc.assert(
    fc.property(anyNodes(0), anyRequest, (specs, request) => {
      const fleet = fleetOf(specs)
      const nodes = specs.map(naiveNode)
      const { holds, hasModel } = verdictOf(fleet, request)
      expect(holds).toBe(placeSlowly(nodes, request, 'first-fit') !== null)
      const able = nodes.filter((node) => accepts(request, node) && (request.devices === 0 || node.spec.devices > 0))
      expect(hasModel).toBe(able.length > 0)
    }),
    { numRuns: 500 },
  )
})

it('should not depend on what runs or on health', () => {
  fc.assert(
    fc.property(anyNodes(), anyRequest, (specs, request) => {
      const [busy, empty] = [fleetOf(specs), fleetOf(specs)]
      specs.forEach(({ devices }, node) => {
        const shape = new ShapeTable().intern(requestOf({ milli: 500 }))
        if (devices > 0) busy.take(shape, { node, devices: [0], milli: 500, memoryMib: 0 })
        busy.setHealth(node, null, 'failed')
      })
      expect(verdictOf(busy, request)).toEqual(verdictOf(empty, request))
    }),
  )
})

describe('the largest request of its kind', () => {
  const specs = [
    nodeOf('n0', 4, { domain: 'x', model: 'a' }),
    nodeOf('n1', 2, { domain: 'x', model: 'b' }),
    nodeOf('n2', 3, { model: 'b' }),
  ]

  it.each([
    ['one node', requestOf({ devices: 9 }), 4000],
    ['one domain', requestOf({ devices: 9, span: 'domain' }), 6000],
    ['anywhere', requestOf({ devices: 10, span: 'anywhere' }), 9000],
    ['anywhere, of one model', requestOf({ devices: 9, span: 'anywhere', models: ['b'] }), 5000],
    ['shares of one node', requestOf({ devices: 9, milli: 300 }), 1200],
    ['an unknown model', requestOf({ models: ['z'] }), 0],
  ])('should be known for %s', (_, request, largestMilli) => {
    expect(verdictOf(fleetOf(specs), request)).toEqual({
      holds: false,
      hasModel: request.models?.[0] !== 'z',
      largestMilli,
    })
  })

  it('should be nothing in a fleet without nodes', () => {
    expect(verdictOf(fleetOf([]), requestOf({}))).toEqual({ holds: false, hasModel: false, largestMilli: 0 })
  })
})
