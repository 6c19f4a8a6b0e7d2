import type { EpochMs } from '../kernel/units.ts'
import type { Block } from './block.ts'
import type { Account, Books } from './books.ts'
import type { BudgetPass } from './budget-pass.ts'
import type { WorkloadHeld } from './cell-event.ts'
import { roomFor } from './held.ts'
import type { Line } from './line.ts'
import { isReserve, lacksRoom, wantsRoom } from './room-reason.ts'
import { nodeStanding } from './node-standing.ts'
import { projectedStart } from './projected-start.ts'
import type { Workload } from './workload.ts'

interface Reason extends Block {
  readonly behind: Workload | null
}

/**
 * Why what did not start is held, for each whose reason changed, in order of submission: the first of each line carries
 * the reason that binds, the others are behind it.
 */
export const budgetHeld = (pass: BudgetPass): ReadonlyArray<WorkloadHeld> => {
  const held: { readonly seq: number; readonly decision: WorkloadHeld }[] = []
  const hold = (workload: Workload, reason: Reason) => {
    if (workload.hold?.code === reason.code && workload.hold.rule === reason.rule) return
    held.push({ seq: workload.seq, decision: heldDecision(pass, workload, reason) })
  }
  for (const lines of pass.books.lines.values())
    for (const line of lines) {
      const first = pass.firstWaiting(line)
      const reason = first === null ? null : reasonOf(pass, line, first)
      if (reason !== null) hold(first!, reason)
    }
  for (const { decision } of [...pass.cell.places.values(), ...pass.newlyKept]) {
    const workload = pass.cell.workloads.get(decision.workload)!
    if (!pass.started.has(workload) && pass.hasPlace(workload)) hold(workload, waitsForVictims(pass, decision))
  }
  for (const workload of pass.cell.unexplained()) {
    if (pass.started.has(workload) || pass.hasPlace(workload)) continue
    const reason = standing(pass, workload)
    if (reason !== null) hold(workload, reason)
  }
  return held.sort((a, b) => a.seq - b.seq).map(({ decision }) => decision)
}

/** Of what has just come, or must be explained anew, and is not the first of its line. */
const standing = (pass: BudgetPass, workload: Workload): Reason | null => {
  if (workload.onHold) return { code: 'OnHold', rule: 'workload', behind: null }
  const { line, account, queue } = workload
  if (queue.index < 0) return { code: 'Misconfigured', rule: 'spec.queues', behind: null }
  if (line === null || account === null) return { code: 'Misconfigured', rule: 'spec.budgets.tree', behind: null }
  const first = pass.firstWaiting(line)
  if (first === workload) return null
  return { code: 'BehindInQueue', rule: pass.check.ruleOf(account.path), behind: first }
}

/** Of the first of a line; null: what it was told last still holds. */
const reasonOf = (pass: BudgetPass, line: Line, first: Workload): Reason | null => {
  const told = first.hold?.code
  const block = pass.blocks.get(line)
  // What something else than room held, and was not tried, is as it was.
  if (block === undefined && told !== undefined && !isPassing.has(told) && !lacksRoom.has(told)) return null
  const found = block ?? pass.roomBlock(first)
  if ((wantsRoom.has(found.code) || found.code === told) && isKeptOut(pass, first)) return null
  if (!wantsRoom.has(found.code)) return { ...found, behind: keeperOf(pass, found) }
  if (pass.outrun.has(line)) {
    const behind = pass.lastStarted()
    if (behind !== null) return { code: 'BehindHigherShare', rule: pass.check.ruleOf(first.account!.path), behind }
  }
  const spent = exhausted(pass, first)
  // That room came and went, or of which kind there is none, is not told anew at every start and end of others.
  if (spent === null && (told === 'BehindHigherShare' || (told !== undefined && wantsRoom.has(told)))) return null
  return { ...(spent ?? found), behind: null }
}

/** It was told of what is kept for others, and is in its way while it is kept, whether or not there is room beside it. */
const isKeptOut = (pass: BudgetPass, first: Workload): boolean => {
  const { hold } = first
  if (hold?.code !== 'WouldDelayReservation') return false
  return isReserve(hold) ? pass.check.keptFromOthers(first) > 0 : pass.reservations.length > 0
}

/** They end by themselves, and something else takes their place. */
const isPassing: ReadonlySet<string> = new Set(['BehindInQueue', 'WaitingForVictims', 'OnHold', 'Misconfigured'])

const keeperOf = (pass: BudgetPass, found: Block): Workload | null =>
  found.code === 'WouldDelayReservation' && !isReserve(found) ? (pass.keepers[0] ?? null) : null

/**
 * A side of it was served all it is owed, and would hold more than it is entitled to: nobody owes it a start. The one that
 * was served most, and of equals the largest; null: none.
 */
export const exhaustedNode = (books: Books, { account }: Workload): number | null => {
  let most: number | null = null
  for (const node of exhaustedNodes(books, account!))
    if (most === null || books.ledger.compareServed(node, most) >= 0) most = node
  return most
}

/** All of its sides of which that is so, nearest first. */
export const exhaustedNodes = (books: Books, { node: own, rate }: Account): ReadonlyArray<number> => {
  const { ledger } = books
  const isBeyond = (node: number) => ledger.parent(node) >= 0 && ledger.held(node) + rate > ledger.entitled(node)
  return books.upwards(own).filter((node) => isBeyond(node) && ledger.servedFully(node))
}

const exhausted = (pass: BudgetPass, workload: Workload): Block | null => {
  const { books, check } = pass
  const node = exhaustedNode(books, workload)
  if (node === null) return null
  const { node: path, ...compared } = nodeStanding(books, node)
  return { code: 'BudgetExhaustedInWindow', rule: check.ruleOf(path), compared }
}

const waitsForVictims = (
  pass: BudgetPass,
  {
    holdUntil,
    rule,
    victims,
  }: {
    readonly holdUntil: EpochMs
    readonly rule: string
    readonly victims: ReadonlyArray<{ readonly workload: string }>
  },
): Reason => ({
  code: 'WaitingForVictims',
  rule,
  compared: { holdUntilMs: holdUntil, victims: victims.length },
  behind: pass.cell.workloads.get(victims[0]?.workload ?? '') ?? null,
})

const heldDecision = (pass: BudgetPass, workload: Workload, { code, rule, behind, compared }: Reason): WorkloadHeld => {
  const { id, shape } = workload
  const byHistory = projectedStart(pass.cell, workload, pass.at)
  const reservation = pass.reservations[pass.keepers.indexOf(workload)]
  const reserved = reservation === undefined || reservation.at === Infinity ? null : (reservation.at as EpochMs)
  const { expectedWaitMs, from = null, median = null, to = null } = byHistory ?? {}
  return {
    type: 'WorkloadHeld',
    at: pass.at,
    data: {
      behind: behind?.id ?? null,
      code,
      ...(compared && { compared }),
      ...(expectedWaitMs !== undefined && { expectedWaitMs }),
      ...roomFor(pass.cell.fleet, shape),
      ...(from !== null && { projectedFrom: from }),
      projectedStartAt: reserved ?? median,
      ...(to !== null && { projectedTo: to }),
      rule,
      workload: id,
    },
  }
}
