import { describe, expect, it } from 'vitest'
import type { CellDecision } from '../../../../domain/planner/cell-event.ts'
import type { AllocationPolicy, QueuePolicy } from '../../../../domain/policy/allocation-policy.ts'
import { defaultBudget, defaultClass } from '../../../../domain/policy/budget-policy.ts'
import { defaultCaps, defaultHeadroom, type ExceptionPolicy } from '../../../../domain/policy/contract-policy.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { leafNode } from '../../../support/budget-policy.ts'
import { hour, minutes, type CellLife } from '../../../support/cell-life.ts'
import { devices, kueuePolicy, lifeOf, queue } from './kueue-life.ts'

const own = { withinQueue: 'lowerPriority' } as const
const reclaims = { reclaimWithinCohort: 'any' } as const
const day = 24 * hour

const victimsOf = (decisions: ReadonlyArray<CellDecision>): ReadonlyArray<string> =>
  decisions
    .flatMap((decision) => (decision.type === 'PreemptionDecided' ? decision.data.victims : []))
    .map(({ workload }) => workload)

const tree = (...names: ReadonlyArray<string>): Pick<AllocationPolicy, 'budgets'> => ({
  budgets: { ...defaultBudget, tree: names.map((name) => leafNode(name, 1)) },
})

describe('a cap where quota is shared', () => {
  const submit = (life: CellLife, count = 8) => {
    for (let i = 0; i < count; i++)
      life.submit(`w${i}`, 1, { queue: 'a', team: 't', terms: { submitter: i % 2 === 0 ? 'u' : 'v' } })
    life.tick()
    return life
  }
  const capped = (more: Partial<AllocationPolicy>, queues: ReadonlyArray<QueuePolicy> = [queue('a', 8)]) =>
    lifeOf(kueuePolicy(queues, more), 8)

  it.each([
    ['a team', { caps: { ...defaultCaps, perTeamMilli: 3000 } }, 3, 'spec.caps.perTeam'],
    [
      'a team that differs',
      { caps: { ...defaultCaps, perTeamMilli: 3000, teams: { t: 5000 } } },
      5,
      'spec.caps.teams.t',
    ],
    ['a person', { caps: { ...defaultCaps, perPersonMilli: 1000 } }, 2, 'spec.caps.perPerson'],
  ] as const)('should bind %s, whatever quota allows', (_, more, most, rule) => {
    for (const loops of ['safe', 'compatible'] as const) {
      const life = submit(capped({ ...more, kueue: { fairSharing: null, loops } }))
      expect(life.running).toHaveLength(most)
      const held = life.told.flatMap(({ decisions }) => decisions).find(({ type }) => type === 'WorkloadHeld')
      expect(held?.data).toMatchObject({ code: 'OverQueueLimit', rule })
      life.end(life.running[0]!)
      life.tick()
      expect(life.running).toHaveLength(most)
    }
  })

  it('should bind a budget that the queue leads to', () => {
    const budgets = { ...defaultBudget, tree: [leafNode('p', 1, 6000), leafNode('q', 1)] }
    const life = submit(capped({ budgets }, [queue('a', 8, {}, { budget: 'p' })]))
    expect(life.running).toHaveLength(6)
    expect(life.cell.workloads.get('w6')!.hold).toMatchObject({
      code: 'OverQueueLimit',
      rule: 'spec.budgets.tree[0].cap',
    })
  })

  it('should be raised by an exception until it expires, which is said once', () => {
    const exception: ExceptionPolicy = {
      allows: { kind: 'cap', devicesMilli: 4000 },
      expires: '1970-01-02',
      name: 'demo',
      owner: 'Ann',
      reason: 'A demo.',
      subject: { kind: 'team', name: 't' },
    }
    const life = submit(capped({ caps: { ...defaultCaps, perTeamMilli: 2000 }, exceptions: [exception] }))
    expect(life.running).toHaveLength(4)
    const lapses = () => life.told.flatMap(({ decisions }) => decisions).filter(({ type }) => type === 'GrantLapsed')
    life.at(day - 1).tick()
    expect(lapses()).toEqual([])
    for (const at of [day, day + 1]) {
      life.at(at).end(life.running[0]!)
      life.tick()
    }
    expect(lapses().map(({ data }) => data)).toEqual([
      { grant: 'exception', name: 'demo', owner: 'Ann', rule: 'spec.exceptions[0].expires' },
    ])
    expect(life.running).toHaveLength(2)
  })

  it('should count what starts in other queues at the same instant, and what a place is kept for', () => {
    const caps = { ...defaultCaps, perPersonMilli: 2000 }
    const alone = (name: string): QueuePolicy => ({
      name,
      ordering: 'greedy',
      quotas: [devices(4)],
      preemption: { ...reclaims, ...own } as never,
    })
    const policy = kueuePolicy([queue('a', 4, own), alone('b'), alone('c')], { caps, mode: 'automate' })
    const life = lifeOf(policy, 8)
    for (const name of ['a', 'b', 'c']) life.submit(name, 1, { queue: name, class: 'low' })
    life.tick()
    expect(life.running).toHaveLength(2)
    expect(life.cell.workloads.get('c')!.hold?.code).toBe('OverQueueLimit')
  })

  it('should let others of its queue pass who is over one, unless the queue is strict', () => {
    for (const ordering of ['greedy', 'fifo'] as const) {
      const caps = { ...defaultCaps, perPersonMilli: 1000 }
      const life = capped({ caps }, [queue('a', 8, {}, { ordering })])
      for (const submitter of ['u', 'u', 'v']) {
        const id = `${submitter}${life.cell.workloads.size}`
        life.submit(id, 1, { queue: 'a', class: 'middle', terms: { submitter } })
      }
      life.tick()
      expect(life.running).toEqual(ordering === 'greedy' ? ['u0', 'v2'] : ['u0'])
      life.end('u0')
      life.tick()
      expect(life.running).toEqual(['u1', 'v2'])
    }
  })

  it('should give up a place that was kept for whom it binds meanwhile', () => {
    const policy = kueuePolicy([queue('a', 2, own)], { mode: 'automate' })
    const life = lifeOf(policy, 2)
    life.submit('low', 2, { queue: 'a', class: 'low', team: 't' })
    life.tick()
    const conclude = (command: string, verb: 'start' | 'evict') => {
      const data = { attempt: 1, command, outcome: 'done', reason: null, verb, workload: 'low' } as const
      life.tell({ type: 'CommandConcluded', at: life.now as never, data })
    }
    conclude('low/1/start', 'start')
    life.at(1).submit('high', 2, { queue: 'a', class: 'high', team: 't' })
    life.tick()
    life.policy({ ...policy, caps: { ...defaultCaps, perTeamMilli: 1000 } })
    conclude('low/1/evict/1', 'evict')
    const released = life.tick().find(({ type }) => type === 'PlaceReleased')
    expect(released?.data).toEqual({ because: 'blocked', rule: 'spec.caps.perTeam', workload: 'high' })
    expect(life.running).toEqual([])
    expect(life.reason('high')).toBe('OverQueueLimit')
  })
})

