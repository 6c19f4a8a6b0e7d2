import { expect, it } from 'vitest'
import { counted } from '../../../services/cli/counted.ts'

it('should speak of one thing as of one', () => {
  expect([0, 1, 2].map((count) => counted(count, 'event'))).toEqual(['0 events', '1 event', '2 events'])
  expect(counted(1, 'query', 'queries')).toBe('1 query')
})
