import { expect, it } from 'vitest'
import { Cell } from '../../domain/planner/cell.ts'
import { evolve } from '../../domain/planner/evolve.ts'
import type { CellEvent, WorkloadHeld } from '../../domain/planner/cell-event.ts'
import { projectStarts, type Projection } from '../../domain/planner/projection.ts'
import { aheadNamedMax, whyOf, type Why } from '../../projections/explain/why.ts'
import { podsOf, type Pod } from '../support/oracle/files.ts'
import { replaySlowly, type PassSeen, type Replay, type ReplayOrdering } from '../support/oracle/time-replay.ts'
import { describeOnData, sharedData } from '../support/shared-data.ts'
import { eventsIn, openbOn, simulated } from '../support/simulated.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folderFor = tempFolder()
const nodes = 6
const wholeGpu = 1000
const sumOf = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0)

/** Numbers that a reason rests on, worked out from what is free of each device. */
interface Standing {
  readonly freeMilli: number
  readonly largestMilli: number
  readonly needDevices: number
  readonly needMilli: number
  /** Why it cannot start by itself, whoever is ahead; null: it could. */
  readonly code: WorkloadHeld['data']['code'] | null
}

const standingOf = ({ gpus, milli }: Pod, fleet: PassSeen['fleet']): Standing => {
  const freeMilli = sumOf(fleet.map(sumOf))
  const wholeFree = fleet.map((free) => free.filter((share) => share === wholeGpu).length)
  const isShare = gpus === 1 && milli < wholeGpu
  const largestMilli = isShare ? Math.max(...fleet.flat()) : Math.max(...wholeFree) * wholeGpu
  const needMilli = gpus * milli
  const code = freeMilli < needMilli ? 'WaitingForCapacity' : largestMilli < needMilli ? 'FragmentedCapacity' : null
  return { freeMilli, largestMilli, needDevices: gpus, needMilli, code }
}

/** A reason as it must be given: at a new code for the pod, with these numbers. */
type Reason = WorkloadHeld['data'] & { readonly at: number }

/** What must be known of a pod at the instant at which it began to wait. */
interface Waiting {
  readonly at: number
  readonly code: string
  readonly position: number
  readonly ahead: ReadonlyArray<string>
  readonly standing: Standing
}

interface Expected {
  readonly reasons: ReadonlyArray<Reason>
  readonly waiting: ReadonlyMap<string, Waiting>
  readonly replay: Replay
}

/** All that should be said, from the pod list and the number of nodes alone. */
const expectedFor = (ordering: ReplayOrdering): Expected => {
  const reasons: Array<Omit<Reason, 'projectedStartAt'> & { readonly isHead: boolean }> = []
  const waiting = new Map<string, Waiting>()
  const codes = new Map<string, string>()
  const seen = ({ at, queue, arrived, fleet }: PassSeen): void => {
    const firstOfKind = new Map<string, Pod>()
    for (const [position, pod] of queue.entries()) {
      // In strict order all but the head are behind it, from first to last.
      if (ordering === 'fifo' && position > 0 && !arrived.has(pod)) continue
      const standing = standingOf(pod, fleet)
      const kind = JSON.stringify([pod.cpu, pod.memory, pod.gpus, pod.milli, [...new Set(pod.models)].sort()])
      const inFront = ordering === 'fifo' ? queue[0]! : (firstOfKind.get(kind) ?? pod)
      firstOfKind.set(kind, inFront)
      const isBehind = inFront !== pod
      // Behind in a strict queue, it may even fit; whoever binds cannot start.
      if (!isBehind || ordering === 'greedy') expect(standing.code).not.toBeNull()
      const code = isBehind ? 'BehindInQueue' : standing.code!
      if (codes.get(pod.name) !== code) {
        const isHead = ordering === 'fifo' && !isBehind
        const { freeMilli, largestMilli, needDevices, needMilli } = standing
        const rule = isHead || isBehind ? 'spec.queues[0].ordering' : 'spec.placement.strategy'
        const behind = isBehind ? inFront.name : null
        reasons.push({
          at,
          behind,
          code,
          freeMilli,
          largestMilli,
          needDevices,
          needMilli,
          rule,
          workload: pod.name,
          isHead,
        })
      }
      codes.set(pod.name, code)
      if (!arrived.has(pod)) continue
      const ahead = queue.slice(0, Math.min(position, aheadNamedMax)).map(({ name }) => name)
      waiting.set(pod.name, { at, code, position, ahead, standing })
    }
  }
  const replay = replaySlowly(podsOf(sharedData('openb/openb_pod_list_default.csv')), nodes, ordering, 'first', seen)
  const projected = reasons.map(({ isHead, ...reason }) => ({
    ...reason,
    at: reason.at * 1000,
    projectedStartAt: (isHead ? replay.startedAt.get(reason.workload)! * 1000 : null) as Reason['projectedStartAt'],
  }))
  return { reasons: projected, waiting, replay }
}

