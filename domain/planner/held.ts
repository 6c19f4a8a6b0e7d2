import type { Fleet } from '../fleet/fleet.ts'
import { largestOnOneNode } from '../fleet/placement.ts'
import type { Shape } from '../fleet/shape.ts'
import { canPlace, largestSpanning } from '../fleet/spanning.ts'
import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import type { WorkloadHeld } from './cell-event.ts'
import type { Line } from './line.ts'
import type { Pass, QueueOutcome } from './pass.ts'
import type { ReasonCode } from './reason-code.ts'
import type { Workload } from './workload.ts'

interface Reason {
  readonly code: ReasonCode
  /** Path into the policy document. */
  readonly rule: string
  readonly behind: Workload | null
}

/**
 * Why what did not start is held, for each whose reason changed, in order of submission. The head of a queue, and the
 * first of each kind of request, carry the reason that binds; the others are behind them until they start.
 */
export const heldDecisions = (pass: Pass): ReadonlyArray<WorkloadHeld> => {
  const held: { readonly seq: number; readonly decision: WorkloadHeld }[] = []
  const hold = (workload: Workload, reason: Reason, head: boolean) => {
    if (workload.hold?.code === reason.code && workload.hold.rule === reason.rule) return
    held.push({ seq: workload.seq, decision: heldDecision(pass, workload, reason, head) })
  }
  const first = new Map<Line, Workload | null>()
  for (const outcome of pass.outcomes) {
    const { queue, head } = outcome
    if (head !== null) hold(head, headReason(pass, outcome, head), true)
    if (queue.ordering === 'fifo') continue
    for (const line of queue.lines) {
      const workload = pass.firstNotStarted(line)
      first.set(line, workload)
      if (workload !== null && workload !== head) hold(workload, reasonOf(pass, outcome, workload), false)
    }
  }
  for (const workload of pass.cell.unexplained()) {
    if (workload.onHold) {
      hold(workload, { code: 'OnHold', rule: 'workload', behind: null }, false)
      continue
    }
    if (workload.queue.index < 0) {
      hold(workload, { code: 'Misconfigured', rule: 'spec.queues', behind: null }, false)
      continue
    }
    if (pass.started.has(workload)) continue
    const outcome = pass.outcomes[workload.queue.index]!
    const behind = outcome.queue.ordering === 'fifo' ? outcome.head : first.get(workload.line!)!
    if (behind !== workload) hold(workload, { code: 'BehindInQueue', rule: orderingRule(outcome), behind }, false)
  }
  return held.sort((a, b) => a.seq - b.seq).map(({ decision }) => decision)
}

/** What one place of its span could take of this kind of request now, GPU milli. */
export const largestMilliFor = (fleet: Fleet, shape: Shape): number =>
  shape.request.span === 'node' ? largestOnOneNode(fleet, shape) : largestSpanning(fleet, shape)

/** What binds a head is its queue's ordering, unless it would fit and another queue's reservation is in its way. */
const headReason = (pass: Pass, outcome: QueueOutcome, head: Workload): Reason => {
  const reason = reasonOf(pass, outcome, head)
  return reason.code === 'WouldDelayReservation' ? reason : { ...reason, rule: orderingRule(outcome) }
}

const reasonOf = (pass: Pass, outcome: QueueOutcome, workload: Workload): Reason => {
  const { shape } = workload
  if (pass.reservations.length === 0 || !canPlace(pass.cell.fleet, shape)) return capacityReason(pass, shape)
  const own = keepsPlace(outcome) && workload !== outcome.head
  const keeper = own ? outcome : pass.outcomes.find(keepsPlace)
  assert(keeper !== undefined, 'what fits and does not start is in the way of a reservation')
  return { code: 'WouldDelayReservation', rule: orderingRule(keeper), behind: keeper.head }
}

const keepsPlace = ({ reservation }: QueueOutcome): boolean => reservation !== null && reservation.at < Infinity

const capacityReason = ({ cell }: Pass, shape: Shape): Reason => {
  const isFree = shape.needMilli > 0 && shape.needMilli <= cell.fleet.freeFor(shape)
  const byLevel = isFree && shape.request.topology?.required !== undefined
  return {
    code: byLevel ? 'TopologyPlacementFailed' : isFree ? 'FragmentedCapacity' : 'WaitingForCapacity',
    rule: byLevel ? 'spec.topology.levels' : 'spec.placement.strategy',
    behind: null,
  }
}

/** What a held workload needs, and what there is of it now. */
export const roomFor = (fleet: Fleet, shape: Shape) => ({
  freeMilli: fleet.freeFor(shape),
  largestMilli: largestMilliFor(fleet, shape),
  needDevices: shape.request.devices,
  needMilli: shape.needMilli,
})

const orderingRule = ({ queue }: QueueOutcome): string => `spec.queues[${queue.index}].ordering`

const heldDecision = (
  pass: Pass,
  { id, shape, queue }: Workload,
  { code, rule, behind }: Reason,
  head: boolean,
): WorkloadHeld => {
  const { fleet } = pass.cell
  const projects = head && code !== 'WouldDelayReservation'
  const projected = projects ? (pass.outcomes[queue.index]!.reservation ?? pass.reserve(shape)).at : Infinity
  return {
    type: 'WorkloadHeld',
    at: pass.at,
    data: {
      behind: behind?.id ?? null,
      code,
      ...roomFor(fleet, shape),
      projectedStartAt: projected === Infinity ? null : (projected as EpochMs),
      rule,
      workload: id,
    },
  }
}
