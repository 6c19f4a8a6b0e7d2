import { describe, expect, it } from 'vitest'
import { defaultClass } from '../../../../domain/policy/budget-policy.ts'
import { defaultContract, type ReservationPolicy } from '../../../../domain/policy/contract-policy.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { heldOf } from '../../../support/budgets/seen.ts'
import { budgetPolicy, hour, minutes } from '../../../support/cell-life.ts'
import { ContestedLife, decisionsOf, monday, victimsOf } from '../../../support/contested-life.ts'

const tuesday = Date.UTC(2026, 7, 4)
const launch: ReservationPolicy = {
  budget: 'a',
  devices: 2,
  expires: '2026-08-04',
  justification: 'The launch.',
  name: 'launch',
  owner: 'Ann',
}
const reserved = (more: Partial<ReservationPolicy> = {}): ContestedLife =>
  new ContestedLife(monday)
    .policy(budgetPolicy({ a: 1, b: 1 }, { reservations: [{ ...launch, ...more }] }))
    .nodes(1, 4)
    .drilled('a', 'b')
const fill = (life: ContestedLife, budget: string, count = 4): ContestedLife => {
  for (let i = 0; i < count; i++) life.submit(`${budget}${i}`, 1, { budget })
  life.tick()
  return life
}

describe('a reservation', () => {
  it('should keep others out, of whole devices and of parts, and let its budget in', () => {
    const life = fill(reserved(), 'b')
    expect(life.running).toEqual(['b0', 'b1'])
    expect(life.reason('b2')).toBe('WouldDelayReservation')
    life.submit('part', 1, { budget: 'b', request: requestOf({ devices: 1, milli: 100 }) }).tick()
    expect(life.running).toEqual(['b0', 'b1'])
    fill(life, 'a')
    expect(life.running).toEqual(['a0', 'a1', 'b0', 'b1'])
  })
  it('should count what its budget holds already', () => {
    const life = fill(fill(reserved(), 'a', 1), 'b')
    expect(life.running).toEqual(['a0', 'b0', 'b1'])
  })
  it('should be released at midnight UTC of its day, and say so once', () => {
    const life = fill(reserved(), 'b')
    life.at(tuesday - 1)
    expect(decisionsOf(life.tick(), 'GrantLapsed')).toEqual([])
    expect(life.running).toHaveLength(2)
    const decisions = life.at(tuesday).tick()
    expect(decisionsOf(decisions, 'GrantLapsed').map(({ data }) => data)).toEqual([
      { grant: 'reservation', name: 'launch', owner: 'Ann', rule: 'spec.reservations[0].expires' },
    ])
    expect(life.running).toHaveLength(4)
    expect(decisionsOf(life.pass(hour), 'GrantLapsed')).toEqual([])
    expect(decisionsOf(life.restarted().pass(hour), 'GrantLapsed')).toEqual([])
  })
  it('should go on where a new policy justifies it again', () => {
    const life = fill(reserved(), 'b')
    const later = { ...launch, expires: '2026-08-05', justification: 'The launch is late.' }
    life.at(tuesday - hour).policy(budgetPolicy({ a: 1, b: 1 }, { reservations: [later] }))
    expect(decisionsOf(life.pass(24 * hour), 'GrantLapsed')).toEqual([])
    expect(life.running).toHaveLength(2)
    expect(decisionsOf(life.pass(hour), 'GrantLapsed')).toHaveLength(1)
    expect(life.running).toHaveLength(4)
  })
})

const debug = { ...defaultClass('debug'), reserveDevices: 1 }
const withReserve = (ofB = 1): ContestedLife =>
  new ContestedLife(monday)
    .policy(budgetPolicy({ a: 1, b: ofB }, { classes: [debug] }))
    .nodes(1, 4)
    .drilled('a', 'b')

describe('the reserve of a class', () => {
  it('should be open to that class from any leaf, at once, and to nobody else', () => {
    for (const budget of ['a', 'b']) {
      const life = fill(withReserve(), 'a')
      expect(life.running).toEqual(['a0', 'a1', 'a2'])
      life.submit('quick', 1, { budget, class: 'debug' }).tick()
      expect(life.running, budget).toContain('quick')
      life.submit('quick-too', 1, { budget: 'a', class: 'debug' }).tick()
      expect(life.running).not.toContain('quick-too')
    }
  })
  it('should be left alone by who takes back', () => {
    const life = fill(withReserve(3), 'a')
    life.submit('b0', 2, { budget: 'b' })
    expect(victimsOf(life.pass(hour))).toHaveLength(2)
    expect(life.cell.fleet.wholeTotal).toBe(1)
  })
  it('should not keep from taking back who lacks one device', () => {
    const life = fill(withReserve(), 'a')
    life.submit('b0', 1, { budget: 'b' })
    expect(victimsOf(life.pass(hour))).toHaveLength(1)
    expect(life.running).toContain('b0')
    expect(life.cell.fleet.wholeTotal).toBe(1)
  })
})

describe('the headroom', () => {
  const withHeadroom = (lent: boolean): ContestedLife =>
    new ContestedLife(monday)
      .policy(budgetPolicy({ a: 3, b: 1 }, { headroom: { band: { high: 80, low: 60 }, lent, percent: 25 } }))
      .nodes(1, 8)
      .drilled('a', 'b')
  const submit = (life: ContestedLife, budget: string, count: number, tolerated: boolean): ContestedLife => {
    for (let i = 0; i < count; i++) life.submit(`${budget}${i}`, 1, { budget, preemption: { tolerated } })
    life.tick()
    return life
  }
  it('should be left alone by what cannot be evicted, and hold what can while it is lent', () => {
    const life = submit(withHeadroom(true), 'a', 8, false)
    expect(life.running).toHaveLength(6)
    expect(life.reason('a6')).toBe('NonPreemptibleOverQuota')
    submit(life, 'b', 4, true)
    expect(life.running).toHaveLength(8)
  })
  it('should be left alone by as much as may not be evicted any more since its drill lapsed', () => {
    const contract = { ...defaultContract, drillValidMs: minutes(60) }
    const headroom = { band: { high: 80, low: 60 }, lent: true, percent: 25 }
    const life = new ContestedLife(monday)
      .policy(budgetPolicy({ a: 3, b: 1 }, { contract, headroom }))
      .nodes(1, 8)
      .drilled('a')
    submit(life, 'a', 6, true)
    // Those of a can be evicted for the hour, and leave the headroom to nobody else.
    submit(life, 'b', 1, false)
    expect(life.running).toHaveLength(7)
    life.at(monday + hour + 1)
    life.submit('b1', 1, { budget: 'b', preemption: { tolerated: false } }).tick()
    expect(heldOf(life, 'b1')).toMatchObject({ code: 'NonPreemptibleOverQuota', compared: { heldMilli: 7000 } })
    life.drilled('a').tick()
    expect(life.running).toContain('b1')
  })
  it('should hold nothing while it is not lent', () => {
    const life = submit(withHeadroom(false), 'a', 8, true)
    expect(life.running).toHaveLength(6)
    submit(life, 'b', 4, false)
    expect(life.running).toHaveLength(6)
  })
  it('should not keep from taking back who is owed, while it is not lent', () => {
    const life = submit(withHeadroom(false), 'b', 8, true)
    expect(life.running).toHaveLength(6)
    submit(life, 'a', 8, true)
    life.pass(hour)
    expect([life.holds('a'), life.holds('b')]).toEqual([4, 2])
  })
})
