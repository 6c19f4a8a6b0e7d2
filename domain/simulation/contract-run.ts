import { assert } from '../kernel/decider.ts'
import { Heap } from '../kernel/heap.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import type { CellDecision, CellInput, CommandIssued, DrillConcluded, WorkloadAdmitted } from '../planner/cell-event.ts'
import type { CommandVerb } from '../planner/command.ts'
import { startCommandOf } from '../planner/workload.ts'
import { JobWork, type ContractJob } from './job-work.ts'
import type { Run } from './run.ts'

/** All unfinished work that it concerns is put on hold at an instant, and let go again at another. */
export interface HoldSpan {
  readonly from: EpochMs
  readonly until: EpochMs
  readonly concerns: (job: ContractJob) => boolean
}

/** What happens in a run beside its jobs. */
export interface ContractTerms {
  /** The pool is automated: starts are confirmed, and whoever is asked to leave says when it has. */
  readonly automated: boolean
  /** Drills, told before anything else of their instant. */
  readonly drills: ReadonlyArray<DrillConcluded>
  readonly holds: ReadonlyArray<HoldSpan>
  /**
   * While something waits there is a tick at every multiple of this: it finds what time alone makes due, such as the end
   * of a protected window, a debt that has grown, a place whose time is up, or a run that takes longer than expected.
   */
  readonly tickEveryMs: DurationMs
  /** The run is over then, whatever still runs or waits; Infinity: when nothing more can happen. */
  readonly until: number
}

/** In this order at an instant. */
const kinds = ['drill', 'end', 'answer', 'checkpoint', 'hold', 'release', 'arrival'] as const
type Kind = (typeof kinds)[number]

interface Due {
  readonly at: number
  readonly kind: Kind
  readonly seq: number
  readonly happen: () => Run | null
}

/**
 * Jobs that come when the trace says, run as their contracts say and make room when they are asked to: an attempt commits
 * its checkpoints from its start on, stops when its grace period is over, and its job goes on from the newest
 * checkpoint, or from the beginning where it makes none. After whatever happened at an instant comes a tick, and another
 * until nothing comes free by it any more; a checkpoint alone is followed by none.
 */
export function* contractRun(jobs: ReadonlyArray<ContractJob>, terms: ContractTerms): Run {
  yield* new ContractRun(jobs, terms).run()
}

/** Ticks in a row after which something that waits, while nothing runs or comes, is taken to wait for ever. */
const quietMax = 100
/** Ticks at one instant: more would go on for ever. */
const roundsMax = 1_000

class ContractRun {
  private readonly terms: ContractTerms
  private readonly due = new Heap<Due>(({ at }) => at)
  private readonly works = new Map<string, JobWork>()
  /** Arrived, neither running nor on hold nor refused. */
  private readonly waiting = new Set<JobWork>()
  private quiet = 0

  constructor(jobs: ReadonlyArray<ContractJob>, terms: ContractTerms) {
    this.terms = terms
    const { drills, holds } = terms
    drills.forEach((drill, seq) => {
      this.plan(drill.at, 'drill', seq, () => said(drill))
    })
    holds.forEach(({ from, until, concerns }, seq) => {
      this.plan(from, 'hold', seq, () => this.holdBack(concerns, true, from))
      this.plan(until, 'release', seq, () => this.holdBack(concerns, false, until))
    })
    jobs.forEach((job, seq) => {
      this.plan(job.submitAt!, 'arrival', seq, () => this.arrive(new JobWork(job, seq)))
    })
  }

  *run(): Run {
    let now = -Infinity
    for (;;) {
      const at = Math.min(this.due.least?.at ?? Infinity, this.nextTickAfter(now))
      if (at === Infinity || at >= this.terms.until) return
      this.quiet = this.due.size > 0 ? 0 : this.quiet + 1
      if (this.quiet > quietMax) return
      yield* this.instant(at)
      now = at
    }
  }

  private nextTickAfter(now: number): number {
    const { tickEveryMs } = this.terms
    return this.waiting.size === 0 ? Infinity : (Math.floor(now / tickEveryMs) + 1) * tickEveryMs
  }

  private *instant(at: number): Run {
    let comesFree = false
    for (let round = 0; ; round++) {
      assert(round < roundsMax, 'an instant of a simulation comes to rest')
      const happened = yield* this.happen(at)
      const isTickDue = round === 0 && at % this.terms.tickEveryMs === 0
      if (!happened && !comesFree && !isTickDue) return
      comesFree = false
      const decisions = yield { type: 'Ticked', at: at as EpochMs, data: {} }
      for (const decision of decisions) comesFree = (yield* this.follow(decision)) || comesFree
    }
  }

