import { expect, it } from 'vitest'
import { BudgetLedger } from '../../../domain/budget/ledger.ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import { defaultBudget, type BudgetPolicy } from '../../../domain/policy/budget-policy.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** Thursday, 1970-01-01T00:00Z. */
const thursday = 0

const policy = (...shares: ReadonlyArray<readonly [name: string, share: number]>): BudgetPolicy => ({
  ...defaultBudget,
  tree: shares.map(([name, share]) => ({
    name,
    share,
    owner: null,
    reviewDate: null,
    capMilli: null,
    children: [],
    persons: {},
  })),
})
const programs = policy(['product', 40], ['platform', 35], ['research', 25])

/** A cell of so many GPUs, whose programs are told of by name, and rates and readings of which are in GPUs and hours. */
const cell = (gpus: number) => {
  const ledger = new BudgetLedger(programs, 'v1', thursday as EpochMs)
  ledger.setCapacity(gpus * 1000, thursday as EpochMs)
  const node = (name: string) => ledger.node(name)!
  type Verb = 'hold' | 'release' | 'wait' | 'unwait' | 'idle' | 'active'
  return {
    ledger,
    node,
    tell: (verb: Verb, name: string, gpus: number, at: number) => {
      ledger[verb](node(name), gpus * 1000, at as EpochMs)
    },
    read: (name: string, at: number) => {
      ledger.advance(at as EpochMs)
      return ledger.read(node(name))
    },
  }
}

/** Unit-hours as milli-units x ms. */
const unitHours = (amount: number) => BigInt(Math.round(amount * 1000)) * BigInt(hour)
const unitMinutes = (amount: number) => BigInt(amount * 1000) * BigInt(minute)

const tuesday = thursday + 5 * day
const wednesday = tuesday + day

/** Five days at full demand; then product wants nothing and research takes what it leaves. */
const untilTuesday = () => {
  const week = cell(20)
  week.tell('hold', 'product', 8, thursday)
  week.tell('hold', 'platform', 7, thursday)
  week.tell('hold', 'research', 5, thursday)
  for (const name of ['product', 'platform', 'research']) week.tell('wait', name, 30, thursday)
  return week
}

const untilWednesday = () => {
  const week = untilTuesday()
  week.tell('unwait', 'product', 30, tuesday)
  week.tell('release', 'product', 8, tuesday)
  week.tell('unwait', 'platform', 30, tuesday)
  week.tell('hold', 'research', 8, tuesday)
  return week
}

const untilReclaim = () => {
  const week = untilWednesday()
  week.tell('wait', 'product', 20, wednesday)
  week.tell('wait', 'platform', 30, wednesday)
  return week
}

it('should entitle 20 GPUs to 8, 7 and 5, and have all served fully after five days of full demand', () => {
  const week = untilTuesday()
  for (const [name, gpus] of [
    ['product', 8],
    ['platform', 7],
    ['research', 5],
  ] as const) {
    expect(week.read(name, tuesday)).toMatchObject({
      entitled: gpus * 1000,
      owed: unitHours(gpus * 5 * 24),
      charged: unitHours(gpus * 5 * 24),
      debt: 0n,
      credit: 0n,
      behind: false,
    })
    expect(week.ledger.servedFully(week.node(name))).toBe(true)
  }
})

it('should charge nobody for what product leaves on Tuesday, and credit product up to its cap', () => {
  const week = untilWednesday()
  const before = ['product', 'platform', 'research'].map((name) => week.read(name, tuesday))
  const after = ['product', 'platform', 'research'].map((name) => week.read(name, wednesday))
  const onTuesday = (program: number, of: 'owed' | 'charged' | 'unallocated' | 'over') =>
    after[program]![of] - before[program]![of]
  expect(onTuesday(0, 'owed')).toBe(0n)
  expect(onTuesday(0, 'charged')).toBe(0n)
  expect(onTuesday(1, 'charged')).toBe(unitHours(168))
  expect(onTuesday(2, 'charged')).toBe(unitHours(120))
  expect(onTuesday(2, 'unallocated')).toBe(unitHours(192))
  expect(onTuesday(2, 'over')).toBe(0n)
  expect(after[0]).toMatchObject({ credit: unitHours(192), creditCap: unitHours(192), isOver: false })
  expect(after[2]).toMatchObject({ excess: 8000, isOver: false, credit: 0n })
})

it('should cap the credit of a program that leaves more', () => {
  const week = untilWednesday()
  expect(week.read('product', wednesday + hour)).toMatchObject({ credit: unitHours(192) })
})

