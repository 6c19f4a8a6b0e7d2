import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultContract } from '../../../../domain/policy/contract-policy.ts'
import { hour, minute, minutes } from '../../../support/cell-life.ts'
import { contested, decisionsOf, monday, victimsOf } from '../../../support/contested-life.ts'

const declaring = (count: number) => ({ job: { preemption: { minRuntimeMs: minutes(count) } } })

describe('the minimum runtime', () => {
  it('should protect from the start of progress until it is over, and not a millisecond longer', () => {
    const life = contested(4, {}, declaring(90)).submit('b0', 1, { budget: 'b' })
    expect(victimsOf(life.pass(90 * minute - 1))).toEqual([])
    expect(life.protection('a0')).toBe('protected-window')
    expect(life.reason('b0')).toBe('ProtectedWindow')
    expect(victimsOf(life.at(monday + 90 * minute).tick())).toHaveLength(1)
  })
  it('should begin when the adapter says that it started, not when it was admitted', () => {
    const life = contested(4, { mode: 'automate' }, declaring(0))
    const late = contested(4, { mode: 'automate' }, declaring(30))
    expect(life.protection('a0')).toBeNull()
    late.end('a3')
    late.submit('slow', 1, { budget: 'a', preemption: { minRuntimeMs: minutes(30) } }).tick()
    late.at(monday + 20 * minute).tick()
    expect(late.protection('slow')).toBe('starting')
    late.started()
    late.at(monday + 50 * minute - 1)
    expect([late.protection('a0'), late.protection('slow')]).toEqual([null, 'protected-window'])
    expect(late.at(monday + 50 * minute).protection('slow')).toBeNull()
  })
  it('should be capped by the policy, two hours unless it says otherwise', () => {
    expect(defaultContract.minRuntimeMaxMs).toBe(2 * hour)
    const life = contested(4, {}, declaring(600))
    expect(life.at(monday + 2 * hour - 1).protection('a0')).toBe('protected-window')
    expect(life.at(monday + 2 * hour).protection('a0')).toBeNull()
    const short = contested(4, { contract: { ...defaultContract, minRuntimeMaxMs: minutes(15) } }, declaring(600))
    expect(short.at(monday + 15 * minute - 1).protection('a0')).toBe('protected-window')
    expect(short.at(monday + 15 * minute).protection('a0')).toBeNull()
  })
  it('should begin anew with every attempt', () => {
    const life = contested(1, { mode: 'automate' }, declaring(60))
    life.at(monday + 3 * hour)
    expect(life.protection('a0')).toBeNull()
    life.health('node-0', 'failed')
    life.conclude('a0')
    life.health('node-0', 'ready')
    life.tick()
    expect(life.protection('a0')).toBe('starting')
    life.at(life.now + minute).started()
    expect(life.at(life.now + 60 * minute - 1).protection('a0')).toBe('protected-window')
    expect(life.at(life.now + 1).protection('a0')).toBeNull()
  })
  it('should protect exactly as long as both the job and the policy say, whatever they say', () => {
    const span = fc.integer({ min: 0, max: 5 * hour })
    fc.assert(
      fc.property(span, span, fc.nat(hour), (declared, most, startMs) => {
        const life = contested(
          1,
          { mode: 'automate', contract: { ...defaultContract, minRuntimeMaxMs: minutes(most / minute) } },
          { job: { preemption: { minRuntimeMs: minutes(declared / minute) } } },
        )
        life.end('a0')
        life.submit('late', 1, { budget: 'a', preemption: { minRuntimeMs: minutes(declared / minute) } }).tick()
        life.at(monday + startMs).started()
        const end = monday + startMs + Math.min(declared, most)
        if (end > life.now) expect(life.at(end - 1).protection('late')).toBe('protected-window')
        expect(life.at(end).protection('late')).toBeNull()
      }),
      { numRuns: 50 },
    )
  })
})

it('should make no victim of what nobody has said to have started', () => {
  const life = contested(2, { mode: 'automate' })
  life.end('a0')
  life.end('a1')
  life.submit('silent', 2, { budget: 'a' }).tick()
  life.submit('b0', 1, { budget: 'b' })
  expect(victimsOf(life.pass(hour))).toEqual([])
  life.started()
  expect(victimsOf(life.pass(minute))).toEqual(['silent'])
})

it('should leave alone for a turn who came by an eviction', () => {
  const life = contested(2, {}, { budget: { turnMs: minutes(30) } })
  life.submit('b0', 1, { budget: 'b' }).pass(10 * minute)
  expect(life.running).toContain('b0')
  const startedAt = life.cell.workloads.get('b0')!.run!.startedAt
  expect(life.at(startedAt + 30 * minute - 1).protection('b0')).toBe('protected-window')
  expect(life.at(startedAt + 30 * minute).protection('b0')).toBeNull()
})

describe('a full turn of who was made room for', () => {
  /** One of a's two was asked to leave for b0, whose place was given up before it did. */
  const late = () => {
    const life = contested(2, { mode: 'automate' }).submit('b0', 1, { budget: 'b' })
    const decisions = life.pass(25 * minute)
    expect(decisionsOf(decisions, 'PlaceReleased').map(({ data }) => data.because)).toEqual(['expired'])
    life.conclude('a0')
    life.tick()
    return life.started()
  }
  it('should be its own also where it starts after its place was given up', () => {
    const life = late()
    expect(life.running).toEqual(['a1', 'b0'])
    for (const each of [life, life.restarted()]) {
      each.pass(30 * minute - 1)
      expect(each.protection('b0')).toBe('protected-window')
      each.pass(1)
      expect(each.protection('b0')).toBe(null)
    }
  })
  it('should be that of its next attempt where the first could not start', () => {
    const life = contested(2, { mode: 'automate' }).submit('b0', 1, { budget: 'b' })
    life.pass(10 * minute)
    life.conclude('a0')
    life.tick()
    life.conclude('b0', 'failed')
    life.tick()
    expect(life.cell.workloads.get('b0')!.attempt).toBe(2)
    expect(life.started().protection('b0')).toBe('protected-window')
    expect(life.pass(30 * minute)).toBeDefined()
    expect(life.protection('b0')).toBe(null)
  })
})

it('should name the turn, and not the minimum runtime, where that is what leaves it alone', () => {
  const life = contested(1, {}, { budget: { turnMs: minutes(50) } })
  life.submit('b0', 1, { budget: 'b' }).pass(15 * minute)
  expect(life.running).toEqual(['b0'])
  life.end('b0')
  life.tick()
  expect(life.running).toEqual(['a0'])
  life.submit('b1', 1, { budget: 'b' }).pass(20 * minute)
  expect(life.cell.workloads.get('b1')!.hold).toMatchObject({ code: 'ProtectedWindow', rule: 'spec.budgets.turn' })
  life.pass(31 * minute)
  expect(life.running).toEqual(['b1'])
})
