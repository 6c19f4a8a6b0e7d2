import fc from 'fast-check'
import { expect, it } from 'vitest'
import { admissionCycle, type HeadOutcome } from '../../../domain/kueue/admission-cycle.ts'
import { compareStanding } from '../../../domain/kueue/cycle-order.ts'
import type { Head } from '../../../domain/kueue/head.ts'
import { Holdings, type Holder } from '../../../domain/kueue/holdings.ts'
import type { CycleContext } from '../../../domain/kueue/nomination.ts'
import { resourceGroups } from '../../../domain/kueue/queue-rules.ts'
import type { KueuePolicy, QueuePreemption } from '../../../domain/policy/quota-policy.ts'
import { QuotaTree } from '../../../domain/quota/quota-tree.ts'
import { devices, evictsAnyone, node } from './contested-quota.ts'
import { headOf, heldBy, settings } from './waiting-heads.ts'

interface Turns {
  readonly admitted: ReadonlyArray<string>
  readonly evicted: ReadonlyArray<string>
  /** Nothing happened in the last one. */
  readonly settled: boolean
}

const contextOf = (
  quotas: Readonly<Record<string, number>>,
  policy: KueuePolicy,
  preemption: QueuePreemption,
): CycleContext => {
  const tree = new QuotaTree([
    node('cohort', 'all', null, []),
    ...Object.entries(quotas).map(([name, nominal]) => node('queue', name, 'all', devices(nominal))),
  ])
  const rules = {
    groups: resourceGroups(tree, [{ resources: ['devices'], flavors: ['gpu'] }]),
    preemption,
    fungibility: {
      preference: 'borrowingOverPreemption',
      whenCanBorrow: 'mayStopSearch',
      whenCanPreempt: 'tryNextFlavor',
    },
    ordering: 'bestEffortFifo',
    undeclared: 'refused',
  } as const
  return {
    holdings: new Holdings(tree),
    rulesOf: () => rules,
    policy,
    settings: { ...settings, preemptorsFirst: true },
    placer: null,
  }
}

const cyclesMax = 100

/** A cell whose cycles are repeated at one instant after the other, and carried out at once. */
class Cell {
  private readonly context: CycleContext
  private readonly running = new Map<Holder, Head>()
  private shielded: Holder[] = []

  constructor(context: CycleContext) {
    this.context = context
  }

  /**
   * Until nothing happens: who is evicted waits again, who is parked waits until something moves, and who evicts stays
   * ahead in its queue until it starts.
   */
  instant(newcomers: ReadonlyArray<Head>, shield: boolean): Turns {
    const { holdings } = this.context
    for (const holder of this.shielded.splice(0)) holdings.unshield(holder)
    const [admitted, evicted]: [string[], string[]] = [[], []]
    let waiting = [...newcomers]
    const parked: Head[] = []
    for (let cycle = 0; cycle < cyclesMax; cycle++) {
      waiting.sort((a, b) => Number(b.isPreemptor) - Number(a.isPreemptor) || compareStanding(a, b, settings))
      const heads = waiting.filter(({ queue }, i) => waiting.findIndex((head) => head.queue === queue) === i)
      const outcomes = admissionCycle(this.context, heads)
      const started = outcomes.filter(({ reason }) => reason === null)
      const victims = outcomes.flatMap((outcome) => outcome.victims.map(({ holder }) => holder))
      const goners = outcomes.filter(({ reason, parked }) => reason === null || parked)
      if (goners.length + victims.length === 0) return { admitted, evicted, settled: true }
      const preemptors = new Set(outcomes.flatMap((outcome) => (outcome.victims.length > 0 ? [outcome.head] : [])))
      waiting = waiting
        .filter((head) => !goners.some((outcome) => outcome.head === head))
        .map((head) => (preemptors.has(head) ? { ...head, isPreemptor: true } : head))
      parked.push(...goners.filter((outcome) => outcome.parked).map(({ head }) => ({ ...head, isPreemptor: false })))
      for (const outcome of started) this.start(outcome, cycle, shield)
      for (const victim of victims) waiting.push(this.stop(victim))
      admitted.push(...started.map(({ head }) => head.id))
      evicted.push(...victims.map(({ id }) => id))
      if (started.length + victims.length > 0) waiting.push(...parked.splice(0))
    }
    return { admitted, evicted, settled: false }
  }

  private start(outcome: HeadOutcome, cycle: number, shield: boolean): void {
    const holder = heldBy(outcome, cycle)
    this.context.holdings.add(holder)
    this.running.set(holder, { ...outcome.head, isPreemptor: false })
    if (!shield) return
    this.context.holdings.shield(holder)
    this.shielded.push(holder)
  }

