import type { BudgetReading } from '../../../domain/budget/budget-reading.ts'
import type { CellEvent } from '../../../domain/planner/cell-event.ts'
import type { BudgetNodePolicy } from '../../../domain/policy/budget-policy.ts'
import { BudgetOracle } from '../naive/budget-oracle.ts'
import type { OracleClaim } from '../naive/budget-oracle-rates.ts'
import type { Job, ToldCell } from './told-cell.ts'
import { capacityOf, rateOf, waitingRateOf } from './told-devices.ts'

interface Claim {
  readonly kind: OracleClaim['kind']
  readonly path: string
  readonly rate: number
}

/** Path of the leaf that a workload's time belongs to; null: it belongs nowhere. */
export const budgetOf = ({ policy }: ToldCell, { data }: Job): string | null => {
  const queue = policy?.queues.find(({ name }) => name === data.queue)
  const path = data.terms.budget ?? queue?.budget ?? null
  let level: ReadonlyArray<BudgetNodePolicy> | undefined = policy?.budgets?.tree
  for (const name of path?.split('/') ?? []) level = level?.find((node) => node.name === name)?.children
  return path !== null && level?.length === 0 ? path : null
}

/** Where it is charged, down to the person. */
export const accountOf = (told: ToldCell, job: Job): string | null => {
  const leaf = budgetOf(told, job)
  return leaf === null ? null : `${leaf}/${job.data.terms.submitter}`
}

/** The ledger by its specification read literally, fed with nothing but what was told. */
export class ToldAccounts {
  readonly oracle: BudgetOracle
  private readonly told: ToldCell
  private readonly claims = new Map<string, Claim>()
  /** Of those that ask for the same, the first was told that it may never start beside what its program holds. */
  private readonly firm = new Set<string>()
  private policy: unknown

  /** @param told has a policy with a budget tree */
  constructor(told: ToldCell) {
    const { policy, now } = told
    this.told = told
    this.oracle = new BudgetOracle(policy!.budgets!, 'first', now)
    this.policy = policy
    this.limit()
    this.sync()
  }

  read(path: string): BudgetReading {
    return this.oracle.read(path)
  }

  /** @param event heard already */
  follow({ type, data }: CellEvent): void {
    if (type === 'PolicyActivated') this.firm.clear()
    if (type === 'WorkloadHeld') {
      const job = this.told.jobs.get(data.workload)!
      const key = this.lineOf(job)
      if (key !== null && this.waiting().find((other) => this.lineOf(other) === key) === job) {
        if (data.code === 'NonPreemptibleOverQuota') this.firm.add(key)
        else this.firm.delete(key)
      }
    }
    const lines = new Set(this.waiting().map((job) => this.lineOf(job)))
    for (const key of this.firm) if (!lines.has(key)) this.firm.delete(key)
    this.sync()
  }

  /** Brings the claims to what the cell is told to be like now. */
  private sync(): void {
    const { oracle, told } = this
    oracle.advance(told.now)
    if (told.policy !== this.policy) {
      for (const [key, { kind, path, rate }] of this.claims) {
        oracle.end(kind, path, rate, told.now)
        this.claims.delete(key)
      }
      oracle.setTree(told.policy!.budgets!, JSON.stringify(told.policy), told.now, new Map())
      this.policy = told.policy
      this.limit()
    }
    oracle.setCapacity(capacityOf(told), told.now)
    const wanted = this.wanted()
    for (const [key, { kind, path, rate }] of this.claims) {
      const now = wanted.get(key)
      if (now?.path === path && now.rate === rate) continue
      this.claims.delete(key)
      // What holds ends last, so that nobody is closed in between.
      oracle.end(kind, path, rate, told.now)
    }
    for (const [key, claim] of wanted) {
      if (this.claims.has(key)) continue
      const { kind, path, rate } = claim
      const leaf = path.slice(0, path.lastIndexOf('/'))
      oracle.openPerson(leaf, path.slice(leaf.length + 1), told.now)
      this.limitPerson(path)
      this.claims.set(key, claim)
      oracle.begin(kind, path, rate, told.now)
    }
  }

  /** What a node's cap lets it hold bounds its demand. Devices are of one class. */
  private limit(): void {
    const { oracle, told } = this
    const limit = (nodes: ReadonlyArray<BudgetNodePolicy>, above: string) => {
      for (const { capMilli, children, name } of nodes) {
        oracle.setAllowance(`${above}${name}`, capMilli ?? Infinity, told.now)
        limit(children, `${above}${name}/`)
      }
    }
    limit(told.policy!.budgets!.tree, '')
    for (const path of oracle.paths())
      if (oracle.isLeaf(path.slice(0, Math.max(0, path.lastIndexOf('/'))))) this.limitPerson(path)
  }

  private limitPerson(path: string): void {
    const { oracle, told } = this
    oracle.setAllowance(path, told.policy!.caps?.perPersonMilli ?? Infinity, told.now)
  }

  private wanted(): ReadonlyMap<string, Claim> {
    const { told } = this
    const wanted = new Map<string, Claim>()
    for (const job of told.jobs.values()) {
      const path = accountOf(told, job)
      if (path === null) continue
      if (job.run === null) {
        const line = this.lineOf(job)
        if (line === null) continue
        const rate = this.firm.has(line) ? 0 : waitingRateOf(told, job)
        wanted.set(`${job.id} wait`, { kind: 'wait', path, rate })
        continue
      }
      const rate = rateOf(told, job.run.lease)
      wanted.set(`${job.id} hold`, { kind: 'hold', path, rate })
      if (job.run.idle) wanted.set(`${job.id} idle`, { kind: 'idle', path, rate })
    }
    return wanted
  }

  /** In order of submission. */
  private waiting(): ReadonlyArray<Job> {
    return [...this.told.jobs.values()].filter(({ run, onHold }) => run === null && !onHold)
  }

  /** Those who wait for the same, for the same person and under the same rules; null: it waits in no queue. */
  private lineOf(job: Job): string | null {
    const { told } = this
    const path = accountOf(told, job)
    const { class: kind, queue, request, team, terms } = job.data
    if (path === null || job.onHold || !told.policy!.queues.some(({ name }) => name === queue)) return null
    return JSON.stringify([path, kind, queue, team, terms.preemption.tolerated, terms.modelFamily, request])
  }
}
