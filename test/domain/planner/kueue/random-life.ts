import { either as E } from 'fp-ts'
import { randomBelow } from '../../../../domain/kernel/random.ts'
import type { EpochMs } from '../../../../domain/kernel/units.ts'
import type { CellDecision, CellInput, NodeHealth } from '../../../../domain/planner/cell-event.ts'
import type { CommandVerb } from '../../../../domain/planner/command.ts'
import { editionNow } from '../../../../domain/planner/edition.ts'
import { startCommandOf } from '../../../../domain/planner/workload.ts'
import type { AllocationPolicy, QueuePolicy } from '../../../../domain/policy/allocation-policy.ts'
import { defaultClass } from '../../../../domain/policy/budget-policy.ts'
import { defaultContract, defaultHeadroom, defaultLimits } from '../../../../domain/policy/contract-policy.ts'
import {
  borrowPolicies,
  defaultUsageOrdering,
  flavorPreferences,
  flavorSearches,
  reclaimPolicies,
  withinQueuePolicies,
} from '../../../../domain/policy/quota-policy.ts'
import { unstatedTerms } from '../../../../domain/workload/terms.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { budgetPolicy } from '../../../support/cell-life.ts'
import { kueuePolicy } from './kueue-life.ts'
import type { WatchedCell } from './watched-cell.ts'

const queueNames = ['a', 'b', 'c', 'd']
const models = ['x', 'y']

/** Whatever may happen to a cell with quota, drawn from a seed. */
export class RandomLife {
  private readonly watched: WatchedCell
  private readonly automated: boolean
  private state: number
  private now = 0
  private submitted = 0
  private readonly modelled: boolean

  constructor(watched: WatchedCell, seed: number, automated: boolean) {
    this.watched = watched
    this.automated = automated
    this.state = seed * 7919
    this.modelled = this.below(2) === 0
  }

  live(steps: number): void {
    for (let i = 0; i < 3; i++) this.register()
    this.activate(this.quotaPolicy())
    for (let step = 0; step < steps; step++) {
      this.now += this.below(3) === 0 ? 0 : this.below(20)
      for (let i = this.below(4); i >= 0; i--) this.happen()
      this.rest()
    }
  }

  private happen(): void {
    const { cell } = this.watched
    const running = [...cell.workloads.values()].filter(({ run }) => run !== null)
    const waiting = [...cell.workloads.values()].filter(({ run }) => run === null)
    const kind = this.below(100)
    if (kind < 45) this.submit()
    else if (kind < 65 && running.length > 0) {
      const { id, attempt } = this.one(running)
      this.tell({ type: 'AttemptEnded', at: this.at, data: { attempt, outcome: 'succeeded', workload: id } })
    } else if (kind < 70 && waiting.length > 0)
      this.tell({
        type: 'CancelRequested',
        at: this.at,
        data: { actor: 'test', reason: null, workload: this.one(waiting).id },
      })
    else if (kind < 75 && cell.workloads.size > 0) {
      const { id, onHold } = this.one([...cell.workloads.values()])
      const data = { actor: 'test', reason: null, workload: id }
      this.tell({ type: onHold ? 'ReleaseRequested' : 'HoldRequested', at: this.at, data })
    } else if (kind < 82) this.changeHealth()
    else if (kind < 85) this.register()
    else if (kind < 88) this.activate(this.below(4) === 0 ? this.otherPolicy() : this.quotaPolicy())
    else if (kind < 90)
      this.tell({ type: 'DrillConcluded', at: this.at, data: { modelFamily: null, outcome: 'passed', team: 't0' } })
    else this.answer()
  }

  /** Adapters say what has come of commands. */
  private answer(): void {
    for (const workload of [...this.watched.cell.workloads.values()]) {
      const { run, attempt, id } = workload
      if (run?.commanded !== true || this.below(3) === 0) continue
      const command = run.confirmed ? run.open?.command : startCommandOf(workload)
      if (command === undefined) continue
      const verb: CommandVerb = run.confirmed ? run.open!.verb : workload.resumes ? 'resume' : 'start'
      const outcome = this.below(10) === 0 ? 'failed' : 'done'
      this.tell({
        type: 'CommandConcluded',
        at: this.at,
        data: { attempt, command, outcome, reason: null, verb, workload: id },
      })
    }
  }

