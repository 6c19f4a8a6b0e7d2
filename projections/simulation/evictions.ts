import type { EpochMs } from '../../domain/kernel/units.ts'
import type { CellDecision, CellInput, LeasePart, Victim, WorkloadAdmitted } from '../../domain/planner/cell-event.ts'
import { contractOf, limitsOf, type AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { WorkloadTerms } from '../../domain/workload/terms.ts'

/** What is to be told of one running attempt that stopped to make room. */
export interface Eviction {
  readonly at: EpochMs
  readonly workload: string
  readonly class: string
  readonly attempt: number
  readonly preemptor: string
  /** It had run for less than it was promised when it was asked to leave, or less than a turn. */
  readonly inWindow: boolean
  /** It had been evicted as often as the policy allows before. */
  readonly beyondCap: boolean
  /** No drill had passed that still counted. */
  readonly undrilled: boolean
}

interface Attempt {
  readonly class: string
  readonly team: string
  readonly terms: WorkloadTerms
  number: number
  preempted: boolean
  startedAt: number
  confirmedAt: number | null
  evictions: number
  /** Thousandths of devices that it holds; 0: it does not run. */
  milli: number
  unsaved: number
  countedTo: number
}

/** Follows who stops for whom, and what is lost by it. Amounts are thousandths of devices x ms. */
export class Evictions {
  readonly all: Eviction[] = []
  shrinks = 0
  promotions = 0
  /** Work since the newest checkpoint, when the attempt had stopped. */
  lost = 0
  /** Thousandths of devices that run. */
  heldMilli = 0
  private policy: AllocationPolicy | null = null
  private readonly attempts = new Map<string, Attempt>()
  private readonly drills = new Map<string, number | null>()

  follow(input: CellInput, decisions: ReadonlyArray<CellDecision>): void {
    this.take(input)
    for (const decision of decisions) this.decided(decision)
    // What failed because it was evicted comes back.
    if (input.type === 'AttemptEnded' && decisions.every(({ type }) => type !== 'AttemptStopped'))
      this.end(input.data.workload)
  }

  private take({ type, at, data }: CellInput): void {
    switch (type) {
      case 'PolicyActivated':
        this.policy = data.document
        return
      case 'DrillConcluded':
        this.drills.set(drillKey(data.team, data.modelFamily), data.outcome === 'passed' ? at : null)
        return
      case 'WorkloadSubmitted':
        this.attempts.set(data.workload, arrived(data))
        return
      case 'CheckpointCommitted':
        this.save(data.workload, at)
        return
      case 'CommandConcluded':
        if (data.outcome !== 'done') return
        if (data.verb === 'checkpoint') this.save(data.workload, at)
        if (data.verb === 'start' || data.verb === 'resume') this.attempts.get(data.workload)!.confirmedAt = at
        return
      default:
    }
  }

  private decided({ type, at, data }: CellDecision): void {
    switch (type) {
      case 'WorkloadAdmitted':
        this.start(data, at)
        return
      case 'PreemptionDecided':
        for (const victim of data.victims) this.evict(victim, data.workload, at)
        return
      case 'WorkloadPromoted':
        this.promotions++
        return
      case 'LeaseShrunk':
        this.hold(this.counted(data.workload, at), milliIn(data.keeps))
        return
      case 'AttemptStopped': {
        const attempt = this.counted(data.workload, at)
        if (data.outcome === 'evicted') this.lost += attempt.unsaved
        this.hold(attempt, 0)
        return
      }
      default:
    }
  }

  private start({ attempt: number, lease, preempted, workload }: WorkloadAdmitted['data'], at: EpochMs): void {
    const attempt = this.attempts.get(workload)!
    Object.assign(attempt, { number, startedAt: at, countedTo: at, unsaved: 0 })
    this.hold(attempt, milliIn(lease))
    attempt.preempted = preempted === true
    attempt.confirmedAt = this.policy?.mode === 'automate' ? null : at
  }

  private evict({ attempt, keeps, workload }: Victim, preemptor: string, at: EpochMs): void {
    if (keeps !== null) {
      this.shrinks++
      return
    }
    const victim = this.attempts.get(workload)!
    const { promotionAfter } = limitsOf(this.policy)
    this.all.push({
      at,
      workload,
      class: victim.class,
      attempt,
      preemptor,
      inWindow: at < this.protectedUntil(victim),
      beyondCap: promotionAfter !== null && victim.evictions >= promotionAfter,
      undrilled: !this.isDrilled(victim, at),
    })
    victim.evictions++
  }

  private protectedUntil({ confirmedAt, preempted, startedAt, terms }: Attempt): number {
    if (confirmedAt === null) return Infinity
    const window = Math.min(terms.preemption.minRuntimeMs, contractOf(this.policy).minRuntimeMaxMs)
    const turn = preempted ? startedAt + (this.policy?.budgets?.turnMs ?? 0) : 0
    return Math.max(confirmedAt + window, turn)
  }

  private isDrilled({ team, terms: { modelFamily } }: Attempt, at: EpochMs): boolean {
    const { drillRequired, drillValidMs } = contractOf(this.policy)
    const passedAt = this.drills.get(drillKey(team, modelFamily)) ?? null
    return !drillRequired || (passedAt !== null && at - passedAt <= drillValidMs)
  }

  private end(workload: string): void {
    this.hold(this.attempts.get(workload)!, 0)
    this.attempts.delete(workload)
  }

  private hold(attempt: Attempt, milli: number): void {
    this.heldMilli += milli - attempt.milli
    attempt.milli = milli
  }

  private save(workload: string, at: EpochMs): void {
    this.counted(workload, at).unsaved = 0
  }

  private counted(workload: string, at: EpochMs): Attempt {
    const attempt = this.attempts.get(workload)!
    attempt.unsaved += attempt.milli * (at - attempt.countedTo)
    attempt.countedTo = at
    return attempt
  }
}

const arrived = (data: { readonly class: string; readonly team: string; readonly terms: WorkloadTerms }): Attempt => ({
  class: data.class,
  team: data.team,
  terms: data.terms,
  number: 0,
  preempted: false,
  startedAt: 0,
  confirmedAt: null,
  evictions: 0,
  milli: 0,
  unsaved: 0,
  countedTo: 0,
})

const milliIn = (lease: ReadonlyArray<LeasePart>): number =>
  lease.reduce((sum, { devices, milli }) => sum + devices.length * milli, 0)

const drillKey = (team: string, family: string | null): string => JSON.stringify([team, family])