describe('devices that are kept where quota is shared', () => {
  const submit = (life: CellLife, ids: ReadonlyArray<string>, given: Parameters<CellLife['submit']>[2] = {}) => {
    for (const id of ids) life.submit(id, 1, { queue: 'a', class: 'middle', ...given })
    life.tick()
  }
  const firm = { preemption: { tolerated: false } }

  it('should leave the lent headroom to work that may be evicted', () => {
    for (const loops of ['safe', 'compatible'] as const) {
      const headroom = { ...defaultHeadroom, percent: 25 }
      const life = lifeOf(kueuePolicy([queue('a', 8)], { headroom, kueue: { fairSharing: null, loops } }), 4)
      submit(life, ['f0', 'f1', 'f2', 'f3'], firm)
      expect(life.running).toEqual(['f0', 'f1', 'f2'])
      expect(life.cell.workloads.get('f3')!.hold).toMatchObject({
        code: 'NonPreemptibleOverQuota',
        rule: 'spec.headroom.percent',
      })
      submit(life, ['s0'])
      expect(life.running).toEqual(['f0', 'f1', 'f2', 's0'])
      life.end('f0')
      life.tick()
      expect(life.running).toEqual(['f1', 'f2', 'f3', 's0'])
    }
  })

  it('should leave headroom that is not lent to nobody, and count what is there', () => {
    const headroom = { ...defaultHeadroom, lent: false, percent: 25 }
    const life = lifeOf(kueuePolicy([queue('a', 8)], { headroom }), 4)
    submit(life, ['w0', 'w1', 'w2', 'w3'])
    expect(life.running).toEqual(['w0', 'w1', 'w2'])
    expect(life.cell.workloads.get('w3')!.hold).toMatchObject({
      code: 'WouldDelayReservation',
      rule: 'spec.headroom.percent',
    })
    life.nodes(2, 2)
    life.tick()
    expect(life.running).toHaveLength(4)
  })

  it('should keep the reserve of a class for it, and let others pass who leave it alone', () => {
    const classes = [{ ...defaultClass('debug'), reserveDevices: 1 }]
    const life = lifeOf(kueuePolicy([queue('a', 8)], { classes }), 4)
    life.submit('large', 4, { queue: 'a' })
    life.tick()
    expect(life.cell.workloads.get('large')!.hold).toMatchObject({
      code: 'WouldDelayReservation',
      rule: 'spec.classes[0].reserve',
    })
    life.submit('small', 2, { queue: 'a' })
    life.submit('half', 1, { queue: 'a', request: requestOf({ milli: 500 }) })
    life.tick()
    expect(life.running).toEqual(['half', 'small'])
    submit(life, ['debug'], { class: 'debug' })
    expect(life.running).toEqual(['debug', 'half', 'small'])
  })

  it('should add up the parts of devices that a class holds, and keep the rest of its reserve in whole devices', () => {
    const classes = [{ ...defaultClass('debug'), reserveDevices: 1 }]
    const half = { class: 'debug', request: requestOf({ milli: 500 }) }
    const life = lifeOf(kueuePolicy([queue('a', 8)], { classes }), 4)
    submit(life, ['d0'], half)
    submit(life, ['w0', 'w1', 'w2'])
    expect(life.running).toEqual(['d0', 'w0', 'w1'])
    expect(life.reason('w2')).toBe('WouldDelayReservation')
    submit(life, ['d1'], half)
    expect(life.running).toEqual(['d0', 'd1', 'w0', 'w1', 'w2'])
  })

  it('should keep what is reserved for a budget until the reservation expires', () => {
    const reservation = { budget: 'p', devices: 2, expires: '1970-01-02', justification: 'A', name: 'r', owner: 'Ann' }
    const queues = [queue('a', 8, {}, { budget: 'q' }), queue('b', 8, {}, { budget: 'p' })]
    const life = lifeOf(kueuePolicy(queues, { ...tree('p', 'q'), reservations: [reservation] }), 4)
    submit(life, ['w0', 'w1', 'w2'])
    expect(life.running).toEqual(['w0', 'w1'])
    submit(life, ['p0'], { queue: 'b' })
    expect(life.running).toEqual(['p0', 'w0', 'w1'])
    const decisions = life.at(day).tick()
    expect(life.running).toEqual(['p0', 'w0', 'w1', 'w2'])
    expect(decisions.map(({ type }) => type)).toContain('GrantLapsed')
  })

  it('should evict for no place that is kept for others', () => {
    const classes = [
      { ...defaultClass('debug'), reserveDevices: 1 },
      { ...defaultClass('low'), priority: -1 },
    ]
    const life = lifeOf(kueuePolicy([queue('a', 8, own)], { classes }), 2)
    submit(life, ['low'], { class: 'low' })
    life.at(1).submit('high', 2, { queue: 'a' })
    expect(victimsOf(life.tick())).toEqual([])
    life.submit('other', 1, { queue: 'a' })
    expect(victimsOf(life.tick())).toEqual(['low'])
  })
})

