import type { Cell } from '../../domain/planner/cell.ts'
import type { CellDecision, CellInput } from '../../domain/planner/cell-event.ts'
import { wholeGpu } from '../../domain/kernel/units.ts'
import { durations, type Durations } from '../../domain/simulation/durations.ts'
import { Evictions, type Eviction } from './evictions.ts'
import { HourlyDelivery } from './hourly-delivery.ts'

/** What one program got of what it was owed; parts of 1, null where nothing was owed. */
export interface ProgramDelivery {
  readonly delivered: number | null
  /** In the worst window of seven days; null: the run was shorter. */
  readonly worstWeek: number | null
  /** Milli-units x ms. */
  readonly owed: number
  readonly held: number
}

/** Figures of a run in which attempts make room for others; shares are parts of 1. */
export interface ContractReport {
  readonly jobs: number
  readonly finished: number
  /** Never started, at the end of the run. */
  readonly neverStarted: number
  /** By program; empty where nobody keeps books. */
  readonly programs: { readonly [path: string]: ProgramDelivery }
  /** Device time that somebody held, over what was schedulable. Devices that are kept idle for somebody do not count. */
  readonly occupancy: number
  /** Device time in which freed devices were kept for whom they were freed, over what was schedulable. */
  readonly heldIdle: number
  /** Of what programs held, the part that was beyond what they are entitled to while nobody else lacked it. */
  readonly unallocated: number
  /** Until the first start, or the end of the run for what never started; by class. */
  readonly waits: { readonly [kind: string]: Durations }
  /** The same, but all the waiting until the end of the run, after evictions too. */
  readonly waitsInAll: { readonly [kind: string]: Durations }
  readonly evictions: ReadonlyArray<Eviction>
  readonly shrinks: number
  readonly promotions: number
  /** Thousandths of devices x ms of work that was lost by evictions, and its part of all that somebody held. */
  readonly lost: number
  readonly lostShare: number
}

interface Waiting {
  readonly kind: string
  readonly submitAt: number
  startAt: number | null
  /** Waits since; null: it runs, or has ended. */
  since: number | null
  waited: number
}

const weekHours = 168

/** Follows a run from its first input on and sums it up. */
export class ContractLedger {
  private readonly evictions = new Evictions()
  private readonly programs = new Map<string, HourlyDelivery>()
  private readonly jobs = new Map<string, Waiting>()
  private finished = 0
  private now = 0
  /** As the last input left them: thousandths of devices, milli-units. */
  private readonly rates = {
    schedulable: 0,
    held: 0,
    kept: 0,
    unallocated: 0,
    byProgram: new Map<string, [number, number]>(),
  }
  /** Their integrals. */
  private schedulable = 0
  private held = 0
  private kept = 0
  private unallocated = 0

  follow(input: CellInput, decisions: ReadonlyArray<CellDecision>, cell: Cell): void {
    this.advance(input.at)
    this.evictions.follow(input, decisions)
    if (input.type === 'WorkloadSubmitted') {
      const { class: kind, workload } = input.data
      this.jobs.set(workload, { kind, submitAt: input.at, startAt: null, since: input.at, waited: 0 })
    }
    if (input.type === 'AttemptEnded' && input.data.outcome === 'succeeded') this.finished++
    for (const { type, at, data } of decisions) {
      if (type === 'WorkloadAdmitted') this.start(this.jobs.get(data.workload)!, at)
      if (type === 'AttemptStopped' && data.requeued) this.jobs.get(data.workload)!.since = at
      if (type === 'WorkloadRefused') this.jobs.delete(data.workload)
    }
    this.readRates(cell)
  }

  /** @param until the end of the run, not before the last input */
  report(until: number): ContractReport {
    this.advance(until)
    const { evictions, held, jobs, schedulable } = this
    const all = [...jobs.values()]
    return {
      jobs: jobs.size,
      finished: this.finished,
      neverStarted: all.filter(({ startAt }) => startAt === null).length,
      programs: Object.fromEntries([...this.programs].map(([path, hours]) => [path, deliveryOf(hours)])),
      occupancy: held / schedulable,
      heldIdle: this.kept / schedulable,
      unallocated: this.unallocated / held,
      waits: byKind(all, ({ submitAt, startAt }) => (startAt ?? until) - submitAt),
      waitsInAll: byKind(all, ({ since, waited }) => waited + (since === null ? 0 : until - since)),
      evictions: evictions.all,
      shrinks: evictions.shrinks,
      promotions: evictions.promotions,
      lost: evictions.lost,
      lostShare: evictions.lost / held,
    }
  }

  private start(job: Waiting, at: number): void {
    job.startAt ??= at
    job.waited += at - (job.since ?? at)
    job.since = null
  }

  private advance(at: number): void {
    const { byProgram, held, kept, schedulable, unallocated } = this.rates
    const ms = at - this.now
    if (ms <= 0) return
    this.schedulable += schedulable * ms
    this.held += held * ms
    this.kept += kept * ms
    this.unallocated += unallocated * ms
    for (const [path, [heldRate, owedRate]] of byProgram) this.hoursOf(path).add(this.now, at, heldRate, owedRate)
    this.now = at
  }

  private readRates({ books, fleet }: Cell): void {
    const { rates } = this
    const total = fleet.deviceCount * wholeGpu
    rates.schedulable = books?.schedulable.totals.devicesMilli ?? total
    rates.held = this.evictions.heldMilli
    rates.kept = total - fleet.freeTotal - rates.held
    rates.unallocated = 0
    if (books === null) return
    const { ledger } = books
    for (const program of ledger.children(0)) {
      const held = ledger.held(program)
      if (!ledger.isOver(program)) rates.unallocated += Math.max(0, held - ledger.entitled(program))
      rates.byProgram.set(ledger.path(program), [held, ledger.owedRate(program)])
    }
  }

  private hoursOf(path: string): HourlyDelivery {
    let hours = this.programs.get(path)
    if (hours === undefined) this.programs.set(path, (hours = new HourlyDelivery()))
    return hours
  }
}

const deliveryOf = (hours: HourlyDelivery): ProgramDelivery => ({
  delivered: hours.delivered,
  worstWeek: hours.worst(weekHours, weekHours),
  ...hours.total,
})

const byKind = (
  jobs: ReadonlyArray<Waiting>,
  waitOf: (job: Waiting) => number,
): { readonly [kind: string]: Durations } => {
  const waits = new Map<string, number[]>()
  for (const job of jobs) {
    const there = waits.get(job.kind)
    if (there === undefined) waits.set(job.kind, [waitOf(job)])
    else there.push(waitOf(job))
  }
  return Object.fromEntries(
    [...waits].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, each]) => [kind, durations(each)!]),
  )
}