  /** Whatever is due at the instant; whether it calls for a tick. */
  private *happen(at: number): Generator<CellInput, boolean, ReadonlyArray<CellDecision>> {
    let calls = false
    while (this.due.least?.at === at) {
      const together = this.takeDue(at)
      together.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || a.seq - b.seq)
      for (const { kind, happen } of together) {
        const run = happen()
        if (run === null) continue
        if (kind !== 'checkpoint') calls = true
        yield* run
      }
    }
    return calls
  }

  private takeDue(at: number): Due[] {
    const due: Due[] = []
    while (this.due.least?.at === at) due.push(this.due.pop()!)
    return due
  }

  private plan(at: number, kind: Kind, seq: number, happen: () => Run | null): void {
    this.due.push({ at, kind, seq, happen })
  }

  private *arrive(work: JobWork): Run {
    const { class: kind, estimateMs, id, queue, request, submitAt, team, terms } = work.job
    this.works.set(id, work)
    this.waiting.add(work)
    const data = { class: kind, estimateMs, queue, request, team, terms, workload: id }
    for (const decision of yield { type: 'WorkloadSubmitted', at: submitAt!, data }) yield* this.follow(decision)
  }

  private *holdBack(concerns: HoldSpan['concerns'], onHold: boolean, at: EpochMs): Run {
    for (const work of this.works.values()) {
      if (work.onHold === onHold || !concerns(work.job)) continue
      work.onHold = onHold
      if (!work.runs) this.waits(work)
      const data = { actor: 'simulate', reason: null, workload: work.job.id }
      yield { type: onHold ? 'HoldRequested' : 'ReleaseRequested', at, data }
    }
  }

  private waits(work: JobWork): void {
    if (work.onHold) this.waiting.delete(work)
    else this.waiting.add(work)
  }

  /** Does what was decided; whether anything came free by it. */
  private *follow(decision: CellDecision): Generator<CellInput, boolean, ReadonlyArray<CellDecision>> {
    switch (decision.type) {
      case 'WorkloadAdmitted':
        yield* this.admit(decision)
        return false
      case 'WorkloadRefused':
      case 'WorkloadCancelled': {
        const work = this.works.get(decision.data.workload)!
        this.works.delete(work.job.id)
        this.waiting.delete(work)
        return false
      }
      case 'CommandIssued':
        this.obey(decision)
        return false
      case 'AttemptStopped': {
        const work = this.works.get(decision.data.workload)!
        work.stop(decision.at)
        if (decision.data.requeued) this.waits(work)
        else this.works.delete(work.job.id)
        return true
      }
      case 'LeaseShrunk': {
        const work = this.works.get(decision.data.workload)!
        work.resize(decision.at, devicesIn(decision.data.keeps))
        this.planEnd(work)
        return true
      }
      default:
        return decision.type === 'PlaceReleased'
    }
  }

  private *admit({ at, data }: WorkloadAdmitted): Run {
    const work = this.works.get(data.workload)!
    this.waiting.delete(work)
    work.start(at, data.attempt, devicesIn(data.lease))
    this.planEnd(work)
    this.planCheckpoint(work, at)
    if (!this.terms.automated) return
    const resumes = data.resumes === true
    const command = startCommandOf({ id: data.workload, attempt: data.attempt, resumes })
    yield* this.conclude(work, at, command, resumes ? 'resume' : 'start')
  }

  private planEnd(work: JobWork): void {
    const { endAt, version, attempt, seq } = work
    this.plan(endAt, 'end', seq, () => (work.version === version ? this.end(work, attempt, endAt) : null))
  }

  private *end(work: JobWork, attempt: number, at: number): Run {
    work.stop(at)
    this.works.delete(work.job.id)
    yield { type: 'AttemptEnded', at: at as EpochMs, data: { attempt, outcome: 'succeeded', workload: work.job.id } }
  }

  private planCheckpoint(work: JobWork, from: number): void {
    const { attempt, job, seq } = work
    const { checkpointIntervalMs } = job.terms.preemption
    if (checkpointIntervalMs === null) return
    const at = from + checkpointIntervalMs
    this.plan(at, 'checkpoint', seq, () => {
      if (!work.runs || work.attempt !== attempt) return null
      work.save(at)
      this.planCheckpoint(work, at)
      return said({ type: 'CheckpointCommitted', at: at as EpochMs, data: { attempt, workload: job.id } })
    })
  }

  /** Whoever is asked to stop does so when its grace is over, and whatever else is asked at once. */
  private obey({ at, data: { attempt, command, verb, workload } }: CommandIssued): void {
    const work = this.works.get(workload)!
    const { gracePeriodMs } = work.job.terms.preemption
    const answersAt = verb === 'evict' || verb === 'cancel' ? at + gracePeriodMs : at
    this.plan(answersAt, 'answer', work.seq, () => {
      if (!work.runs || work.attempt !== attempt) return null
      if (verb === 'checkpoint') work.save(answersAt)
      return this.conclude(work, answersAt, command, verb)
    })
  }

  private *conclude(work: JobWork, at: number, command: string, verb: CommandVerb): Run {
    const { attempt, job } = work
    const data = { attempt, command, outcome: 'done', reason: null, verb, workload: job.id } as const
    for (const decision of yield { type: 'CommandConcluded', at: at as EpochMs, data }) yield* this.follow(decision)
  }
}

function* said(input: CellInput): Run {
  yield input
}

const devicesIn = (lease: WorkloadAdmitted['data']['lease']): number =>
  lease.reduce((sum, { devices }) => sum + devices.length, 0)
