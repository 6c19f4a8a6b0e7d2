import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SiblingHeap } from '../../../domain/fairness/sibling-heap.ts'

interface Member {
  readonly name: number
  key: number
  place: number
}

const step = fc.record({ member: fc.nat(19), key: fc.nat(9), leaves: fc.boolean() })

it('should have the same first, and the same order, as a list that is sorted', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100, size: 'max' }), (steps) => {
      const isBefore = (a: Member, b: Member) => a.key < b.key || (a.key === b.key && a.name < b.name)
      const heap = new SiblingHeap<Member>(isBefore)
      const members = Array.from({ length: 20 }, (_, name): Member => ({ name, key: 0, place: -1 }))
      const inside = new Set<Member>()
      for (const { member: index, key, leaves } of steps) {
        const member = members[index]!
        if (!inside.has(member)) {
          member.key = key
          inside.add(member)
          heap.add(member)
        } else if (leaves) {
          inside.delete(member)
          heap.remove(member)
        } else {
          member.key = key
          heap.moved(member)
        }
        const sorted = [...inside].sort((a, b) => (isBefore(a, b) ? -1 : 1))
        expect(heap.size).toBe(sorted.length)
        expect(heap.first).toBe(sorted[0])
        expect(heap.sorted()).toEqual(sorted)
      }
    }),
  )
})

it('should refuse to take a member twice, or to give up one that it has not', () => {
  const heap = new SiblingHeap<Member>((a, b) => a.key < b.key)
  const [member, other] = [1, 2].map((name): Member => ({ name, key: name, place: -1 })) as [Member, Member]
  heap.add(member)
  expect(() => {
    heap.add(member)
  }).toThrow('in a heap once')
  expect(() => {
    heap.remove(other)
  }).toThrow('is in it')
})
