import type { EpochMs } from '../kernel/units.ts'
import { sharingOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import type { Block } from './block.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import { HoldingCheck } from './holding-check.ts'
import { exceptionFor } from './protection.ts'
import type { Workload } from './workload.ts'

/** It may stay as long as it runs. */
const never = { limitAt: null }

/** What caps, entitlement, headroom and reserves say of a start, beside where there is room for it. */
export class StartCheck extends HoldingCheck {
  private readonly books: Books

  constructor(cell: Cell, books: Books, policy: AllocationPolicy, at: EpochMs) {
    const { ledger, schedulable, tallies } = books
    const held = {
      tallies,
      schedulable,
      budgetsOf: ({ account }: Workload) => books.upwards(account!.node),
      pathOf: (node: number) => ledger.path(node),
      numberOf: (path: string) => ledger.node(path),
    }
    super(cell, held, policy, at)
    this.books = books
  }

  /**
   * Work that may not be evicted never takes its program above what it is entitled to, so that excess can always be taken
   * back, and leaves the headroom alone. A program that holds nothing may start one for a limited time.
   * @param milli    thousandths of devices that it takes
   * @param rate     milli-units that they come to
   * @param arriving milli-units that places are kept for, by node
   * @returns        when it has to leave; null: never
   */
  firm(
    workload: Workload,
    milli: number,
    rate: number,
    arriving: (node: number) => number,
  ): { readonly limitAt: EpochMs | null } | Block {
    const { ledger } = this.books
    const headroom = this.headroom(workload, milli)
    if (headroom !== null) return headroom
    if (this.cell.isPreemptible(workload, this.at) || sharingOf(this.policy) !== 'budgets') return never
    const program = this.programOf(workload.account!.node)
    const [held, entitled] = [ledger.held(program) + arriving(program), ledger.entitled(program)]
    if (held + rate <= entitled) return never
    if (exceptionFor(this.policy, workload, this.at, 'non-preemptible-over-entitlement') !== undefined) return never
    if (held === 0) return { limitAt: (this.at + this.books.budgets.undrilledMaxMs) as EpochMs }
    return {
      code: 'NonPreemptibleOverQuota',
      rule: this.ruleOf(ledger.path(program)),
      compared: { entitledMilli: entitled, heldMilli: held, rateMilli: rate },
    }
  }

  /** Its program could hold it, if it held nothing else that is in the way. */
  fitsEntitlement({ account }: Workload): boolean {
    return account!.rate <= this.books.ledger.entitled(this.programOf(account!.node))
  }

  /** The child of the cell that a node belongs to. */
  programOf(node: number): number {
    let program = node
    for (const above of this.books.upwards(node)) {
      if (this.books.ledger.parent(above) < 0) return program
      program = above
    }
    return program
  }
}
