import type { PlacementPart } from '../fleet/fleet.ts'
import { assert } from '../kernel/decider.ts'
import type { DurationMs } from '../kernel/units.ts'
import { contractOf, kueueOf, sharingOf, topologyLevelsOf } from '../policy/allocation-policy.ts'
import type { PlacementRequest } from '../workload/request.ts'
import { Books } from './books.ts'
import { budgetPathOf } from './budget-path.ts'
import type { Cell } from './cell.ts'
import type { PolicyActivated } from './cell-event.ts'
import { editionFirst } from './edition.ts'
import { isPromoted } from './protection.ts'
import { KueueBooks } from './kueue-books.ts'
import { KueueUsage } from './kueue-usage.ts'
import { WaitingQueue } from './waiting-queue.ts'
import type { Run, Workload } from './workload.ts'

/** Who waits where and who holds what, as it changes: fleet, queues, indexes and books go together. */

export const activate = (cell: Cell, data: PolicyActivated['data']): void => {
  const waiting = [...cell.workloads.values()].filter(({ run, onHold }) => run === null && !onHold)
  const running = [...cell.workloads.values()].filter(({ run }) => run !== null)
  countPlaces(cell, -1)
  for (const workload of waiting) leaveLine(cell, workload)
  for (const workload of running) settleUp(cell, workload)
  install(cell, data)
  for (const workload of cell.workloads.values()) workload.promoted &&= isPromoted(cell.policy, workload)
  const keeps = sharingOf(data.document)
  cell.books =
    keeps === 'queues' || keeps === 'kueue'
      ? null
      : Books.open(cell.fleet, data.document, data.hash, cell.now, cell.books)
  const { usageOrdering } = kueueOf(data.document)
  const used = cell.kueue?.usage ?? null
  const usage = usageOrdering && KueueUsage.carriedOn(usageOrdering, { now: cell.now, running }, used)
  cell.kueue = keeps === 'kueue' ? new KueueBooks(cell, data.document, usage ?? null) : null
  for (const workload of waiting) standInLine(cell, workload)
  for (const workload of running) {
    watch(cell, workload)
    open(cell, workload)
  }
  countPlaces(cell, 1)
}

/** Places that are kept stay kept under another policy. */
const countPlaces = (cell: Cell, sign: 1 | -1): void => {
  for (const [id, { parts }] of cell.places) {
    const workload = cell.workloads.get(id)!
    cell.books?.count(workload, parts, sign)
    if (sign > 0) cell.kueue?.keep(workload, parts)
    else cell.kueue?.stop(workload)
  }
}

/** The policy and its queues, and nothing that follows from them. */
export const install = (cell: Cell, { document, hash, edition = editionFirst }: PolicyActivated['data']): void => {
  cell.policy = document
  cell.policyHash = hash
  cell.edition = edition
  cell.policyIsNew = true
  cell.fleet.setLevels(topologyLevelsOf(document))
  if (edition === editionFirst) cell.lapsed.clear()
  for (const queue of cell.queueNamed.values()) queue.index = -1
  cell.queues = document.queues.map(({ name, ordering }, index) => {
    const queue = queueOf(cell, name)
    queue.ordering = ordering
    queue.index = index
    return queue
  })
}

const queueOf = (cell: Cell, name: string): WaitingQueue => {
  const queue = cell.queueNamed.get(name)
  if (queue !== undefined) return queue
  const unknown = new WaitingQueue(name, 'fifo', -1)
  cell.queueNamed.set(name, unknown)
  return unknown
}

type Given = Pick<Workload, 'id' | 'seq' | 'class' | 'team' | 'estimateMs' | 'submittedAt' | 'terms'> & {
  readonly queue: string
  readonly request: PlacementRequest
}

/** A workload as it comes in; it stands nowhere yet. */
export const arrive = (cell: Cell, given: Given): Workload => {
  const workload: Workload = {
    id: given.id,
    seq: given.seq,
    class: given.class,
    team: given.team,
    shape: cell.shapes.intern(given.request),
    queue: queueOf(cell, given.queue),
    estimateMs: given.estimateMs,
    submittedAt: given.submittedAt,
    terms: given.terms,
    account: null,
    queuedAt: given.submittedAt,
    waitedBeforeMs: 0 as DurationMs,
    wantsSince: given.submittedAt,
    attempt: 0,
    checkpointed: false,
    resumes: false,
    startsFailed: 0,
    lastFailedStart: null,
    onHold: false,
    preemptions: 0,
    promoted: false,
    roomMade: false,
    hold: null,
    projected: null,
    previous: null,
    next: null,
    line: null,
    slot: -1,
    run: null,
  }
  cell.workloads.set(workload.id, workload)
  return workload
}

