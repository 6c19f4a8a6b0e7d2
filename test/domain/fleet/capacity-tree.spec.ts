import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CapacityTree } from '../../../domain/fleet/capacity-tree.ts'

const level = fc.constantFrom(-1, 0, 1, 2, 1000, Infinity)
const capacity = fc.tuple(level, level, level, level)
const change = fc.record({ node: fc.nat(40), capacity, from: fc.nat(70), least: capacity })

it('should find the same first node as a scan of all, however it has grown', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const tree = new CapacityTree()
      const nodes: (typeof changes)[number]['capacity'][] = []
      for (const { node, capacity, from, least } of changes) {
        while (nodes.length <= node) nodes.push([-1, -1, -1, -1])
        tree.grow(node + 1)
        nodes[node] = capacity
        tree.set(node, ...capacity)
        const [largestMilli, wholeDevices, cpuMilli, hostMemoryMib] = least.map((each) => Math.max(0, each))
        const reached = (number: number) => nodes[number]!.every((each, i) => each >= Math.max(0, least[i]!))
        const expected = [...nodes.keys()].find((number) => number >= from && reached(number)) ?? -1
        const bounds = { largestMilli, wholeDevices, cpuMilli, hostMemoryMib } as Parameters<CapacityTree['next']>[1]
        expect(tree.next(from, bounds)).toBe(expected)
        expect(tree.largestMilli).toBe(Math.max(-1, ...nodes.map(([milli]) => milli)))
        expect(tree.mostWholeDevices).toBe(Math.max(-1, ...nodes.map(([, whole]) => whole)))
        const copy = new CapacityTree()
        copy.copyFrom(tree)
        expect(copy.next(from, bounds)).toBe(expected)
      }
    }),
  )
})

it('should find nothing in a fleet without nodes', () => {
  const nothing = { largestMilli: 0, wholeDevices: 0, cpuMilli: 0, hostMemoryMib: 0 }
  expect(new CapacityTree().next(0, nothing)).toBe(-1)
  expect(new CapacityTree().next(7, nothing)).toBe(-1)
})
