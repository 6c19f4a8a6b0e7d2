import { describe, expect, it } from 'vitest'
import { takeSnapshot } from '../../../../domain/planner/cell-snapshot.ts'
import { defaultLimits } from '../../../../domain/policy/contract-policy.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { budgetPolicy, minute } from '../../../support/cell-life.ts'
import { contested, decisionsOf, monday, victimsOf, type ContestedLife } from '../../../support/contested-life.ts'

const queues = (...names: ReadonlyArray<string>) =>
  names.map((name) => ({
    name,
    ordering: 'greedy' as const,
    quotas: [{ accelerator: 'any', devices: { nominal: 8_000, borrowing: null, lending: null } }],
  }))

/** Two of a's four are asked to leave for b's gang of two, and have not left. */
const asked = (more: Parameters<typeof contested>[1] = {}): ContestedLife => {
  const life = contested(4, { mode: 'automate', queues: queues('default', 'other'), ...more })
  life.submit('b0', 2, { budget: 'b' })
  expect(victimsOf(life.pass(10 * minute))).toEqual(['a0', 'a1'])
  return life
}

const releasedOf = (decisions: Parameters<typeof decisionsOf>[0]) =>
  decisionsOf(decisions, 'PlaceReleased').map(({ data }) => [data.workload, data.because])

/** All that a place that is kept counts in. */
const countedOf = ({ cell }: ContestedLife) => {
  const { fleet, books } = cell
  const { ledger, quota, tallies } = books!
  const { shape } = cell.workloads.get('b0')!
  return {
    free: [fleet.freeTotal, fleet.wholeTotal],
    nodes: Array.from(ledger.nodes(), (node) => [ledger.path(node), ledger.held(node), tallies.node(node)]),
    quota: quota.verdicts('default', shape),
    teams: ['a', 'b'].map((team) => tallies.team(team)),
  }
}

describe('freed devices', () => {
  it('should be kept for whom they were freed, from everybody else of any queue, and from parts of a device', () => {
    const life = asked()
    life.conclude('a0')
    life.submit('a-small', 1, { budget: 'a' }).submit('b-small', 1, { budget: 'b' })
    life.submit('b-other', 1, { budget: 'b', queue: 'other' })
    life.submit('b-part', 1, { budget: 'b', request: requestOf({ devices: 1, milli: 100 }) })
    life.pass(minute)
    expect(life.running).toEqual(['a1', 'a2', 'a3'])
    expect(life.reason('b0')).toBe('WaitingForVictims')
    life.conclude('a1')
    const [admitted] = decisionsOf(life.tick(), 'WorkloadAdmitted')
    expect(admitted!.data).toMatchObject({ lease: [{ devices: [0, 1] }], preempted: true, workload: 'b0' })
  })
  it('should be kept with what was free of them already, or a share would never come together', () => {
    const share = (milli: number) => ({ request: requestOf({ devices: 1, milli }) })
    const life = contested(1, { mode: 'automate' })
    life.end('a0')
    life.submit('a-large', 1, { budget: 'a', ...share(500) }).submit('a-small', 1, { budget: 'a', ...share(200) })
    life.tick()
    life
      .started()
      .checkpoint('a-small')
      .submit('b0', 1, { budget: 'b', ...share(800) })
      .pass(9 * minute)
    expect(victimsOf(life.checkpoint('a-large').pass(minute))).toEqual(['a-large'])
    life.submit('b-thief', 1, { budget: 'b', ...share(300) }).pass(minute)
    expect(life.running).not.toContain('b-thief')
    life.conclude('a-large')
    life.tick()
    expect(life.running).toContain('b0')
  })
  it('should be enough when a victim ends by itself before it is stopped', () => {
    const life = asked()
    life.conclude('a0')
    life.end('a1')
    life.tick()
    expect(life.running).toEqual(['a2', 'a3', 'b0'])
    expect(life.cell.places.size).toBe(0)
  })
})

describe('a place that is kept', () => {
  it.each(['failed', 'refused'] as const)(
    'should be let go when its time is up, where victims %s to leave',
    (outcome) => {
      const life = asked()
      const decidedAt = life.now
      life.conclude('a0')
      life.conclude('a1', outcome)
      expect(releasedOf(life.pass(defaultLimits.holdMs - 1))).toEqual([])
      life.at(decidedAt + defaultLimits.holdMs)
      expect(releasedOf(life.tick())[0]).toEqual(['b0', 'expired'])
    },
  )
  it('should leave no trace in fleet, caps and quota when it is let go', () => {
    const life = contested(4, {
      mode: 'automate',
      queues: queues('default'),
      limits: { ...defaultLimits, promotionAfter: 1 },
    })
    life
      .submit('b0', 2, { budget: 'b' })
      .at(monday + 9 * minute)
      .tick()
    const before = countedOf(life)
    life.pass(minute)
    expect(countedOf(life)).not.toEqual(before)
    for (const victim of ['a0', 'a1']) life.conclude(victim, 'failed')
    // Nobody else may be asked meanwhile.
    life.drill('a', 'failed')
    expect(releasedOf(life.pass(defaultLimits.holdMs))).toEqual([['b0', 'expired']])
    expect(countedOf(life)).toEqual(before)
    for (const victim of ['a0', 'a1'])
      expect(decisionsOf(life.conclude(victim, 'expired'), 'CommandIssued')).toHaveLength(1)
    expect(life.cell.places.size).toBe(0)
  })
  it.each(['cordoned', 'draining', 'failed'] as const)('should be lost when its node is %s', (health) => {
    const life = asked()
    life.conclude('a0')
    life.health('node-0', health)
    expect(releasedOf(life.tick())).toEqual([['b0', 'lost']])
    expect(life.running).not.toContain('b0')
  })
  it('should be lost when one of its devices is, and stay when another one is', () => {
    const life = asked()
    life.health('node-0', 'cordoned', 3)
    expect(releasedOf(life.tick())).toEqual([])
    life.health('node-0', 'cordoned', 1)
    expect(releasedOf(life.tick())).toEqual([['b0', 'lost']])
  })
  it.each(['CancelRequested', 'HoldRequested'] as const)('should be withdrawn at once upon %s', (type) => {
    const life = asked()
    life.conclude('a0')
    expect(releasedOf(life.input(type, { actor: 'u', reason: null, workload: 'b0' }))).toEqual([['b0', 'withdrawn']])
    expect(life.cell.fleet.wholeTotal).toBe(1)
    life.submit('b1', 1, { budget: 'b' }).tick()
    expect(life.running).toContain('b1')
  })
  it('should survive a change of policy and a restart', () => {
    const life = asked()
    life.conclude('a0')
    life.policy(budgetPolicy({ a: 2, b: 1 }, { mode: 'automate', queues: queues('other', 'default') }))
    const again = life.restarted()
    expect(takeSnapshot(again.cell)).toEqual(takeSnapshot(life.cell))
    for (const each of [life, again]) {
      each.submit('b1', 1, { budget: 'b' }).tick()
      expect(each.running).toEqual(['a1', 'a2', 'a3'])
      each.conclude('a1')
      each.tick()
      expect(each.running).toContain('b0')
    }
  })
})
