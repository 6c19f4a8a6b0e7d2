import { either as E } from 'fp-ts'
import type { PlacementPart } from '../fleet/fleet.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import { commandsOf, standingOf } from '../policy/allocation-policy.ts'
import type { Cell } from './cell.ts'
import type {
  AttemptStopped,
  CancelRequested,
  CellDecision,
  CommandConcluded,
  CommandIssued,
  LeaseShrunk,
  PlaceReleased,
  NodeHealth,
  NodeHealthChanged,
  PolicyActivated,
} from './cell-event.ts'
import type { CellRejection } from './decide.ts'
import { gracePeriodOf } from './grace-period.ts'
import { runningAttempt } from './running-attempt.ts'
import { startCommandOf, type Run, type Workload } from './workload.ts'

type Decided = E.Either<CellRejection, ReadonlyArray<CellDecision>>
const nothing = E.right([])
const repeated = E.left({ type: 'Repeated' } as const)

/** What waits, or was never sent to an adapter, is gone at once; what runs is asked to stop. */
export const cancel = ({ at, data }: CancelRequested, cell: Cell): Decided => {
  const workload = cell.workloads.get(data.workload)
  if (workload === undefined) return E.left({ type: 'UnknownWorkload', workload: data.workload })
  const { id, run } = workload
  if (run?.commanded !== true)
    return E.right([
      ...withdrawn(cell, workload, at),
      { type: 'WorkloadCancelled', at, data: { rule: 'workload', workload: id } },
    ])
  if (run.open?.verb === 'cancel') return repeated
  return E.right([issued(cell, workload, run, at, { verb: 'cancel', because: 'cancel-requested' })])
}

/** The place that is kept for it, if there is one, is kept no longer. */
export const withdrawn = ({ places }: Cell, { id }: Workload, at: EpochMs): ReadonlyArray<PlaceReleased> =>
  places.has(id) ? [{ type: 'PlaceReleased', at, data: { because: 'withdrawn', rule: 'workload', workload: id } }] : []

/** What follows from what an adapter says, or from its silence. */
export const conclude = (input: CommandConcluded, cell: Cell): Decided => {
  const { command, verb } = input.data
  const running = runningAttempt(input.data, cell)
  if (E.isLeft(running)) return running
  const workload = running.right
  const { run } = workload
  if (verb === 'start' || verb === 'resume') {
    if (!run.commanded || command !== startCommandOf(workload)) return E.left({ type: 'UnknownCommand', command })
    return run.confirmed ? repeated : concludeStart(input, cell, workload, run)
  }
  if (run.open?.command !== command) return E.left({ type: 'UnknownCommand', command })
  return concludeOpen(input, cell, workload, { ...run, open: null }, run.open)
}

const concludeStart = ({ at, data }: CommandConcluded, cell: Cell, workload: Workload, run: Run): Decided => {
  switch (data.outcome) {
    case 'done':
      return E.right(run.open === null ? leave(cell, workload, { ...run, confirmed: true }, at) : [])
    case 'expired':
      if (run.open !== null) return repeated
      // It may run for all we know: its devices stay taken until somebody says that it does not.
      return E.right([issued(cell, workload, run, at, { verb: 'evict', because: 'start-expired' })])
    case 'failed':
    case 'refused': {
      if (run.open?.verb === 'cancel') return E.right([stopped(workload, at, 'cancelled', false, 'workload')])
      const again = workload.startsFailed + 1 < commandsOf(cell.policy).startsMax
      return E.right([stopped(workload, at, 'not-started', again, 'spec.commands.startsMax')])
    }
  }
}

