import type { CellDecision, PreemptionDecided, WorkloadHeld } from '../../../domain/planner/cell-event.ts'
import { minute, type CellLife } from '../cell-life.ts'

/** Time goes on to `until`, looked at every so often, by default each minute. */
export const pass = (life: CellLife, until: number, step = minute): CellLife => {
  while (life.now < until) life.at(Math.min(until, life.now + step)).tick()
  return life
}

export const decisionsOf = (life: CellLife): ReadonlyArray<CellDecision> =>
  life.told.flatMap(({ decisions }) => decisions)

export const preemptionsOf = (life: CellLife): ReadonlyArray<PreemptionDecided> =>
  decisionsOf(life).filter((decision) => decision.type === 'PreemptionDecided')

/** Victims of all decisions, in order. */
export const victimsOf = (life: CellLife): ReadonlyArray<string> =>
  preemptionsOf(life).flatMap(({ data }) => data.victims.map(({ workload }) => workload))

/** What it was told last. */
export const heldOf = (life: CellLife, workload: string): WorkloadHeld['data'] | undefined =>
  decisionsOf(life).findLast(
    (decision): decision is WorkloadHeld => decision.type === 'WorkloadHeld' && decision.data.workload === workload,
  )?.data

export const startsOf = (life: CellLife, workload: string): ReadonlyArray<number> =>
  decisionsOf(life).flatMap(({ type, at, data }) =>
    type === 'WorkloadAdmitted' && data.workload === workload ? [at] : [],
  )

/** Device-ms that the workloads of this beginning held by then. */
export const servedOf = (life: CellLife, beginning: string, until: number): number => {
  const since = new Map<string, { readonly at: number; readonly devices: number }>()
  let sum = 0
  const stop = (workload: string, at: number) => {
    const run = since.get(workload)
    if (run !== undefined) sum += (at - run.at) * run.devices
    since.delete(workload)
  }
  for (const { input, decisions } of life.told)
    for (const { type, at, data } of [input, ...decisions]) {
      if (type === 'AttemptEnded' || type === 'AttemptStopped') stop(data.workload, at)
      if (type !== 'WorkloadAdmitted' || !data.workload.startsWith(beginning)) continue
      since.set(data.workload, { at, devices: data.lease.reduce((count, { devices }) => count + devices.length, 0) })
    }
  for (const workload of [...since.keys()]) stop(workload, until)
  return sum
}
