import { BudgetLedger } from '../budget/ledger.ts'
import type { Fleet, Placement } from '../fleet/fleet.ts'
import { Schedulable } from '../fleet/schedulable.ts'
import type { Shape } from '../fleet/shape.ts'
import { assert } from '../kernel/decider.ts'
import { wholeGpu, type EpochMs } from '../kernel/units.ts'
import { fairTreeOf, sharingOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { BudgetPolicy } from '../policy/budget-policy.ts'
import { UnitTable } from '../policy/unit-table.ts'
import { Allowances } from './allowances.ts'
import { fromUntold, toUntold, watchOf, type BooksSnapshot, type Untold } from './books-snapshot.ts'
import { LeafCrowds } from './leaf-crowds.ts'
import { LineSet } from './line-set.ts'
import { QuotaBook } from './quota-book.ts'
import {
  budgetOrder,
  dominantOrder,
  fairTreeOrder,
  type OrderSnapshot,
  type ServingOrder,
  type Tenure,
} from './serving-order.ts'
import { heldMilli, Tallies } from './tallies.ts'
import type { Line } from './line.ts'
import type { Workload } from './workload.ts'

/** Where a workload's time is charged while it waits or runs. */
export interface Account {
  /** The person's node of the ledger. */
  readonly node: number
  /** Milli-units: of its lease, or of the one it waits for. */
  readonly rate: number
  readonly path: string
  /** While it waits: whether it is demand. */
  readonly isCounted: boolean
  /** While it runs. */
  readonly tenure: Tenure | null
}

/**
 * Who waits and who holds what, by the budget tree: lines per person, the ledger of rates over time, quota, and what caps
 * are held against. The cell owns it and tells it of every change at the instant at which it happens.
 */
export class Books {
  readonly ledger: BudgetLedger
  readonly schedulable: Schedulable
  readonly quota: QuotaBook
  readonly tallies = new Tallies()
  readonly units: UnitTable
  readonly budgets: BudgetPolicy
  /** Who is next. */
  readonly order: ServingOrder
  /** What runs, by the person's node. */
  readonly running = new Map<number, Set<Workload>>()
  /** By the person's node; none without lines. */
  readonly lines = new Map<number, LineSet>()
  /** Of all persons. */
  lineCount = 0
  readonly crowds = new LeafCrowds()
  /** What the ledger did that no event has told yet. */
  readonly untold: Untold[]
  /** Workloads that an exception of the policy names. */
  private readonly excepted: ReadonlySet<string>
  private readonly ways: (ReadonlyArray<number> | undefined)[] = []
  private readonly fleet: Fleet
  private readonly allowances: Allowances

  private constructor(
    fleet: Fleet,
    policy: AllocationPolicy,
    { ledger, untold }: Pick<Books, 'ledger' | 'untold'>,
    order: OrderSnapshot,
  ) {
    this.fleet = fleet
    this.ledger = ledger
    this.untold = untold
    this.order = orderOf(policy, ledger, order)
    this.budgets = budgetsOf(policy)
    this.excepted = new Set(
      policy.exceptions?.flatMap(({ subject: { kind, name } }) => (kind === 'workload' ? [name] : [])),
    )
    this.units = new UnitTable(policy)
    this.schedulable = new Schedulable(fleet, (model) => this.units.milliUnits(model))
    this.quota = new QuotaBook(policy, this.units)
    this.allowances = new Allowances(policy, this)
    this.setTotal()
  }

  /** Books of a cell that kept none, or whose books were closed under another policy: nobody holds or waits in them. */
  static open(fleet: Fleet, policy: AllocationPolicy, version: string, at: EpochMs, closed: Books | null): Books {
    const untold = closed?.untold ?? []
    const ledger = closed?.ledger ?? new BudgetLedger(budgetsOf(policy), version, at, watchOf(untold))
    const from = Math.max(at, ledger.at) as EpochMs
    if (closed !== null) untold.push(...ledger.setTree(budgetsOf(policy), version, from))
    const books = new Books(fleet, policy, { ledger, untold }, closed?.order.snapshot() ?? null)
    ledger.setCapacity(books.schedulable.totals.milliUnits, from)
    books.allowances.apply()
    return books
  }

  /** As the snapshot of the ledger has it; what waits and holds is put back with the accounts that it had. */
  static restore(fleet: Fleet, policy: AllocationPolicy, { ledger, order, untold }: BooksSnapshot): Books {
    const kept = untold.map(fromUntold)
    return new Books(fleet, policy, { ledger: BudgetLedger.restore(ledger, watchOf(kept)), untold: kept }, order)
  }

  snapshot(): BooksSnapshot {
    return { ledger: this.ledger.toJSON(), order: this.order.snapshot(), untold: this.untold.map(toUntold) }
  }

  /** Puts what waits, or runs, back where its account says, after a restore. */
  putBack(workload: Workload, account: Account | null): void {
    workload.account = account
    const { run } = workload
    if (run !== null) {
      if (account !== null) this.noteRuns(workload, account.node)
      this.count(workload, run.parts, 1)
    } else if (account !== null) {
      this.line(workload, account.node)
      workload.line!.isDemand = account.isCounted
    }
  }

  /** It waits: it is lined up with its like, and counts as demand. */
  join(workload: Workload, path: string, at: EpochMs): void {
    this.advance(at)
    const rate = this.waitingRate(workload.shape)
    const node = this.personOf(workload, path)
    workload.account = { node, rate, path, isCounted: false, tenure: null }
    this.ledger.wait(node, 0, this.ledger.at)
    this.line(workload, node)
    this.demand(workload, workload.line!.isDemand)
  }

  /** Whether those of the line count as demand: what never could start as things stand does not. */
  setDemand(line: Line, isDemand: boolean, at: EpochMs): void {
    if (line.isDemand === isDemand) return
    this.advance(at)
    line.isDemand = isDemand
    for (let one = line.first; one !== null; one = line.atOrAfter(one.slot + 1)) this.demand(one, isDemand)
  }

  private demand(workload: Workload, isCounted: boolean): void {
    const account = workload.account!
    if (account.isCounted === isCounted) return
    const { at } = this.ledger
    const rates = isCounted ? [account.rate, 0] : [0, account.rate]
    // Also what is no demand keeps its person open.
    this.ledger.wait(account.node, rates[0]!, at)
    this.ledger.unwait(account.node, rates[1]!, at)
    workload.account = { ...account, isCounted }
  }

  /** It waits no more. */
  leave(workload: Workload, at: EpochMs): void {
    const { account } = workload
    if (account === null || workload.line === null) return
    this.advance(at)
    const lines = this.lines.get(account.node)!
    this.crowds.count(this.ledger.parent(account.node), account.node, workload.line.kinds, -1)
    this.lineCount -= lines.size
    lines.remove(workload)
    this.lineCount += lines.size
    if (lines.size === 0) this.lines.delete(account.node)
    this.demand(workload, false)
    this.ledger.unwait(account.node, 0, this.ledger.at)
    workload.account = null
  }

  /** It holds these devices from now on. */
  start(workload: Workload, path: string, parts: Placement['parts'], at: EpochMs): void {
    this.advance(at)
    const rate = this.rateOf(workload.shape, parts)
    const node = this.personOf(workload, path)
    this.ledger.hold(node, rate, this.ledger.at)
    const tenure = this.tenureOf(workload, node, rate, parts)
    this.order.started(tenure, this.ledger.at)
    workload.account = { node, rate, path, isCounted: false, tenure }
    this.noteRuns(workload, node)
    this.count(workload, parts, 1)
  }

  /** It holds nothing any more. */
  stop(workload: Workload, parts: Placement['parts'], at: EpochMs): void {
    const { account, run } = workload
    if (account === null) {
      this.count(workload, parts, -1)
      return
    }
    this.advance(at)
    if (run?.idle === true) this.ledger.active(account.node, account.rate, this.ledger.at)
    this.count(workload, parts, -1)
    const there = this.running.get(account.node)!
    there.delete(workload)
    if (there.size === 0) this.running.delete(account.node)
    this.ledger.release(account.node, account.rate, this.ledger.at)
    this.order.ended(account.tenure!, this.ledger.at)
    workload.account = null
  }

  /** What it holds, or what that counts for, is another thing now. */
  resize(workload: Workload, before: Placement['parts'], parts: Placement['parts'], at: EpochMs): void {
    const { account, run } = workload
    if (run === null) return
    if (account === null) {
      this.count(workload, before, -1)
      this.count(workload, parts, 1)
      return
    }
    this.advance(at)
    const rate = this.rateOf(workload.shape, parts)
    if (run.idle) this.ledger.active(account.node, account.rate, this.ledger.at)
    this.ledger.hold(account.node, rate, this.ledger.at)
    this.ledger.release(account.node, account.rate, this.ledger.at)
    if (run.idle) this.ledger.idle(account.node, rate, this.ledger.at)
    this.count(workload, before, -1)
    const tenure = this.tenureOf(workload, account.node, rate, parts)
    this.order.ended(account.tenure!, this.ledger.at)
    this.order.started(tenure, this.ledger.at)
    workload.account = { ...account, rate, tenure }
    this.count(workload, parts, 1)
  }

  /** As if it ran there already, while a pass looks on; `waitAgain` takes that back. */
  runInstead(workload: Workload, parts: Placement['parts']): void {
    const { isCounted, node, rate } = workload.account!
    const held = this.rateOf(workload.shape, parts)
    this.ledger.hold(node, held, this.ledger.at)
    this.ledger.unwait(node, isCounted ? rate : 0, this.ledger.at)
    this.order.started(this.tenureOf(workload, node, held, parts), this.ledger.at)
    this.count(workload, parts, 1)
  }

  waitAgain(workload: Workload, parts: Placement['parts']): void {
    const { isCounted, node, rate } = workload.account!
    this.count(workload, parts, -1)
    const held = this.rateOf(workload.shape, parts)
    this.order.undone(this.tenureOf(workload, node, held, parts), this.ledger.at)
    this.ledger.wait(node, isCounted ? rate : 0, this.ledger.at)
    this.ledger.release(node, held, this.ledger.at)
  }

  /**
   * It runs there, or a place is kept for it: caps, quota and headroom count both alike, and whether or not the policy
   * has a budget for it still.
   */
  count(workload: Workload, parts: Placement['parts'], sign: 1 | -1): void {
    const { account } = workload
    this.tallies.add(workload, sign * heldMilli(parts), account === null ? [] : this.upwards(account.node))
    this.quota.count(workload, this.fleet, parts, sign)
  }

  setIdle(workload: Workload, idle: boolean, at: EpochMs): void {
    const { account } = workload
    if (account === null) return
    this.advance(at)
    if (idle) this.ledger.idle(account.node, account.rate, this.ledger.at)
    else this.ledger.active(account.node, account.rate, this.ledger.at)
  }

  /** A node of the fleet came, or its health, or what is leased there while something of it is not ready, changed. */
  refresh(node: number, at: EpochMs): void {
    const before = this.schedulable.totals.milliUnits
    this.schedulable.refresh(node)
    const { milliUnits } = this.schedulable.totals
    if (milliUnits === before) return
    this.advance(at)
    this.ledger.setCapacity(milliUnits, this.ledger.at)
    this.setTotal()
    this.allowances.capacityChanged()
  }

  /** Never back: what is told late is counted from when it is told. */
  advance(at: EpochMs): void {
    if (at <= this.ledger.at) return
    const told = this.untold.length
    this.ledger.advance(at)
    // Who is closed has nothing that runs or waits.
    for (const change of this.untold.slice(told)) this.order.closed(change.path)
    // A number that is free may be another person's next.
    if (this.untold.length > told) this.ways.length = 0
    this.order.advance(at)
  }

  /** What runs at a node and below. */
  *runningBelow(node: number): Generator<Workload> {
    yield* this.running.get(node) ?? []
    for (const child of this.ledger.children(node)) yield* this.runningBelow(child)
  }

  /** The nodes from this one up to the cell's. */
  upwards(node: number): ReadonlyArray<number> {
    const known = this.ways[node]
    if (known !== undefined) return known
    const way: number[] = []
    for (let at = node; at >= 0; at = this.ledger.parent(at)) way.push(at)
    this.ways[node] = way
    return way
  }

  /**
   * Milli-units: the largest of what its devices come to, a failed one nothing, and of its part of each other resource
   * that the policy charges; rounded up.
   */
  rateOf(shape: Shape, parts: Placement['parts']): number {
    const { fleet, units } = this
    let thousandths = 0
    for (const { node, devices, milli } of parts) {
      if (fleet.health[node] === 'failed') continue
      const each = units.milliUnits(fleet.nodes[node]!.model) * milli
      for (const device of devices) if (fleet.healthOf(node, device) !== 'failed') thousandths += each
    }
    return Math.max(Math.ceil(thousandths / wholeGpu), this.hostRate(shape))
  }

  /** Of what waits: on the device of those it accepts that counts least. */
  waitingRate(shape: Shape): number {
    const { devices, milli, models } = shape.request
    const least = models?.reduce((low, model) => Math.min(low, this.units.milliUnits(model)), Infinity) ?? wholeGpu
    // A part by memory is known only when it is placed.
    return Math.max(Math.ceil((devices * (milli || wholeGpu) * least) / wholeGpu), this.hostRate(shape))
  }

  private hostRate({ request: { cpuMilli, hostMemoryMib } }: Shape): number {
    const { charged } = this.budgets
    if (charged.length === 0) return 0
    const { cpuMilli: cpuTotal, hostMemoryMib: memoryTotal, milliUnits } = this.schedulable.totals
    const part = (amount: number, total: number) => (total > 0 ? Math.ceil((amount * milliUnits) / total) : 0)
    return Math.max(
      charged.includes('cpu') ? part(cpuMilli, cpuTotal) : 0,
      charged.includes('memory') ? part(hostMemoryMib, memoryTotal) : 0,
    )
  }

  /** Whoever is in one line may start, or not, for the same reasons: who is excepted alone stands alone. */
  private lineKeyOf({ class: kind, id, queue, shape, team, terms }: Workload): string {
    const key = [kind, queue.name, team, terms.preemption.tolerated, terms.modelFamily, shape.index]
    return JSON.stringify(this.excepted.has(id) ? [...key, id] : key)
  }

  private noteRuns(workload: Workload, node: number): void {
    const there = this.running.get(node)
    if (there === undefined) this.running.set(node, new Set([workload]))
    else there.add(workload)
  }

  private line(workload: Workload, node: number): void {
    let lines = this.lines.get(node)
    if (lines === undefined) this.lines.set(node, (lines = new LineSet()))
    this.lineCount -= lines.size
    const { kinds } = lines.add(workload, this.lineKeyOf(workload))
    this.lineCount += lines.size
    this.crowds.count(this.ledger.parent(node), node, kinds, 1)
  }

  private personOf(workload: Workload, path: string): number {
    const leaf = this.ledger.node(path)
    assert(leaf !== undefined, 'the ledger has every leaf of the policy')
    const person = this.ledger.openPerson(leaf, workload.terms.submitter, this.ledger.at)
    this.order.opened(person)
    this.allowances.opened(person)
    return person
  }

  private tenureOf({ shape }: Workload, node: number, rate: number, parts: Placement['parts']): Tenure {
    const { cpuMilli, hostMemoryMib } = shape.request
    const amounts = [heldMilli(parts), cpuMilli, hostMemoryMib] as const
    return { path: this.ledger.path(node), rate, amounts, since: this.ledger.at }
  }

  private setTotal(): void {
    const { cpuMilli, devicesMilli, hostMemoryMib } = this.schedulable.totals
    this.order.setTotal([devicesMilli, cpuMilli, hostMemoryMib])
  }
}

const orderOf = (policy: AllocationPolicy, ledger: BudgetLedger, from: OrderSnapshot): ServingOrder => {
  switch (sharingOf(policy)) {
    case 'fair-tree': {
      const { halfLifeMs } = fairTreeOf(policy)
      return fairTreeOrder(ledger, halfLifeMs, from !== null && 'fairTree' in from ? from.fairTree : undefined)
    }
    case 'drf':
      return dominantOrder(ledger, from !== null && 'drf' in from ? from.drf : undefined)
    default:
      return budgetOrder(ledger)
  }
}

const budgetsOf = ({ budgets }: AllocationPolicy): BudgetPolicy => {
  assert(budgets !== undefined, 'books are kept by a budget tree')
  return budgets
}
