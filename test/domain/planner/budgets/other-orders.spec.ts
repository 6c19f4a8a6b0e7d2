import { describe, expect, it } from 'vitest'
import type { DurationMs } from '../../../../domain/kernel/units.ts'
import { fork, takeSnapshot } from '../../../../domain/planner/cell-snapshot.ts'
import { budgetPolicy, CellLife, hour, minute } from '../../../support/cell-life.ts'

const started = (life: CellLife): ReadonlyArray<string> =>
  life.tick().flatMap((one) => (one.type === 'WorkloadAdmitted' ? [one.data.workload] : []))

describe('the lowest dominant share first', () => {
  it('should serve two owners by turns, by what they hold and not by what they held', () => {
    const life = new CellLife().policy(budgetPolicy({ a: 1, b: 1 }, { sharing: 'drf' })).nodes(1, 4)
    for (let i = 0; i < 4; i++) life.submit(`a-${i}`, 1, { budget: 'a' })
    for (let i = 0; i < 4; i++) life.submit(`b-${i}`, 1, { budget: 'b' })
    expect(started(life)).toEqual(['a-0', 'b-0', 'a-1', 'b-1'])
    life
      .at(10 * hour)
      .end('a-0')
      .end('a-1')
    // a had its share for ten hours; that is forgotten as soon as it holds nothing.
    expect(started(life)).toEqual(['a-2', 'a-3'])
  })

  it('should weigh shares', () => {
    const life = new CellLife().policy(budgetPolicy({ a: 3, b: 1 }, { sharing: 'drf' })).nodes(1, 8)
    for (let i = 0; i < 8; i++) life.submit(`a-${i}`, 1, { budget: 'a' }).submit(`b-${i}`, 1, { budget: 'b' })
    expect(started(life).filter((id) => id.startsWith('a'))).toHaveLength(6)
  })

  it('should also compare sides of which nobody has come yet', () => {
    const life = new CellLife().policy(budgetPolicy({ a: 1, b: 1, c: 1 }, { sharing: 'drf' })).nodes(1, 8)
    life.submit('a-0', 1, { budget: 'a' }).tick()
    const { ledger, order } = life.cell.books!
    const compare = (one: string, other: string) => order.compare(ledger.node(one)!, ledger.node(other)!)
    expect(compare('b', 'a')).toBeLessThan(0)
    expect(compare('b', 'c')).toBe(0)
  })
})

describe('decayed usage against shares', () => {
  const policy = budgetPolicy({ a: 1, b: 1 }, { sharing: 'fair-tree', fairTree: { halfLifeMs: hour as DurationMs } })

  it('should put whoever used less before, until that has decayed', () => {
    const life = new CellLife().policy(policy).nodes(1, 1)
    life.submit('a-0', 1, { budget: 'a' })
    expect(started(life)).toEqual(['a-0'])
    life.at(hour).submit('a-1', 1, { budget: 'a' }).submit('b-0', 1, { budget: 'b' }).end('a-0')
    expect(started(life)).toEqual(['b-0'])
    life
      .at(hour + 10 * minute)
      .submit('b-1', 1, { budget: 'b' })
      .end('b-0')
    expect(started(life)).toEqual(['b-1'])
    life
      .at(24 * hour)
      .end('b-1')
      .submit('b-2', 1, { budget: 'b' })
    expect(started(life)).toEqual(['a-1'])
  })

  it('should go on from a snapshot as it was', () => {
    const life = new CellLife().policy(policy).nodes(1, 2)
    for (let i = 0; i < 4; i++) life.submit(`a-${i}`, 1, { budget: 'a' }).submit(`b-${i}`, 1, { budget: 'b' })
    life.tick()
    life.at(30 * minute).end('a-0')
    expect(takeSnapshot(fork(life.cell))).toEqual(takeSnapshot(life.cell))
  })
})
