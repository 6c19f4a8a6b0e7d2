import { describe, expect, it } from 'vitest'
import { Holdings, type Holder } from '../../../domain/kueue/holdings.ts'
import { findVictims, type PreemptionRequest } from '../../../domain/kueue/preemption.ts'
import type { QueuePreemption } from '../../../domain/policy/quota-policy.ts'
import { QuotaTree, type QuotaNodeSpec } from '../../../domain/quota/quota-tree.ts'
import { asPreemptor, devices, evictsAnyone, holder, node } from './contested-quota.ts'

const bothStrategies = ['lessThanOrEqualToFinalShare', 'lessThanInitialShare'] as const

/** Who holds what, under one rule; `ask` says who is evicted for somebody, `swap` does it. */
class Situation {
  readonly tree: QuotaTree
  private readonly holdings: Holdings
  private readonly rule: Pick<PreemptionRequest, 'fairSharing' | 'loops'>
  private readonly policy: QueuePreemption

  constructor(
    specs: ReadonlyArray<QuotaNodeSpec>,
    rule: Pick<PreemptionRequest, 'fairSharing' | 'loops'>,
    policy: QueuePreemption = evictsAnyone,
  ) {
    this.tree = new QuotaTree(specs)
    this.holdings = new Holdings(this.tree)
    this.rule = rule
    this.policy = policy
  }

  hold(...holders: ReadonlyArray<Holder>): void {
    for (const one of holders) this.holdings.add(one)
  }

  ask(one: Holder): ReadonlyArray<string> {
    return this.search(one).map(({ id }) => id)
  }

  swap(one: Holder): ReadonlyArray<string> {
    const victims = this.search(one)
    for (const victim of victims) this.holdings.remove(victim)
    if (victims.length > 0) this.holdings.add(one)
    return victims.map(({ id }) => id)
  }

  private search(one: Holder): ReadonlyArray<Holder> {
    const preemptor = asPreemptor(this.tree, one)
    if (preemptor === null) throw new Error(`${one.id} fits without evictions`)
    const request = { ...this.rule, holdings: this.holdings, preemptor, preemptionOf: () => this.policy }
    return findVictims(request).map(({ holder: victim }) => victim)
  }
}

const modes = ['compatible', 'safe'] as const
const root = node('cohort', 'all', null, [])

describe('victims of the own queue who come back make the others illegal (kueue#14543)', () => {
  const cohort = [
    root,
    node('queue', 'a', 'all', devices(2)),
    node('queue', 'b', 'all', devices(2)),
    node('queue', 'idle', 'all', devices(6)),
  ]
  const situation = (loops: PreemptionRequest['loops']) => {
    const one = new Situation(cohort, { fairSharing: bothStrategies, loops })
    const own = holder(one.tree, 'own', 'a', 3, { createdAt: 9 })
    const other = holder(one.tree, 'other', 'b', 6, { createdAt: 5 })
    one.hold(own, other)
    return { one, own, other, incoming: holder(one.tree, 'incoming', 'a', 5, { createdAt: 1, admittedAt: 1 }) }
  }

  it('should go round in a circle when compatible', () => {
    const { one, other, incoming } = situation('compatible')
    for (let turn = 0; turn < 3; turn++) {
      expect(one.swap(incoming)).toEqual(['other'])
      expect(one.swap(other)).toEqual(['incoming'])
    }
  })

  it('should find nobody when safe: with the own one back, the share is too large', () => {
    const { one, incoming } = situation('safe')
    expect(one.ask(incoming)).toEqual([])
  })

  it('should go on to those who may be taken when safe', () => {
    const { one, incoming } = situation('safe')
    one.hold(holder(one.tree, 'spare', 'a', 1, { createdAt: 10 }))
    expect(one.ask({ ...incoming, usage: [[0, 4]] }).toSorted()).toEqual(['own', 'spare'])
  })
})

