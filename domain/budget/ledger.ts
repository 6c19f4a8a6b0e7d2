import { assert } from '../kernel/decider.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import { defaultBudget, type BudgetPolicy } from '../policy/budget-policy.ts'
import type { BudgetChange, Lapse } from './budget-change.ts'
import { pathBelow, within, type BudgetNode } from './budget-node.ts'
import { BudgetRates } from './budget-rates.ts'
import { isBeyond, readingOf, type BudgetReading } from './budget-reading.ts'
import { BudgetTree } from './budget-tree.ts'
import { column } from './bucket.ts'
import {
  nodeSnapshots,
  ownRates,
  restoredRow,
  restoredTree,
  rowSnapshot,
  type LedgerSnapshot,
  type OwnRates,
} from './ledger-snapshot.ts'
import { compareCredit, compareServed, creditOf, debtAtLeast, debtOf, servedFully } from './served-order.ts'
import { rowOf, ShareRows, type ShareRow } from './share-row.ts'

/** Who wants to hear of what time alone does to a ledger. */
export interface LedgerWatch {
  /** A bucket has closed: one row for each node, at the end of its hour. */
  readonly onRow?: (row: ShareRow) => void
  /** At the end of an hour: a person with nothing in the window, held or waiting is no node any more. */
  readonly onPersonClosed?: (lapse: Lapse) => void
}

export const hourMs = 3_600_000
/** Node 0. */
export const cellNode = 0

/**
 * Who got how much of a cell over the window, and who is owed how much. Nodes are numbers; 0 is the cell. Rates are
 * milli-units. Every method that takes an instant first brings the ledger there, and `at` never goes back; a reading is
 * of the instant to which it was brought last.
 *
 * A number of a program or project is good until `setTree` removes it. That of a person is good while something is held
 * or waits there: ask `openPerson` again before the first of it.
 *
 * What happens to a lease or a workload costs O(depth); a change of capacity, shares or allowances O(nodes) below it;
 * the end of an hour O(nodes). Nothing costs more because much has happened.
 */
export class BudgetLedger {
  private hourEnd: number
  private version: string
  private windowHours: number
  private creditMaxMs: DurationMs
  private rates: BudgetRates
  private readonly rows = new ShareRows()
  private watch: LedgerWatch

  /** A cell of no capacity, which counts from `at` on. */
  constructor(policy: BudgetPolicy, version: string, at: EpochMs, watch: LedgerWatch = {}) {
    this.hourEnd = endOfHour(at)
    this.version = version
    this.windowHours = policy.windowHours
    this.creditMaxMs = policy.creditMaxMs
    this.rates = new BudgetRates(new BudgetTree(at), at)
    this.watch = watch
    this.setTree(policy, version, at)
  }

  /** To where everything has been counted: what every reading is of. */
  get at(): EpochMs {
    return this.rates.now
  }

  /** How many nodes have been brought up to date so far: what all the work has cost. */
  get visits(): number {
    return this.rates.visits
  }

  get capacity(): number {
    return this.tree.root.entitled
  }

  /** Most credit, as a time of the entitled rate. */
  get creditMax(): DurationMs {
    return this.creditMaxMs
  }

  /** Nodes that there are, siblings by name, parents first. */
  nodes(): ReadonlyArray<number> {
    return within(this.tree.root).map(({ number }) => number)
  }

  /** @returns undefined where there is no such node: the policy names none, or the person is not open */
  node(path: string): number | undefined {
    return this.tree.find(path)?.number
  }

  path(node: number): string {
    return this.tree.get(node).path
  }

  /** @returns -1 above the cell */
  parent(node: number): number {
    return this.tree.get(node).parent?.number ?? -1
  }

  /** By name. */
  children(node: number): ReadonlyArray<number> {
    return this.tree.get(node).children.map(({ number }) => number)
  }

  /** Persons may be opened below it: the policy names nothing there. */
  isLeaf(node: number): boolean {
    return isLeaf(this.tree.get(node))
  }

  /**
   * Splits the bucket, so that no later policy converts what an earlier one counted. What was held or waited at a node
   * that is removed counts nowhere any more: the caller puts it where it belongs now.
   * @param renamed new path -> old path of nodes that keep their ledger; what is below them moves along
   */
  setTree(
    policy: BudgetPolicy,
    version: string,
    at: EpochMs,
    renamed: ReadonlyMap<string, string> = new Map(),
  ): ReadonlyArray<BudgetChange> {
    this.advance(at)
    const before = new Map<BudgetNode, Pick<BudgetNode, 'path' | 'share' | 'entitled'>>()
    for (const node of within(this.tree.root)) {
      this.rates.settle(node)
      before.set(node, { path: node.path, share: node.share, entitled: node.entitled })
    }
    const own = ownRates(this.tree.root)
    this.addRows()
    for (const node of before.keys()) node.window.closeBucket()
    const { opened, removed } = this.tree.rebuild(policy.tree, renamed, at)
    const lapses = removed.map((node) => this.lapseOf(node, own.get(node)!))
    this.version = version
    this.windowHours = policy.windowHours
    this.creditMaxMs = policy.creditMaxMs
    for (const node of within(this.tree.root)) node.window.keep(policy.windowHours)
    this.rates.addUp(own)
    const isNew = new Set(opened)
    return [
      ...within(this.tree.root).flatMap((node) => changesOf(node, isNew.has(node) ? undefined : before.get(node))),
      ...lapses.map((lapse) => ({ kind: 'removed' as const, ...lapse })),
    ]
  }

