import fc from 'fast-check'
import { expect, it } from 'vitest'
import { NameSet } from '../../../services/api/name-set.ts'

it('should hold what was added and nothing else', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1 })), fc.nat(), (names, cut) => {
      const set = new NameSet()
      const [added, others] = [names.slice(cut), names.slice(0, cut)]
      for (const name of [...added, ...added]) set.add(name)
      expect(set.size).toBe(added.length)
      for (const name of added) expect(set.has(name)).toBe(true)
      for (const name of others) expect(set.has(name)).toBe(false)
    }),
  )
})

it('should tell a hundred thousand names apart that are much alike', () => {
  const set = new NameSet()
  for (let i = 0; i < 100_000; i++) set.add(`train-${i}`)
  expect(set.size).toBe(100_000)
  for (let i = 100_000; i < 200_000; i++) expect(set.has(`train-${i}`)).toBe(false)
})