  /** Ticks at one instant until nothing is decided. */
  private rest(): void {
    for (let round = 0; round < 60; round++)
      if (this.tell({ type: 'Ticked', at: this.at, data: {} }).length === 0) return
    throw new Error('an instant does not come to rest')
  }

  private submit(): void {
    const replicas = 1 + this.below(3)
    const each = 1 + this.below(2)
    const elastic = this.below(4) === 0
    const span = this.one(['node', 'anywhere', 'anywhere'] as const)
    this.tell({
      type: 'WorkloadSubmitted',
      at: this.at,
      data: {
        class: this.one(['low', 'middle', 'high']),
        estimateMs: null,
        queue: this.below(20) === 0 ? 'nowhere' : this.one(queueNames),
        request: requestOf({
          devices: replicas * each,
          span,
          milli: this.below(6) === 0 ? 500 : 1000,
          cpuMilli: this.below(5) === 0 ? 700 : 0,
          models: this.below(4) === 0 ? [this.one(models)] : null,
        }),
        team: this.one(['t0', 't1']),
        terms: {
          ...unstatedTerms,
          submitter: this.one(['u', 'v']),
          elasticity: elastic ? { maxReplicas: replicas, minReplicas: 1, resizeCostMs: 0 as never } : null,
          preemption: {
            ...unstatedTerms.preemption,
            minRuntimeMs: this.one([0, 0, 15]) as never,
            tolerated: this.below(5) > 0,
          },
        },
        workload: `w${this.submitted++}`,
      },
    })
  }

  private changeHealth(): void {
    const { fleet } = this.watched.cell
    const node = this.below(fleet.nodes.length)
    const health = this.one<NodeHealth>(['ready', 'ready', 'ready', 'draining', 'failed', 'cordoned'])
    if (fleet.healthOf(node, null) === health) return
    this.tell({
      type: 'NodeHealthChanged',
      at: this.at,
      data: { device: null, health, node: fleet.nodes[node]!.node, reason: null } as never,
    })
  }

  private register(): void {
    this.tell({
      type: 'NodeRegistered',
      at: this.at,
      data: {
        cpuMilli: this.one([null, 4000]),
        deviceMemoryMib: null,
        devices: 1 + this.below(4),
        domain: null,
        hostMemoryMib: null,
        model: this.modelled ? this.one(models) : null,
        node: `node-${this.watched.cell.fleet.nodes.length}`,
      },
    })
  }

  private activate(document: AllocationPolicy): void {
    this.tell({
      type: 'PolicyActivated',
      at: this.at,
      data: { document, edition: editionNow, hash: `policy ${this.watched.told}` },
    })
  }

  private quotaPolicy(): AllocationPolicy {
    const parent = this.below(2) === 0 ? null : 'top'
    const cohort = (name: string, above: string | null) => ({
      name,
      parent: above,
      fairWeightMilli: 1000,
      quotas: this.below(3) === 0 ? [this.quota('x')] : [],
    })
    const fair = this.below(3) === 0
    return kueuePolicy(
      queueNames.slice(0, 2 + this.below(3)).map((name): QueuePolicy => this.queue(name, fair)),
      {
        mode: this.automated ? 'automate' : 'advise',
        cohorts: [cohort('top', null), cohort('left', parent), cohort('right', parent)],
        contract: { ...defaultContract, drillRequired: this.below(3) === 0 },
        limits: {
          ...defaultLimits,
          holdMs: this.one([1, 3]) as never,
          evictionsPerMinute: this.one([null, 3]),
          preemptionsPerTeamHour: this.one([null, 2, 20]),
          promotionAfter: this.one([null, 1, 3]),
        },
        kueue: {
          fairSharing: fair ? ['lessThanOrEqualToFinalShare', 'lessThanInitialShare'] : null,
          loops: this.below(4) === 0 ? 'compatible' : 'safe',
          ...(this.below(3) === 0 && {
            usageOrdering: {
              ...defaultUsageOrdering,
              halfLifeMs: this.one([0, 20, 300]) as never,
              samplingMs: this.one([1, 7]) as never,
              teamWeightsMilli: this.below(2) === 0 ? {} : { t0: this.one([0, 2500]) },
            },
          }),
        },
        ...(this.below(2) === 0 && this.safeguards()),
      },
    )
  }

