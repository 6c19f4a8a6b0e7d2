import type { Cell } from './cell.ts'
import type { Books } from './books.ts'
import type { StartCheck } from './start-check.ts'
import { endOf } from './end-index.ts'
import type { Workload } from './workload.ts'

/**
 * Keeps a program's entitlement for one of its workloads that may not be evicted, has waited long and is larger than
 * what the program has left: others of the program that may not be evicted go before it only where that does not delay
 * it.
 */
export class EntitlementHold {
  readonly workload: Workload
  readonly program: number
  /** When enough of what the program holds is expected to have ended; Infinity: it never is. */
  private readonly from: number
  /** Milli-units that the program may still have beside it at that instant. */
  private left: number

  constructor(cell: Cell, books: Books, check: StartCheck, workload: Workload, program: number) {
    const { ledger } = books
    this.workload = workload
    this.program = program
    const most = ledger.entitled(program) - workload.account!.rate
    let held = ledger.held(program)
    let from = Infinity
    for (const one of cell.ends) {
      if (held <= most) break
      const { account } = one
      if (account === null || check.programOf(account.node) !== program) continue
      held -= account.rate
      from = endOf(one)
    }
    this.from = held <= most ? from : Infinity
    this.left = most - held
  }

  /** Whether another of the program may start, to end then. */
  allows(rate: number, endAt: number): boolean {
    return this.isOver(endAt) || rate <= this.left
  }

  /** It starts; if it runs on, what it takes is no longer left. */
  take(rate: number, endAt: number): void {
    if (!this.isOver(endAt)) this.left -= rate
  }

  private isOver(endAt: number): boolean {
    return endAt <= this.from || this.from === Infinity
  }
}