describe('a protected pool where quota is shared', () => {
  const pooled = (loops: 'safe' | 'compatible' = 'safe') => {
    const queues = [queue('in', 2, own, { budget: 'in' }), queue('out', 2, reclaims, { budget: 'out' })]
    const protectedPools = [{ budgets: ['in'], name: 'pool', nodes: ['node-0', 'node-1'] }]
    const life = lifeOf(
      kueuePolicy(queues, { ...tree('in', 'out'), kueue: { fairSharing: null, loops }, protectedPools }),
      4,
    )
    for (const id of ['i0', 'i1', 'i2', 'i3']) life.submit(id, 1, { queue: 'in', class: 'low' })
    life.tick()
    return life.at(1)
  }

  it('should let nobody from outside take what runs there, and say which pool it is', () => {
    const life = pooled().submit('o', 1, { queue: 'out', class: 'high' })
    expect(victimsOf(life.tick())).toEqual([])
    expect(life.cell.workloads.get('o')!.hold).toMatchObject({
      code: 'WaitingForQuota',
      rule: 'spec.protectedPools[0]',
    })
  })

  it('should let members take from each other there', () => {
    const life = pooled().submit('i', 1, { queue: 'in', class: 'high' })
    expect(victimsOf(life.tick())).toHaveLength(1)
  })

  it('should protect nobody where loops are compatible', () => {
    const life = pooled('compatible').submit('o', 1, { queue: 'out', class: 'high' })
    expect(victimsOf(life.tick())).toHaveLength(1)
  })
})

