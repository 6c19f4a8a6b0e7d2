import { either as E } from 'fp-ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { Cell } from '../../../domain/planner/cell.ts'
import { editionNow } from '../../../domain/planner/edition.ts'
import type {
  CellDecision,
  CellEvent,
  CellInput,
  LeasePart,
  PreemptionDecided,
} from '../../../domain/planner/cell-event.ts'
import { decide } from '../../../domain/planner/decide.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { hour, minute } from '../cell-life.ts'
import { BudgetInvariants } from './budget-invariants.ts'
import type { Draw } from './draw.ts'
import { anyBudgetPolicy, anyFleet, anyWorkload, leavesOf } from './small-world.ts'
import { ToldCell, type Job, type JobRun } from './told-cell.ts'
import type { Standing } from './victim-rules.ts'

interface Taken {
  readonly at: number
  /** Evictions that had been seen before it. */
  readonly evictions: number
}

interface Eviction {
  readonly workload: string
  readonly startedAt: number
  readonly at: number
  /** Nobody had taken it before: that happens once to each, and so ends. */
  readonly isFirst: boolean
}

const instantRoundsMax = 20

/**
 * A small cell in any state, with any past, to which nothing comes in from outside: time goes on, and what it decides is
 * held to the invariants, and to doing nothing twice in one state before everybody who left in between has had a turn.
 */
export class QuietWorld {
  readonly cell = new Cell('pool')
  readonly invariants: BudgetInvariants
  readonly history: CellEvent[] = []
  readonly counts = { ticks: 0, evictions: 0, repeats: 0 }
  private readonly draw: Draw
  private readonly policy: AllocationPolicy
  private readonly told = new ToldCell('pool')
  private readonly start: number
  private readonly seen = new Map<string, Taken>()
  private readonly evicted: Eviction[] = []
  private now: number

  constructor(draw: Draw) {
    this.draw = draw
    this.policy = anyBudgetPolicy(draw, { mode: 'advise', limited: draw.percent(25) })
    this.start = Date.UTC(2026, 7, 3, 9, draw.below(60))
    this.now = this.start - 4 * hour
    this.invariants = new BudgetInvariants(this.told, (path) => this.standing(path))
    this.begin()
  }

  run(): void {
    const stride = this.draw.from(1, 5, 10, 10, 30) * minute
    const until = this.start + 24 * stride
    this.now = this.start
    while (this.now <= until && this.counts.evictions < 40) {
      this.settle()
      if (![...this.told.jobs.values()].some(({ run }) => run === null)) return
      this.now = this.nextInstant(stride)
    }
  }

  private settle(): void {
    for (let round = 0; round < instantRoundsMax; round++) {
      const input: CellInput = { type: 'Ticked', at: this.now as EpochMs, data: {} }
      const decided = decide(input, this.cell)
      if (E.isLeft(decided)) throw new Error(`a tick is refused: ${JSON.stringify(decided.left)}`)
      this.counts.ticks++
      const decisions = decided.right
      if (decisions.length === 0) {
        this.cell.lookedInVain()
        return
      }
      this.note(decisions)
      this.invariants.hear(input, decisions, (event) => {
        this.history.push(event)
        evolve(this.cell, event)
      })
    }
    throw new Error(`broken: at ${this.now} it does not come to rest`)
  }

  /** What is done in which state, before it is done. */
  private note(decisions: ReadonlyArray<CellDecision>): void {
    const actions = decisions.filter(({ type }) => type === 'PreemptionDecided' || type === 'WorkloadAdmitted')
    if (actions.length === 0) return
    const state = this.state()
    for (const action of actions) {
      const key = `${state} ${actionOf(action)}`
      const before = this.seen.get(key)
      if (before !== undefined) this.checkRepeat(key, before)
      this.seen.set(key, { at: this.now, evictions: this.evicted.length })
    }
    for (const action of actions) if (action.type === 'PreemptionDecided') this.noteVictims(action)
  }

  private noteVictims({ data }: PreemptionDecided): void {
    for (const { keeps, workload } of data.victims) {
      if (keeps !== null) continue
      this.counts.evictions++
      const { preemptions, run } = this.told.jobs.get(workload)!
      this.evicted.push({ workload, startedAt: run!.startedAt, at: this.now, isFirst: preemptions === 0 })
    }
  }

  private checkRepeat(key: string, { at, evictions }: Taken): void {
    this.counts.repeats++
    const turnMs = this.policy.budgets!.turnMs
    for (const { workload, startedAt, at: then, isFirst } of this.evicted.slice(evictions))
      if (!isFirst && then - startedAt < turnMs)
        throw new Error(
          `broken: at ${this.now} as at ${at}, and ${workload} had ${(then - startedAt) / minute} minutes in between: ${key}`,
        )
  }

  /** Who runs where and how protected, and who waits; no clock, ledger or counters. */
  private state(): string {
    const parts: string[] = []
    for (const job of this.told.jobs.values())
      if (job.run === null) parts.push(`${job.id} ${job.onHold}`)
      else parts.push(`${job.id} ${this.endOfProtection(job, job.run) > this.now} ${placeOf(job.run.lease)}`)
    return parts.sort().join(';')
  }

