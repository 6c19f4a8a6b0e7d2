import type { Block } from './block.ts'
import type { WorkloadHeld } from './cell-event.ts'
import { roomFor } from './held.ts'
import type { KueuePass } from './kueue-pass.ts'
import { wantsRoom } from './room-reason.ts'
import type { Workload } from './workload.ts'

/** Why a workload waits, and for whom. */
export interface KueueReason extends Block {
  readonly behind: Workload | null
}

/**
 * Why what did not start is held, for each whose reason changed, in order of submission: whose turn it was carries what
 * binds, the others are behind it.
 */
export const kueueHeld = (pass: KueuePass): ReadonlyArray<WorkloadHeld> => {
  const held: { readonly seq: number; readonly decision: WorkloadHeld }[] = []
  const hold = (workload: Workload, reason: KueueReason) => {
    if (workload.hold?.code === reason.code && workload.hold.rule === reason.rule) return
    // That room came and went, or of which kind there is none, is not told anew at every start and end of others.
    if (comesAndGoes.has(reason.code) && comesAndGoes.has(workload.hold?.code ?? '')) return
    held.push({ seq: workload.seq, decision: heldDecision(pass, workload, asItStands(pass, workload, reason)) })
  }
  for (const [workload, reason] of pass.reasons) if (!pass.started.has(workload)) hold(workload, reason)
  for (const workload of pass.cell.unexplained()) {
    if (pass.started.has(workload) || pass.reasons.has(workload) || pass.hasPlace(workload)) continue
    const reason = standing(pass, workload)
    if (reason !== null) hold(workload, reason)
  }
  return held.sort((a, b) => a.seq - b.seq).map(({ decision }) => decision)
}

/** What is held grows from cycle to cycle, and how many there are is nobody's matter: the pass's end counts. */
const asItStands = (pass: KueuePass, workload: Workload, reason: KueueReason): KueueReason => {
  const now = pass.barred(workload, workload.shape.needMilli)
  return now?.code === reason.code && now.rule === reason.rule ? { ...now, behind: reason.behind } : reason
}

const comesAndGoes: ReadonlySet<string> = new Set([...wantsRoom, 'WouldDelayReservation'])

/** It was told, as this policy would say it, what bound it when it had its turn: others ahead of it change nothing. */
const isOfNow = ({ hold, queue }: Workload): boolean => {
  if (hold === null || !lasting.has(hold.code)) return false
  return !hold.rule.startsWith('spec.queues') || hold.rule.startsWith(`spec.queues[${queue.index}].`)
}

const lasting: ReadonlySet<string> = new Set([
  'BehindInQueue',
  'DrillNotPassed',
  'ExceedsMaxQuota',
  'FragmentedCapacity',
  'NoMatchingAccelerator',
  'NonPreemptibleOverQuota',
  'OverQueueLimit',
  'PreemptionRateLimited',
  'ProtectedWindow',
  'TopologyPlacementFailed',
  'WaitingForCapacity',
  'WaitingForQuota',
  'WouldDelayReservation',
])

/** Of what has just come, or must be explained anew, and had no turn. */
const standing = (pass: KueuePass, workload: Workload): KueueReason | null => {
  const { line, queue } = workload
  if (workload.onHold) return { code: 'OnHold', rule: 'workload', behind: null }
  if (queue.index < 0) return { code: 'Misconfigured', rule: 'spec.queues', behind: null }
  if (isOfNow(workload)) return null
  const first = queue.ordering === 'fifo' ? null : pass.firstOf(line!, false)
  const behind = first === null || first === workload ? pass.frontOf(queue) : first
  if (behind === workload) return null
  return { code: 'BehindInQueue', rule: `spec.queues[${queue.index}].ordering`, behind }
}

const heldDecision = (
  pass: KueuePass,
  { id, shape }: Workload,
  { code, rule, behind, compared }: KueueReason,
): WorkloadHeld => {
  return {
    type: 'WorkloadHeld',
    at: pass.at,
    data: {
      behind: behind?.id ?? null,
      code,
      ...(compared && { compared }),
      ...roomFor(pass.cell.fleet, shape),
      projectedStartAt: null,
      rule,
      workload: id,
    },
  }
}
