import { expect, it } from 'vitest'
import { ToldAccounts } from '../../../support/budgets/told-accounts.ts'
import { ToldCell } from '../../../support/budgets/told-cell.ts'
import { decisionsOf, pass, preemptionsOf, startsOf } from '../../../support/budgets/seen.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../../support/cell-life.ts'

const tuesday = Date.UTC(2026, 7, 4)
const wednesday = tuesday + 24 * hour
const protect = { preemption: { minRuntimeMs: minutes(120) } }

/** The ledger read literally, from the events alone, beside the one that decided. */
const compareLedger = (life: CellLife): void => {
  const told = new ToldCell('pool')
  let accounts: ToldAccounts | null = null
  for (const { input, decisions } of life.told) {
    told.hear(input)
    if (told.policy !== null) accounts ??= new ToldAccounts(told)
    accounts?.follow(input)
    for (const decision of decisions) {
      told.follow(decision)
      accounts!.follow(decision)
    }
  }
  const { ledger } = life.cell.books!
  for (const node of ledger.nodes()) expect(ledger.read(node)).toEqual(accounts!.read(ledger.path(node)))
}

/** Nobody of them was taken before its window was over. */
const expectProtected = (life: CellLife): void => {
  for (const { at, data } of preemptionsOf(life))
    for (const { workload } of data.victims) {
      const started = startsOf(life, workload).findLast((start) => start < at)!
      expect(at - started).toBeGreaterThanOrEqual(2 * hour)
    }
}

it('should let research use what product leaves on Tuesday, and give it back when its windows end', () => {
  const life = new CellLife(tuesday)
    .policy(budgetPolicy({ product: 40, platform: 35, research: 25 }))
    .nodes(1, 8)
    .drilled('product', 'platform', 'research')
  for (let i = 0; i < 3; i++) life.submit(`platform-${i}`, 1, { budget: 'platform', ...protect })
  for (let i = 0; i < 8; i++) life.submit(`research-${i}`, 1, { budget: 'research', ...protect })
  life.tick()
  expect([life.holds('platform'), life.holds('research')]).toEqual([3, 5])
  life.at(wednesday)
  for (let i = 0; i < 8; i++) life.submit(`product-${i}`, 1, { budget: 'product', ...protect })
  life.tick()
  pass(life, wednesday + 2 * hour)
  expect(life.holds('product')).toBe(3)
  expect(life.holds('platform') + life.holds('research')).toBe(5)
})

it.each([7, 11, 23, 47, 95])(
  'should give it back by the last window that was open, jobs starting every %i min',
  (every) => {
    const life = new CellLife(tuesday)
      .policy(budgetPolicy({ product: 40, platform: 35, research: 25 }))
      .nodes(1, 8)
      .drilled('product', 'platform', 'research')
    for (let i = 0; i < 3; i++) life.submit(`platform-${i}`, 1, { budget: 'platform', ...protect })
    let made = 0
    const submitResearch = () => life.submit(`research-${made++}`, 1, { budget: 'research', ...protect })
    for (let i = 0; i < 8; i++) submitResearch()
    life.tick()
    expect([life.holds('platform'), life.holds('research')]).toEqual([3, 5])
    // Research runs without a break: an old one ends, and another one starts.
    for (let at = tuesday + 20 * hour; at < wednesday; at += every * minute) {
      pass(life, at, hour)
      life.end(life.running.find((id) => id.startsWith('research'))!)
      submitResearch().tick()
    }
    pass(life, wednesday, hour)
    const windowsEnd = life.running
      .filter((id) => id.startsWith('research'))
      .map((id) => startsOf(life, id).at(-1)! + 2 * hour)
      .filter((end) => end > wednesday)
    for (let i = 0; i < 8; i++) life.submit(`product-${i}`, 1, { budget: 'product', ...protect })
    for (let i = 3; i < 8; i++) life.submit(`platform-${i}`, 1, { budget: 'platform', ...protect })
    life.tick()
    const last = Math.max(wednesday + 30 * minute, ...windowsEnd)
    pass(life, last)
    expect(last).toBeLessThanOrEqual(wednesday + 2 * hour)
    expect(life.holds('product')).toBe(3)
    expectProtected(life)
    pass(life, wednesday + 8 * hour)
    expect(life.holds('product')).toBe(3)
    expect(life.holds('platform')).toBeGreaterThanOrEqual(2)
    expectProtected(life)
    compareLedger(life)
  },
)

it('should take back exactly eight of twenty, when the windows end (BUDGETS, worked example)', () => {
  const life = new CellLife(tuesday - 5 * 24 * hour)
    .policy(budgetPolicy({ product: 40, platform: 35, research: 25 }))
    .nodes(1, 20)
    .drilled('product', 'platform', 'research')
  for (const [program, count] of [
    ['product', 8],
    ['platform', 7],
    ['research', 5],
  ] as const)
    for (let i = 0; i < count; i++) life.submit(`${program}-${i}`, 1, { budget: program })
  for (let i = 5; i < 20; i++) life.submit(`research-${i}`, 1, { budget: 'research', ...protect })
  life.tick()
  pass(life, tuesday, hour)
  expect(['product', 'platform', 'research'].map((program) => life.holds(program))).toEqual([8, 7, 5])
  for (let i = 0; i < 8; i++) life.end(`product-${i}`)
  life.tick()
  expect(life.holds('research')).toBe(13)
  pass(life, wednesday - 5 * minute, hour)
  // Every attempt of research starts again just before midnight.
  for (const id of life.running.filter((one) => one.startsWith('research'))) {
    life.end(id).submit(`${id}-again`, 1, { budget: 'research', ...protect })
  }
  life.at(wednesday).tick()
  for (let i = 0; i < 20; i++) life.submit(`product-w${i}`, 1, { budget: 'product', ...protect })
  life.tick()
  pass(life, wednesday + 2 * hour - minute)
  expect(life.holds('product')).toBe(0)
  pass(life, wednesday + 2 * hour + minute)
  expect(['product', 'platform', 'research'].map((program) => life.holds(program))).toEqual([8, 7, 5])
  expect(preemptionsOf(life).flatMap(({ data }) => data.victims)).toHaveLength(8)
  const { ledger } = life.cell.books!
  const read = (program: string) => ledger.read(ledger.node(program)!)
  const unitHours = (sum: bigint) => Math.round(Number(sum) / 3_600_000 / 1000)
  expect(unitHours(read('product').debt)).toBe(16)
  expect(read('platform').charged).toBe(read('platform').owed)
  compareLedger(life)
  pass(life, wednesday + 12 * hour, 10 * minute)
  expect(decisionsOf(life).filter(({ type }) => type === 'PreemptionDecided').length).toBeLessThanOrEqual(8)
  expectProtected(life)
})
