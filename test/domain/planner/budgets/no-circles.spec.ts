import { expect, it } from 'vitest'
import { pass, preemptionsOf, servedOf, startsOf, victimsOf } from '../../../support/budgets/seen.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../../support/cell-life.ts'
import { defaultBudget, defaultClass } from '../../../../domain/policy/budget-policy.ts'
import { defaultLimits } from '../../../../domain/policy/contract-policy.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'

const endless = { ...defaultLimits, preemptionsPerTeamHour: null, promotionAfter: null, evictionsPerMinute: null }

it('should take from the own side and from another, and not the same for the same again (situation 1, kueue#14543)', () => {
  const leaf = (name: string, share = 1) => ({ ...budgetPolicy({ [name]: share }).budgets!.tree[0]! })
  const tree = [{ ...leaf('a'), children: [leaf('x', 3), leaf('y')] }, leaf('b')]
  const life = new CellLife()
    .policy(budgetPolicy({}, { limits: endless }, { tree }))
    .nodes(1, 8)
    .drilled('a', 'b')
  for (let i = 0; i < 2; i++) life.submit(`y${i}`, 1, { budget: 'a/y', team: 'a' })
  for (let i = 0; i < 6; i++) life.submit(`b${i}`, 1, { budget: 'b' })
  life.tick()
  life.at(minute).submit('x', 2, { budget: 'a/x', team: 'a' })
  for (const running of life.running) life.checkpoint(running)
  life.at(10 * minute).checkpoint('y1')
  pass(life, 8 * hour)
  const [first] = preemptionsOf(life)
  expect(first!.data.victims.map(({ workload }) => workload)).toEqual(['y1', 'b0'])
  expect(life.running).toContain('x')
  expect([life.holds('a'), life.holds('b')]).toEqual([4, 4])
  const sets = preemptionsOf(life).map(({ data }) => JSON.stringify([data.workload, data.victims]))
  expect(sets.length).toBeLessThan(4)
  expect(new Set(sets).size).toBe(sets.length)
})

it('should not let two that are entitled alike evict each other beside best effort (situation 2, kueue#3779)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1, effort: 0 }, { limits: endless }))
    .nodes(1, 6)
    .drilled('a', 'b', 'effort')
  life.submit('a1', 5, { budget: 'a' }).submit('effort1', 1, { budget: 'effort' }).tick()
  life.at(minute).submit('a2', 1, { budget: 'b' }).tick()
  pass(life, 24 * hour)
  expect(victimsOf(life)).toEqual(['effort1'])
  expect(life.running).toEqual(['a1', 'a2'])
})

it('should evict in the order in which it starts, so that priority loops nobody (situation 3, kueue#2821)', () => {
  const classes = [
    { ...defaultClass('training'), priority: 0 },
    { ...defaultClass('debug'), priority: 9 },
  ]
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }, { classes, limits: endless }))
    .nodes(1, 4)
    .drilled('a', 'b')
  for (let i = 0; i < 4; i++) life.submit(`b${i}`, 1, { budget: 'b', class: 'debug' })
  life.tick()
  life.at(minute)
  for (let i = 0; i < 3; i++) life.submit(`a${i}`, 1, { budget: 'a' })
  life.tick()
  pass(life, 24 * hour)
  expect(victimsOf(life)).toHaveLength(2)
  for (const { data } of preemptionsOf(life)) {
    const { side, victimSide } = data
    const served = (one: typeof side) => one!.chargedMilliUnitH / Math.max(1, one!.owedMilliUnitH)
    expect(served(side)).toBeLessThan(served(victimSide))
  }
  expect([life.holds('a'), life.holds('b')]).toEqual([2, 2])
})

