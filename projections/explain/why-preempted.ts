import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { CellEvent, PreemptionDecided, SideStanding, WorkloadSubmitted } from '../../domain/planner/cell-event.ts'
import { exceptionRule, isPast, isSubject } from '../../domain/planner/protection.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { ExceptionPolicy } from '../../domain/policy/contract-policy.ts'

/** An exception that was about one of both when it was decided. */
export interface ExceptionThen {
  /** Path into the policy document, as it was then. */
  readonly rule: string
  readonly name: string
  readonly owner: string
  readonly reason: string
  /** A date, from the beginning of which (UTC) it no longer holds; null: for as long as the policy does. */
  readonly expires: string | null
  readonly allows: ExceptionPolicy['allows']['kind']
  /** Devices, thousandths; null: it raises no cap. */
  readonly capMilli: number | null
  readonly whose: 'workload' | 'preemptor'
  /** False: it had kept the workload from being evicted, and no longer did. */
  readonly held: boolean
}

/** One time that a workload made room for another. */
export interface PreemptedOnce {
  /** When it was decided, by which rule of which policy, and what the event is called. */
  readonly at: EpochMs
  readonly rule: string
  readonly policy: string | null
  readonly event: string
  readonly attempt: number
  /** For whom. */
  readonly preemptor: string
  /** It stopped, or gave devices back and ran on. */
  readonly how: 'evicted' | 'shrunk'
  /** Work since its last observed checkpoint, milli-unit seconds. */
  readonly lossMilliUnitS: number
  readonly milliUnits: number
  /** How both sides stood where their paths part. */
  readonly side: SideStanding | null
  readonly victimSide: SideStanding | null
  readonly needMilli: number
  readonly freedMilli: number
  /** What else could have been done: who else was looked at, who else left, and when it would have started without. */
  readonly looked: number
  readonly alsoLeft: ReadonlyArray<string>
  readonly exceptions: ReadonlyArray<ExceptionThen>
  readonly withoutAt: EpochMs | null
  /** When its devices were free; null: not yet. */
  readonly leftAt: EpochMs | null
  /** When the other one started there; null: not yet, or never. */
  readonly usedAt: EpochMs | null
  /** When it ran again; null: not yet, or never. */
  readonly resumedAt: EpochMs | null
  /** How long it waited for that, or has waited so far. */
  readonly waitedMs: DurationMs | null
}

export interface WhyPreempted {
  readonly at: EpochMs
  readonly workload: string
  /** From when on it is no victim any more; null: it still may be one. */
  readonly promotedAt: EpochMs | null
  /** Oldest first. */
  readonly preemptions: ReadonlyArray<PreemptedOnce>
}

type Told = { -readonly [K in keyof PreemptedOnce]: PreemptedOnce[K] } & { endedAt: EpochMs | null }

/** Hears a cell's events in order, and tells of one workload for whom it made room and what came of it. */
export class PreemptionStory {
  private readonly workload: string
  private readonly told: Told[] = []
  private promotedAt: EpochMs | null = null
  private policy: AllocationPolicy | null = null
  /** What has come and is not known to have ended: any of it may yet be made room for. */
  private readonly submitted = new Map<string, WorkloadSubmitted['data']>()

  constructor(workload: string) {
    this.workload = workload
  }

  hear(event: CellEvent, { id, policy }: { readonly id: string; readonly policy: string | null }): void {
    if (event.type === 'PolicyActivated') this.policy = event.data.document
    else if (event.type === 'WorkloadSubmitted') this.submitted.set(event.data.workload, event.data)
    if (event.type === 'PreemptionDecided') this.decided(event, id, policy)
    else if ('workload' in event.data) this.happened(event, event.data.workload)
  }

  answer(at: EpochMs): WhyPreempted {
    const preemptions = this.told.map(({ endedAt, ...once }): PreemptedOnce => {
      const until = once.resumedAt ?? endedAt ?? at
      const waitedMs = once.how === 'shrunk' || once.leftAt === null ? null : ((until - once.leftAt) as DurationMs)
      return { ...once, waitedMs }
    })
    return { at, workload: this.workload, promotedAt: this.promotedAt, preemptions }
  }

  private decided({ at, data }: PreemptionDecided, event: string, policy: string | null): void {
    const own = data.victims.find(({ workload }) => workload === this.workload)
    if (own === undefined) return
    this.told.push({
      at,
      rule: data.rule,
      policy,
      event,
      attempt: own.attempt,
      preemptor: data.workload,
      how: own.keeps === null ? 'evicted' : 'shrunk',
      lossMilliUnitS: own.lossMilliUnitS,
      milliUnits: own.milliUnits,
      side: data.side,
      victimSide: data.victimSide,
      needMilli: data.needMilli,
      freedMilli: data.freedMilli,
      looked: data.looked,
      alsoLeft: data.victims.flatMap(({ workload }) => (workload === this.workload ? [] : [workload])),
      exceptions: this.exceptionsThen(data.workload, at),
      withoutAt: data.withoutAt,
      leftAt: null,
      usedAt: null,
      resumedAt: null,
      waitedMs: null,
      endedAt: null,
    })
  }

  private exceptionsThen(preemptor: string, at: EpochMs): ReadonlyArray<ExceptionThen> {
    const { policy } = this
    if (policy?.exceptions === undefined) return []
    const both = [
      ['workload', this.workload],
      ['preemptor', preemptor],
    ] as const
    return both.flatMap(([whose, id]) =>
      policy.exceptions!.flatMap((exception): ReadonlyArray<ExceptionThen> => {
        const { allows, expires, name, owner, reason } = exception
        const held = !isPast(expires, at)
        const spared = whose === 'workload' && allows.kind === 'not-preempted'
        if ((!held && !spared) || !this.isAbout(exception, policy, id)) return []
        const capMilli = allows.kind === 'cap' ? allows.devicesMilli : null
        const rule = exceptionRule(policy, exception)
        return [{ rule, name, owner, reason, expires, allows: allows.kind, capMilli, whose, held }]
      }),
    )
  }

  private isAbout(exception: ExceptionPolicy, policy: AllocationPolicy, id: string): boolean {
    const submitted = this.submitted.get(id)
    if (submitted === undefined) return false
    const { queue, team, terms } = submitted
    const index = policy.queues.findIndex(({ name }) => name === queue)
    return isSubject(policy, exception, { id, team, terms, account: null, queue: { index } })
  }

  private happened(event: CellEvent, workload: string): void {
    const { at, type } = event
    if (type === 'WorkloadAdmitted') for (const once of this.told) if (once.preemptor === workload) once.usedAt ??= at
    if (type === 'WorkloadCancelled' || type === 'WorkloadRefused') this.submitted.delete(workload)
    if (workload !== this.workload) return
    const last = this.told.at(-1)
    if (type === 'WorkloadPromoted') this.promotedAt = at
    if (last === undefined) return
    if (type === 'AttemptStopped' || type === 'LeaseShrunk' || type === 'AttemptEnded') last.leftAt ??= at
    if (type === 'WorkloadAdmitted' && last.leftAt !== null && last.how === 'evicted') last.resumedAt ??= at
    if (type === 'WorkloadCancelled' || type === 'WorkloadRefused') last.endedAt ??= at
  }
}