  private endOfProtection({ data, preemptions }: Job, run: JobRun): number {
    const { budgets, contract, limits } = this.policy
    if (preemptions >= (limits?.promotionAfter ?? Infinity)) return Infinity
    const window = run.confirmedAt! + Math.min(data.terms.preemption.minRuntimeMs, contract!.minRuntimeMaxMs)
    return Math.max(window, run.byEviction || preemptions > 0 ? run.startedAt + budgets!.turnMs : 0)
  }

  private nextInstant(stride: number): number {
    let next = this.now + stride
    const consider = (at: number) => {
      if (at > this.now && at < next) next = at
    }
    consider((Math.floor(this.now / hour) + 1) * hour)
    for (const job of this.told.jobs.values()) if (job.run !== null) consider(this.endOfProtection(job, job.run))
    for (const { decision } of this.told.places.values()) consider(decision.holdUntil)
    return next
  }

  private begin(): void {
    const { draw, policy } = this
    this.tell({
      type: 'PolicyActivated',
      at: this.instant,
      data: { document: policy, edition: editionNow, hash: 'policy' },
    })
    for (const data of anyFleet(draw)) this.tell({ type: 'NodeRegistered', at: this.instant, data })
    for (const team of ['a', 'b', 'c', 'd'])
      if (draw.percent(90))
        this.tell({ type: 'DrillConcluded', at: this.instant, data: { modelFamily: null, outcome: 'passed', team } })
    this.spend()
    const devices = this.cell.fleet.nodes.reduce((sum, node) => sum + node.devices, 0)
    const count = draw.between(2, 8)
    for (let i = 0; i < count; i++) {
      if (draw.percent(50)) this.now += draw.between(0, Math.floor((this.start - this.now) / minute / 2)) * minute
      const data = anyWorkload(draw, `w${i}`, policy, devices)
      const input: CellInput = { type: 'WorkloadSubmitted', at: this.instant, data }
      const decided = decide(input, this.cell)
      if (E.isLeft(decided) || decided.right.length > 0) continue
      this.tell(input)
      if (draw.percent(70)) this.startAnywhere(data)
    }
  }

  /** Some leaves were owed and held something before. */
  private spend(): void {
    const { draw, policy } = this
    const { ledger } = this.cell.books!
    for (let i = draw.below(5); i > 0; i--) {
      const leaf = ledger.node(draw.from(...leavesOf(policy.budgets!.tree)))!
      const node = ledger.openPerson(leaf, draw.from('p', 'q'), this.instant)
      const held = draw.below(5) * 500
      const waiting = draw.below(5) * 1000
      ledger.hold(node, held, this.instant)
      ledger.wait(node, waiting, this.instant)
      this.now += draw.between(1, 40) * minute
      ledger.unwait(node, waiting, this.instant)
      ledger.release(node, held, this.instant)
    }
  }

  /** Where it fits, by no rule of anybody's. */
  private startAnywhere(data: Job['data']): void {
    const { fleet } = this.cell
    const { devices: wanted, milli, span } = data.request
    const lease: LeasePart[] = []
    let missing = wanted
    fleet.nodes.forEach(({ node, devices }, number) => {
      const free = Array.from({ length: devices }, (_, i) => i).filter(
        (device) => fleet.deviceFree[fleet.firstDevice[number]! + device]! >= milli,
      )
      if (missing === 0 || free.length === 0 || (span === 'node' && free.length < wanted)) return
      const own = free.slice(0, missing)
      missing -= own.length
      lease.push({ devices: own, memoryMib: 0, milli, node })
    })
    if (missing > 0) return
    const estimate = data.estimateMs === null ? null : ((this.now + data.estimateMs) as EpochMs)
    this.follow({
      type: 'WorkloadAdmitted',
      at: this.instant,
      data: {
        alternative: null,
        attempt: 1,
        expectedEndAt: estimate,
        freeMilli: fleet.freeTotal,
        lease,
        needMilli: wanted * milli,
        ...(this.draw.percent(20) && { preempted: true as const }),
        rule: 'spec.budgets.tree',
        score: null,
        waitedMs: 0 as never,
        workload: data.workload,
      },
    })
  }

  private tell(input: CellInput): void {
    this.history.push(input)
    evolve(this.cell, input)
    this.told.hear(input)
  }

  private follow(decision: CellDecision): void {
    this.history.push(decision)
    evolve(this.cell, decision)
    this.told.follow(decision)
  }

  private standing(path: string): Standing {
    const { ledger } = this.cell.books!
    return ledger.read(ledger.node(path)!)
  }

  private get instant(): EpochMs {
    return this.now as EpochMs
  }
}

const placeOf = (lease: ReadonlyArray<LeasePart>): string =>
  lease.map(({ node, devices, milli }) => `${node}:${devices.join(',')}x${milli}`).join('+')

const actionOf = ({ type, data }: CellDecision): string =>
  type === 'PreemptionDecided'
    ? `for ${data.workload} ${data.victims.map(({ keeps, workload }) => `${workload}${keeps === null ? '' : '-'}`).join()}`
    : type === 'WorkloadAdmitted'
      ? `start ${data.workload} ${placeOf(data.lease)}`
      : type