it('should let the debt of product reach ten minutes of its entitlement at ten past', () => {
  const week = untilReclaim()
  const tenMinutes = (10 * minute) as DurationMs
  expect(week.read('product', wednesday)).toMatchObject({ behind: true, demand: 20_000, owedRate: 8000, debt: 0n })
  week.ledger.advance((wednesday + 10 * minute - 1) as EpochMs)
  expect(week.ledger.debtAtLeast(week.node('product'), tenMinutes)).toBe(false)
  week.ledger.advance((wednesday + 10 * minute) as EpochMs)
  expect(week.ledger.debtAtLeast(week.node('product'), tenMinutes)).toBe(true)
  expect(week.ledger.read(week.node('product')).debt).toBe(unitMinutes(80))
})

it('should charge research for its excess while product is behind, and settle at 8, 7 and 5', () => {
  const week = untilReclaim()
  const since = wednesday + 2 * hour
  const wasResearch = week.read('research', wednesday)
  expect(wasResearch.isOver).toBe(true)
  const product = week.read('product', since)
  const research = week.read('research', since)
  const platform = week.read('platform', since)
  expect(product).toMatchObject({ debt: unitHours(16), owed: unitHours(976), charged: unitHours(960) })
  expect(research.owed - wasResearch.owed).toBe(unitHours(10))
  expect(research.charged - wasResearch.charged).toBe(unitHours(26))
  expect(research).toMatchObject({ over: unitHours(16), owed: unitHours(730), charged: unitHours(746), debt: 0n })
  expect(platform.charged).toBe(platform.owed)

  week.tell('release', 'research', 8, since)
  week.tell('unwait', 'product', 8, since)
  week.tell('hold', 'product', 8, since)
  for (const name of ['product', 'platform', 'research'])
    expect(week.ledger.read(week.node(name))).toMatchObject({ behind: false, isOver: false, excess: 0 })
  const order = ['research', 'platform', 'product'].sort((a, b) =>
    week.ledger.compareServed(week.node(a), week.node(b)),
  )
  expect(order).toEqual(['product', 'platform', 'research'])
  expect(week.ledger.servedFully(week.node('product'))).toBe(false)
})

it('should forget an hour of Monday when its hour of the next Monday begins', () => {
  const monday = thursday + 4 * day
  const week = cell(20)
  week.tell('hold', 'product', 8, monday + 10 * hour + 20 * minute)
  week.tell('release', 'product', 8, monday + 10 * hour + 25 * minute)
  const used = unitMinutes(40)
  expect(week.read('product', monday + 7 * day + 10 * hour - 1)).toMatchObject({ charged: used, owed: used })
  expect(week.read('product', monday + 7 * day + 10 * hour)).toMatchObject({ charged: 0n, owed: 0n })
})

it('should charge two GPUs that hang on what nobody wants, from when they are idle', () => {
  const week = untilWednesday()
  const before = week.read('research', wednesday)
  week.tell('idle', 'research', 2, wednesday + 10 * minute)
  week.tell('active', 'research', 2, wednesday + 4 * hour)
  const after = week.read('research', wednesday + 4 * hour)
  expect(after.idleCharged).toBe(unitMinutes(2 * 230))
  expect(after.charged - before.charged).toBe(unitHours(20) + unitMinutes(2 * 230))
})

it('should leave 3, 3 and 2 of 8 GPUs behind by a fifth of one, and give product the next turn', () => {
  const small = cell(8)
  for (const [name, gpus] of [
    ['product', 3],
    ['platform', 3],
    ['research', 2],
  ] as const) {
    small.tell('hold', name, gpus, thursday)
    small.tell('wait', name, 10, thursday)
  }
  const later = thursday + 7 * hour + 1
  expect(small.read('product', later)).toMatchObject({ entitled: 3200, owedRate: 3200, behind: true })
  expect(small.read('platform', later)).toMatchObject({ entitled: 2800, owedRate: 2800, excess: 200, isOver: true })
  expect(small.read('research', later)).toMatchObject({ entitled: 2000, excess: 0, behind: false })
  expect(small.read('product', later).debt).toBe(200n * BigInt(later))
  const [product, platform, research] = ['product', 'platform', 'research'].map(small.node)
  expect(small.ledger.compareServed(product!, research!)).toBeLessThan(0)
  expect(small.ledger.compareServed(research!, platform!)).toBeLessThan(0)
})
