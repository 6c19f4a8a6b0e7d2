import { expect, it } from 'vitest'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../../support/cell-life.ts'

const tuesday = Date.UTC(2026, 7, 4)
const wednesday = tuesday + 24 * hour

it('should let research use what product leaves on Tuesday, and give it back when its windows end', () => {
  const life = new CellLife(tuesday)
    .policy(budgetPolicy({ product: 40, platform: 35, research: 25 }))
    .nodes(1, 8)
    .drilled('product', 'platform', 'research')
  const protect = { preemption: { minRuntimeMs: minutes(120) } }
  for (let i = 0; i < 3; i++) life.submit(`platform-${i}`, 1, { budget: 'platform', ...protect })
  for (let i = 0; i < 8; i++) life.submit(`research-${i}`, 1, { budget: 'research', ...protect })
  life.tick()
  expect([life.holds('platform'), life.holds('research')]).toEqual([3, 5])
  life.at(wednesday)
  for (let i = 0; i < 8; i++) life.submit(`product-${i}`, 1, { budget: 'product', ...protect })
  life.tick()
  for (let at = wednesday; at <= wednesday + 2 * hour; at += minute) life.at(at).tick()
  expect(life.holds('product')).toBe(3)
  expect(life.holds('platform') + life.holds('research')).toBe(5)
})
