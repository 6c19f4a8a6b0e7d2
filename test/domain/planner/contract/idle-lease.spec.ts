import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CellDecision, LeaseIdled } from '../../../../domain/planner/cell-event.ts'
import { defaultContract } from '../../../../domain/policy/contract-policy.ts'
import { budgetPolicy, hour, minute, minutes } from '../../../support/cell-life.ts'
import { ContestedLife, contested, decisionsOf, monday } from '../../../support/contested-life.ts'

const idled = (decisions: ReadonlyArray<CellDecision>): ReadonlyArray<LeaseIdled['data']> =>
  decisionsOf(decisions, 'LeaseIdled').map(({ data }) => data)

/** Unit-hours charged to a node of the tree over the window. */
const charged = (life: ContestedLife, path: string): number => {
  const { ledger } = life.cell.books!
  return Number(ledger.read(ledger.node(path)!).charged) / 1000 / hour
}

const required = { contract: { ...defaultContract, progressRequired: true } }

describe('a lease that makes no progress', () => {
  it('should be idle ten minutes after its newest sign, and not before', () => {
    const life = contested(2)
    life.at(monday + 3 * minute).progress('a0')
    life.at(monday + 5 * minute).checkpoint('a0')
    expect(idled(life.at(monday + 15 * minute - 1).tick())).toEqual([])
    expect(idled(life.at(monday + 15 * minute).tick())).toEqual([
      {
        attempt: 1,
        idleSince: monday + 15 * minute,
        milliUnits: 1000,
        rule: 'spec.budgets.idleAfter',
        workload: 'a0',
      },
    ])
    expect(idled(life.pass(hour))).toEqual([])
  })
  it('should be so after as long as the policy says', () => {
    const life = contested(1, {}, { budget: { idleAfterMs: minutes(20) } }).progress('a0')
    expect(idled(life.at(monday + 20 * minute - 1).tick())).toEqual([])
    expect(idled(life.at(monday + 20 * minute).tick())).toHaveLength(1)
  })
  it('should cost 7.67 unit-hours where two GPUs hang for four hours on capacity that nobody else wants', () => {
    const life = new ContestedLife(monday)
      .policy(budgetPolicy({ a: 0, b: 1 }))
      .nodes(1, 8)
      .drilled('a')
    life.submit('hung', 2, { budget: 'a', terms: { submitter: 'u' } }).tick()
    life.progress('hung')
    life.pass(4 * hour)
    const expected = 2 * (4 - 1 / 6)
    expect(expected).toBeCloseTo(7.67, 2)
    for (const path of ['a', 'a/u', '']) expect(charged(life, path), path).toBeCloseTo(path === '' ? 8 : expected, 9)
  })
  it('should be charged no more than it is anyway within what its side is entitled to', () => {
    const life = contested(4)
    life.end('a2')
    life.end('a3')
    life.progress('a0')
    life.pass(4 * hour)
    expect(charged(life, 'a')).toBeCloseTo(8, 9)
  })
  it('should be idle no longer once it makes progress, and again ten minutes after that', () => {
    const life = contested(1).progress('a0')
    expect(idled(life.pass(30 * minute))).toHaveLength(1)
    life.progress('a0')
    expect(life.cell.workloads.get('a0')!.run!.idle).toBe(false)
    expect(idled(life.pass(10 * minute - 1))).toEqual([])
    expect(idled(life.pass(1)).map(({ idleSince }) => idleSince)).toEqual([monday + 40 * minute])
  })
  it('should stay idle whatever old signs are told late', () => {
    const life = contested(1)
    life.at(monday + 5 * minute).progress('a0')
    life.pass(30 * minute)
    for (const at of [monday + minute, monday + 5 * minute, monday + 20 * minute]) {
      life.progress('a0', at)
      expect(life.cell.workloads.get('a0')!.run!.idle, `${at - monday}`).toBe(true)
      expect(idled(life.tick())).toEqual([])
    }
    life.progress('a0', monday + 30 * minute)
    expect(life.cell.workloads.get('a0')!.run!.idle).toBe(false)
    expect(idled(life.pass(5 * minute)).map(({ idleSince }) => idleSince)).toEqual([monday + 40 * minute])
  })
  it('should not be idle by the fault of the fleet', () => {
    const life = contested(2).progress('a0').progress('a1')
    life.health('node-0', 'failed', 0)
    expect(idled(life.pass(hour)).map(({ workload }) => workload)).toEqual(['a1'])
  })
  it('should be idle on a node that only takes nothing new', () => {
    const life = contested(1).progress('a0')
    life.health('node-0', 'cordoned')
    expect(idled(life.pass(hour)).map(({ workload }) => workload)).toEqual(['a0'])
  })
})

describe('a lease that never reported anything', () => {
  it('should never be idle, for there may be no source', () => {
    expect(idled(contested(2).pass(12 * hour))).toEqual([])
  })
  it('should be idle from its start on where the policy demands a source', () => {
    const life = contested(2, required)
    life.at(monday + 4 * minute).progress('a0')
    expect(idled(life.at(monday + 10 * minute).tick()).map(({ workload }) => workload)).toEqual(['a1'])
    expect(idled(life.at(monday + 14 * minute).tick()).map(({ workload }) => workload)).toEqual(['a0'])
  })
  it('should be idle from when its adapter said that it started', () => {
    const life = contested(1, { ...required, mode: 'automate' })
    life.end('a0')
    life.submit('late', 1, { budget: 'a' }).tick()
    life.at(monday + minute).started()
    expect(idled(life.at(monday + 11 * minute - 1).tick())).toEqual([])
    expect(idled(life.at(monday + 11 * minute).tick())).toHaveLength(1)
  })
  it('should be idle as soon as a new policy demands a source, also after a restart', () => {
    const life = contested(1)
    life.pass(hour)
    life.policy(budgetPolicy({ a: 1, b: 1 }, required))
    const again = life.restarted()
    for (const each of [life, again]) expect(idled(each.tick()).map(({ workload }) => workload)).toEqual(['a0'])
  })
})

it('should be told whatever signs come in whatever order, by the newest of them', () => {
  const signs = fc.array(fc.record({ at: fc.nat(40), told: fc.nat(40) }), { maxLength: 12 })
  fc.assert(
    fc.property(signs, (signs) => {
      const life = contested(1)
      let newest: number | null = null
      let wasIdle = false
      const look = (now: number) => {
        const isIdle = newest !== null && newest + 10 <= now
        expect(idled(life.at(monday + now * minute).tick()), `${now}`).toHaveLength(isIdle && !wasIdle ? 1 : 0)
        expect(life.cell.workloads.get('a0')!.run!.idle, `${now}`).toBe(isIdle)
        wasIdle = isIdle
      }
      for (let now = 0; now <= 60; now++) {
        look(now)
        for (const { at, told } of signs) {
          if (Math.max(at, told) !== now) continue
          newest = Math.max(newest ?? 0, at)
          life.progress('a0', monday + at * minute)
        }
        look(now)
      }
    }),
    { numRuns: 40 },
  )
})
