import { unstatedTerms } from '../workload/terms.ts'
import { Heap } from '../kernel/heap.ts'
import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { CellDecision, CellInput, Ticked, WorkloadSubmitted } from '../planner/cell-event.ts'
import { estimated, type TraceJob } from './trace-job.ts'

/** Yields what happens, takes what was decided about it, and goes on from there. */
export type Run = Generator<CellInput, void, ReadonlyArray<CellDecision>>

interface Due {
  readonly at: number
  readonly seq: number
  readonly id: string
  readonly attempt: number
}

/**
 * Jobs that come when the trace says and run as long as it says, in compressed time. At an instant ends come first,
 * then arrivals in file order, then one tick. A job of zero life ends in a second instant of the same time.
 */
export function* timedRun(jobs: ReadonlyArray<TraceJob>): Run {
  const arrivals = estimated(jobs)
    .map((job, seq) => ({ job, seq }))
    .sort((a, b) => a.job.submitAt! - b.job.submitAt! || a.seq - b.seq)
  const byId = new Map(arrivals.map(({ job, seq }) => [job.id, { job, seq }]))
  const ends = new Heap<Due>(({ at }) => at)
  const overruns = new Heap<Due>(({ at }) => at)
  const runsUntil = new Map<string, number>()
  let next = 0
  while (next < arrivals.length || ends.size > 0) {
    const at = Math.min(
      arrivals[next]?.job.submitAt ?? Infinity,
      ends.least?.at ?? Infinity,
      overruns.least?.at ?? Infinity,
    )
    for (const { id, attempt } of dueAt(ends, at)) {
      runsUntil.delete(id)
      yield { type: 'AttemptEnded', at: at as EpochMs, data: { attempt, outcome: 'succeeded', workload: id } }
    }
    for (; arrivals[next]?.job.submitAt === at; next++) yield submitted(arrivals[next]!.job, at)
    dueAt(overruns, at)
    for (const decision of yield tickAt(at)) {
      if (decision.type !== 'WorkloadAdmitted' && decision.type !== 'EstimateOverran') continue
      const { workload: id, attempt, expectedEndAt } = decision.data
      const { job, seq } = byId.get(id)!
      if (decision.type === 'WorkloadAdmitted') {
        runsUntil.set(id, at + job.runMs!)
        ends.push({ at: at + job.runMs!, seq, id, attempt })
      }
      if (expectedEndAt !== null && expectedEndAt < runsUntil.get(id)!)
        overruns.push({ at: expectedEndAt, seq, id, attempt })
    }
  }
}

/** All jobs at once, in file order; nothing leaves. */
export function* staticFill(jobs: ReadonlyArray<TraceJob>): Run {
  for (const job of jobs) yield submitted({ ...job, estimateMs: null }, 0)
  yield tickAt(0)
}

/** Takes everything that is due at the instant off the heap, in order of submission. */
const dueAt = (heap: Heap<Due>, at: number): ReadonlyArray<Due> => {
  const due: Due[] = []
  while (heap.least?.at === at) due.push(heap.pop()!)
  assert(heap.least === undefined || heap.least.at > at, 'time goes forward')
  return due.sort((a, b) => a.seq - b.seq)
}

const tickAt = (at: number): Ticked => ({ type: 'Ticked', at: at as EpochMs, data: {} })

const submitted = (job: TraceJob, at: number): WorkloadSubmitted => ({
  type: 'WorkloadSubmitted',
  at: at as EpochMs,
  data: {
    class: job.class,
    estimateMs: job.estimateMs,
    queue: job.queue,
    request: job.request,
    team: job.team,
    terms: job.terms ?? unstatedTerms,
    workload: job.id,
  },
})
