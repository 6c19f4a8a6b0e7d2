import { either as E } from 'fp-ts'
import { nearest } from '../../domain/kernel/wording.ts'
import { wholeGpu, type EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { CellEvent, WorkloadAdmitted } from '../../domain/planner/cell-event.ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import { durationText, gpusText, instantText } from '../../projections/explain/wording.ts'
import type { DeskFault, WorkloadState } from './desk.ts'
import { lifeOf } from './event-rows.ts'
import type { Follower } from './follower.ts'
import { endBy, stateIn, type Ended } from './workload-state.ts'

/** Names that a misspelt one is compared with. */
const namesMax = 10_000

/** @param cell where one of a similar name may wait or run */
export const unknownWorkload = (workload: string, cell: Cell): DeskFault => {
  const names: string[] = []
  for (const name of cell.workloads.keys()) {
    // One of quite another length cannot be meant, and would take long to compare.
    if (name.length <= 2 * workload.length) names.push(name)
    if (names.length === namesMax) break
  }
  const meant = nearest(workload, names)
  const see = 'see `leasehold queue` and `leasehold fleet` for what waits and runs'
  const mend = meant === null ? see : `did you mean ${meant}?`
  return { type: 'NotFound', reason: `there is no workload ${workload}`, mend }
}

/** The last end among the events of one workload; null: it did not end. */
const lastEnd = (events: ReadonlyArray<CellEvent>): Ended | null => {
  let last: Ended | null = null
  for (const event of events) {
    const end = endBy(event)
    if (end !== null) last = end.state === 'requeued' ? null : end
  }
  return last
}

/** Where a workload has got to, by what the follower has seen. */
export const stateOf = async (
  log: EventLog,
  follower: Follower,
  id: string,
): Promise<E.Either<DeskFault, WorkloadState>> => {
  const { cell } = follower
  const workload = cell.workloads.get(id)
  if (workload !== undefined) return E.right(stateIn(cell, workload, follower.changedAt(id)))
  const gone = await stateOfGone(log, follower, id)
  return E.map((state: WorkloadState) => withTotal(state, cell))(gone)
}

/** How much the whole fleet has, for one that needs more than a place of it can have. */
const withTotal = (state: WorkloadState, { fleet }: Cell): WorkloadState =>
  state.code === 'ExceedsFleet' && state.state === 'refused'
    ? { ...state, text: `${state.text}; of ${gpusText(fleet.deviceCount * wholeGpu)} in all` }
    : state

const stateOfGone = async (
  log: EventLog,
  follower: Follower,
  id: string,
): Promise<E.Either<DeskFault, WorkloadState>> => {
  const { cell } = follower
  const used = await follower.wasUsed(id)
  if (E.isLeft(used)) return used
  if (!used.right) return E.left(unknownWorkload(id, cell))
  const end = await follower.endOf(id)
  if (E.isLeft(end)) return end
  return end.right === null ? stateAtEnd(log, cell, id) : E.right(end.right)
}

/** How a workload ended that no cell remembers. */
const stateAtEnd = async (log: EventLog, cell: Cell, id: string): Promise<E.Either<DeskFault, WorkloadState>> => {
  const life = await lifeOf(log, cell.name, id)
  if (E.isLeft(life)) return life
  const end = lastEnd(life.right.map(({ message }) => message as unknown as CellEvent))
  return end === null ? E.left(unknownWorkload(id, cell)) : E.right(end)
}

/** What became of a workload that neither waits nor runs at that time, when its wait can be asked about, and where else to look. */
export const fateOf = async (log: EventLog, cell: Cell, id: string): Promise<DeskFault> => {
  const life = await lifeOf(log, cell.name, id)
  if (E.isLeft(life)) return life.left
  const events = life.right.map(({ message }) => message as unknown as CellEvent)
  if (events.length === 0) return unknownWorkload(id, cell)
  const early = earlyFor(events, id, cell.now)
  if (early !== null) return early
  const end = lastEnd(events)
  const admitted = events.findLast((event) => event.type === 'WorkloadAdmitted')
  const reason = end === null ? `${id} did not wait or run at that time` : `${id} ${end.text}`
  const seeLife = `\`leasehold log ${id}\` tells its life, and GET /v1/workloads/${encodeURIComponent(id)} where it has got to`
  return { type: 'NotFound', reason, mend: admitted === undefined ? seeLife : waitText(admitted, seeLife) }
}

/** Null: it was submitted by then. */
export const notYetSubmitted = async (
  log: EventLog,
  stream: string,
  id: string,
  until: EpochMs,
): Promise<DeskFault | null> => {
  const life = await lifeOf(log, stream, id)
  if (E.isLeft(life)) return life.left
  return earlyFor(
    life.right.map(({ message }) => message as unknown as CellEvent),
    id,
    until,
  )
}

const earlyFor = (events: ReadonlyArray<CellEvent>, id: string, at: EpochMs): DeskFault | null => {
  const submitted = events.find((event) => event.type === 'WorkloadSubmitted')
  if (submitted === undefined || submitted.at <= at) return null
  const mend = `it was submitted ${instantText(submitted.at)}`
  return { type: 'NotFound', reason: `there was no workload ${id} yet`, mend }
}

const waitText = ({ at, data }: WorkloadAdmitted, seeLife: string): string => {
  const { waitedMs, workload } = data
  if (waitedMs === 0) return `it started at once; ${seeLife}`
  const halfWay = Math.floor(at - waitedMs / 2)
  return `it waited ${durationText(waitedMs)}: ask \`leasehold why ${workload} --at ${halfWay}\`; ${seeLife}`
}