describe('aging where quota is shared', () => {
  const classes = [
    { ...defaultClass('training'), agingMs: minutes(60) },
    { ...defaultClass('debug'), priority: 2 },
  ]
  /** One device is taken; who starts when it comes free. */
  const next = (urgentAfter: number, freeAfter: number, ordering: 'greedy' | 'fifo', aged = true) => {
    const policy = kueuePolicy([queue('a', 1, own, { ordering })], {
      classes: aged ? classes : classes.map((each) => ({ ...each, agingMs: null })),
    })
    const life = lifeOf(policy, 2)
    life.submit('holds', 1, { queue: 'a', preemption: { tolerated: false } })
    life.tick()
    life.submit('old', 1, { queue: 'a' })
    life.at(urgentAfter).submit('urgent', 1, { queue: 'a', class: 'debug' }).tick()
    life.at(freeAfter).end('holds')
    life.tick()
    return life
  }

  it.each(['greedy', 'fifo'] as const)('should raise who waits by one with each time of its class (%s)', (ordering) => {
    expect(next(hour, 40 * hour, ordering, false).running).toEqual(['urgent'])
    expect(next(hour, 2 * hour - 1, ordering).running).toEqual(['urgent'])
    expect(next(hour, 2 * hour, ordering).running).toEqual(['old'])
  })

  it('should not let those evict it whom it went before for its age', () => {
    const life = next(hour, 2 * hour, 'greedy')
    expect(victimsOf(life.at(3 * hour).tick())).toEqual([])
    expect(life.running).toEqual(['old'])
    expect(life.cell.workloads.get('urgent')!.hold).toMatchObject({
      code: 'WaitingForQuota',
      rule: 'spec.classes[0].aging',
    })
  })

  it('should let nobody evict for its age', () => {
    const life = lifeOf(kueuePolicy([queue('a', 1, own)], { classes }), 2)
    life.submit('urgent', 1, { queue: 'a', class: 'debug' })
    life.tick()
    life.at(1).submit('old', 1, { queue: 'a' })
    expect(victimsOf(life.at(40 * hour).tick())).toEqual([])
  })

  it('should look again when who blocks a strict queue is overtaken, though nothing else happens', () => {
    const policy = kueuePolicy([queue('a', 1, {}, { ordering: 'fifo', quotas: [devices(1)] })], { classes })
    const life = lifeOf(policy, 2)
    life.submit('urgent', 2, { queue: 'a', class: 'debug' }).submit('old', 1, { queue: 'a' })
    life.tick()
    expect(life.running).toEqual([])
    life.at(3 * hour - 1).tick()
    expect(life.running).toEqual([])
    life.at(3 * hour).tick()
    expect(life.running).toEqual(['old'])
  })
})
