import type { EpochMs } from '../kernel/units.ts'
import type { Block } from './block.ts'
import type { Account, Books } from './books.ts'
import type { BudgetPass } from './budget-pass.ts'
import type { WorkloadHeld } from './cell-event.ts'
import { roomFor } from './held.ts'
import { isReserve, lacksRoom, wantsRoom } from './room-reason.ts'
import { nodeStanding } from './node-standing.ts'
import { projectedStart } from './projected-start.ts'
import type { Turn } from './share-walk.ts'
import type { Workload } from './workload.ts'

interface Reason {
  readonly block: Block
  readonly behind: Workload | null
}

/**
 * Why what did not start is held, for each whose reason changed, in order of submission: the first of each line carries
 * the reason that binds, the others are behind it.
 */
export const budgetHeld = (pass: BudgetPass): ReadonlyArray<WorkloadHeld> => {
  const held: { readonly seq: number; readonly decision: WorkloadHeld }[] = []
  const hold = (workload: Workload, reason: Reason) => {
    if (isTold(workload, reason.block)) return
    held.push({ seq: workload.seq, decision: heldDecision(pass, workload, reason) })
  }
  for (const turn of pass.turns) {
    const first = pass.firstWaiting(turn.line)
    const reason = first === null ? null : reasonOf(pass, turn, first)
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

const isTold = ({ hold }: Workload, { code, rule }: Block): boolean => hold?.code === code && hold.rule === rule

const onHold: Block = { code: 'OnHold', rule: 'workload' }
const unqueued: Block = { code: 'Misconfigured', rule: 'spec.queues' }
const unbudgeted: Block = { code: 'Misconfigured', rule: 'spec.budgets.tree' }

/** Of what has just come, or must be explained anew, and is not the first of its line. */
const standing = (pass: BudgetPass, workload: Workload): Reason | null => {
  if (workload.onHold) return { block: onHold, behind: null }
  const { line, account, queue } = workload
  if (queue.index < 0) return { block: unqueued, behind: null }
  if (line === null || account === null) return { block: unbudgeted, behind: null }
  const first = pass.firstWaiting(line)
  if (first === workload) return null
  return { block: { code: 'BehindInQueue', rule: pass.check.ruleOf(account.path) }, behind: first }
}

/** Of the first of a line; null: what it was told last still holds. */
const reasonOf = (pass: BudgetPass, { block, isOutrun }: Turn, first: Workload): Reason | null => {
  const told = first.hold?.code
  // What something else than room held, and was not tried, is as it was.
  if (block === null && told !== undefined && !isPassing.has(told) && !lacksRoom.has(told)) return null
  const found = block ?? pass.roomBlock(first)
  if ((wantsRoom.has(found.code) || found.code === told) && isKeptOut(pass, first)) return null
  if (!wantsRoom.has(found.code)) return { block: found, behind: keeperOf(pass, found) }
  if (isOutrun) {
    const behind = pass.lastStarted
    const block = { code: 'BehindHigherShare', rule: pass.check.ruleOf(first.account!.path) } as const
    if (behind !== null) return isTold(first, block) ? null : { block, behind }
  }
  const spent = exhaustedNode(pass.books, first)
  // That room came and went, or of which kind there is none, is not told anew at every start and end of others.
  if (spent === null && (told === 'BehindHigherShare' || (told !== undefined && wantsRoom.has(told)))) return null
  return spent === null ? { block: found, behind: null } : exhausted(pass, first, spent)
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
  for (const node of books.upwards(account!.node))
    if (isExhausted(books, node, account!.rate) && (most === null || books.ledger.compareServed(node, most) >= 0))
      most = node
  return most
}

/** All of its sides of which that is so, nearest first. */
export const exhaustedNodes = (books: Books, { node: own, rate }: Account): ReadonlyArray<number> =>
  books.upwards(own).filter((node) => isExhausted(books, node, rate))

const isExhausted = ({ ledger }: Books, node: number, rate: number): boolean =>
  ledger.parent(node) >= 0 && ledger.held(node) + rate > ledger.entitled(node) && ledger.servedFully(node)

/** Null: it was told so already. */
const exhausted = ({ books, check }: BudgetPass, workload: Workload, node: number): Reason | null => {
  const code = 'BudgetExhaustedInWindow'
  const rule = check.ruleOf(books.ledger.path(node))
  if (isTold(workload, { code, rule })) return null
  const { chargedMilliUnitH, entitledMilli, heldMilli, owedMilliUnitH } = nodeStanding(books, node)
  const compared = { chargedMilliUnitH, entitledMilli, heldMilli, owedMilliUnitH }
  return { block: { code, rule, compared }, behind: null }
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
  block: {
    code: 'WaitingForVictims',
    rule,
    compared: { holdUntilMs: holdUntil, victims: victims.length },
  },
  behind: pass.cell.workloads.get(victims[0]?.workload ?? '') ?? null,
})

const heldDecision = (pass: BudgetPass, workload: Workload, { block, behind }: Reason): WorkloadHeld => {
  const { code, rule, compared } = block
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
