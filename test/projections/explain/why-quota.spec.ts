import { expect, it } from 'vitest'
import { whyText } from '../../../projections/explain/why-text.ts'
import { whyOf } from '../../../projections/explain/why.ts'
import type { CellLife } from '../../support/cell-life.ts'
import { devices, kueuePolicy, lifeOf, queue } from '../../domain/planner/kueue/kueue-life.ts'

const toldOf = (life: CellLife, workload: string): string =>
  whyText(whyOf(life.cell, workload)!)
    .replaceAll(/\n {11}/g, ' ')
    .replaceAll(/ {2,}/g, ' ')

it('should say how much of its quota is left, by the books of its queue', () => {
  const life = lifeOf(kueuePolicy([{ name: 'a', ordering: 'greedy', quotas: [devices(3)] }]), 8)
  life.submit('first', 2, { queue: 'a', class: 'middle' }).submit('second', 2, { queue: 'a', class: 'middle' }).tick()
  expect(whyOf(life.cell, 'second')).toMatchObject({
    code: 'WaitingForQuota',
    compared: { asked: 2000, available: 1000 },
  })
  expect(toldOf(life, 'second')).toContain('it asks for 2 GPUs of quota, and queue a may use 1 more now')
})

it('should say what quota comes to at best of what can never start', () => {
  const life = lifeOf(kueuePolicy([queue('a', 3), queue('b', 2)]), 8)
  life.submit('huge', 6, { queue: 'a', class: 'middle' }).tick()
  expect(toldOf(life, 'huge')).toContain(
    'ExceedsMaxQuota: it asks for 6 GPUs; queue a could never use that many, whatever others hold (at most 5).',
  )
})