/** It waits, with all others that ask for the same. */
export const standInLine = (cell: Cell, workload: Workload): void => {
  if (workload.onHold) return
  const { books, policy } = cell
  workload.queue.add(workload)
  if (books === null) workload.queue.lines.add(workload, lineKeyOf(cell, workload))
  else {
    const path = budgetPathOf(policy!, workload)
    if (path === null || workload.queue.index < 0) return
    books.join(workload, path, cell.now)
  }
  const { line } = workload
  if (line!.size === 1) cell.untried.add(line!)
  if (line!.first === workload) cell.kueue?.rest.firstChanged(line!, workload.queue)
  if (books === null && cell.kueue === null) explainOvertaken(cell, workload)
}

/** What comes back to its old place may stand before who was first until now, and carried the reason that binds. */
const explainOvertaken = ({ fresh }: Cell, { line, next, previous, slot }: Workload): void => {
  const inLine = line!.size > 1 ? line!.atOrAfter(slot + 1) : null
  const isFirst = inLine !== null && line!.first!.slot === slot
  for (const overtaken of [isFirst ? inLine : null, previous === null ? next : null])
    if (overtaken !== null) fresh.add(overtaken)
}

/** What workloads have in common that stand in one line of their queue. */
export const lineKeyOf = ({ kueue }: Cell, workload: Workload): string | number =>
  kueue === null ? workload.shape.index : kueue.lineKeyOf(workload)

/** It waits no more, and nothing is kept for it. */
export const leaveQueue = (cell: Cell, workload: Workload): void => {
  dropPlace(cell, workload)
  leaveLine(cell, workload)
}

const leaveLine = (cell: Cell, workload: Workload): void => {
  cell.fresh.delete(workload)
  // What is on hold stands in none.
  if (workload.previous === null && workload.next === null && workload.queue.head !== workload) return
  const { line } = workload
  workload.queue.remove(workload)
  if (line === null) return
  if (line.first === workload) cell.kueue?.rest.firstChanged(line, workload.queue)
  if (workload.account === null) workload.queue.lines.remove(workload)
  else cell.books!.leave(workload, cell.now)
  if (line.size === 0) cell.untried.delete(line)
}

/** Takes it out of its queue, or lets it in again; what runs is only marked. */
export const holdBack = (cell: Cell, workload: Workload, onHold: boolean): void => {
  if (workload.run === null && onHold) leaveQueue(cell, workload)
  // How long that takes is nobody's measure.
  workload.projected = null
  workload.onHold = onHold
  if (workload.run !== null) return
  if (!onHold) workload.wantsSince = cell.now
  standInLine(cell, workload)
  cell.fresh.add(workload)
}

/** A workload that stands nowhere starts to run. */
export const occupy = (cell: Cell, workload: Workload, run: Run): void => {
  workload.hold = null
  workload.run = run
  for (const part of run.parts) cell.fleet.take(workload.shape, part)
  index(cell, workload, run)
  cell.kueue?.usage?.started(workload, run.parts, cell.now)
  open(cell, workload)
  refresh(cell, run.parts)
}

/** Of what runs, whatever is not the fleet's or the books'. */
export const index = (cell: Cell, workload: Workload, run: Run): void => {
  cell.noteRuns(workload, run.parts, true)
  if (run.expectedEndAt !== null) cell.ends.add(workload)
  else cell.unending.add(workload)
  if (run.limitAt !== null) cell.limited.add(workload)
  watch(cell, workload)
  noteLeaving(cell, workload)
}

/** Whether it was asked for some of what it holds, or for all, or no longer is. */
export const noteLeaving = ({ leaving }: Cell, workload: Workload): void => {
  const open = workload.run!.open
  if (open === null || open.verb === 'checkpoint') leaving.delete(workload)
  else leaving.add(workload)
}