const concludeOpen = (
  { at, data: { outcome } }: CommandConcluded,
  cell: Cell,
  workload: Workload,
  run: Run,
  open: NonNullable<Run['open']>,
): Decided => {
  switch (open.verb) {
    case 'checkpoint':
      return E.right(leave(cell, workload, { ...run, tried: [...run.tried, 'checkpoint'] }, at))
    case 'shrink': {
      if (outcome !== 'done') return E.right(leave(cell, workload, { ...run, tried: [...run.tried, 'shrink'] }, at))
      const keeps = open.keeps!
      const parts = keeps.map((part) => cell.fleet.partNumbered(part))
      const shrunk = { attempt: workload.attempt, keeps, rule: open.rule, workload: workload.id }
      return E.right([{ type: 'LeaseShrunk', at, data: shrunk }, ...leave(cell, workload, { ...run, parts }, at)])
    }
    case 'evict':
    case 'cancel': {
      const cancels = open.verb === 'cancel'
      if (outcome === 'done')
        return E.right([stopped(workload, at, cancels ? 'cancelled' : 'evicted', !cancels, open.rule)])
      // What cannot be done now is asked for again when its time is up.
      if (outcome !== 'expired') return nothing
      return E.right([issued(cell, workload, run, at, { verb: open.verb, because: 'stop-expired' })])
    }
  }
}

export const evicted = (workload: Workload, at: EpochMs): AttemptStopped =>
  stopped(workload, at, 'evicted', true, workload.run!.open!.rule)

/** What was only advised is not there: a pool that is automated now starts it like anything else. */
export const withdrawAdvice = ({ at, data }: PolicyActivated, cell: Cell): ReadonlyArray<AttemptStopped> => {
  if (standingOf(data.document, cell.name) !== 'automate') return []
  return [...cell.workloads.values()]
    .filter(({ run }) => run !== null && !run.commanded)
    .sort((a, b) => a.seq - b.seq)
    .map((workload) => stopped(workload, at, 'only-advised', true, 'spec.mode'))
}

/** Attempts that have to leave a node, or a device of it, whose health changes now. */
export const leaveNode = ({ at, data }: NodeHealthChanged, cell: Cell): ReadonlyArray<CellDecision> => {
  if (data.health !== 'draining' && data.health !== 'failed') return []
  const node = cell.fleet.node(data.node)!
  const changed = { node, device: data.device, health: data.health }
  const decisions: CellDecision[] = []
  for (const workload of [...cell.runningOn(node)].sort((a, b) => a.seq - b.seq)) {
    const run = workload.run!
    // Off what has failed it goes at once, whatever it has been asked before but to stop.
    const mayWait = run.open !== null && (data.health === 'draining' || !isMild(run.open))
    if (run.confirmed && !mayWait) decisions.push(...leave(cell, workload, run, at, changed))
  }
  return decisions
}

const isMild = ({ verb }: NonNullable<Run['open']>): boolean => verb === 'checkpoint' || verb === 'shrink'

interface Changed {
  readonly node: number
  readonly device: number | null
  readonly health: NodeHealth
}

/**
 * What is asked of an attempt next so that it leaves devices that drain or have failed; nothing where none do. Off a
 * failed device at once. Off a draining one only what tolerates it: it shrinks if that is enough, else it makes a
 * checkpoint if it can, and stops.
 */
const leave = (
  cell: Cell,
  workload: Workload,
  run: Run,
  at: EpochMs,
  changed?: Changed,
): ReadonlyArray<CommandIssued> => {
  const states = run.parts.map((part) => stateOf(cell, part, changed))
  const worst = states.includes('failed') ? 'failed' : states.includes('draining') ? 'draining' : null
  if (worst === null) return []
  const node = cell.fleet.nodes[run.parts[states.indexOf(worst)]!.node]!.node
  if (worst === 'failed') return [issued(cell, workload, run, at, { verb: 'evict', because: 'node-failed', node })]
  const { preemption } = workload.terms
  if (!preemption.tolerated) return []
  const because = 'node-draining'
  const kept = run.parts.filter((_, i) => states[i] === null)
  if (!run.tried.includes('shrink') && mayShrinkTo(workload, kept))
    return [issued(cell, workload, run, at, { verb: 'shrink', because, node, kept })]
  const verb = preemption.checkpointIntervalMs !== null && !run.tried.includes('checkpoint') ? 'checkpoint' : 'evict'
  return [issued(cell, workload, run, at, { verb, because, node })]
}

