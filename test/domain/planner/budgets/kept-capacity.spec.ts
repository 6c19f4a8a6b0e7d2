import { describe, expect, it } from 'vitest'
import { defaultClass } from '../../../../domain/policy/budget-policy.ts'
import { defaultLimits } from '../../../../domain/policy/contract-policy.ts'
import { decisionsOf, heldOf, pass, preemptionsOf, startsOf, victimsOf } from '../../../support/budgets/seen.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../../support/cell-life.ts'
import type { DurationMs, EpochMs } from '../../../../domain/kernel/units.ts'
import type { CommandOutcome } from '../../../../domain/planner/command.ts'

const conclude = (life: CellLife, workload: string, verb: 'start' | 'evict', outcome: CommandOutcome = 'done') => {
  const { attempt, run } = life.cell.workloads.get(workload)!
  const command = verb === 'start' ? `${workload}/${attempt}/start` : run!.open!.command
  life.tell({
    type: 'CommandConcluded',
    at: life.now as EpochMs,
    data: { attempt, command, outcome, reason: null, verb, workload },
  })
}

/** A pool that commands: four of b run, two of a have been given places. */
const commanded = (): CellLife => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1, c: 1 }, { mode: 'automate' }))
    .nodes(1, 4)
    .drilled('a', 'b', 'c')
  for (let i = 0; i < 4; i++) life.submit(`b${i}`, 1, { budget: 'b' })
  life.tick()
  for (let i = 0; i < 4; i++) conclude(life, `b${i}`, 'start')
  life.at(minute).submit('a', 2, { budget: 'a' }).tick()
  pass(life, 30 * minute)
  return life
}

it('should keep what the first victim leaves until the second has left, too (situation 4, kueue PR 13797)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }, { mode: 'automate' }))
    .nodes(1, 4)
    .drilled('a', 'b')
  for (let i = 0; i < 4; i++) life.submit(`b${i}`, 1, { budget: 'b' })
  life.tick()
  for (let i = 0; i < 4; i++) conclude(life, `b${i}`, 'start')
  life.at(minute).submit('a', 2, { budget: 'a' })
  pass(life, 12 * minute)
  const [first, second] = victimsOf(life) as [string, string]
  life.submit('b-small', 1, { budget: 'b' }).submit('a-small', 1, { budget: 'a' })
  conclude(life, first, 'evict')
  pass(life, 14 * minute)
  expect([startsOf(life, 'b-small'), startsOf(life, 'a-small'), startsOf(life, first)]).toEqual([[], [], [0]])
  expect(heldOf(life, 'a')!.code).toBe('WaitingForVictims')
  conclude(life, second, 'evict')
  life.tick()
  expect(startsOf(life, 'a')).toEqual([14 * minute])
  expect(victimsOf(life)).toHaveLength(2)
})

it('should let go of a place when its time is up, and say so', () => {
  const life = commanded()
  const [{ at, data }] = preemptionsOf(life) as [ReturnType<typeof preemptionsOf>[number]]
  expect(data.holdUntil).toBe(at + defaultLimits.holdMs)
  pass(life, 60 * minute)
  const released = decisionsOf(life).filter(({ type }) => type === 'PlaceReleased')
  expect(released[0]).toMatchObject({ at: data.holdUntil, data: { because: 'expired', workload: 'a' } })
})

it('should start a large job within its bound behind a stream of small ones (situation 8, kueue#534)', () => {
  const classes = [{ ...defaultClass('training'), reserveAfterMs: minutes(60), boundMs: minutes(240) }]
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1 }, { classes }))
    .nodes(1, 10)
    .drilled('a')
  const small = { budget: 'a', estimateMs: minutes(60) }
  let made = 0
  for (; made < 2; made++) life.submit(`small-${made}`, 3, small)
  life.tick()
  life.at(minute).submit('large', 5, { budget: 'a', estimateMs: minutes(60) })
  // Another small one comes each time before one ends.
  for (let at = 20 * minute; at < 12 * hour && startsOf(life, 'large').length === 0; at += 20 * minute) {
    life.at(at).submit(`small-${made++}`, 3, small).tick()
    const ended = life.running.find((id) => at - life.cell.workloads.get(id)!.run!.startedAt >= hour)
    if (ended !== undefined) life.end(ended).tick()
  }
  const [started] = startsOf(life, 'large')
  expect(started).toBeGreaterThan(60 * minute)
  expect(started).toBeLessThanOrEqual(minute + 240 * minute)
})

