import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import { limitsOf } from '../policy/allocation-policy.ts'
import type { Cell } from './cell.ts'
import type {
  AttemptEnded,
  AttemptStopped,
  CellEvent,
  CheckpointCommitted,
  CommandConcluded,
  CommandIssued,
  LeaseShrunk,
  NodeRegistered,
  PreemptionDecided,
  ProgressObserved,
  WorkloadAdmitted,
  WorkloadHeld,
  WorkloadSubmitted,
} from './cell-event.ts'
import { lapseIn } from './due.ts'
import {
  activate,
  arrive,
  dropPlace,
  healthChanged,
  holdBack,
  keepOnly,
  leaveQueue,
  noteLeaving,
  occupy,
  standInLine,
  vacate,
  watch,
} from './occupancy.ts'
import { Place } from './place.ts'
import { scoreWait } from './projected-start.ts'
import { endedByEviction, waitedBy, type Workload } from './workload.ts'

/** Folds one event into the cell, which is changed in place and returned. */
export const evolve = (cell: Cell, event: CellEvent): Cell => {
  cell.now = Math.max(cell.now, event.at) as EpochMs
  switch (event.type) {
    case 'NodeRegistered':
      register(cell, event.data)
      break
    case 'NodeHealthChanged': {
      const node = cell.fleet.node(event.data.node)
      assert(node !== undefined, 'health changes on a registered node')
      cell.fleet.setHealth(node, event.data.device, event.data.health)
      healthChanged(cell, node)
      cell.freed.add(node)
      break
    }
    case 'PolicyActivated':
      activate(cell, event.data)
      break
    case 'WorkloadSubmitted':
      submit(cell, event)
      break
    case 'AttemptEnded':
      end(cell, event)
      break
    case 'CancelRequested':
      break
    case 'HoldRequested':
    case 'ReleaseRequested':
      holdBack(cell, known(cell, event.data.workload), event.type === 'HoldRequested')
      break
    case 'CheckpointCommitted':
    case 'ProgressObserved':
      progress(cell, event)
      break
    case 'DrillConcluded':
      cell.drills.conclude(event.data, event.at)
      cell.kueue?.rest.touchAll()
      break
    case 'CommandConcluded':
      conclude(cell, event)
      break
    case 'Ticked':
      cell.books?.advance(cell.now)
      cell.settle()
      break
    case 'WorkloadAdmitted':
      admit(cell, event)
      break
    case 'WorkloadHeld':
      hold(cell, event)
      break
    case 'WorkloadRefused': {
      const workload = known(cell, event.data.workload)
      leaveQueue(cell, workload)
      cell.workloads.delete(workload.id)
      break
    }
    case 'CommandIssued':
      issue(cell, event)
      break
    case 'AttemptStopped':
      stop(cell, event)
      break
    case 'LeaseShrunk':
      shrink(cell, event.data)
      break
    case 'WorkloadCancelled': {
      const workload = known(cell, event.data.workload)
      if (workload.run === null) leaveQueue(cell, workload)
      else vacate(cell, workload)
      cell.workloads.delete(workload.id)
      break
    }
    case 'PreemptionDecided':
      preempt(cell, event)
      break
    case 'PlaceReleased':
      dropPlace(cell, known(cell, event.data.workload))
      break
    case 'WorkloadPromoted':
      known(cell, event.data.workload).promoted = true
      break
    case 'LeaseIdled':
      goIdle(cell, known(cell, event.data.workload))
      break
    case 'BudgetChanged':
      cell.books?.untold.shift()
      break
    case 'GrantLapsed':
      cell.lapsed.add(lapseIn(cell.policy, event.data))
      break
    case 'EstimateOverran': {
      const workload = known(cell, event.data.workload)
      assert(workload.run !== null, 'what overran was running')
      if (workload.run.expectedEndAt !== null) cell.ends.remove(workload)
      else cell.unending.delete(workload)
      workload.run = { ...workload.run, expectedEndAt: event.data.expectedEndAt }
      cell.ends.add(workload)
      break
    }
    default:
      assert(false, `the log holds events of known types, not ${(event as CellEvent).type}`)
  }
  return cell
}