type WhyWaiting = Extract<Why, { state: 'waiting' }>

const askedHow = (cell: Cell, workload: string, projection?: Projection): WhyWaiting => {
  const why = whyOf(cell, workload, projection)
  if (why?.state !== 'waiting') throw new Error(`${workload} should wait: ${JSON.stringify(why)}`)
  return why
}

/** Lets a cell follow a log, and shows it after each instant, with what that instant held and what the next one starts. */
const follow = (
  events: ReadonlyArray<CellEvent>,
  seen: (cell: Cell, held: ReadonlyArray<string>, starting: ReadonlyArray<string>) => void,
): void => {
  const instants: CellEvent[][] = []
  for (const event of events) {
    if (instants.at(-1)?.[0]!.at === event.at) instants.at(-1)!.push(event)
    else instants.push([event])
  }
  const named = (type: CellEvent['type'], instant: ReadonlyArray<CellEvent> = []): ReadonlyArray<string> =>
    instant.flatMap((event) => (event.type === type && 'workload' in event.data ? [event.data.workload] : []))
  let cell = new Cell('cell-default')
  for (const [i, instant] of instants.entries()) {
    for (const event of instant) cell = evolve(cell, event)
    seen(cell, named('WorkloadHeld', instant), named('WorkloadAdmitted', instants[i + 1]))
  }
}

/** Stands for a projection that a test does without: it takes as long as all that is to come. */
const unknown: Projection = { starts: new Map(), outcome: 'looked too far ahead', place: null }

const reasonsIn = (events: ReadonlyArray<CellEvent>): ReadonlyArray<Reason> =>
  events.flatMap((event) => (event.type === 'WorkloadHeld' ? [{ at: event.at, ...event.data }] : []))

describeOnData('why a pod of openb waits at 48 GPUs', () => {
  it.each([
    ['greedy', 68],
    ['fifo', 5380],
  ] as const)('should follow from the trace and the nodes, %s', { timeout: 120_000 }, async (ordering, count) => {
    const folder = folderFor()
    await simulated(openbOn(nodes * 8, ordering), folder)
    const events = await eventsIn(folder)
    const { reasons, waiting, replay } = expectedFor(ordering)
    expect(waiting.size).toBe(count)

    const given = reasonsIn(events)
    for (const [i, reason] of reasons.entries()) expect(given[i]).toEqual(reason)
    expect(given).toHaveLength(reasons.length)

    const asked = new Set<string>()
    const projected = new Set<string>()
    const expectStart = (workload: string, at: number | null | undefined): void => {
      if (at !== replay.startedAt.get(workload)! * 1000)
        expect({ workload, projectedStartAt: at }).toEqual({ workload, projectedStartAt: 'the start that it had' })
    }
    follow(events, (cell, held, starting) => {
      for (const workload of held) {
        if (asked.has(workload)) continue
        const { at, code, position, ahead, standing } = waiting.get(workload)!
        // Each answer projects anew; in strict order a few times are enough, and the others are projected below.
        const inFull = ordering === 'greedy' || asked.size % 100 === 0
        asked.add(workload)
        const why = askedHow(cell, workload, inFull ? undefined : unknown)
        const { freeMilli, largestMilli, needDevices, needMilli } = standing
        expect(why).toMatchObject({
          ...{ at: at * 1000, code, freeMilli, largestMilli, needDevices, needMilli },
          ...{ position: position + 1, aheadCount: position, ahead, submittedAt: at * 1000 },
        })
        if (ordering === 'fifo' && inFull) expectStart(workload, why.projectedStartAt)
      }
      // The last moment to project one that waits, and with it all that wait behind it.
      if (ordering === 'greedy' || !starting.some((workload) => asked.has(workload) && !projected.has(workload))) return
      const { starts, outcome } = projectStarts(cell, null)
      expect(outcome).toBe('known')
      for (const [workload, at] of starts) {
        expectStart(workload, at)
        projected.add(workload)
      }
    })
    expect(asked.size).toBe(count)
    if (ordering === 'fifo') expect(projected).toEqual(asked)
    const codes = new Map<string, number>()
    for (const { code } of given) codes.set(code, (codes.get(code) ?? 0) + 1)
    console.log(`openb, 48 GPUs, ${ordering}: ${JSON.stringify(Object.fromEntries(codes))}`)
  })
})
