import { DemandSeen } from '../fleet/fragmentation.ts'
import { ShapeTable } from '../fleet/shape.ts'
import { randomBelow } from '../kernel/random.ts'
import { requestedMilli } from '../workload/request.ts'
import type { MixClass } from '../policy/allocation-policy.ts'
import type { TraceJob } from './trace-job.ts'

/**
 * Jobs in an order that the seed shuffles, freshly for each further round through the list, up to and including the one
 * that brings what is requested to the target. From the second round on an id gets `~2`, `~3` ...
 * @param targetMilli GPU milli to request in all
 * @see   the inflation method of Weng et al., Beware of Fragmentation, ATC 2023
 */
export const loadTo = (jobs: ReadonlyArray<TraceJob>, targetMilli: number, seed: number): ReadonlyArray<TraceJob> => {
  const loaded: TraceJob[] = []
  if (jobs.every((job) => requestedMilli(job.request) === 0)) return loaded
  let requested = 0
  let state = seed
  for (let round = 1; requested < targetMilli; round++) {
    const order = jobs.slice()
    for (let i = order.length - 1; i > 0; i--) {
      const [j, next] = randomBelow(state, i + 1)
      state = next
      const job = order[i]!
      order[i] = order[j]!
      order[j] = job
    }
    for (const job of order) {
      loaded.push(round === 1 ? job : { ...job, id: `${job.id}~${round}` })
      requested += requestedMilli(job.request)
      if (requested >= targetMilli) break
    }
  }
  return loaded
}

/** The kinds of request in a list, with how many of each there are: the mix to measure fragmentation against. */
export const mixOf = (jobs: ReadonlyArray<TraceJob>): ReadonlyArray<MixClass> => {
  const shapes = new ShapeTable()
  const demand = new DemandSeen()
  for (const { request } of jobs) demand.add(shapes.intern(request))
  return demand.mix
}