const known = (cell: Cell, id: string): Workload => {
  const workload = cell.workloads.get(id)
  assert(workload !== undefined, 'what is decided about waits or runs')
  return workload
}

const submit = (cell: Cell, { at, data }: WorkloadSubmitted): void => {
  const { class: kind, estimateMs, queue, request, team, terms, workload: id } = data
  const seq = cell.submissions++
  const workload = arrive(cell, { id, seq, class: kind, team, estimateMs, submittedAt: at, queue, request, terms })
  standInLine(cell, workload)
  cell.fresh.add(workload)
  cell.demand.add(workload.shape)
}

const admit = (cell: Cell, { at, data }: WorkloadAdmitted): void => {
  const workload = known(cell, data.workload)
  const parts = data.lease.map((part) => cell.fleet.partNumbered(part))
  scoreWait(cell.waits, workload, at)
  workload.attempt = data.attempt
  workload.resumes = data.resumes === true
  const commanded = cell.standing === 'automate'
  const leaf = workload.account?.path
  if (leaf !== undefined) cell.waits.started(cell.waits.keysOf(leaf, workload).starts, at)
  leaveQueue(cell, workload)
  occupy(cell, workload, {
    startedAt: at,
    expectedEndAt: data.expectedEndAt,
    parts,
    commanded,
    confirmed: false,
    confirmedAt: commanded ? null : at,
    checkpointAt: null,
    progressAt: null,
    idle: false,
    preempted: data.preempted === true || workload.roomMade,
    limitAt: data.limitAt ?? null,
    open: null,
    issued: 0,
    tried: [],
  })
  workload.roomMade = false
}

const hold = (cell: Cell, { at, data }: WorkloadHeld): void => {
  const workload = known(cell, data.workload)
  const { code, rule, behind, expectedWaitMs, projectedFrom = null, projectedStartAt, projectedTo = null } = data
  if (expectedWaitMs !== undefined) workload.projected ??= { at, expectedWaitMs, from: projectedFrom, to: projectedTo }
  workload.hold = { code, rule, behind, since: at, projectedStartAt }
  const { line } = workload
  if (line?.first === workload) cell.books?.setDemand(line, code !== 'NonPreemptibleOverQuota', cell.now)
}

const end = (cell: Cell, { at, data }: AttemptEnded): void => {
  const workload = known(cell, data.workload)
  if (endedByEviction(workload, data.outcome)) return
  if (data.outcome === 'succeeded') cell.durations.add(workload.class, workload.team, at - workload.run!.startedAt)
  vacate(cell, workload)
  cell.workloads.delete(workload.id)
}

const conclude = (cell: Cell, { at, data: { outcome, reason, verb, workload: id } }: CommandConcluded): void => {
  const workload = known(cell, id)
  cell.kueue?.rest.touch(workload.queue)
  const { run } = workload
  assert(run !== null, 'what is concluded about runs')
  if (verb === 'start' || verb === 'resume') {
    if (outcome === 'done') workload.run = { ...run, confirmed: true, confirmedAt: at }
    if (outcome === 'failed' || outcome === 'refused')
      workload.lastFailedStart = { at, reason: reason ?? (outcome === 'failed' ? null : outcome) }
    return
  }
  if (verb !== 'checkpoint' && verb !== 'shrink') return
  const saved = verb === 'checkpoint' && outcome === 'done'
  workload.run = { ...run, open: null, tried: [...run.tried, verb], checkpointAt: saved ? at : run.checkpointAt }
  noteLeaving(cell, workload)
  if (saved) workload.checkpointed = true
}

