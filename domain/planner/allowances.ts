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

  /** Anew for every node, under a new policy: also that there is no cap any more has to be said. */
  apply(): void {
    for (const [path, { node }] of budgetNodes(this.books.budgets)) this.applyTo(path, node.capMilli)
    for (const person of this.persons()) this.capPerson(person)
  }

  /** Caps count for other units now; quota does not. */
  capacityChanged(): void {
    for (const [path, { node }] of budgetNodes(this.books.budgets))
      if (node.capMilli !== null) this.applyTo(path, node.capMilli)
    if (capsOf(this.policy).perPersonMilli !== null) for (const person of this.persons()) this.capPerson(person)
  }

  opened(person: number): void {
    if (capsOf(this.policy).perPersonMilli !== null) this.capPerson(person)
  }

  private applyTo(path: string, capMilli: number | null): void {
    const { ledger } = this.books
    const node = ledger.node(path)
    if (node === undefined) return
    const cap = capMilli === null ? Infinity : this.inUnits(capMilli)
    ledger.setAllowance(node, Math.min(cap, this.quotaOf(path)), ledger.at)
  }

  private capPerson(person: number): void {
    const { perPersonMilli } = capsOf(this.policy)
    const { ledger } = this.books
    ledger.setAllowance(person, perPersonMilli === null ? Infinity : this.inUnits(perPersonMilli), ledger.at)
  }

  private persons(): ReadonlyArray<number> {
    return this.books.ledger.nodes().filter((node) => this.isPerson(node))
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
