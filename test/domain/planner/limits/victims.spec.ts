import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../../../../domain/policy/contract-policy.ts'
import { nodeOf, requestOf } from '../../../support/arbitrary-fleet.ts'
import { budgetPolicy, hour, minute, minutes } from '../../../support/cell-life.ts'
import { contested, ContestedLife, decisionsOf, monday, victimsOf } from '../../../support/contested-life.ts'

/** Who goes first when b wants one device of a's four. */
const firstVictim = (prepare: (life: ContestedLife) => void): string | undefined => {
  const life = contested(4)
  prepare(life)
  life.submit('b0', 1, { budget: 'b' })
  return victimsOf(life.pass(20 * minute))[0]
}

describe('the first victim', () => {
  it('should be who loses least since its last checkpoint', () => {
    const victim = firstVictim((life) => {
      life.at(monday + 10 * minute)
      for (const id of ['a0', 'a1', 'a3']) life.checkpoint(id)
      life.at(monday + 20 * minute).checkpoint('a2')
    })
    expect(victim).toBe('a2')
  })
  it('should be the youngest where all lose the same, and then the one of the smaller id', () => {
    expect(firstVictim(() => undefined)).toBe('a0')
    const victim = firstVictim((life) => {
      for (const id of ['a1', 'a3']) life.end(id)
      life
        .at(monday + minute)
        .submit('a9', 1, { budget: 'a' })
        .submit('a8', 1, { budget: 'a' })
        .tick()
      life.at(monday + 5 * minute)
      for (const id of ['a0', 'a2', 'a8', 'a9']) life.checkpoint(id)
    })
    expect(victim).toBe('a8')
  })
  it('should not be spared for saying nothing: the silent are taken for like the others', () => {
    const reporting = (life: ContestedLife, ids: ReadonlyArray<string>) => {
      for (let i = 0; i < 3; i++)
        ids.forEach((id, k) => {
          life.at(monday + (10 * i + k) * minute).checkpoint(id)
        })
    }
    // Median of what the others reported is the second of them: the silent one is as the middle of them, and of a smaller id.
    const victim = firstVictim((life) => {
      reporting(life, ['a1', 'a2', 'a3'])
    })
    expect(victim).toBe('a3')
    const victims = (() => {
      const life = contested(4)
      reporting(life, ['a1', 'a2', 'a3'])
      life.submit('b0', 2, { budget: 'b' })
      return victimsOf(life.pass(20 * minute))
    })()
    expect(victims).toEqual(['a3', 'a0'])
  })
  it('should not be taken for younger than it is where the others reported before it began', () => {
    const victim = firstVictim((life) => {
      life.end('a0')
      for (const id of ['a1', 'a2', 'a3']) life.checkpoint(id)
      life
        .at(monday + 30 * minute)
        .submit('young', 1, { budget: 'a' })
        .tick()
    })
    expect(victim).toBe('young')
  })
  it('should be found by the newest checkpoint, in whatever order they are told', () => {
    const times = fc.array(fc.tuple(fc.constantFrom('a0', 'a1', 'a2', 'a3'), fc.nat(50)), { maxLength: 10 })
    fc.assert(
      fc.property(times, fc.array(fc.nat(), { maxLength: 10, minLength: 10 }), (times, keys) => {
        const tell = (order: typeof times) =>
          firstVictim((life) => {
            life.at(monday + 50 * minute)
            for (const [workload, at] of order)
              life.input('CheckpointCommitted', { attempt: 1, workload }, monday + at * minute)
          })
        const shuffled = times.map((time, i) => ({ key: keys[i]!, time }))
        shuffled.sort((a, b) => a.key - b.key)
        expect(tell(shuffled.map(({ time }) => time))).toBe(tell(times))
      }),
      { numRuns: 25 },
    )
  })
})