/** What could become idle is looked at; what no longer has to show progress is not idle for want of it. */
export const watch = (cell: Cell, workload: Workload): void => {
  const run = workload.run!
  const shows = run.progressAt !== null || contractOf(cell.policy).progressRequired
  if (run.idle && !shows) workload.run = { ...run, idle: false }
  if (shows && !run.idle) cell.watched.add(workload)
  else cell.watched.delete(workload)
}

/** Its devices are free again. */
export const vacate = (cell: Cell, workload: Workload): void => {
  const { run } = workload
  assert(run !== null, 'what gives devices back was running')
  if (run.expectedEndAt !== null) cell.ends.remove(workload)
  else cell.unending.delete(workload)
  cell.limited.delete(workload)
  cell.watched.delete(workload)
  cell.leaving.delete(workload)
  cell.kueue?.usage?.ended(workload, cell.now)
  settleUp(cell, workload)
  giveBack(cell, workload, run.parts)
  gather(cell, run.parts)
}

/** It runs on with these parts. */
export const keepOnly = (cell: Cell, workload: Workload, run: Run, parts: Run['parts']): void => {
  cell.kueue?.usage?.shrunk(workload, parts, cell.now)
  cell.kueue?.resize(workload, parts)
  cell.books?.resize(workload, run.parts, parts, cell.now)
  giveBack(cell, workload, run.parts)
  for (const part of parts) cell.fleet.take(workload.shape, part)
  cell.noteRuns(workload, parts, true)
  gather(cell, run.parts)
}

/** A place that was kept for it is free for anybody. */
export const dropPlace = (cell: Cell, workload: Workload): void => {
  const place = cell.places.get(workload.id)
  if (place === undefined) return
  place.release(cell.fleet)
  cell.places.delete(workload.id)
  cell.kueue?.stop(workload)
  cell.kueue?.rest.fleetChanged()
  cell.books?.count(workload, place.parts, -1)
  for (const { node } of place.parts) cell.freed.add(node)
  refresh(cell, place.parts)
}

/** What a node's health makes of the books. */
export const healthChanged = (cell: Cell, node: number): void => {
  cell.kueue?.rest.fleetChanged()
  cell.kueue?.held.refresh(node)
  const { books } = cell
  if (books === null) return
  books.refresh(node, cell.now)
  const there = books.budgets.charged.length === 0 ? cell.runningOn(node) : cell.workloads.values()
  for (const workload of there)
    if (workload.run !== null) books.resize(workload, workload.run.parts, workload.run.parts, cell.now)
}

const open = (cell: Cell, workload: Workload): void => {
  const { books, policy } = cell
  const { run } = workload
  if (run !== null) cell.kueue?.start(workload, run.parts, run.startedAt)
  if (books === null || run === null) return
  const path = budgetPathOf(policy!, workload)
  if (path === null) {
    books.count(workload, run.parts, 1)
    return
  }
  books.start(workload, path, run.parts, cell.now)
  if (run.idle) books.setIdle(workload, true, cell.now)
}

const settleUp = (cell: Cell, workload: Workload): void => {
  cell.kueue?.stop(workload)
  cell.books?.stop(workload, workload.run!.parts, cell.now)
}

const giveBack = (cell: Cell, workload: Workload, parts: Run['parts']): void => {
  for (const part of parts) {
    cell.fleet.give(workload.shape, part)
    cell.freed.add(part.node)
  }
  cell.kueue?.rest.fleetChanged()
  cell.noteRuns(workload, parts, false)
  refresh(cell, parts)
}

/** What came free there goes to those for whom it is kept. */
const gather = (cell: Cell, parts: Run['parts']): void => {
  if (cell.places.size === 0) return
  const nodes = new Set(parts.map(({ node }) => node))
  for (const place of cell.places.values()) place.gather(cell.fleet, nodes)
}

/** A device that is not ready counts only while somebody holds it. */
const refresh = (cell: Cell, parts: ReadonlyArray<PlacementPart>): void => {
  const { books, kueue } = cell
  const schedulable = books?.schedulable ?? kueue?.held.schedulable
  for (const { node } of parts) {
    if (schedulable?.isImpaired(node) !== true) continue
    books?.refresh(node, cell.now)
    kueue?.held.refresh(node)
  }
}
