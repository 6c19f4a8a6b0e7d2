import { assert } from '../kernel/decider.ts'
import type { Assignment, BlockedReason, UntriedFlavors } from './assignment.ts'
import { CycleLedger } from './cycle-ledger.ts'
import { compareEntries, compareStanding, type CycleEntry } from './cycle-order.ts'
import { FairTournament, type Contestant } from './fair-tournament.ts'
import type { Head } from './head.ts'
import { nominate, type CycleContext, type Nomination } from './nomination.ts'
import type { Placement } from './placer.ts'
import type { Victim } from './preemption-request.ts'
import { reservedWhileWaiting } from './reserve-while-waiting.ts'

/** What a cycle decides about a head. */
export interface HeadOutcome {
  readonly head: Head
  readonly assignment: Assignment
  readonly placement: Placement | null
  /** Who is evicted for it. */
  readonly victims: ReadonlyArray<Victim>
  /** Null: it is admitted. */
  readonly reason: BlockedReason | null
  /** It makes way for those behind it until something changes: all flavors were tried. */
  readonly parked: boolean
  /** What the head has to be told when it is its turn again: its search goes on from there. Null: it begins anew. */
  readonly untried: UntriedFlavors | null
}

/**
 * One turn of the heads, one of each queue: all are nominated against what is held now, then each in its turn is
 * admitted, waits for those whom it evicts, or waits. What is decided is for the caller to carry out. Where loops are
 * `compatible`, a head may be admitted into what an earlier one's victims have yet to give back, as with Kueue; where
 * they are `safe`, it waits for them. Whose search for flavors ended before the last one, and came to nothing, has its
 * turn again at once, from there on; who was only overtaken, or has others evicted, begins with the first.
 * @returns outcomes in the order in which they were decided, those for whom no flavor will do at the end
 */
export const admissionCycle = (context: CycleContext, heads: Iterable<Head>): ReadonlyArray<HeadOutcome> =>
  nominatedCycle(
    context,
    Array.from(heads, (head) => nominate(context, head)),
  )

/** The same for heads that have been looked at, as things are now. */
export const nominatedCycle = (
  context: CycleContext,
  nominations: ReadonlyArray<Nomination>,
): ReadonlyArray<HeadOutcome> => {
  const queues = new Set(nominations.map(({ head }) => head.queue))
  assert(queues.size === nominations.length, 'a cycle has one head of each queue')
  const { settings } = context
  const hopeless = nominations.filter(({ assignment }) => assignment.mode === 'noFit')
  const hopeful = nominations.filter(({ assignment }) => assignment.mode !== 'noFit')
  const ledger = new CycleLedger(context)
  const outcomes: HeadOutcome[] = []
  for (const nomination of inTurn(context, hopeful)) outcomes.push(decide(context, ledger, nomination))
  ledger.undo()
  for (const nomination of hopeless.sort((a, b) => compareStanding(a.head, b.head, settings)))
    outcomes.push(cannotFit(context, nomination))
  return outcomes
}

type Turn = CycleEntry & Contestant & { readonly nomination: Nomination }

/** With fair sharing each turn depends on what was decided before it. */
function* inTurn(
  { holdings, policy, settings }: CycleContext,
  nominations: ReadonlyArray<Nomination>,
): Generator<Nomination, void> {
  const turns = nominations.map((nomination): Turn => {
    const { id, queue, priority, queuedAt, isPreemptor } = nomination.head
    const { borrowLevel, usage } = nomination.assignment
    return { nomination, id, queue, priority, queuedAt, isPreemptor, borrowLevel, usage }
  })
  if (policy.fairSharing === null) {
    for (const { nomination } of turns.sort((a, b) => compareEntries(a, b, settings))) yield nomination
    return
  }
  const tournament = new FairTournament(holdings.tree, turns, settings)
  for (let turn = tournament.next(); turn !== null; turn = tournament.next()) yield turn.nomination
}

const decide = (context: CycleContext, ledger: CycleLedger, first: Nomination): HeadOutcome => {
  const { recomputeOnVictimOverlap } = context.settings
  if (needsVictims(first) && first.victims.length === 0) return reserve(context, ledger, first)
  if (!ledger.overlaps(first)) {
    const fit = ledger.fit(first)
    if (fit === 'now') return grant(ledger, first)
    if (fit === 'afterEvictions')
      return context.policy.loops === 'compatible' ? grant(ledger, first) : awaitEvictions(ledger, first)
    if (fit === 'noQuota') return waits(first, 'WaitingForQuota', false)
    return settle(context, ledger, nominate(context, first.head, { fixed: first.assignment.podSets, out: [] }))
  }
  if (!recomputeOnVictimOverlap) return waits(first, 'WaitingForQuota', false)
  const second = ledger.withoutTaken(first.head.queue, (out) =>
    nominate(context, first.head, { fixed: first.assignment.podSets, out }),
  )
  return second.assignment.mode === 'fit' ? awaitEvictions(ledger, second) : settle(context, ledger, second)
}

/** Of a head that was looked at a second time: there is no third. */
const settle = (context: CycleContext, ledger: CycleLedger, second: Nomination): HeadOutcome => {
  if (second.assignment.mode === 'noFit') return cannotFit(context, second)
  if (needsVictims(second) && second.victims.length === 0) return reserve(context, ledger, second)
  const fits = !ledger.overlaps(second) && ledger.fit(second) === 'now'
  return fits ? grant(ledger, second) : waits(second, 'WaitingForQuota', false)
}

const needsVictims = ({ assignment }: Nomination): boolean => assignment.mode === 'preempt'

const grant = (ledger: CycleLedger, nomination: Nomination): HeadOutcome => {
  ledger.take(nomination)
  ledger.hold(nomination, nomination.assignment.usage)
  return { ...nomination, reason: needsVictims(nomination) ? 'WaitingForVictims' : null, parked: false, untried: null }
}

/** It fits once those are gone whom earlier heads evict: what it needs is kept for it. */
const awaitEvictions = (ledger: CycleLedger, nomination: Nomination): HeadOutcome => {
  ledger.hold(nomination, nomination.assignment.usage)
  return waits(nomination, 'WaitingForVictims', false)
}

/** Nobody can be evicted for it. Where it can take its own back at any time, others may use it in the meantime. */
const reserve = (context: CycleContext, ledger: CycleLedger, nomination: Nomination): HeadOutcome => {
  const { holdings, rulesOf } = context
  const { queue } = nomination.head
  if (rulesOf(queue).preemption.reclaimWithinCohort !== 'any')
    ledger.hold(nomination, reservedWhileWaiting(holdings.tree, queue, nomination.assignment))
  return stays(context, nomination, 'WaitingForQuota')
}

const cannotFit = (context: CycleContext, nomination: Nomination): HeadOutcome =>
  stays(context, nomination, nomination.assignment.noFitReason ?? 'WaitingForQuota')

/** What it looked at is not to be had. */
const stays = ({ rulesOf }: CycleContext, nomination: Nomination, reason: BlockedReason): HeadOutcome => {
  const { untried } = nomination.assignment
  const mayPark = rulesOf(nomination.head.queue).ordering === 'bestEffortFifo'
  return { ...waits(nomination, reason, mayPark && untried === null), untried }
}

const waits = ({ head, assignment }: Nomination, reason: BlockedReason, parked: boolean): HeadOutcome => ({
  head,
  assignment,
  placement: null,
  victims: [],
  reason,
  parked,
  untried: null,
})