  setCapacity(milliUnits: number, at: EpochMs): void {
    assert(Number.isSafeInteger(milliUnits) && milliUnits >= 0, 'capacity is a whole number of milli-units')
    this.advance(at)
    this.rates.setCapacity(milliUnits)
  }

  /** @param milliUnits what quota and caps of this node allow it and what is below; Infinity: without limit */
  setAllowance(node: number, milliUnits: number, at: EpochMs): void {
    assert(milliUnits === Infinity || (Number.isSafeInteger(milliUnits) && milliUnits >= 0), 'an allowance is whole')
    this.advance(at)
    const limited = this.tree.get(node)
    limited.allowance = milliUnits
    this.rates.setLimit(limited)
  }

  /** Ends every hour up to `at`. Many small steps come to the same as one. */
  advance(at: EpochMs): void {
    assert(at >= this.rates.now, 'time does not go back in a budget ledger')
    while (this.hourEnd <= at) {
      this.rates.moveTo(this.hourEnd as EpochMs)
      this.endHour()
      this.hourEnd += hourMs
    }
    this.rates.moveTo(at)
  }

  /**
   * The node of a person below a leaf of the policy. A person who has none gets one, with the share that the policy
   * lists, or 1.
   */
  openPerson(leaf: number, submitter: string, at: EpochMs): number {
    this.advance(at)
    const above = this.tree.get(leaf)
    assert(isLeaf(above), 'persons are below leaves')
    const known = this.tree.find(pathBelow(above, submitter))
    if (known !== undefined) return known.number
    return this.rates.openPerson(above, submitter).number
  }

  /** A lease starts. One that is resized is released and held again. */
  hold(node: number, rate: number, at: EpochMs): void {
    this.advance(at)
    this.rates.shift(node, { held: rate, claims: 1 })
  }

  release(node: number, rate: number, at: EpochMs): void {
    this.advance(at)
    this.rates.shift(node, { held: -rate, claims: -1 })
  }

  /** A workload that counts as demand waits. */
  wait(node: number, rate: number, at: EpochMs): void {
    this.advance(at)
    this.rates.shift(node, { waiting: rate, claims: 1 })
  }

  unwait(node: number, rate: number, at: EpochMs): void {
    this.advance(at)
    this.rates.shift(node, { waiting: -rate, claims: -1 })
  }

  /** So much of what is held there makes no progress. */
  idle(node: number, rate: number, at: EpochMs): void {
    this.advance(at)
    this.rates.shift(node, { idle: rate })
  }

  /** So much of what was idle there makes progress again, or ends. */
  active(node: number, rate: number, at: EpochMs): void {
    this.advance(at)
    this.rates.shift(node, { idle: -rate })
  }

  entitled(node: number): number {
    return this.tree.get(node).entitled
  }

  held(node: number): number {
    return this.tree.get(node).held
  }

  /** Its siblings that hold more than they are entitled to. Only below the root. */
  overBeside(node: number): ReadonlyArray<number> {
    const siblings = this.children(this.parent(node))
    return siblings.filter((side) => side !== node && this.held(side) > this.entitled(side))
  }

  owedRate(node: number): number {
    return this.tree.get(node).owedRate
  }

  isBehind(node: number): boolean {
    return !this.rates.isShort && this.tree.get(node).lacks
  }

  /** Some child of it is behind. */
  hasBehind(parent: number): boolean {
    return !this.rates.isShort && this.tree.get(parent).lackingChildren > 0
  }

  isOver(node: number): boolean {
    return !this.rates.isShort && isBeyond(this.tree.get(node))
  }

  read(node: number): BudgetReading {
    return readingOf(this.current(node), this.creditMaxMs, this.rates.isShort)
  }

  /** Rule 1, lowest charged / owed first: negative where `a` is next, 0 where the ages decide. Exact. */
  compareServed(a: number, b: number): number {
    return compareServed(this.current(a), this.current(b))
  }

