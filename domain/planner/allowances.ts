import { capsOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import { budgetNodes } from '../policy/budget-node-path.ts'
import type { Books } from './books.ts'

/**
 * What caps and quota allow each node of the budget tree, milli-units: more is no demand. A cap in devices counts for
 * what a device of the cell counts for on average.
 */
export class Allowances {
  private readonly policy: AllocationPolicy
  private readonly books: Pick<Books, 'budgets' | 'ledger' | 'quota' | 'schedulable'>

  constructor(policy: AllocationPolicy, books: Allowances['books']) {
    this.policy = policy
    this.books = books
  }

  /** Anew for every node, after capacity or policy changed. */
  apply(): void {
    const { budgets, ledger } = this.books
    for (const [path, { node: stated }] of budgetNodes(budgets)) {
      const node = ledger.node(path)
      if (node === undefined) continue
      const cap = stated.capMilli === null ? Infinity : this.inUnits(stated.capMilli)
      ledger.setAllowance(node, Math.min(cap, this.quotaOf(path)), ledger.at)
    }
    for (const node of ledger.nodes()) if (this.isPerson(node)) this.opened(node)
  }

  opened(person: number): void {
    const { perPersonMilli } = capsOf(this.policy)
    const { ledger } = this.books
    // Also that there is no cap any more has to be said.
    ledger.setAllowance(person, perPersonMilli === null ? Infinity : this.inUnits(perPersonMilli), ledger.at)
  }

  private isPerson(node: number): boolean {
    const { ledger } = this.books
    return ledger.parent(node) >= 0 && ledger.isLeaf(ledger.parent(node))
  }

  private inUnits(devicesMilli: number): number {
    const { devicesMilli: all, milliUnits } = this.books.schedulable.totals
    return all === 0 ? devicesMilli : Math.ceil((devicesMilli * milliUnits) / all)
  }

  /** Of the queues that lead to the budget by default, if all of them are limited. */
  private quotaOf(path: string): number {
    const queues = this.policy.queues.filter(({ budget }) => budget === path)
    if (queues.length === 0) return Infinity
    return queues.reduce((sum, { name }) => sum + this.books.quota.potentialUnits(name), 0)
  }
}
