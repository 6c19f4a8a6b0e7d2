import { Heap } from '../../domain/kernel/heap.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { CellDecision, CellInput } from '../../domain/planner/cell-event.ts'
import type { Run } from '../../domain/simulation/run.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import { wholeDevices } from './held-cell.ts'
import { kueueKinds, type KueueKind } from './kueue-shape.ts'

interface Arrival {
  readonly at: number
  readonly id: string
  readonly queue: string
  readonly kind: KueueKind
}

/** Workloads of so many queues, all at once or as their kinds come, by time. */
export const kueueArrivals = (queues: number, atOnce: boolean): ReadonlyArray<Arrival> => {
  const arrivals: Arrival[] = []
  for (const kind of kueueKinds)
    for (let i = 0; i < kind.perQueue; i++)
      for (let queue = 0; queue < queues; queue++)
        arrivals.push({
          at: atOnce ? 0 : i * kind.everyMs,
          id: `${kind.name}-${queue}-${i}`,
          queue: `queue-${queue}`,
          kind,
        })
  return arrivals.sort((a, b) => a.at - b.at)
}

interface Due {
  readonly at: number
  readonly id: string
  readonly attempt: number
}

/** They run until they end; whoever is evicted stops at once and begins anew. Ends come first, then arrivals. */
export function* kueueRun(arrivals: ReadonlyArray<Arrival>): Run {
  const kinds = new Map(arrivals.map(({ id, kind }) => [id, kind]))
  const ends = new Heap<Due>(({ at }) => at)
  const running = new Map<string, number>()
  let next = 0
  while (next < arrivals.length || ends.size > 0) {
    const at = Math.min(arrivals[next]?.at ?? Infinity, ends.least?.at ?? Infinity)
    while (ends.least?.at === at) {
      const { id, attempt } = ends.pop()!
      if (running.get(id) !== attempt) continue
      running.delete(id)
      yield { type: 'AttemptEnded', at: at as EpochMs, data: { attempt, outcome: 'succeeded', workload: id } }
    }
    for (; arrivals[next]?.at === at; next++) yield submitted(arrivals[next]!)
    for (let stopped = true; stopped;) {
      stopped = false
      const decisions: ReadonlyArray<CellDecision> = yield { type: 'Ticked', at: at as EpochMs, data: {} }
      for (const { type, data } of decisions) {
        if (type === 'AttemptStopped') {
          running.delete(data.workload)
          stopped = true
        }
        if (type !== 'WorkloadAdmitted') continue
        running.set(data.workload, data.attempt)
        ends.push({ at: at + kinds.get(data.workload)!.runMs, id: data.workload, attempt: data.attempt })
      }
    }
  }
}

const submitted = ({ at, id, kind, queue }: Arrival): CellInput => ({
  type: 'WorkloadSubmitted',
  at: at as EpochMs,
  data: {
    class: kind.name,
    estimateMs: null,
    queue,
    request: { ...wholeDevices(kind.devices), span: 'anywhere' },
    team: queue,
    terms: { ...unstatedTerms, preemption: { ...unstatedTerms.preemption, tolerated: true } },
    workload: id,
  },
})
