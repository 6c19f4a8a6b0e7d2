import { either as E } from 'fp-ts'
import { expect } from 'vitest'
import { Cell } from '../../../domain/planner/cell.ts'
import type { CellDecision, CellEvent, CellInput } from '../../../domain/planner/cell-event.ts'
import { fork, fromSnapshot, takeSnapshot, type CellSnapshot } from '../../../domain/planner/cell-snapshot.ts'
import { decide } from '../../../domain/planner/decide.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import { BudgetInvariants } from './budget-invariants.ts'
import { ToldAccounts } from './told-accounts.ts'
import { ToldCell } from './told-cell.ts'

/**
 * A cell that is told what happens, recorded as its writer would, and held to all that always holds: the invariants, the
 * ledger's specification, that deciding changes nothing, that a copy and a fold of the log go on as the cell does.
 */
export class WatchedCell {
  readonly cell = new Cell('pool')
  /** What the log holds. */
  readonly log: { readonly input: CellInput; readonly decisions: ReadonlyArray<CellDecision> }[] = []
  readonly invariants: BudgetInvariants
  accounts: ToldAccounts | null = null
  private readonly told = new ToldCell('pool')
  /** Folds what is recorded, and decides nothing. */
  private readonly reader = new Cell('pool')
  private twin: Cell | null = null
  private lookedAt = 0

  constructor() {
    this.invariants = new BudgetInvariants(this.told, (path) => this.accounts!.read(path))
  }

  /** Whether it was taken. */
  take(input: CellInput): boolean {
    if (input.type !== 'Ticked' && input.at < this.lookedAt) this.look()
    const decided = this.decide(input)
    if (E.isLeft(decided)) return false
    if (input.type === 'Ticked' && decided.right.length === 0) {
      this.cell.lookedInVain()
      this.twin?.lookedInVain()
      this.lookedAt = Math.max(this.lookedAt, input.at)
      this.invariants.hear(input, [], (event) => {
        this.account(event)
      })
    } else this.record(input, decided.right)
    return true
  }

  /** From here on a copy is told the same. */
  copy(): void {
    const snapshot = takeSnapshot(this.cell)
    const written = JSON.parse(JSON.stringify(snapshot)) as CellSnapshot
    expect(takeSnapshot(fork(this.cell)), 'a copy is the same').toEqual(snapshot)
    this.twin = fromSnapshot(written)
  }

  /** A fold of the log decides as the cell that lived through it. */
  compareReader(at: number): void {
    const tick = { type: 'Ticked', at, data: {} } as CellInput
    const read = fork(this.reader)
    expect(decide(tick, read), 'a fold of the log decides the same').toEqual(decide(tick, fork(this.cell)))
  }

  compareLedger(): void {
    const { books } = this.cell
    if (books === null || this.accounts === null) return
    const { ledger } = books
    books.advance(this.cell.now)
    for (const node of ledger.nodes()) {
      const read = ledger.read(node)
      expect(read, `the ledger of ${read.path} is by its rules`).toEqual(this.accounts.read(read.path))
    }
  }

  private decide(input: CellInput): ReturnType<typeof decide> {
    const { cell, twin } = this
    // To look at an instant, books go there; that is all that may change.
    if (input.type === 'Ticked') cell.books?.advance(input.at)
    const before = deepState(cell)
    const decided = decide(input, cell)
    expect(deepState(cell), 'deciding changes nothing').toEqual(before)
    if (twin !== null) expect(decide(input, twin), 'a copy decides the same').toEqual(decided)
    return decided
  }

  private look(): void {
    const look = { type: 'Ticked', at: this.lookedAt, data: {} } as CellInput
    this.lookedAt = 0
    if (look.at > this.cell.now) this.record(look, [])
  }

  private record(input: CellInput, decisions: ReadonlyArray<CellDecision>): void {
    this.log.push({ input, decisions })
    for (const cell of [this.cell, this.reader, ...(this.twin === null ? [] : [this.twin])]) {
      evolve(cell, input)
      for (const decision of decisions) evolve(cell, decision)
    }
    this.invariants.hear(input, decisions, (event) => {
      this.account(event)
    })
  }

  private account(event: CellEvent): void {
    const { policy } = this.told
    if (policy?.budgets === undefined) return
    if (this.accounts === null) this.accounts = new ToldAccounts(this.told)
    else this.accounts.follow(event)
  }
}

/** All that a cell is, but for caches. */
const deepState = (cell: Cell) => ({
  snapshot: takeSnapshot(cell),
  columns: [cell.fleet.freeMilli, cell.fleet.wholeFree, cell.fleet.deviceFree].map((column) => [...column]),
  totals: [cell.fleet.freeTotal, cell.fleet.wholeTotal],
  ends: Array.from(cell.ends, ({ id }) => id),
  pending: [[...cell.fresh].map(({ id }) => id), [...cell.freed], cell.untried.size, cell.policyIsNew],
  firm: cell.books?.tallies.firmMilli(() => false),
  tallies: cell.books === null ? [] : Array.from(cell.books.ledger.nodes(), (node) => cell.books!.tallies.node(node)),
  lines: Array.from(cell.books?.lines ?? [], ([node, lines]) => [
    node,
    ...Array.from(lines, ({ key, size }) => [key, size]),
  ]),
  places: Array.from(cell.places.values(), (place) => place.isComplete()),
})
