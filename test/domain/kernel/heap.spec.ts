import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Heap } from '../../../domain/kernel/heap.ts'

it('should hand out the least of what it holds, as a sorted list does', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: -20, max: 20 })), { maxLength: 100, size: 'max' }), (steps) => {
      const heap = new Heap<number>((n) => n)
      const list: number[] = []
      for (const step of steps) {
        if (step === null) expect(heap.pop()).toBe(list.shift())
        else {
          heap.push(step)
          list.push(step)
          list.sort((a, b) => a - b)
        }
        expect([heap.size, heap.least]).toEqual([list.length, list[0]])
      }
      for (const expected of list) expect(heap.pop()).toBe(expected)
      expect(heap.pop()).toBeUndefined()
    }),
  )
})