/** Whether its devices there fail or drain; the graver of both. */
const stateOf = (
  { fleet }: Cell,
  { node, devices }: PlacementPart,
  changed?: Changed,
): 'failed' | 'draining' | null => {
  const healthOf = (device: number | null): NodeHealth =>
    changed?.node === node && changed.device === device ? changed.health : fleet.healthOf(node, device)
  const healths = [healthOf(null), ...devices.map(healthOf)]
  return healths.includes('failed') ? 'failed' : healths.includes('draining') ? 'draining' : null
}

/** Whether the devices that are left make a number of replicas that it declared to be enough. */
const mayShrinkTo = ({ shape, terms: { elasticity } }: Workload, kept: ReadonlyArray<PlacementPart>): boolean => {
  if (elasticity === null || kept.length === 0) return false
  const devices = kept.reduce((sum, part) => sum + part.devices.length, 0)
  const each = shape.request.devices / elasticity.maxReplicas
  return Number.isInteger(each) && devices % each === 0 && devices / each >= elasticity.minReplicas
}

/** Asks a running attempt to make room, wholly or by what it need not keep; where nobody need be asked, it does. */
export const askToStop = (
  cell: Cell,
  workload: Workload,
  at: EpochMs,
  asked: {
    readonly because: 'preempted' | 'time-limit'
    readonly preemptor?: string
    readonly kept?: ReadonlyArray<PlacementPart>
    /** Absent: what the cause says. */
    readonly rule?: string
  },
): CommandIssued | AttemptStopped | LeaseShrunk => {
  const run = workload.run!
  const { because, kept, rule = ruleOf(because) } = asked
  if (run.commanded) return issued(cell, workload, run, at, { verb: kept === undefined ? 'evict' : 'shrink', ...asked })
  if (kept === undefined) return stopped(workload, at, 'evicted', true, rule)
  const keeps = kept.map((part) => cell.fleet.partNamed(part))
  const data = { attempt: workload.attempt, keeps, rule, workload: workload.id }
  return { type: 'LeaseShrunk', at, data }
}

const issued = (
  cell: Cell,
  workload: Workload,
  run: Run,
  at: EpochMs,
  asked: Pick<CommandIssued['data'], 'verb' | 'because'> & {
    readonly node?: string
    readonly kept?: ReadonlyArray<PlacementPart>
    readonly preemptor?: string
    readonly rule?: string
  },
): CommandIssued => {
  const { because, kept, node = null, preemptor, rule = ruleOf(because), verb } = asked
  return {
    type: 'CommandIssued',
    at,
    data: {
      attempt: workload.attempt,
      because,
      command: `${workload.id}/${workload.attempt}/${verb}/${run.issued + 1}`,
      deadlineAt: (at + spanOf(cell, workload, verb)) as EpochMs,
      keeps: kept?.map((part) => cell.fleet.partNamed(part)) ?? null,
      node,
      ...(preemptor !== undefined && { preemptor }),
      rule,
      verb,
      workload: workload.id,
    },
  }
}

const spanOf = (cell: Cell, { terms }: Workload, verb: CommandIssued['data']['verb']): DurationMs => {
  const { stopWithinMs } = commandsOf(cell.policy)
  const own = verb === 'shrink' ? (terms.elasticity?.resizeCostMs ?? 0) : gracePeriodOf(cell.policy, terms)
  return (stopWithinMs + own) as DurationMs
}

const ruleOf = (because: CommandIssued['data']['because']): string => {
  switch (because) {
    case 'start-expired':
      return 'spec.commands.startWithin'
    case 'stop-expired':
      return 'spec.commands.stopWithin'
    case 'admitted':
    case 'cancel-requested':
      return 'workload'
    case 'node-draining':
    case 'node-failed':
      return 'fleet'
    case 'preempted':
      return 'spec.budgets.reclaimAfter'
    case 'time-limit':
      return 'spec.budgets.undrilledMax'
  }
}

const stopped = (
  { attempt, id }: Workload,
  at: EpochMs,
  outcome: AttemptStopped['data']['outcome'],
  requeued: boolean,
  rule: string,
): AttemptStopped => ({ type: 'AttemptStopped', at, data: { attempt, outcome, requeued, rule, workload: id } })