  /** Rule 2: the highest credit per entitled rate first. Exact. */
  compareCredit(a: number, b: number): number {
    return compareCredit(this.current(a), this.current(b), this.creditMaxMs)
  }

  /** Charged at least what it is owed; always so where it is entitled to nothing. */
  servedFully(node: number): boolean {
    return servedFully(this.current(node))
  }

  /** Its debt is at least so long a time of its entitled rate. */
  debtAtLeast(node: number, duration: DurationMs): boolean {
    return debtAtLeast(this.current(node), duration)
  }

  /** Buckets that close from now on are told there. */
  tellRows(onRow: NonNullable<LedgerWatch['onRow']>): void {
    this.watch = { ...this.watch, onRow }
  }

  /** Tells what the open hour came to so far: for a ledger that nobody goes on with. */
  end(at: EpochMs): void {
    this.advance(at)
    this.rates.settleAll()
    this.addRows()
    for (const row of this.rows.take()) this.watch.onRow?.(row)
  }

  toJSON(): LedgerSnapshot {
    this.rates.settleAll()
    return {
      at: this.rates.now,
      version: this.version,
      capacity: this.capacity,
      windowHours: this.windowHours,
      creditMaxMs: this.creditMaxMs,
      nodes: nodeSnapshots(this.tree.root),
      freeNumbers: [...this.tree.freeNumbers],
      rows: this.rows.list().map(rowSnapshot),
    }
  }

  /** A ledger that goes on as the one in the snapshot would. */
  static restore(snapshot: LedgerSnapshot, watch: LedgerWatch = {}): BudgetLedger {
    const { at, version, windowHours, creditMaxMs } = snapshot
    const ledger = new BudgetLedger({ ...defaultBudget, tree: [], windowHours, creditMaxMs }, version, at, watch)
    const [tree, own] = restoredTree(snapshot)
    ledger.rates = new BudgetRates(tree, at)
    tree.root.entitled = snapshot.capacity
    ledger.rates.addUp(own)
    for (const row of snapshot.rows) ledger.rows.add(restoredRow(row))
    return ledger
  }

  private get tree(): BudgetTree {
    return this.rates.tree
  }

  private current(number: number): BudgetNode {
    const node = this.tree.get(number)
    this.rates.settle(node)
    return node
  }

  private endHour(): void {
    this.rates.settleAll()
    if (this.watch.onRow !== undefined) this.addRows()
    for (const row of this.rows.take()) this.watch.onRow?.(row)
    for (const node of within(this.tree.root)) node.window.closeHour(this.windowHours)
    this.closePersons()
  }

  private closePersons(): void {
    const leaves = new Set<BudgetNode>()
    for (const node of within(this.tree.root)) {
      if (!node.isPerson || node.claims > 0 || !node.window.isEmpty()) continue
      this.watch.onPersonClosed?.(this.lapseOf(node, node))
      this.tree.removePerson(node)
      leaves.add(node.parent!)
    }
    for (const leaf of leaves) this.rates.divide(leaf)
  }

  /** Rows of the buckets that are open, all settled. */
  private addRows(): void {
    const { root } = this.tree
    const capacity = BigInt(root.window.open[column.entitled]!)
    const { version, creditMaxMs } = this
    const hour = (this.hourEnd - hourMs) as EpochMs
    for (const node of within(root)) {
      const { open } = node.window
      if (open[column.ms] === 0) continue
      const [debt, credit] = [debtOf(node), creditOf(node, creditMaxMs)]
      this.rows.add(rowOf(open, { node: node.path, hour, version, capacity, debt, credit }))
    }
  }

  private lapseOf(node: BudgetNode, { held, waiting }: OwnRates): Lapse {
    return {
      path: node.path,
      node: node.number,
      at: this.rates.now,
      owed: node.window.total(column.owed),
      charged: node.window.total(column.charged),
      debt: debtOf(node),
      credit: creditOf(node, this.creditMaxMs),
      held,
      waiting,
    }
  }
}

const isLeaf = ({ isPerson, children }: BudgetNode): boolean => !isPerson && children[0]?.isPerson !== false

const endOfHour = (at: EpochMs): number => (Math.floor(at / hourMs) + 1) * hourMs

const changesOf = (
  { path, parent, share, entitled }: BudgetNode,
  before: Pick<BudgetNode, 'path' | 'share' | 'entitled'> | undefined,
): ReadonlyArray<BudgetChange> => {
  if (parent === null) return []
  if (before === undefined) return [{ kind: 'opened', path, share, entitled }]
  const changes: BudgetChange[] = []
  if (before.path !== path) changes.push({ kind: 'moved', path, from: before.path })
  if (before.share !== share || before.entitled !== entitled)
    changes.push({
      kind: 'share',
      path,
      share: { from: before.share, to: share },
      entitled: { from: before.entitled, to: entitled },
    })
  return changes
}
