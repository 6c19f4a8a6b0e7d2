import { expect, it } from 'vitest'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { defaultClass } from '../../../domain/policy/budget-policy.ts'
import { whyText } from '../../../projections/explain/why-text.ts'
import { whyOf } from '../../../projections/explain/why.ts'
import { budgetPolicy, CellLife } from '../../support/cell-life.ts'

/** Of eight, two are held; what needs five waits. */
const toldWith = (more: Partial<AllocationPolicy>) => {
  const life = new CellLife(Date.UTC(2026, 7, 4)).policy(budgetPolicy({ a: 1, b: 1 }, more)).nodes(1, 8)
  life.drilled('a', 'b').submit('holder', 2, { budget: 'a' }).tick()
  life.submit('large', 5, { budget: 'a' }).tick()
  const why = whyOf(life.cell, 'large')!
  const told = whyText(why)
    .replaceAll(/\n {11}/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
  return { told, why }
}

it('should say how many are kept for a class and how many that leaves', () => {
  const { told, why } = toldWith({ classes: [{ ...defaultClass('serving'), reserveDevices: 2 }] })
  expect(why).toMatchObject({
    code: 'WouldDelayReservation',
    compared: { freeDevices: 6, keptDevices: 2 },
    behind: null,
  })
  expect(told).toContain(
    'it needs 5 whole GPUs; of 6 whole GPUs free, 2 are kept for class serving, so that 4 may be used by it.',
  )
  expect(told).toContain('Rule spec.classes[0].reserve,')
})

it('should name a reservation and the headroom', () => {
  const launch = { budget: 'b', devices: 3, expires: '2026-09-04', justification: 'j', name: 'launch', owner: 'Ann' }
  const headroom = { band: { high: 80, low: 60 }, lent: false, percent: 25 }
  expect(toldWith({ reservations: [launch] }).told).toContain('3 are kept for reservation launch, so that 3 may')
  expect(toldWith({ headroom }).told).toContain('2 are kept for the headroom, so that 4 may be used by it.')
  expect(toldWith({ headroom, reservations: [launch] }).told).toContain(
    '5 are kept for reservation launch and the headroom, so that 1 may be used by it.',
  )
})