describe('who is elastic', () => {
  /** One job of a that holds all four and could do with one; and a job of a's that cannot shrink. */
  const elastic = (wanted: number, more: Parameters<ContestedLife['policy']>[0] | null = null): ContestedLife => {
    const life = new ContestedLife(monday)
      .policy(more ?? budgetPolicy({ a: 1, b: 1 }))
      .nodes(1, 6)
      .drilled('a', 'b')
    const elasticity = { maxReplicas: 4, minReplicas: 1, resizeCostMs: minutes(1) }
    life.submit('elastic', 4, { budget: 'a', terms: { elasticity } })
    life.submit('fixed', 1, { budget: 'a' }).submit('fixed-too', 1, { budget: 'a' }).tick()
    for (let i = 0; i < wanted; i++) life.submit(`b${i}`, 1, { budget: 'b' })
    return life
  }
  it('should shrink before anybody stops, by no more than is needed', () => {
    const life = elastic(1)
    const [decided] = decisionsOf(life.pass(30 * minute), 'PreemptionDecided')
    expect(decided!.data.victims).toMatchObject([{ keeps: [{ devices: [0, 1, 2] }], workload: 'elastic' }])
    expect(life.cell.workloads.get('elastic')!.attempt).toBe(1)
    expect(life.running).toEqual(['b0', 'elastic', 'fixed', 'fixed-too'])
  })
  it('should not be asked to shrink as one of an hour, a minute or the last before promotion', () => {
    const limits = { ...defaultLimits, evictionsPerMinute: 0, preemptionsPerTeamHour: 0, promotionAfter: 1 }
    const life = elastic(3, budgetPolicy({ a: 1, b: 1 }, { limits }))
    const decisions = life.pass(hour)
    expect(decisionsOf(decisions, 'LeaseShrunk').length).toBeGreaterThan(0)
    expect(decisionsOf(decisions, 'AttemptStopped')).toEqual([])
    expect(life.holds('b')).toBe(3)
    expect(life.cell.workloads.get('elastic')!.preemptions).toBe(0)
  })
  it('should shrink further before anybody stops for the second who takes in one pass', () => {
    const life = elastic(3)
    const decisions = life.pass(30 * minute)
    expect(decisionsOf(decisions, 'AttemptStopped')).toEqual([])
    expect(life.running).toEqual(['b0', 'b1', 'b2', 'elastic', 'fixed', 'fixed-too'])
  })
  it('should be waited for while it shrinks, if it could shrink further', () => {
    const life = elastic(2, budgetPolicy({ a: 1, b: 1 }, { mode: 'automate' }))
    life.started()
    expect(victimsOf(life.pass(30 * minute))).toEqual(['elastic'])
    life.conclude('elastic')
    expect(victimsOf(life.tick())).toEqual(['elastic'])
    life.conclude('elastic')
    life.tick()
    expect(life.running).toEqual(['b0', 'b1', 'elastic', 'fixed', 'fixed-too'])
  })
  it('should not stop where it need only shrink once others have left', () => {
    const life = new ContestedLife(monday)
      .policy(budgetPolicy({ a: 1, b: 1 }, { mode: 'automate' }))
      .nodes(1, 6)
      .drilled('a', 'b')
    const elasticity = { maxReplicas: 4, minReplicas: 3, resizeCostMs: minutes(1) }
    life.submit('elastic', 4, { budget: 'a', preemption: { minRuntimeMs: minutes(20) }, terms: { elasticity } })
    life.submit('fixed', 2, { budget: 'a' }).tick()
    life.started().submit('b0', 1, { budget: 'b' }).submit('b1', 2, { budget: 'b' })
    expect(victimsOf(life.pass(30 * minute))).toEqual(['fixed'])
    life.conclude('fixed')
    const [decided] = decisionsOf(life.tick(), 'PreemptionDecided')
    expect(decided!.data.victims).toMatchObject([{ keeps: [{ devices: [0, 1, 2] }], workload: 'elastic' }])
  })
  /** Asked to shrink for b0, which has its place. */
  const shrinking = (limits = defaultLimits): ContestedLife => {
    const life = elastic(1, budgetPolicy({ a: 1, b: 1 }, { limits, mode: 'automate' }))
    life.started()
    life.pass(30 * minute)
    expect(life.cell.workloads.get('elastic')!.run!.open).toMatchObject({ verb: 'shrink' })
    return life
  }
  it.each(['failed', 'refused', 'expired'] as const)('should be stopped like others at once where it %s', (outcome) => {
    const life = shrinking()
    life.conclude('elastic', outcome)
    const decisions = life.tick()
    expect(decisionsOf(decisions, 'PlaceReleased')).toMatchObject([
      { data: { because: 'lost', rule: 'workload', workload: 'b0' } },
    ])
    expect(decisionsOf(decisions, 'PreemptionDecided')).toMatchObject([{ data: { victims: [{ keeps: null }] } }])
    const [victim] = victimsOf(decisions)
    life.conclude(victim!)
    life.tick()
    expect(life.running).toContain('b0')
    life.pass(hour)
    expect(life.cell.workloads.get('elastic')!.run?.open?.verb).not.toBe('shrink')
  })
  it('should go on where it fails to shrink and the limits allow nobody to be stopped', () => {
    const life = shrinking({ ...defaultLimits, preemptionsPerTeamHour: 0 })
    life.conclude('elastic', 'failed')
    const decisions = life.pass(minute)
    expect(victimsOf(decisions)).toEqual([])
    expect(life.cell.places.size).toBe(0)
    expect(life.reason('b0')).toBe('PreemptionRateLimited')
  })
  it('should be waited for until the time of the place is up by the first edition of the rules', () => {
    const life = shrinking()
    life.input('PolicyActivated', { document: life.cell.policy!, hash: 'first' })
    life.conclude('elastic', 'failed')
    expect(decisionsOf(life.pass(minute), 'PlaceReleased')).toEqual([])
    expect(life.cell.places.size).toBe(1)
  })
})

