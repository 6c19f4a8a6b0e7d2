import type {
  CellDecision,
  CellInput,
  CommandIssued,
  LeasePart,
  NodeHealth,
  NodeRegistered,
  PreemptionDecided,
  WorkloadSubmitted,
} from '../../../domain/planner/cell-event.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'

export interface ToldNode {
  readonly spec: NodeRegistered['data']
  health: NodeHealth
  readonly devices: NodeHealth[]
}

/** A workload as the events tell of it. */
export interface Job {
  readonly id: string
  readonly data: WorkloadSubmitted['data']
  readonly submittedAt: number
  /** Since it came, came back, or was let go on. */
  wantsSince: number
  attempt: number
  /** Null: it waits. */
  run: JobRun | null
  onHold: boolean
  preemptions: number
  /** Others were asked to leave for it since it waits. */
  roomMade: boolean
  /** Code and rule that it was told last while it waits; null: none yet. */
  reason: string | null
}

export interface JobRun {
  lease: ReadonlyArray<LeasePart>
  readonly startedAt: number
  readonly commanded: boolean
  /** When it was known to have started; null: not yet. */
  confirmedAt: number | null
  readonly byEviction: boolean
  readonly limitAt: number | null
  open: CommandIssued['data'] | null
  readonly tried: Set<string>
  checkpointAt: number | null
  idle: boolean
}

export interface Kept {
  readonly decision: PreemptionDecided['data']
  readonly since: number
}

/**
 * A cell as its recorded events tell of it, folded without any code of the planner: what is there, who waits and runs
 * where, whose place is kept, who was evicted when.
 */
export class ToldCell {
  now = 0
  policy: AllocationPolicy | null = null
  readonly nodes = new Map<string, ToldNode>()
  readonly jobs = new Map<string, Job>()
  readonly places = new Map<string, Kept>()
  readonly drills = new Map<string, { readonly passed: boolean; readonly at: number }>()
  /** Attempts that were made to stop for others. */
  readonly evictions: { readonly team: string; readonly workload: string; readonly at: number }[] = []
  private readonly name: string

  constructor(name: string) {
    this.name = name
  }

  get commands(): boolean {
    return (this.policy?.poolModes[this.name] ?? this.policy?.mode) === 'automate'
  }

  get decides(): boolean {
    const { policy } = this
    if (policy === null || policy.frozen === 'all' || policy.frozen?.includes(this.name) === true) return false
    return (policy.poolModes[this.name] ?? policy.mode) !== 'observe'
  }

  isDrilled({ team, terms }: Job['data'], at: number): boolean {
    const { drillRequired = true, drillValidMs = 2_592_000_000 } = this.policy?.contract ?? {}
    const drill = this.drills.get(JSON.stringify([team, terms.modelFamily]))
    return !drillRequired || (drill?.passed === true && at - drill.at <= drillValidMs)
  }

  hear(input: CellInput): void {
    this.now = Math.max(this.now, input.at)
    switch (input.type) {
      case 'NodeRegistered':
        this.nodes.set(input.data.node, {
          spec: input.data,
          health: 'ready',
          devices: new Array<NodeHealth>(input.data.devices).fill('ready'),
        })
        break
      case 'NodeHealthChanged': {
        const node = this.nodes.get(input.data.node)!
        if (input.data.device === null) node.health = input.data.health
        else node.devices[input.data.device] = input.data.health
        break
      }
      case 'PolicyActivated':
        this.policy = input.data.document
        break
      case 'WorkloadSubmitted':
        this.submit(input.data, input.at)
        break
      case 'DrillConcluded': {
        const key = JSON.stringify([input.data.team, input.data.modelFamily])
        if ((this.drills.get(key)?.at ?? 0) <= input.at)
          this.drills.set(key, { passed: input.data.outcome === 'passed', at: input.at })
        break
      }
      case 'CancelRequested':
      case 'Ticked':
        break
      default:
        this.hearOf(this.jobs.get(input.data.workload)!, input)
    }
  }

  private submit(data: Job['data'], submittedAt: number): void {
    const id = data.workload
    const waits = { attempt: 0, run: null, onHold: false, preemptions: 0, roomMade: false, reason: null }
    this.jobs.set(id, { id, data, submittedAt, wantsSince: submittedAt, ...waits })
  }

  private hearOf(job: Job, input: Extract<CellInput, { readonly data: { readonly workload: string } }>): void {
    const { run } = job
    switch (input.type) {
      case 'AttemptEnded':
        // It left as it was ordered to: a decision says so.
        if (input.data.outcome === 'failed' && run?.open?.verb === 'evict') return
        this.jobs.delete(job.id)
        break
      case 'HoldRequested':
        job.onHold = true
        job.reason = null
        break
      case 'ReleaseRequested':
        job.onHold = false
        job.reason = null
        job.wantsSince = this.now
        break
      case 'CheckpointCommitted':
      case 'ProgressObserved':
        // What is told late ended nothing when it was so.
        if (input.at + this.policy!.budgets!.idleAfterMs > this.now) run!.idle = false
        if (input.type === 'CheckpointCommitted') run!.checkpointAt = Math.max(run!.checkpointAt ?? 0, input.at)
        break
      case 'CommandConcluded': {
        const { outcome, verb } = input.data
        if ((verb === 'start' || verb === 'resume') && outcome === 'done') run!.confirmedAt = input.at
        if (verb !== 'checkpoint' && verb !== 'shrink') break
        run!.open = null
        run!.tried.add(verb)
        if (verb === 'checkpoint' && outcome === 'done') run!.checkpointAt = input.at
      }
    }
  }

  follow({ type, at, data }: CellDecision): void {
    const job = 'workload' in data ? this.jobs.get(data.workload) : undefined
    switch (type) {
      case 'WorkloadAdmitted':
        this.admit(job!, at, data)
        break
      case 'WorkloadHeld':
        job!.reason = `${data.code} ${data.rule}`
        break
      case 'WorkloadRefused':
      case 'WorkloadCancelled':
        this.jobs.delete(data.workload)
        break
      case 'CommandIssued':
        job!.run!.open = data
        break
      case 'AttemptStopped':
        job!.roomMade = data.outcome === 'not-started' && job!.run!.byEviction
        job!.run = null
        job!.reason = null
        job!.wantsSince = at
        if (!data.requeued) this.jobs.delete(job!.id)
        break
      case 'LeaseShrunk':
        job!.run!.lease = data.keeps
        job!.run!.tried.delete('shrink')
        break
      case 'PreemptionDecided':
        this.places.set(data.workload, { decision: data, since: at })
        job!.roomMade = true
        for (const { keeps, workload } of data.victims) {
          if (keeps !== null) continue
          const victim = this.jobs.get(workload)!
          victim.preemptions++
          this.evictions.push({ team: victim.data.team, workload, at })
        }
        break
      case 'PlaceReleased':
        this.places.delete(data.workload)
        break
      case 'LeaseIdled':
        job!.run!.idle = true
    }
  }

  private admit(
    job: Job,
    startedAt: number,
    data: Extract<CellDecision, { readonly type: 'WorkloadAdmitted' }>['data'],
  ): void {
    this.places.delete(job.id)
    job.attempt = data.attempt
    job.reason = null
    job.run = {
      lease: data.lease,
      startedAt,
      commanded: this.commands,
      confirmedAt: this.commands ? null : startedAt,
      byEviction: data.preempted === true || job.roomMade,
      limitAt: data.limitAt ?? null,
      open: null,
      tried: new Set(),
      checkpointAt: null,
      idle: false,
    }
    job.roomMade = false
  }
}
