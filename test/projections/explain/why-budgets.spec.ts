import { expect, it } from 'vitest'
import { canonicalJson } from '../../../domain/kernel/canonical-json.ts'
import { comparedBy } from '../../../domain/planner/reason-code.ts'
import { whyText } from '../../../projections/explain/why-text.ts'
import { whyOf } from '../../../projections/explain/why.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../support/cell-life.ts'

const tuesday = Date.UTC(2026, 7, 4)
const wednesday = tuesday + 24 * hour

const toldOf = (life: CellLife, workload: string): string => {
  life.cell.now = life.now as typeof life.cell.now
  return whyText(whyOf(life.cell, workload)!)
    .replaceAll(/\n {11}/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
}

/** The worked example of the rules: 20 GPUs, shares 40/35/25, product away on Tuesday. */
const twentyGpus = (): CellLife => {
  const life = new CellLife(tuesday)
    .policy(budgetPolicy({ product: 40, platform: 35, research: 25 }))
    .nodes(1, 20)
    .drilled('product', 'platform', 'research')
  const protect = { preemption: { minRuntimeMs: minutes(120) } }
  for (let i = 0; i < 7; i++) life.submit(`platform-${i}`, 1, { budget: 'platform', ...protect })
  for (let i = 0; i < 20; i++) life.submit(`research-${i}`, 1, { budget: 'research', ...protect })
  life.tick()
  // Their windows begin late enough to hold until 02:00 on Wednesday.
  life.at(wednesday - minute)
  for (const { id, run } of [...life.cell.workloads.values()]) if (run !== null) life.end(id)
  for (let i = 0; i < 7; i++) life.submit(`platform-again-${i}`, 1, { budget: 'platform', ...protect })
  for (let i = 0; i < 20; i++) life.submit(`research-again-${i}`, 1, { budget: 'research', ...protect })
  life.tick()
  life.at(wednesday)
  for (let i = 0; i < 20; i++) life.submit(`product-${i}`, 1, { budget: 'product', ...protect })
  life.tick()
  return life
}

it('should say whose protected windows are in the way, and until when', () => {
  const life = twentyGpus()
  for (let at = wednesday; at <= wednesday + hour; at += 10 * minute) life.at(at).tick()
  const text = toldOf(life, 'product-0')
  expect(text).toContain('product-0 waits at product/unknown (queue default), position 1, for 1 h ')
  expect(text).toMatch(
    /ProtectedWindow: its side is owed the room, but the 13 attempts that would have to leave are in a protected window, the first until 2026-08-05 01:59:00 UTC \(in 59 min\)\./,
  )
  expect(text).toContain('Rule spec.contract.minRuntimeMax, policy ')
  expect(text).toMatch(/Held by (research-[\w-]+, ){9}research-[\w-]+ and 3 more/)
})

it('should put the arithmetic of a spent budget in words that can be followed', () => {
  const life = twentyGpus()
  for (let at = wednesday; at <= wednesday + 3 * hour; at += 10 * minute) life.at(at).tick()
  const waits = [...life.cell.workloads.values()].find(({ id, run, hold }) => {
    return run === null && id.startsWith('research') && hold?.code !== 'BehindInQueue'
  })!
  const why = whyOf(life.cell, waits.id)!
  if (why.state !== 'waiting' || why.own === null) throw new Error(canonicalJson(why as never))
  const text = toldOf(life, waits.id)
  const [, charged, owed, ratio, held, entitled] =
    /research was charged ([\d.]+) of ([\d.]+) GPU-hours that it was owed over the window \(([\d.]+)\); it holds (\d+) of the (\d+) that it is entitled to/.exec(
      text,
    )!
  expect(text).toContain('BudgetExhaustedInWindow: ')
  // Owed 120 on Tuesday and 5 an hour since, charged 8 an hour more from midnight to two.
  expect([owed, held, entitled]).toEqual(['135', '5', '5'])
  expect(Number(charged)).toBeGreaterThan(150)
  expect(Number(ratio)).toBeCloseTo(Number(charged) / Number(owed), 3)
  expect(Object.keys(why.compared).sort()).toEqual([...comparedBy.BudgetExhaustedInWindow!].sort())
  expect(text).toContain('Next turn by ')
})

it('should place one in its part of the leaf, and name who is before it there and nobody else', () => {
  const life = new CellLife(tuesday).policy(budgetPolicy({ product: 1, research: 1 })).nodes(1, 2)
  life.submit('holder', 2, { budget: 'product' }).tick()
  for (let i = 0; i < 30; i++)
    life.submit(`r-${i}`, 2, { budget: i % 2 === 0 ? 'research' : 'product', terms: { submitter: `person-${i % 3}` } })
  life.tick()
  const why = whyOf(life.cell, 'r-24')!
  expect(why).toMatchObject({ budget: 'research/person-0', position: 5, aheadCount: 4 })
  expect(why).toMatchObject({ ahead: ['r-0', 'r-6', 'r-12', 'r-18'] })
})