describe('a place', () => {
  it('should be proven before anybody is asked to leave', () => {
    const life = new ContestedLife(monday).policy(budgetPolicy({ a: 1, b: 1 })).drilled('a', 'b')
    for (const [node, model, domain] of [
      ['x', 'h100', 'left'],
      ['y', 'a100', 'right'],
    ] as const)
      life.input('NodeRegistered', nodeOf(node, 2, { cpuMilli: 4000, domain, model }))
    for (let i = 0; i < 4; i++) life.submit(`a${i}`, 1, { budget: 'a' })
    life.tick()
    const wants = {
      'one of another model': { devices: 1, models: ['b300'] },
      'two nodes of one domain': { devices: 3, span: 'domain' },
      'three devices of one node': { devices: 3, span: 'node' },
      'more CPU than a node has': { cpuMilli: 5000, devices: 1 },
    } as const
    for (const [what, request] of Object.entries(wants)) {
      const refused = life.input('WorkloadSubmitted', {
        class: 'training',
        estimateMs: null,
        queue: 'default',
        request: requestOf(request),
        team: 'b',
        terms: { ...life.cell.workloads.get('a0')!.terms, budget: 'b' },
        workload: what,
      })
      expect(decisionsOf(refused, 'WorkloadRefused'), what).toHaveLength(1)
    }
    life.submit('b0', 2, { budget: 'b', request: requestOf({ devices: 2, models: ['a100'], span: 'node' }) })
    expect(victimsOf(life.pass(30 * minute))).toEqual(['a2', 'a3'])
  })
  it('should be bounded by CPU as well as by devices', () => {
    const life = new ContestedLife(monday).policy(budgetPolicy({ a: 1, b: 1 })).drilled('a', 'b')
    life.input('NodeRegistered', nodeOf('x', 4, { cpuMilli: 4000 }))
    const busy = requestOf({ cpuMilli: 2000, devices: 1 })
    for (const id of ['a0', 'a1']) life.submit(id, 1, { budget: 'a', request: requestOf({ devices: 1 }) })
    for (const id of ['a2', 'a3']) life.submit(id, 1, { budget: 'a', request: busy })
    life.tick()
    life.submit('b0', 1, { budget: 'b', request: busy })
    expect(victimsOf(life.pass(30 * minute))).toEqual(['a2'])
    expect(life.running).toContain('b0')
    expect(life.cell.fleet.cpuFree[0]).toBe(0)
  })
})

