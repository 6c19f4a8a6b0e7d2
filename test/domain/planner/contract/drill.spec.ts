import { describe, expect, it } from 'vitest'
import { defaultContract } from '../../../../domain/policy/contract-policy.ts'
import { hour, minute } from '../../../support/cell-life.ts'
import { whyText } from '../../../../projections/explain/why-text.ts'
import { whyOf } from '../../../../projections/explain/why.ts'
import { budgetPolicy } from '../../../support/budget-policy.ts'
import { contested, ContestedLife, monday, victimsOf } from '../../../support/contested-life.ts'

const day = 24 * hour

/** A program that tolerates eviction and holds all of what is there, so far undrilled but within what it is entitled to. */
const waiting = (life: ContestedLife): ContestedLife => life.submit('b0', 1, { budget: 'b' })

describe('a checkpoint drill', () => {
  it('should have passed before anybody is evicted', () => {
    const life = waiting(contested())
    life.drill('a', 'failed')
    expect(victimsOf(life.pass(hour))).toEqual([])
    expect(life.protection('a0')).toBe('undrilled')
    expect(life.reason('b0')).toBe('DrillNotPassed')
    life.drill('a', 'passed')
    expect(victimsOf(life.pass(minute))).toHaveLength(1)
  })
  it('should no longer count once a later one has failed, while one told late says nothing of now', () => {
    const life = contested()
    life.at(monday + hour).drill('a', 'failed')
    life.input('DrillConcluded', { modelFamily: null, outcome: 'passed', team: 'a' }, monday + 30 * minute)
    expect(life.protection('a0')).toBe('undrilled')
    life.at(monday + 2 * hour).drill('a', 'passed')
    expect(life.protection('a0')).toBeNull()
  })
  it('should count for as long as the policy says, and not a millisecond longer', () => {
    const life = contested()
    expect(life.at(monday + 30 * day).protection('a0')).toBeNull()
    expect(life.at(monday + 30 * day + 1).protection('a0')).toBe('undrilled')
    expect(victimsOf(waiting(life).pass(hour))).toEqual([])
  })
  it('should be the own one of the team and of the family of the model', () => {
    const life = contested(4, {}, { drilled: ['b'] })
    expect(life.running).toEqual(['a0', 'a1'])
    life.drill('a', 'passed', 'transformer')
    expect(life.protection('a0')).toBe('undrilled')
    life.submit('a9', 1, { budget: 'a', terms: { modelFamily: 'transformer' } }).tick()
    expect(life.protection('a9')).toBeNull()
    life.submit('other', 1, { budget: 'a', terms: { modelFamily: 'diffusion' } }).tick()
    expect(life.reason('other')).toBe('NonPreemptibleOverQuota')
  })
  it('should make no victim of what does not tolerate it', () => {
    const life = contested(4, {}, { job: { preemption: { tolerated: false } } })
    expect(life.running).toEqual(['a0', 'a1'])
    expect(life.protection('a0')).toBe('intolerant')
  })
  it('should not be asked for, of those who never tolerate eviction, whatever they hold', () => {
    const life = new ContestedLife(monday)
      .policy(budgetPolicy({ a: 1, b: 1 }))
      .nodes(1, 4)
      .drilled('a', 'b')
    life.submit('a0', 4, { budget: 'a', preemption: { tolerated: false } }).tick()
    waiting(life.started())
    expect(victimsOf(life.pass(hour))).toEqual([])
    expect(life.running).toEqual(['a0'])
    expect(life.reason('b0')).toBe('WaitingForCapacity')
    life.cell.now = life.now as typeof life.cell.now
    const why = whyOf(life.cell, 'b0')!
    expect(why).toMatchObject({ holders: ['a0'], claim: { node: 'b', firm: true } })
    expect(whyText(why).replaceAll(/\s+/g, ' ')).toContain(
      'b is owed 1 GPU that it does not hold, and those who hold it never tolerate eviction: only their ends make room.',
    )
  })
  it('should not be asked for where the policy does not', () => {
    const life = waiting(contested(4, { contract: { ...defaultContract, drillRequired: false } }, { drilled: [] }))
    expect(life.running).toHaveLength(4)
    expect(victimsOf(life.pass(20 * minute))).toHaveLength(1)
  })
})