  /** What is held against a start beside quota, each now and then. */
  private safeguards(): Partial<AllocationPolicy> {
    const rarely = () => this.below(3) === 0
    const members = ['a', 'b']
    const capMilli = rarely() ? 3000 : null
    const { budgets } = budgetPolicy({ a: 1, b: 1 })
    const tree = budgets!.tree.map((node) => (node.name === 'a' ? { ...node, capMilli } : node))
    const reservation = { budget: 'b', devices: 1, expires: '1970-01-01', justification: 'j', name: 'r', owner: 'o' }
    return {
      budgets: { ...budgets!, tree, turnMs: this.one([0, 0, 5]) as never },
      ...(rarely() && {
        caps: {
          perPersonMilli: this.one([null, 2000]),
          perTeamMilli: this.one([null, 3000]),
          teams: rarely() ? { t0: 4000 } : {},
        },
      }),
      ...(rarely() && {
        classes: [
          { ...defaultClass('low'), priority: -1, agingMs: this.one([null, 7]) as never },
          { ...defaultClass('middle'), agingMs: this.one([null, 11]) as never },
          { ...defaultClass('high'), priority: 1, reserveDevices: this.below(2) },
        ],
      }),
      ...(rarely() && { headroom: { ...defaultHeadroom, lent: this.below(2) === 0, percent: 20 } }),
      ...(rarely() && {
        protectedPools: [{ budgets: [this.one(members)], name: 'pool', nodes: ['node-0', 'node-1'] }],
      }),
      ...(rarely() && { reservations: [{ ...reservation, expires: this.one(['1970-01-01', '1970-01-02']) }] }),
    }
  }

  private queue(name: string, fair: boolean): QueuePolicy {
    const reclaim = this.one([...reclaimPolicies, 'any' as const, 'any' as const])
    const bare = this.below(8) === 0
    return {
      name,
      ordering: this.one(['fifo', 'greedy']),
      ...(this.below(2) === 0 && { budget: this.one(['a', 'b']) }),
      ...(this.below(6) > 0 && { cohort: this.one(['top', 'left', 'right']) }),
      ...(!bare && { quotas: this.below(2) === 0 ? [this.quota('x')] : [this.quota('x'), this.quota('y')] }),
      preemption: {
        borrowPriorityMax: null,
        borrowWithinCohort: fair || reclaim === 'never' ? 'never' : this.one(borrowPolicies),
        reclaimWithinCohort: reclaim,
        withinQueue: this.one([...withinQueuePolicies, 'lowerPriority' as const, 'lowerPriority' as const]),
      },
      ...(this.below(2) === 0 && {
        fungibility: {
          preference: this.one(flavorPreferences),
          whenCanBorrow: this.one(flavorSearches),
          whenCanPreempt: this.one(flavorSearches),
        },
      }),
    }
  }

  private quota(accelerator: string) {
    const limit = () => (this.below(2) === 0 ? null : this.below(4) * 1000)
    return {
      accelerator,
      devices: { nominal: this.below(6) * 1000, borrowing: limit(), lending: limit() },
      ...(this.below(4) === 0 && { cpu: { nominal: 2000, borrowing: null, lending: null } }),
    }
  }

  private otherPolicy(): AllocationPolicy {
    const mode = this.automated ? 'automate' : 'advise'
    const queues = queueNames.map((name): QueuePolicy => ({ name, ordering: 'greedy', budget: 'p' }))
    return this.below(2) === 0
      ? budgetPolicy({ p: 1, q: 1 }, { mode, queues })
      : { ...kueuePolicy(queues), mode, sharing: 'budgets' }
  }

  private tell(input: CellInput): ReadonlyArray<CellDecision> {
    const told = this.watched.tell(input)
    if (E.isLeft(told) && !['Repeated', 'NotRunning', 'UnknownCommand', 'UnknownWorkload'].includes(told.left.type))
      throw new Error(`${input.type}: ${JSON.stringify(told.left)}`)
    return E.isLeft(told) ? [] : told.right
  }

  private get at(): EpochMs {
    return this.now as EpochMs
  }

  private one<A>(of: ReadonlyArray<A>): A {
    return of[this.below(of.length)]!
  }

  private below(bound: number): number {
    const [value, next] = randomBelow(this.state, bound)
    this.state = next
    return value
  }
}
