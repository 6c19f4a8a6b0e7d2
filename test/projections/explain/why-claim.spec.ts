import { expect, it } from 'vitest'
import { whyText } from '../../../projections/explain/why-text.ts'
import { whyOf } from '../../../projections/explain/why.ts'
import { hour, minute, minutes } from '../../support/cell-life.ts'
import { contested, monday, victimsOf, type ContestedLife } from '../../support/contested-life.ts'

const toldOf = (life: ContestedLife, workload: string): string => {
  life.cell.now = life.now as typeof life.cell.now
  return whyText(whyOf(life.cell, workload)!)
    .replaceAll(/\n {11}/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
}

it('should say when the debt of its side is large enough to take back what it is owed, and be right', () => {
  const life = contested(4, {}, { budget: { reclaimAfterMs: minutes(10) } })
  life.submit('b0', 1, { budget: 'b' })
  expect(victimsOf(life.pass(4 * minute))).toEqual([])
  const why = whyOf(life.cell, 'b0')!
  if (why.state !== 'waiting') throw new Error('it waits')
  // Entitled to two, it is owed one: its debt of 10 min x 2 takes twenty minutes.
  expect(why.claim).toMatchObject({ lackingMilli: 1000, at: monday + 20 * minute })
  expect(toldOf(life, 'b0')).toContain(
    'is owed 1 GPU that it does not hold, and takes that back when its debt reaches `reclaimAfter`: as things stand 2026-08-03 09:20:00 UTC (in 16 min).',
  )
  expect(victimsOf(life.pass(15 * minute))).toEqual([])
  expect(victimsOf(life.pass(minute))).toHaveLength(1)
})

it('should say that it takes back as soon as those may leave, once the debt is large enough', () => {
  const life = contested(4, {}, { job: { preemption: { minRuntimeMs: minutes(90) } } })
  life.submit('b0', 1, { budget: 'b' }).pass(hour)
  expect(life.reason('b0')).toBe('ProtectedWindow')
  expect(toldOf(life, 'b0')).toContain('takes that back as soon as those who hold it may leave')
})