describe('a place that is kept where nobody knows how long anything runs', () => {
  const classes = [{ ...defaultClass('training'), reserveAfterMs: minutes(60), boundMs: minutes(240) }]
  /** Of nothing that fails is it remembered how long it ran. */
  const fail = (life: CellLife, workload: string) => {
    const { attempt } = life.cell.workloads.get(workload)!
    life.tell({ type: 'AttemptEnded', at: life.now as EpochMs, data: { attempt, outcome: 'failed', workload } })
  }
  it('should come together behind a stream of small ones', () => {
    const life = new CellLife().policy(budgetPolicy({ a: 1 }, { classes })).nodes(1, 10)
    let made = 0
    for (; made < 2; made++) life.submit(`small-${made}`, 3, { budget: 'a' })
    life.tick()
    life.at(minute).submit('large', 5, { budget: 'a' })
    for (let at = 20 * minute; at < 12 * hour && startsOf(life, 'large').length === 0; at += 20 * minute) {
      life.at(at).submit(`small-${made++}`, 3, { budget: 'a' }).tick()
      const ended = life.running.find((id) => at - life.cell.workloads.get(id)!.run!.startedAt >= hour)
      if (ended === undefined) continue
      fail(life, ended)
      life.tick()
    }
    const [started] = startsOf(life, 'large')
    expect(started).toBeGreaterThan(60 * minute)
    expect(started).toBeLessThanOrEqual(minute + 240 * minute)
  })
  it('should hold nobody back beside it, nor who is known to end', () => {
    const life = new CellLife()
      .policy(budgetPolicy({ a: 1 }, { classes }))
      .nodes(1, 4, 'x')
      .nodes(1, 4, 'y')
    const on = (devices: number, model: string, estimateMs: DurationMs | null = null) => ({
      budget: 'a',
      estimateMs,
      request: requestOf({ devices, models: [model] }),
    })
    life.submit('holder', 2, on(2, 'x')).tick()
    life.at(minute).submit('gang', 4, on(4, 'x')).tick()
    life
      .at(2 * hour)
      .submit('x', 1, on(1, 'x'))
      .submit('y', 1, on(1, 'y'))
      .submit('x-short', 1, on(1, 'x', minutes(60)))
    life.tick()
    expect(life.running).toEqual(['holder', 'x-short', 'y'])
    expect(heldOf(life, 'x')).toMatchObject({ code: 'WouldDelayReservation', behind: 'gang' })
    expect(heldOf(life, 'gang')).toMatchObject({ projectedStartAt: null })
  })
})

it('should reserve after the bound of a class that the policy does not name', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1 }))
    .nodes(1, 2)
    .drilled('a')
  const small = { budget: 'a', estimateMs: minutes(60), class: 'debug' }
  life.submit('small-0', 1, small).tick()
  life
    .at(minute)
    .submit('large', 2, { budget: 'a', class: 'debug', estimateMs: minutes(60) })
    .tick()
  life
    .at(3 * minute + minute / 2)
    .submit('late', 1, { ...small, estimateMs: minutes(600) })
    .tick()
  expect(heldOf(life, 'late')).toMatchObject({ code: 'WouldDelayReservation', behind: 'large' })
})

it('should hold nobody back who wants other devices, and let small ones starve no gang (situation 9, kueue#8309)', () => {
  const classes = [{ ...defaultClass('training'), reserveAfterMs: minutes(30) }]
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1 }, { classes }))
    .nodes(1, 4, 'x')
    .nodes(1, 4, 'y')
    .drilled('a')
  const on = (devices: number, model: string) => ({
    budget: 'a',
    estimateMs: minutes(60),
    request: requestOf({ devices, models: [model], span: 'anywhere' }),
  })
  life.submit('x-holder', 2, on(2, 'x')).tick()
  life.at(minute).submit('x-gang', 4, on(4, 'x')).tick()
  life
    .at(2 * minute)
    .submit('y', 1, on(1, 'y'))
    .tick()
  expect(life.running).toEqual(['x-holder', 'y'])
  life
    .at(40 * minute)
    .submit('x-small', 1, on(1, 'x'))
    .submit('y-small', 1, on(1, 'y'))
    .tick()
  expect(life.running).toEqual(['x-holder', 'y', 'y-small'])
  expect(life.reason('x-small')).toBe('WouldDelayReservation')
  life
    .at(60 * minute)
    .end('x-holder')
    .tick()
  expect(life.running).toContain('x-gang')
})