  private stop(holder: Holder): Head {
    this.context.holdings.remove(holder)
    return this.running.get(holder)!
  }
}

const evictsNobody: QueuePreemption = {
  withinQueue: 'never',
  reclaimWithinCohort: 'never',
  borrowWithinCohort: 'never',
  borrowPriorityMax: null,
}
const fairSharing = ['lessThanOrEqualToFinalShare', 'lessThanInitialShare'] as const
const policies: ReadonlyArray<KueuePolicy> = [
  { fairSharing: null, loops: 'safe' },
  { fairSharing, loops: 'safe' },
  { fairSharing, loops: 'compatible' },
]

it.each(policies)('should admit equal requests in the order in which they came, under %j', (policy) => {
  const requests = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 2, maxLength: 12 })
  fc.assert(
    fc.property(requests, fc.integer({ min: 1, max: 3 }), (queues, amount) => {
      const context = contextOf({ a: 4, b: 4, c: 0 }, policy, evictsNobody)
      const { tree } = context.holdings
      const waiting = queues.map((queue, i) =>
        headOf(`w${30 - i}`, tree.node('queue', queue), amount, { createdAt: i }),
      )
      const { admitted, settled } = new Cell(context).instant(waiting.toReversed(), false)
      expect(settled).toBe(true)
      for (const name of ['a', 'b', 'c']) {
        const mine = waiting.filter(({ queue }) => queue === tree.node('queue', name)).map(({ id }) => id)
        const started = admitted.filter((id) => mine.includes(id))
        expect(started).toEqual(mine.slice(0, started.length))
      }
      const left = tree.available(tree.node('cohort', 'all'), 0)
      expect(admitted.length === queues.length || left < amount).toBe(true)
    }),
  )
})

const request = fc.record({
  queue: fc.constantFrom('a', 'b', 'c'),
  amount: fc.integer({ min: 1, max: 5 }),
  priority: fc.nat(2),
})
const preemption: fc.Arbitrary<QueuePreemption> = fc.record({
  withinQueue: fc.constantFrom('never', 'lowerPriority', 'lowerOrNewerEqualPriority'),
  reclaimWithinCohort: fc.constantFrom('lowerPriority', 'any'),
  borrowWithinCohort: fc.constantFrom('never', 'lowerPriority'),
  borrowPriorityMax: fc.constant(null),
})

it.each(policies)('should come to rest while who starts is shielded, under %j', (policy) => {
  const quotas = fc.record({ a: fc.nat(5), b: fc.nat(5), c: fc.nat(2) })
  const before = fc.array(request, { maxLength: 5 })
  let evictions = 0
  fc.assert(
    fc.property(
      quotas,
      preemption,
      before,
      fc.array(request, { minLength: 1, maxLength: 6 }),
      (quota, rule, held, asked) => {
        const context = contextOf(quota, policy, rule)
        const number = (name: string) => context.holdings.tree.node('queue', name)
        const heads = [...held, ...asked].map(({ queue, amount, priority }, i) =>
          headOf(`w${i}`, number(queue), amount, { priority, createdAt: i }),
        )
        const cell = new Cell(context)
        const [first, second] = [heads.slice(0, held.length), heads.slice(held.length)].map((some) =>
          cell.instant(some, true),
        )
        evictions += second!.evicted.length
        expect([first!.evicted, first!.settled, second!.settled]).toEqual([[], true, true])
      },
    ),
    { numRuns: 1000 },
  )
  expect(evictions).toBeGreaterThan(100)
})

it('should go round where three may each evict the next, unless who starts is shielded', () => {
  const rules: QueuePreemption = { ...evictsAnyone, withinQueue: 'lowerPriority' }
  const settled = [false, true].map((shield) => {
    const context = contextOf({ a: 4, b: 0, c: 2 }, { fairSharing: null, loops: 'safe' }, rules)
    const number = (name: string) => context.holdings.tree.node('queue', name)
    const heads = [
      headOf('w0', number('b'), 3, { createdAt: 0, priority: 2 }),
      headOf('w1', number('a'), 5, { createdAt: 1, priority: 1 }),
      headOf('w2', number('a'), 3, { createdAt: 2 }),
      headOf('w3', number('a'), 1, { createdAt: 3 }),
    ]
    return new Cell(context).instant(heads, shield).settled
  })
  expect(settled).toEqual([false, true])
})