describe.each(modes)('a best-effort queue beside two tenants, when %s (kueue#3779)', (loops) => {
  const cohort = [
    root,
    node('queue', 'tenantA', 'all', devices(150)),
    node('queue', 'tenantB', 'all', devices(150)),
    node('queue', 'bestEffort', 'all', devices(0)),
  ]
  const situation = (fairSharing: PreemptionRequest['fairSharing']) => {
    const one = new Situation(cohort, { fairSharing, loops })
    const a1 = holder(one.tree, 'a1', 'tenantA', 250, { createdAt: 1 })
    const be = holder(one.tree, 'be', 'bestEffort', 50, { createdAt: 2, priority: -1 })
    return { one, a1, be, a2: holder(one.tree, 'a2', 'tenantA', 50, { createdAt: 3 }) }
  }

  it('should not evict the smaller share for the larger', () => {
    const { one, a1, be, a2 } = situation(bothStrategies)
    one.hold(a1, be)
    expect(one.ask(a2)).toEqual([])
  })

  it('should let one of two evict the other, and not back', () => {
    const { one, a1, be, a2 } = situation(bothStrategies)
    one.hold(a1, be)
    const older = { ...a2, createdAt: 0 }
    expect(one.swap(older)).toEqual(['a1'])
    expect(one.ask(a1)).toEqual([])
  })

  it('should let the tenant borrow what best effort held, by priority, and not back', () => {
    const { one, a1, be, a2 } = situation(null)
    one.hold(a1, be)
    expect(one.swap(a2)).toEqual(['be'])
    expect(one.ask(be)).toEqual([])
  })

  it('should give back to a tenant what is its own', () => {
    const { one, a1, be } = situation(bothStrategies)
    one.hold(a1, be)
    const b1 = holder(one.tree, 'b1', 'tenantB', 50)
    expect(one.swap(b1)).toEqual(['a1'])
    expect(one.ask(a1)).toEqual([])
  })
})

describe.each(modes)('borrowing by priority, when %s (kueue#2821)', (loops) => {
  const cohort = [
    root,
    node('queue', 'left', 'all', devices(0)),
    node('queue', 'right', 'all', devices(0)),
    node('queue', 'idle', 'all', devices(4)),
  ]

  it('should not give it back to who came earlier', () => {
    const one = new Situation(cohort, { fairSharing: null, loops })
    const early = holder(one.tree, 'early', 'left', 4, { createdAt: 0, priority: 0 })
    const urgent = holder(one.tree, 'urgent', 'right', 4, { createdAt: 9, priority: 1 })
    one.hold(early)
    expect(one.swap(urgent)).toEqual(['early'])
    expect(one.ask(early)).toEqual([])
  })

  it('should not take from who is its equal, however early', () => {
    const one = new Situation(cohort, { fairSharing: null, loops })
    one.hold(holder(one.tree, 'late', 'left', 4, { createdAt: 9 }))
    expect(one.ask(holder(one.tree, 'early', 'right', 4))).toEqual([])
  })
})

describe('a reclaim that makes the other side eligible (volcano#4947)', () => {
  const deserved = [root, node('queue', 'q1', 'all', devices(3)), node('queue', 'q2', 'all', devices(5))]

  it.each(modes.flatMap((loops) => [null, bothStrategies].map((fairSharing) => ({ loops, fairSharing }))))(
    'should end with a whole job of four on three deserved, $loops, $fairSharing',
    (rule) => {
      const one = new Situation(deserved, rule)
      const four = holder(one.tree, 'four', 'q1', 4)
      one.hold(four, holder(one.tree, 'held', 'q2', 4))
      expect(one.swap(holder(one.tree, 'due', 'q2', 1))).toEqual(['four'])
      expect(one.ask(four)).toEqual([])
    },
  )

  const borrowed = [
    node('cohort', 'all', null, devices(2)),
    node('queue', 'urgent', 'all', devices(0)),
    node('queue', 'owner', 'all', devices(3)),
  ]
  const situation = (loops: PreemptionRequest['loops']) => {
    const one = new Situation(borrowed, { fairSharing: null, loops })
    const small = holder(one.tree, 'small', 'owner', 1, { admittedAt: 2 })
    const large = holder(one.tree, 'large', 'owner', 4, { admittedAt: 1 })
    one.hold(small, large)
    return { one, small, large, incoming: holder(one.tree, 'incoming', 'urgent', 5, { priority: 1 }) }
  }

  it('should leave the owner below its nominal quota, and go round in a circle, when compatible', () => {
    const { one, small, large, incoming } = situation('compatible')
    for (let turn = 0; turn < 3; turn++) {
      expect(one.swap(incoming).toSorted()).toEqual(['large', 'small'])
      expect(one.swap(small)).toEqual(['incoming'])
      one.hold(large)
    }
  })

  it('should not take what the owner could reclaim straight back when safe', () => {
    const { one, incoming } = situation('safe')
    expect(one.ask(incoming)).toEqual([])
  })

  it('should take as much as leaves the owner what it deserves when safe', () => {
    const { one, incoming, small } = situation('safe')
    const modest: Holder = { ...incoming, usage: [[0, 1]] }
    expect(one.swap(modest)).toEqual(['small'])
    expect(one.ask(small)).toEqual([])
  })
})
