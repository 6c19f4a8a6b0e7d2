import type { BudgetChange } from '../../../domain/budget/budget-change.ts'
import type { BudgetReading } from '../../../domain/budget/budget-reading.ts'
import { BudgetLedger, type LedgerWatch } from '../../../domain/budget/ledger.ts'
import type { ShareRow } from '../../../domain/budget/share-row.ts'
import type { LedgerSnapshot } from '../../../domain/budget/ledger-snapshot.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { BudgetPolicy } from '../../../domain/policy/budget-policy.ts'

export type ClaimKind = 'hold' | 'wait' | 'idle'

/** What a ledger and its oracle are both told and asked, by path. */
export interface BudgetBooks {
  readonly paths: () => ReadonlyArray<string>
  readonly isLeaf: (path: string) => boolean
  readonly advance: (at: number) => void
  readonly setTree: (
    policy: BudgetPolicy,
    version: string,
    at: number,
    renamed: ReadonlyMap<string, string>,
  ) => ReadonlyArray<BudgetChange>
  readonly setCapacity: (rate: number, at: number) => void
  readonly setAllowance: (path: string, rate: number, at: number) => void
  readonly openPerson: (leaf: string, submitter: string, at: number) => void
  readonly begin: (kind: ClaimKind, path: string, rate: number, at: number) => void
  readonly end: (kind: ClaimKind, path: string, rate: number, at: number) => void
  readonly read: (path: string) => BudgetReading
}

const verbs = {
  hold: ['hold', 'release'],
  wait: ['wait', 'unwait'],
  idle: ['idle', 'active'],
} as const

/** A ledger that is told everything by path, and everything that time did to it. */
export class LedgerBooks implements BudgetBooks {
  ledger: BudgetLedger
  readonly rows: ShareRow[] = []
  readonly closedPersons: string[] = []
  private readonly watch: LedgerWatch = {
    onRow: (row) => this.rows.push(row),
    onPersonClosed: ({ path }) => this.closedPersons.push(path),
  }

  constructor(policy: BudgetPolicy, version: string, at: number) {
    this.ledger = new BudgetLedger(policy, version, at as EpochMs, this.watch)
  }

  /** Goes on with a copy that went through JSON. */
  reload(): void {
    const snapshot = JSON.parse(JSON.stringify(this.ledger)) as LedgerSnapshot
    this.ledger = BudgetLedger.restore(snapshot, this.watch)
  }

  paths(): ReadonlyArray<string> {
    return this.ledger.nodes().map((node) => this.ledger.path(node))
  }

  isLeaf(path: string): boolean {
    return this.ledger.isLeaf(this.ledger.node(path)!)
  }

  advance(at: number): void {
    this.ledger.advance(at as EpochMs)
  }

  setTree(policy: BudgetPolicy, version: string, at: number, renamed: ReadonlyMap<string, string>) {
    return this.ledger.setTree(policy, version, at as EpochMs, renamed)
  }

  setCapacity(rate: number, at: number): void {
    this.ledger.setCapacity(rate, at as EpochMs)
  }

  setAllowance(path: string, rate: number, at: number): void {
    this.ledger.setAllowance(this.ledger.node(path)!, rate, at as EpochMs)
  }

  openPerson(leaf: string, submitter: string, at: number): void {
    this.ledger.openPerson(this.ledger.node(leaf)!, submitter, at as EpochMs)
  }

  begin(kind: ClaimKind, path: string, rate: number, at: number): void {
    this.ledger[verbs[kind][0]](this.ledger.node(path)!, rate, at as EpochMs)
  }

  end(kind: ClaimKind, path: string, rate: number, at: number): void {
    this.ledger[verbs[kind][1]](this.ledger.node(path)!, rate, at as EpochMs)
  }

  read(path: string) {
    return this.ledger.read(this.ledger.node(path)!)
  }
}
