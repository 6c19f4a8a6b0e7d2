import { wholeGpu } from '../../domain/kernel/units.ts'
import type { CellDecision, CellInput } from '../../domain/planner/cell-event.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { requestedMilli } from '../../domain/workload/request.ts'
import { HourlyDelivery } from './hourly-delivery.ts'

/** What a program held of what it was owed; parts of 1, null where nothing was owed. GPU-hours of devices of any kind. */
export interface ProgramFigures {
  readonly delivered: number | null
  /** In the worst window of seven days; null: the run was shorter. */
  readonly worstWeek: number | null
  readonly owedGpuHours: number
  readonly heldGpuHours: number
}

/** What of a job runs and waits, thousandths of devices. */
interface Demand {
  readonly program: string
  readonly asked: number
  held: number
}
interface Program {
  readonly entitled: number
  readonly hours: HourlyDelivery
  held: number
  waiting: number
}

const weekHours = 168
const gpuHourMilliMs = 1000 * 3_600_000

/**
 * How much of its share each program got, by what was decided and nothing else: of a policy that keeps no books, too. It
 * is owed what it runs and waits with, up to its share of the fleet.
 */
export class ProgramDelivery {
  private readonly budgetOf: ReadonlyMap<string, string>
  private readonly programs: ReadonlyMap<string, Program>
  private readonly jobs = new Map<string, Demand>()
  private now = 0

  /** @param by whose budget tree says what the programs are, and which queue leads to which */
  constructor(by: Pick<AllocationPolicy, 'budgets' | 'queues'>, devices: number) {
    const tree = by.budgets?.tree ?? []
    const total = tree.reduce((sum, { share }) => sum + share, 0)
    this.budgetOf = new Map(by.queues.flatMap(({ budget, name }) => (budget === undefined ? [] : [[name, budget]])))
    this.programs = new Map(
      tree.map(({ name, share }) => {
        const entitled = total === 0 ? 0 : (devices * wholeGpu * share) / total
        return [name, { entitled, hours: new HourlyDelivery(), held: 0, waiting: 0 }]
      }),
    )
  }

  follow(input: CellInput, decisions: ReadonlyArray<CellDecision>): void {
    this.advance(input.at)
    if (input.type === 'WorkloadSubmitted') this.came(input.data)
    if (input.type === 'AttemptEnded') this.stopped(input.data.workload, false)
    for (const { type, data } of decisions) {
      if (type === 'WorkloadAdmitted')
        this.started(
          data.workload,
          data.lease.reduce((sum, { devices, milli }) => sum + devices.length * milli, 0),
        )
      if (type === 'AttemptStopped') this.stopped(data.workload, data.requeued)
      if (type === 'WorkloadRefused' || type === 'WorkloadCancelled') this.left(data.workload)
    }
  }

  /** By program, in the order of the tree, up to the last input. */
  figures(): { readonly [program: string]: ProgramFigures } {
    return Object.fromEntries(
      [...this.programs].map(([name, { hours }]) => {
        const { held, owed } = hours.total
        const figures: ProgramFigures = {
          delivered: hours.delivered,
          worstWeek: hours.worst(weekHours, weekHours),
          owedGpuHours: owed / gpuHourMilliMs,
          heldGpuHours: held / gpuHourMilliMs,
        }
        return [name, figures]
      }),
    )
  }

  private advance(at: number): void {
    if (at <= this.now) return
    for (const { entitled, held, hours, waiting } of this.programs.values())
      if (held > 0 || waiting > 0) hours.add(this.now, at, held, Math.min(entitled, held + waiting))
    this.now = at
  }

  private came({ queue, request, terms, workload }: Extract<CellInput, { type: 'WorkloadSubmitted' }>['data']): void {
    const program = (terms.budget ?? this.budgetOf.get(queue))?.split('/', 1)[0]
    const at = program === undefined ? undefined : this.programs.get(program)
    if (program === undefined || at === undefined) return
    const asked = requestedMilli(request)
    this.jobs.set(workload, { program, asked, held: 0 })
    at.waiting += asked
  }

  private started(workload: string, milli: number): void {
    const job = this.jobs.get(workload)
    if (job === undefined) return
    const program = this.programs.get(job.program)!
    program.waiting -= job.asked
    program.held += milli
    job.held = milli
  }

  private stopped(workload: string, requeued: boolean): void {
    const job = this.jobs.get(workload)
    if (job === undefined) return
    const program = this.programs.get(job.program)!
    program.held -= job.held
    job.held = 0
    if (requeued) program.waiting += job.asked
    else this.jobs.delete(workload)
  }

  private left(workload: string): void {
    const job = this.jobs.get(workload)
    if (job === undefined) return
    const program = this.programs.get(job.program)!
    if (job.held === 0) program.waiting -= job.asked
    program.held -= job.held
    this.jobs.delete(workload)
  }
}