it('should let no two go before one whose entitlement is kept, where only one of them leaves it in time', () => {
  const classes = [{ ...defaultClass('training'), reserveAfterMs: minutes(30) }]
  const life = new CellLife().policy(budgetPolicy({ a: 1, b: 1 }, { classes })).nodes(1, 8)
  const firm = (hours: number, budget = 'a') => ({ budget, estimateMs: minutes(60 * hours) })
  life.submit('wide', 8, firm(2, 'b')).tick()
  life.at(minute).submit('holder', 2, firm(1)).submit('large', 3, firm(1)).tick()
  life
    .at(120 * minute)
    .end('wide')
    .tick()
  expect(life.running).toEqual(['holder'])
  expect(life.reason('large')).toBe('NonPreemptibleOverQuota')
  life
    .at(121 * minute)
    .submit('small-1', 1, firm(3))
    .submit('small-2', 1, firm(3))
    .tick()
  expect(life.running).toEqual(['holder', 'small-1'])
  expect(life.reason('small-2')).toBe('WouldDelayReservation')
  life
    .at(180 * minute)
    .end('holder')
    .tick()
  expect(life.running).toEqual(['large', 'small-1'])
})

it('should find the one of ten thousand that may start (situation 10, kueue#9715)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1 }))
    .nodes(1, 4, 'x')
    .nodes(1, 4, 'y')
    .drilled('a')
  const on = (model: string) => ({ budget: 'a', request: requestOf({ devices: 4, models: [model] }) })
  life.submit('holder', 4, on('x')).tick()
  for (let i = 0; i < 10_000; i++) life.submit(`w${i}`, 4, on(i === 1000 ? 'y' : 'x'))
  life.tick()
  expect(life.running).toEqual(['holder', 'w1000'])
})

it('should start equal requests of one leaf in the order of class and age (situation 16, kueue#840)', () => {
  const classes = [defaultClass('training'), { ...defaultClass('debug'), priority: 5 }]
  for (let seed = 0; seed < 20; seed++) {
    const life = new CellLife().policy(budgetPolicy({ a: 1 }, { classes })).nodes(1, 2)
    const order: { readonly id: string; readonly priority: number }[] = []
    for (let i = 0; i < 12; i++) {
      const priority = (seed * 7 + i * i) % 3 === 0 ? 5 : 0
      life.submit(`w${i}`, 1, { budget: 'a', class: priority === 5 ? 'debug' : 'training' })
      order.push({ id: `w${i}`, priority })
    }
    for (let i = 0; i < 12; i++) {
      life.at(i * minute).tick()
      if (life.running.length === 2) life.end(life.running[seed % 2]!)
    }
    life.tick()
    const started = decisionsOf(life).flatMap(({ type, data }) => (type === 'WorkloadAdmitted' ? [data.workload] : []))
    order.sort((a, b) => b.priority - a.priority || Number(a.id.slice(1)) - Number(b.id.slice(1)))
    expect(started).toEqual(order.slice(0, started.length).map(({ id }) => id))
    expect(started.length).toBeGreaterThan(10)
  }
})

it('should keep the free part of a device of which the other part has to come free', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }, { mode: 'automate' }))
    .nodes(1, 2)
    .drilled('a', 'b')
  const half = requestOf({ milli: 500 })
  life.submit('b0', 1, { budget: 'b' }).submit('b1', 1, { budget: 'b', request: half }).tick()
  for (const started of ['b0', 'b1']) conclude(life, started, 'start')
  life.at(minute).submit('a', 1, { budget: 'a' })
  pass(life, 15 * minute)
  expect(victimsOf(life)).toEqual(['b1'])
  life.submit('a-half', 1, { budget: 'a', request: half }).submit('b-half', 1, { budget: 'b', request: half }).tick()
  expect(life.running).toEqual(['b0', 'b1'])
  conclude(life, 'b1', 'evict')
  life.tick()
  expect(life.running).toEqual(['a', 'b0'])
})

