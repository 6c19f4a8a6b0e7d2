import { everywhere } from '../fleet/score-cache.ts'
import { limitsOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { QuotaResource } from '../policy/quota-policy.ts'
import type { Block } from './block.ts'
import type { Books } from './books.ts'
import { exhaustedNode, exhaustedNodes } from './budget-held.ts'
import type { Cell } from './cell.ts'
import type { SideStanding } from './cell-event.ts'
import { quotaShortage } from './kueue-block.ts'
import { KueuePass } from './kueue-pass.ts'
import { HoldingCheck } from './holding-check.ts'
import { NextTurns, type NextTurn } from './next-turn.ts'
import { nodeStanding } from './node-standing.ts'
import { protectionOf, type Protection } from './protection.ts'
import type { ReasonCode } from './reason-code.ts'
import { isReserve, wantsRoom } from './room-reason.ts'
import { shapesBeyond } from './shapes-within.ts'
import { StartCheck } from './start-check.ts'
import { TakingBack } from './taking-back.ts'
import type { Workload } from './workload.ts'

/** What the reason of a held workload rests on, as things are at this instant. */
export interface Grounds {
  /** The numbers that its code names (docs/reasons.md). */
  readonly compared: { readonly [name: string]: number }
  /** The node of the budget tree whose turn it is not. */
  readonly own: SideStanding | null
  /** The sibling that goes before it. */
  readonly other: SideStanding | null
  /** Those who hold what it wants, or have to leave for it: the first of them, and how many there are. */
  readonly holders: ReadonlyArray<string>
  readonly holdersCount: number
  readonly nextTurn: NextTurn | null
  /** Of which resource its quota has too little; null: it is not quota that it lacks. */
  readonly quotaOf: QuotaResource | null
  /** For whom the policy keeps devices that it would take: classes, reservations, the headroom. */
  readonly keptFor: ReadonlyArray<string>
}

const holdersNamedMax = 10

/**
 * The grounds of what its workload was told last, worked out anew: O(depth), and O(what runs beside it), or a search of
 * it, where that is what it waits for. What waits is not looked at. The ledger is brought to the cell's time.
 * @returns null where no books are kept, or they have no place for it
 */
export const groundsOf = (cell: Cell, workload: Workload): Grounds | null => {
  const { books, kueue, policy } = cell
  if (kueue !== null) return kueueGrounds(cell, workload)
  if (books === null || policy === null || workload.account === null || workload.hold === null) return null
  // Most of what waits: others go first, and that is told beside.
  if (workload.hold.code === 'BehindInQueue') return noGrounds
  books.advance(cell.now)
  return new GroundsNow(cell, books, policy, workload).of(workload.hold.code)
}

/** Where quota is shared, and nobody keeps books of budgets. */
const kueueGrounds = (cell: Cell, workload: Workload): Grounds | null => {
  const { kueue, now, policy } = cell
  const code = workload.hold?.code
  // Its queue may have gone from the policy since it was told.
  if (kueue === null || policy === null || kueue.nodeOf(workload.queue) < 0) return null
  const check = new HoldingCheck(cell, kueue.held, policy, now)
  switch (code) {
    case 'WaitingForQuota':
    case 'ExceedsMaxQuota': {
      const shortage = quotaShortage(kueue, workload, code === 'ExceedsMaxQuota')
      return shortage === null ? noGrounds : { ...noGrounds, compared: shortage.compared, quotaOf: shortage.resource }
    }
    case 'OverQueueLimit':
      return named(check.caps(workload), [])
    case 'WouldDelayReservation':
      return keptBy(cell, check, workload)
    case 'NonPreemptibleOverQuota':
      return named({ compared: { heldMilli: check.firmMilli, mostMilli: check.firmMostMilli } }, [])
    case 'WaitingForVictims':
      return victimsOf(cell, workload)
    case 'ProtectedWindow':
    case 'DrillNotPassed':
    case 'PreemptionRateLimited':
      return refusedNow(cell, workload, code)
    default:
      return null
  }
}

/** Who would have to leave for it, and may not, were it its turn at this instant. */
const refusedNow = (cell: Cell, workload: Workload, code: ReasonCode): Grounds => {
  const pass = new KueuePass(cell, cell.now, cell.kueue!)
  try {
    const refused = pass.refusedFor(workload)
    return refused?.code === code ? named(refused, []) : noGrounds
  } finally {
    pass.undo()
  }
}

/** Of a place that is kept for somebody, rather than devices for whoever comes, there are no numbers. */
const keptBy = ({ fleet }: Cell, check: HoldingCheck, workload: Workload): Grounds => {
  if (!isReserve(workload.hold!)) return noGrounds
  const compared = { freeDevices: fleet.wholeTotal, keptDevices: check.keptFromOthers(workload) }
  return { ...named({ compared }, []), keptFor: check.keepersFrom(workload) }
}

/** Those who were asked to make room, and still have to. */
const victimsOf = ({ places, workloads }: Cell, { id }: Workload): Grounds => {
  const place = places.get(id)
  if (place === undefined) return noGrounds
  const { holdUntil, victims } = place.decision
  const staying = victims.filter(({ attempt, keeps, workload }) => {
    const victim = workloads.get(workload)
    return victim?.run != null && victim.attempt === attempt && (keeps === null || victim.run.open !== null)
  })
  return named(
    { compared: { holdUntilMs: holdUntil, victims: victims.length } },
    staying.map(({ workload }) => workload),
  )
}

const named = (block: Pick<Block, 'compared'> | null, holders: ReadonlyArray<string>): Grounds => ({
  ...noGrounds,
  compared: block?.compared ?? {},
  holders: holders.slice(0, holdersNamedMax),
  holdersCount: holders.length,
})

/** Of what rests on nothing but the request and the fleet. */
export const noGrounds: Grounds = {
  compared: {},
  own: null,
  other: null,
  holders: [],
  holdersCount: 0,
  nextTurn: null,
  quotaOf: null,
  keptFor: [],
}

class GroundsNow {
  private readonly cell: Cell
  private readonly books: Books
  private readonly policy: AllocationPolicy
  private readonly workload: Workload

  constructor(cell: Cell, books: Books, policy: AllocationPolicy, workload: Workload) {
    this.cell = cell
    this.books = books
    this.policy = policy
    this.workload = workload
  }

  private get check(): StartCheck {
    return new StartCheck(this.cell, this.books, this.policy, this.cell.now)
  }

  of(code: ReasonCode): Grounds {
    switch (code) {
      case 'BudgetExhaustedInWindow':
        return this.exhausted()
      case 'BehindHigherShare':
        return this.outranked()
      case 'OverQueueLimit':
        return named(this.check.caps(this.workload), [])
      case 'WaitingForQuota':
      case 'ExceedsMaxQuota':
        return this.quota(code)
      case 'WouldDelayReservation':
        return keptBy(this.cell, this.check, this.workload)
      case 'NonPreemptibleOverQuota':
        return this.firm()
      case 'WaitingForVictims':
        return victimsOf(this.cell, this.workload)
      case 'ProtectedWindow':
        return named(this.claim(code), this.beside('protected-window', 'starting', 'excepted'))
      case 'DrillNotPassed':
        return named(this.claim(code), this.beside('undrilled'))
      case 'PreemptionRateLimited':
        return named(this.claim(code), this.beside(null))
      case 'SearchBudgetExhausted':
        return named({ compared: { searches: limitsOf(this.policy).searchMax } }, [])
      default:
        return wantsRoom.has(code) ? named(null, this.beside('intolerant')) : noGrounds
    }
  }

  private exhausted(): Grounds {
    const { account } = this.workload
    // It was said some time ago, and need not hold at this very instant: the numbers are told all the same.
    const node = exhaustedNode(this.books, this.workload) ?? this.books.ledger.parent(account!.node)
    const spent = exhaustedNodes(this.books, account!)
    const own = nodeStanding(this.books, node)
    const { chargedMilliUnitH, entitledMilli, heldMilli, owedMilliUnitH } = own
    return {
      ...named({ compared: { chargedMilliUnitH, entitledMilli, heldMilli, owedMilliUnitH } }, []),
      own,
      nextTurn: new NextTurns(this.cell, this.books).ofAll(spent.length > 0 ? spent : [node], account!.rate),
    }
  }

  /** Where its path and that of who went before it part, or of the sibling that is next. */
  private outranked(): Grounds {
    const { ledger, order } = this.books
    const before = this.cell.workloads.get(this.workload.hold?.behind ?? '')?.account?.node
    const theirs = before === undefined ? null : new Set(this.books.upwards(before))
    for (const node of this.books.upwards(this.workload.account!.node)) {
      const parent = ledger.parent(node)
      if (parent < 0) break
      const siblings = ledger.children(parent).filter((child) => child !== node)
      const other =
        theirs === null
          ? siblings.filter((child) => order.compare(child, node) < 0).sort(order.compare)[0]
          : siblings.find((child) => theirs.has(child))
      if (other === undefined) continue
      return {
        ...named(null, before === undefined ? [] : [this.workload.hold!.behind!]),
        own: nodeStanding(this.books, node),
        other: nodeStanding(this.books, other),
        nextTurn: new NextTurns(this.cell, this.books).of(node, this.workload.account!.rate),
      }
    }
    return named(null, [])
  }

  private quota(code: ReasonCode): Grounds {
    const { queue, shape } = this.workload
    const { quota } = this.books
    const verdicts = quota.verdicts(queue.name, shape)
    const worst = verdicts.find(({ possible }) => possible) ?? verdicts[0]
    if (worst === undefined) return noGrounds
    const { asked, available, flavorResource } = worst
    const standing = code === 'WaitingForQuota' ? quota.standing(queue.name, worst) : null
    const resource = quota.tree?.flavorResources[flavorResource]?.resource ?? null
    return { ...named({ compared: { asked, available, ...standing } }, []), quotaOf: resource as QuotaResource | null }
  }

  private firm(): Grounds {
    const { ledger, tallies } = this.books
    if (this.workload.hold?.rule === 'spec.headroom.percent') {
      const mostMilli = this.check.firmMostMilli
      const lent = this.cell.isPreemptible(this.workload, this.cell.now)
      return named({ compared: { heldMilli: lent ? tallies.node(0) : this.check.firmMilli, mostMilli } }, [])
    }
    const program = this.check.programOf(this.workload.account!.node)
    const { rate } = this.workload.account!
    const compared = { entitledMilli: ledger.entitled(program), heldMilli: ledger.held(program), rateMilli: rate }
    return {
      ...named({ compared }, []),
      own: nodeStanding(this.books, program),
      nextTurn: new NextTurns(this.cell, this.books).of(program, rate),
    }
  }

  /** What a look for those who would have to leave comes to; only what they would lose takes the search itself. */
  private claim(code: ReasonCode): Pick<Block, 'compared'> | null {
    const { books, cell, check, policy, workload } = this
    const taking = new TakingBack(cell, books, policy, cell.now)
    const isSearched = workload.hold!.rule === 'spec.limits.lossMax'
    const shapes = isSearched ? shapesBeyond(cell, books, workload) : []
    const spare = check.hasReserve(workload) ? 0 : check.keptFromOthers(workload)
    const rules = { policy: policy.placement, fragmentation: cell.fragmentation }
    const found = taking.find(
      workload,
      shapes,
      (shape) => cell.placer.place(shape, rules, workload.seq, everywhere),
      spare,
    )
    return found !== null && 'code' in found && found.code === code ? found : null
  }

  /** What runs beyond its entitlement beside the workload's side, and is protected in this way. */
  private beside(...protections: ReadonlyArray<Protection | null>): ReadonlyArray<string> {
    const { ledger } = this.books
    const taking = new TakingBack(this.cell, this.books, this.policy, this.cell.now)
    const names: string[] = []
    for (const level of taking.levels(this.workload))
      for (const side of ledger.children(ledger.parent(level))) {
        if (side === level || ledger.held(side) <= ledger.entitled(side) || !ledger.servedFully(side)) continue
        for (const one of this.books.runningBelow(side))
          if (protections.includes(protectionOf(this.cell, one, one.run!, this.cell.now))) names.push(one.id)
      }
    return names
  }
}
