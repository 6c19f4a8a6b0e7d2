import { expect, it } from 'vitest'
import { RecentIds } from '../../../services/decide/recent-ids.ts'

it('should know the last ids, and not all that there ever were', () => {
  const recent = new RecentIds()
  for (let i = 0; i < 200_000; i++) recent.add(`id-${i}`)
  const known = Array.from({ length: 200_000 }, (_, i) => recent.has(`id-${i}`))
  expect(known.slice(-32_768)).not.toContain(false)
  expect(known.slice(0, -65_536)).not.toContain(true)
  recent.clear()
  expect(recent.has('id-199999')).toBe(false)
})