const progress = (cell: Cell, { type, at, data }: CheckpointCommitted | ProgressObserved): void => {
  const workload = known(cell, data.workload)
  const { run } = workload
  assert(run !== null, 'what makes progress runs')
  const progressAt = Math.max(at, run.progressAt ?? at) as EpochMs
  const checkpointAt =
    type === 'CheckpointCommitted' ? (Math.max(at, run.checkpointAt ?? at) as EpochMs) : run.checkpointAt
  // An old sign that is told late ends nothing.
  const idle = run.idle && progressAt + (cell.books?.budgets.idleAfterMs ?? 0) <= cell.now
  if (run.idle && !idle) cell.books?.setIdle(workload, false, cell.now)
  workload.run = { ...run, progressAt, checkpointAt, idle }
  watch(cell, workload)
  if (type === 'CheckpointCommitted') workload.checkpointed = true
}

const issue = (cell: Cell, { at, data }: CommandIssued): void => {
  const workload = known(cell, data.workload)
  const { run } = workload
  assert(run !== null, 'what is asked to do something runs')
  workload.run = { ...run, open: { ...data, issuedAt: at }, issued: run.issued + 1 }
  cell.kueue?.asked(workload)
  noteLeaving(cell, workload)
}

const stop = (cell: Cell, { at, data: { outcome, requeued, workload: id } }: AttemptStopped): void => {
  const workload = known(cell, id)
  const { preempted } = workload.run!
  vacate(cell, workload)
  if (outcome === 'not-started') {
    workload.startsFailed++
    workload.roomMade = preempted
  }
  if (!requeued) {
    cell.workloads.delete(id)
    return
  }
  workload.waitedBeforeMs = waitedBy(workload, at)
  workload.queuedAt = at
  workload.wantsSince = at
  workload.run = null
  standInLine(cell, workload)
  cell.fresh.add(workload)
}

const shrink = (cell: Cell, { keeps, workload: id }: LeaseShrunk['data']): void => {
  const workload = known(cell, id)
  const { run } = workload
  assert(run !== null, 'what shrinks runs')
  const parts = keeps.map((part) => cell.fleet.partNumbered(part))
  keepOnly(cell, workload, run, parts)
  workload.run = { ...run, parts, tried: run.tried.filter((verb) => verb !== 'shrink') }
}

const register = (cell: Cell, data: NodeRegistered['data']): void => {
  const node = cell.fleet.register(data)
  cell.books?.refresh(node, cell.now)
  cell.kueue?.nodeCame(node)
  cell.freed.add(node)
}

/** Those who leave are asked to by the commands that follow. */
const preempt = (cell: Cell, { at, data }: PreemptionDecided): void => {
  const workload = known(cell, data.workload)
  const parts = data.lease.map((part) => cell.fleet.partNumbered(part))
  const place = new Place(data, at, workload.shape, parts)
  workload.roomMade = true
  cell.places.set(workload.id, place)
  place.gather(cell.fleet, null)
  cell.books?.count(workload, parts, 1)
  cell.kueue?.keep(workload, parts)
  for (const { keeps, workload: id } of data.victims) {
    if (keeps !== null) continue
    const victim = known(cell, id)
    victim.preemptions++
    cell.evictionLimits.charge(victim.team, at)
    // Whoever is spared now was not before, in whatever queue.
    if (cell.kueue !== null && isSpared(cell, victim, at)) cell.kueue.rest.touchAll()
  }
}

const isSpared = ({ evictionLimits, policy }: Cell, { team }: Workload, at: EpochMs): boolean => {
  const { evictionsPerMinute, preemptionsPerTeamHour } = limitsOf(policy)
  return (
    evictionLimits.leftOfCell(at, evictionsPerMinute) <= 0 ||
    evictionLimits.leftOfTeam(team, at, preemptionsPerTeamHour) <= 0
  )
}

const goIdle = (cell: Cell, workload: Workload): void => {
  cell.watched.delete(workload)
  cell.books?.setIdle(workload, true, cell.now)
  workload.run = { ...workload.run!, idle: true }
}