describe('a device that is kept for who waits for it to be given up by shrinking', () => {
  /**
   * Of four devices, the last is kept for b; who has all of them was asked to shrink, and has not. By the first edition of
   * the rules the place is kept all the same.
   */
  const notShrunk = (): CellLife => {
    const life = new CellLife()
      .policy(budgetPolicy({ a: 1, b: 1, c: 2 }, { mode: 'automate' }, { reclaimAfterMs: minutes(1) }))
      .nodes(1, 4)
      .drilled('a', 'b', 'c')
    const elasticity = { maxReplicas: 4, minReplicas: 3, resizeCostMs: minutes(0) }
    life.submit('wide', 4, { budget: 'a', terms: { elasticity } }).tick()
    conclude(life, 'wide', 'start')
    const document = { ...life.cell.policy!, name: 'first' }
    life.tell({ type: 'PolicyActivated', at: life.now as EpochMs, data: { document, hash: 'first' } })
    life.submit('b', 1, { budget: 'b' })
    pass(life, 2 * minute)
    expect(preemptionsOf(life).map(({ data }) => data.lease)).toMatchObject([[{ devices: [3] }]])
    const { attempt, run } = life.cell.workloads.get('wide')!
    const { command, verb } = run!.open!
    const data = { attempt, command, outcome: 'expired', reason: null, verb, workload: 'wide' } as const
    life.tell({ type: 'CommandConcluded', at: life.now as EpochMs, data })
    return life
  }
  it('should be promised to nobody else who would have it evicted', () => {
    const life = notShrunk()
    life.submit('c', 4, { budget: 'c' })
    pass(life, 10 * minute)
    expect(victimsOf(life)).toEqual(['wide'])
    expect(heldOf(life, 'c')!.code).toBe('WaitingForCapacity')
  })
  it('should come to it, whoever has it evicted for the rest', () => {
    const life = notShrunk()
    life.submit('c', 3, { budget: 'c' })
    pass(life, 10 * minute)
    expect(preemptionsOf(life).map(({ data }) => data.lease)).toMatchObject([
      [{ devices: [3] }],
      [{ devices: [0, 1, 2] }],
    ])
    conclude(life, 'wide', 'evict')
    life.tick()
    expect(life.running).toEqual(['b', 'c'])
  })
})

it('should take no more of a side while somebody of it leaves for a place that is no longer kept', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }, { mode: 'automate' }))
    .nodes(1, 2)
    .drilled('a', 'b')
  life.submit('b0', 1, { budget: 'b' }).submit('b1', 1, { budget: 'b' }).tick()
  for (const started of ['b0', 'b1']) conclude(life, started, 'start')
  life.at(minute).submit('a', 1, { budget: 'a' })
  pass(life, 4 * hour)
  // Nobody answers: the place expires again and again, and nobody else is asked meanwhile.
  expect(new Set(victimsOf(life)).size).toBe(1)
})

/** Four of b on four devices, of which it is entitled to two; one of them was asked to leave for a, which waits no more. */
const leftBehind = (): CellLife => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 2, c: 1 }, { mode: 'automate' }))
    .nodes(1, 4)
    .drilled('a', 'b', 'c')
  for (let i = 0; i < 4; i++) life.submit(`b${i}`, 1, { budget: 'b' })
  life.tick()
  for (let i = 0; i < 4; i++) conclude(life, `b${i}`, 'start')
  life.at(minute).submit('a', 1, { budget: 'a' })
  pass(life, 12 * minute)
  expect(victimsOf(life)).toEqual(['b0'])
  life.tell({ type: 'CancelRequested', at: life.now as EpochMs, data: { actor: 'ann', reason: null, workload: 'a' } })
  return life
}

it('should evict nobody for what is about to come free though its place is no longer kept', () => {
  const life = leftBehind()
  life.submit('c', 1, { budget: 'c' })
  pass(life, 30 * minute)
  expect(victimsOf(life)).toEqual(['b0'])
  conclude(life, 'b0', 'evict')
  life.tick()
  expect(life.running).toEqual(['b1', 'b2', 'b3', 'c'])
})

it('should not wait for ever for who does not leave when it has to', () => {
  const life = leftBehind()
  life.submit('c', 1, { budget: 'c' })
  pass(life, 30 * minute)
  conclude(life, 'b0', 'evict', 'expired')
  pass(life, 31 * minute)
  expect(victimsOf(life)).toEqual(['b0', 'b1'])
})
