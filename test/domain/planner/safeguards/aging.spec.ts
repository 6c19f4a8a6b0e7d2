import { expect, it } from 'vitest'
import { defaultClass } from '../../../../domain/policy/budget-policy.ts'
import { budgetPolicy, hour, minute, minutes } from '../../../support/cell-life.ts'
import { ContestedLife, monday } from '../../../support/contested-life.ts'

/** One device is taken; `old` waits since the beginning, `urgent` since `urgentAfter`; who starts when it comes free. */
const next = (agingMs: number | null, urgentAfter: number, freeAfter: number): string => {
  const classes = [
    { ...defaultClass('training'), agingMs: agingMs === null ? null : minutes(agingMs / minute) },
    { ...defaultClass('debug'), priority: 2 },
  ]
  const life = new ContestedLife(monday).policy(budgetPolicy({ a: 1 }, { classes })).nodes(1, 1)
  life.submit('holds', 1, { budget: 'a', preemption: { tolerated: false } }).tick()
  life.submit('old', 1, { budget: 'a' })
  life
    .at(monday + urgentAfter)
    .submit('urgent', 1, { budget: 'a', class: 'debug' })
    .tick()
  life.at(monday + freeAfter).end('holds')
  life.tick()
  return life.running.join()
}

it('should let the higher class go first within a leaf, whoever came first', () => {
  expect(next(null, hour, 40 * hour)).toBe('urgent')
})
it('should raise who waits by one with each time of its class, and let the older go first then', () => {
  expect(next(hour, hour, 2 * hour - 1)).toBe('urgent')
  expect(next(hour, hour, 2 * hour)).toBe('old')
})