it('should free no more beyond the need than the least of those who leave', () => {
  const life = new ContestedLife(monday)
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(1, 8)
    .drilled('a', 'b')
  life.submit('a-large', 8, { budget: 'a' }).tick()
  life.submit('b-small', 1, { budget: 'b' })
  const [decided] = decisionsOf(life.pass(2 * hour), 'PreemptionDecided')
  expect(decided!.data.victims.map(({ workload }) => workload)).toEqual(['a-large'])
  const two = new ContestedLife(monday)
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(2, 4)
    .drilled('a', 'b')
  two.submit('a0', 4, { budget: 'a', request: requestOf({ devices: 4 }) })
  two.submit('a1', 4, { budget: 'a', request: requestOf({ devices: 4 }) }).tick()
  two.submit('b0', 4, { budget: 'b' })
  expect(victimsOf(two.pass(2 * hour))).toHaveLength(1)
})

it('should lose no more work by one decision than the policy allows', () => {
  const bounded = (lossMaxMilliUnitHours: number) => {
    const life = contested(4, { limits: { ...defaultLimits, lossMaxMilliUnitHours } })
    life.at(monday + hour).submit('b0', 2, { budget: 'b' })
    return { life, decisions: life.pass(10 * minute) }
  }
  // Two devices for 70 minutes are 2333 milli-unit hours.
  const { life, decisions } = bounded(2333)
  expect(victimsOf(decisions)).toEqual([])
  expect(victimsOf(bounded(2334).decisions)).toEqual(['a0', 'a1'])
  const [held] = decisionsOf(decisions, 'WorkloadHeld').slice(-1)
  expect(held!.data).toMatchObject({
    workload: 'b0',
    code: 'PreemptionRateLimited',
    rule: 'spec.limits.lossMax',
    compared: { lossMaxMilliUnitHours: 2333, lossMilliUnitHours: 2334 },
  })
  // What is saved is not lost.
  expect(victimsOf(life.checkpoint('a2').tick())).toEqual(['a0', 'a2'])
})

it('should not take below its entitlement a side whose victims are slow to leave', () => {
  const life = contested(4, { mode: 'automate' }).submit('b0', 2, { budget: 'b' })
  expect(victimsOf(life.pass(10 * minute))).toEqual(['a0', 'a1'])
  for (const victim of ['a0', 'a1']) life.conclude(victim, 'failed')
  // Both still have to leave, however long it takes: what a holds beside them is all that it is entitled to.
  expect(victimsOf(life.pass(2 * hour))).toEqual([])
  for (const victim of ['a0', 'a1']) life.conclude(victim)
  life.tick()
  expect(life.running).toEqual(['a2', 'a3', 'b0'])
})

it('should make no victim of what runs where nothing new can start', () => {
  const life = contested(2).nodes(1, 2)
  life.submit('a2', 1, { budget: 'a' }).submit('a3', 1, { budget: 'a' }).tick()
  life.health('node-0', 'draining')
  life.submit('b0', 1, { budget: 'b' })
  expect(victimsOf(life.pass(20 * minute))).toEqual(['a2'])
  life.health('node-0', 'failed')
  life.submit('b1', 1, { budget: 'b' })
  expect(victimsOf(life.pass(hour)).filter((victim) => ['a0', 'a1'].includes(victim))).toEqual([])
})
