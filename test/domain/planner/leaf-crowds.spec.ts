import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LeafCrowds } from '../../../domain/planner/leaf-crowds.ts'

it('should count of each other person as many as there are, up to so many', () => {
  const place = fc.record({ leaf: fc.nat(1), person: fc.nat(3), kind: fc.constantFrom('a', 'b') })
  const step = fc.oneof(fc.record({ comes: place }), fc.record({ leaves: fc.nat() }))
  fc.assert(
    fc.property(fc.array(step), place, fc.nat(4), (steps, asked, most) => {
      const crowds = new LeafCrowds()
      const there: { readonly leaf: number; readonly person: number; readonly kind: string }[] = []
      for (const step of steps) {
        if ('comes' in step) there.push(step.comes)
        const one = 'comes' in step ? step.comes : there.splice(step.leaves % Math.max(1, there.length), 1)[0]
        if (one !== undefined) crowds.count(one.leaf, one.person, [one.kind, ''], 'comes' in step ? 1 : -1)
      }
      for (const kind of [asked.kind, '']) {
        const besides = [0, 1, 2, 3].map((person) => {
          const own = there.filter((one) => one.leaf === asked.leaf && one.person === person)
          return person === asked.person ? 0 : own.filter((one) => kind === '' || one.kind === kind).length
        })
        const expected = besides.reduce((sum, count) => sum + Math.min(most, count), 0)
        expect(crowds.beside(asked.leaf, asked.person, kind, most)).toBe(expected)
      }
    }),
  )
})