it('should not make a victim entitled to take back at once what it gave (situation 5, volcano#4947)', () => {
  const classes = [{ ...defaultClass('training'), reserveAfterMs: minutes(60) }]
  const life = new CellLife()
    .policy(budgetPolicy({ q1: 3, q2: 5 }, { classes, limits: endless }))
    .nodes(1, 8)
    .drilled('q1', 'q2')
  life.submit('q1-gang', 4, { budget: 'q1' })
  for (let i = 0; i < 12; i++) life.submit(`q2-${i}`, 1, { budget: 'q2', estimateMs: minutes(60) })
  life.tick()
  const until = 48 * hour
  for (let i = 12; life.now < until; i++) {
    pass(life, life.now + 5 * minute)
    const ended = life.running.find((id) => {
      const { run } = life.cell.workloads.get(id)!
      return id.startsWith('q2') && life.now - run!.startedAt >= hour
    })
    if (ended === undefined) continue
    life
      .end(ended)
      .submit(`q2-${i}`, 1, { budget: 'q2', estimateMs: minutes(60) })
      .tick()
  }
  const taken = preemptionsOf(life)
  const ofGang = taken.filter(({ data }) => data.victims.some(({ workload }) => workload === 'q1-gang'))
  for (const { at } of ofGang)
    expect(taken.filter(({ at: then, data }) => data.workload === 'q1-gang' && then >= at && then < at + hour)).toEqual(
      [],
    )
  expect(ofGang.length).toBeLessThan(48)
  expect(servedOf(life, 'q1', until) / until).toBeGreaterThan(1.5)
})

it('should break a storm of evictions, and take nobody below what it is entitled to (situation 7, YUNIKORN-2761)', () => {
  const limits = { ...endless, evictionsPerMinute: 2 }
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }, { limits }))
    .nodes(2, 8)
    .drilled('a', 'b')
  for (let i = 0; i < 16; i++) life.submit(`b${i}`, 1, { budget: 'b' })
  life.tick()
  life.at(minute)
  for (let i = 0; i < 16; i++) life.submit(`a${i}`, 1, { budget: 'a' })
  life.tick()
  const holds: number[] = []
  for (let at = minute; at < hour; at += 10_000) {
    life.at(at).tick()
    holds.push(life.holds('b'))
  }
  const times = preemptionsOf(life).flatMap(({ at, data }) => data.victims.map(() => at))
  expect(times).toHaveLength(8)
  for (const at of times) expect(times.filter((other) => other <= at && other > at - minute).length).toBeLessThan(3)
  expect(Math.min(...holds)).toBe(8)
})

it('should let three gangs that each want everything take turns, each at least a full one (situation 12, kueue#8522)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1, c: 1 }, { limits: endless }))
    .nodes(1, 8)
    .drilled('a', 'b', 'c')
  for (const gang of ['a', 'b', 'c']) life.submit(gang, 8, { budget: gang })
  life.tick()
  pass(life, 48 * hour)
  const { turnMs } = defaultBudget
  const starts = ['a', 'b', 'c'].flatMap((gang) => startsOf(life, gang).map((at) => ({ gang, at })))
  starts.sort((x, y) => x.at - y.at)
  expect(starts.length).toBeGreaterThan(20)
  // The first took nobody's turn to start, and is owed none.
  for (let i = 2; i < starts.length; i++) expect(starts[i]!.at - starts[i - 1]!.at).toBeGreaterThanOrEqual(turnMs)
  for (const gang of ['a', 'b', 'c']) expect(servedOf(life, gang, 48 * hour) / (48 * hour * 8)).toBeCloseTo(1 / 3, 1)
})

it('should not evict without a place to go to (situation 6, volcano#5022)', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }, { limits: endless }))
    .nodes(2, 2)
    .drilled('a', 'b')
  const protect = { preemption: { minRuntimeMs: minutes(120) } }
  life.submit('b0', 1, { budget: 'b', ...protect }).submit('b1', 1, { budget: 'b' })
  life.submit('b2', 1, { budget: 'b' }).submit('b3', 1, { budget: 'b', ...protect })
  life.tick()
  life
    .at(minute)
    .submit('a', 2, { budget: 'a', request: requestOf({ devices: 2 }) })
    .tick()
  pass(life, 119 * minute)
  expect(victimsOf(life)).toEqual([])
  pass(life, 3 * hour)
  const [decided] = preemptionsOf(life)
  expect(startsOf(life, 'a')).toEqual([decided!.at])
})

it('should evict nobody for what is about to come free beside a place that is kept', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 3, b: 1 }, { limits: endless }))
    .nodes(1, 4)
    .drilled('a', 'b')
  life.submit('b0', 2, { budget: 'b' }).submit('b1', 2, { budget: 'b' })
  life.tick()
  life.at(minute).submit('a0', 1, { budget: 'a' }).submit('a1', 1, { budget: 'a' })
  pass(life, hour)
  expect(victimsOf(life)).toHaveLength(1)
  expect(life.running).toContain('a1')
})
