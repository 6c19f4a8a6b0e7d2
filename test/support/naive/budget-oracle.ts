import type { BudgetChange, Lapse } from '../../../domain/budget/budget-change.ts'
import type { BudgetReading } from '../../../domain/budget/budget-reading.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { BudgetNodePolicy, BudgetPolicy } from '../../../domain/policy/budget-policy.ts'
import {
  all,
  creditOf,
  entitledRate,
  least,
  most,
  ratesOf,
  sumOf,
  sumsOf,
  windowOf,
  type Interval,
  type OracleClaim,
  type OracleNode,
} from './budget-oracle-rates.ts'

const hourMs = 3_600_000

const newNode = (name: string, path: string, parent: OracleNode | null, person: boolean): OracleNode => ({
  path,
  name,
  parent,
  children: [],
  person,
  share: 1,
  policy: null,
  allowance: null,
  history: [],
})

interface ClosedBucket {
  readonly path: string
  readonly hour: number
  readonly version: string
  readonly intervals: Interval[]
  capacity: bigint
  debt: bigint
  credit: bigint
}

/**
 * The budgets' specification read literally: everything that was ever so is kept, and every question is answered from
 * all of it.
 */
export class BudgetOracle {
  readonly closedRows: Record<string, unknown>[] = []
  readonly closedPersons: string[] = []
  at: number
  private readonly root = newNode('', '', null, false)
  private policy: BudgetPolicy
  private version: string
  private part = 0
  private capacity = 0n
  private claims: OracleClaim[] = []
  private buckets: ClosedBucket[] = []

  constructor(policy: BudgetPolicy, version: string, at: number) {
    this.at = at
    this.policy = policy
    this.version = version
    this.setTree(policy, version, at, new Map())
  }

  paths(): string[] {
    return all(this.root).map(({ path }) => path)
  }

  isLeaf(path: string): boolean {
    const node = this.find(path)
    return !node.person && node.children.every(({ person }) => person)
  }

  advance(at: number): void {
    while (this.at < at) {
      const hour = Math.floor(this.at / hourMs)
      const to = Math.min(at, (hour + 1) * hourMs)
      const rates = new Map(all(this.root).map((node) => [node, ratesOf(node, this.claims, this.capacity)]))
      for (const [node, { e, a, d, o, idle }] of rates) {
        const siblings = node.parent?.children.filter((each) => each !== node) ?? []
        const siblingBehind = siblings.some((sibling) => rates.get(sibling)!.behind)
        const [from, path] = [this.at, node.path]
        const { part, version } = this
        node.history.push({ from, to, hour, part, version, path, e, a, d, o, idle, siblingBehind })
      }
      this.at = to
      if (to === (hour + 1) * hourMs) this.endHour(hour)
    }
  }

  setCapacity(rate: number, at: number): void {
    this.advance(at)
    this.capacity = BigInt(rate)
  }

  setAllowance(path: string, rate: number, at: number): void {
    this.advance(at)
    this.find(path).allowance = rate === Infinity ? null : BigInt(rate)
  }

  openPerson(leaf: string, submitter: string, at: number): void {
    this.advance(at)
    const above = this.find(leaf)
    if (above.children.some(({ name }) => name === submitter)) return
    const person = newNode(submitter, above.path === '' ? submitter : `${above.path}/${submitter}`, above, true)
    person.share = above.policy?.persons[submitter] ?? 1
    above.children.push(person)
  }

  begin(kind: OracleClaim['kind'], path: string, rate: number, at: number): void {
    this.advance(at)
    this.claims.push({ kind, node: this.find(path), rate: BigInt(rate) })
  }

  end(kind: OracleClaim['kind'], path: string, rate: number, at: number): void {
    this.advance(at)
    const node = this.find(path)
    const claim = this.claims.find((each) => each.kind === kind && each.node === node && each.rate === BigInt(rate))
    if (claim === undefined) throw new Error(`nothing of ${rate} to end at ${path}`)
    this.claims.splice(this.claims.indexOf(claim), 1)
  }

  setTree(policy: BudgetPolicy, version: string, at: number, renamed: ReadonlyMap<string, string>): BudgetChange[] {
    this.advance(at)
    const old = all(this.root)
    const was = new Map(old.map((node) => [node, { ...node, e: entitledRate(node, this.capacity) }]))
    this.closeBuckets(Math.floor(at / hourMs))
    const lapses = new Map(old.map((node) => [node, this.lapse(node)]))
    const kept = new Set([this.root])
    const place = (parent: OracleNode, policies: ReadonlyArray<BudgetNodePolicy>) => {
      parent.children = policies.map((each) => {
        const path = parent === this.root ? each.name : `${parent.path}/${each.name}`
        const node = this.before(path, parent, each.name, was, renamed, kept) ?? newNode(each.name, path, null, false)
        Object.assign(node, { name: each.name, path, parent, share: each.share, policy: each })
        kept.add(node)
        place(node, each.children)
        return node
      })
      if (policies.length > 0) return
      parent.children = was.get(parent)?.children.filter(({ person }) => person) ?? []
      for (const person of parent.children) {
        kept.add(person)
        person.path = parent === this.root ? person.name : `${parent.path}/${person.name}`
        person.share = parent.policy?.persons[person.name] ?? 1
      }
    }
    place(this.root, policy.tree)
    const removed = old.filter((node) => !kept.has(node))
    this.claims = this.claims.filter(({ node }) => kept.has(node))
    this.policy = policy
    this.version = version
    this.part++
    const hour = Math.floor(at / hourMs)
    for (const node of kept) node.history.push({ before: hour - policy.windowHours })
    const changes = [...kept].flatMap((node): BudgetChange[] => {
      const [before, e] = [was.get(node), Number(entitledRate(node, this.capacity))]
      if (node === this.root) return []
      const { path, share } = node
      if (before === undefined) return [{ kind: 'opened', path, share, entitled: e }]
      const [shares, rates] = [
        { from: before.share, to: share },
        { from: Number(before.e), to: e },
      ]
      return [
        ...(before.path === path ? [] : [{ kind: 'moved' as const, path, from: before.path }]),
        ...(before.share === share && rates.from === e
          ? []
          : [{ kind: 'share' as const, path, share: shares, entitled: rates }]),
      ]
    })
    return [...changes, ...removed.map((node) => ({ kind: 'removed' as const, ...lapses.get(node)! }))]
  }

  /** In the form of the ledger's reading. */
  read(path: string): BudgetReading {
    const node = this.find(path)
    const { e, a, d, o, behind } = ratesOf(node, this.claims, this.capacity)
    const siblings = node.parent?.children.filter((each) => each !== node) ?? []
    const siblingBehind = siblings.some((each) => ratesOf(each, this.claims, this.capacity).behind)
    const sums = sumsOf(windowOf(node.history))
    return {
      path,
      share: node.share,
      entitled: Number(e),
      held: Number(a),
      demand: Number(d),
      owedRate: Number(o),
      excess: Number(most(0n, a - e)),
      behind,
      isOver: siblingBehind && a > e,
      owed: sums.owed,
      charged: sums.charged,
      unallocated: sums.unallocated,
      over: sums.over,
      idleCharged: sums.idleCharged,
      heldIntegral: sums.held,
      debt: most(0n, sums.owed - sums.charged),
      credit: this.credit(node),
      creditCap: BigInt(this.policy.creditMaxMs) * e,
    }
  }

  private find(path: string): OracleNode {
    const node = all(this.root).find((each) => each.path === path)
    if (node === undefined) throw new Error(`no node ${path}`)
    return node
  }

  /** The node that a path of the new policy continues. */
  private before(
    path: string,
    parent: OracleNode,
    name: string,
    was: ReadonlyMap<OracleNode, OracleNode>,
    renamed: ReadonlyMap<string, string>,
    kept: ReadonlySet<OracleNode>,
  ): OracleNode | undefined {
    const known = [...was].filter(([node]) => !node.person && node !== this.root && !kept.has(node))
    const from = renamed.get(path)
    if (from !== undefined) return known.find(([, old]) => old.path === from)?.[0]
    const asked = new Set(renamed.values())
    return known.find(([, old]) => old.parent === parent && old.name === name && !asked.has(old.path))?.[0]
  }

  private credit(node: OracleNode): bigint {
    const cap = BigInt(this.policy.creditMaxMs) * entitledRate(node, this.capacity)
    return least(creditOf(node.history), cap)
  }

  private lapse(node: OracleNode): Lapse {
    const { owed, charged } = sumsOf(windowOf(node.history))
    const own = (kind: OracleClaim['kind']) =>
      node.children.reduce((rest, child) => rest - sumOf(this.claims, kind, child), sumOf(this.claims, kind, node))
    const [debt, credit] = [most(0n, owed - charged), this.credit(node)]
    const [path, at] = [node.path, this.at as EpochMs]
    return { path, node: 0, at, owed, charged, debt, credit, held: Number(own('hold')), waiting: Number(own('wait')) }
  }

  /** Notes what the buckets that are open now came to. */
  private closeBuckets(hour: number): void {
    const intervalsOf = (node: OracleNode) =>
      windowOf(node.history).filter((each) => each.hour === hour && each.part === this.part)
    const capacity = sumsOf(intervalsOf(this.root)).entitled
    for (const node of all(this.root)) {
      const intervals = intervalsOf(node)
      if (intervals.length === 0) continue
      const { path } = node
      const isKnown = (each: ClosedBucket) => each.path === path && each.hour === hour && each.version === this.version
      let bucket = this.buckets.find(isKnown)
      if (bucket === undefined) {
        bucket = { path, hour, version: this.version, intervals: [], capacity: 0n, debt: 0n, credit: 0n }
        this.buckets.push(bucket)
      }
      bucket.intervals.push(...intervals)
      bucket.capacity += capacity
      const { owed, charged } = sumsOf(windowOf(node.history))
      bucket.debt = most(0n, owed - charged)
      bucket.credit = this.credit(node)
    }
  }

  private endHour(hour: number): void {
    this.closeBuckets(hour)
    for (const { path, version, intervals, capacity, debt, credit } of this.buckets)
      this.closedRows.push({
        node: path,
        hour: hour * hourMs,
        version,
        capacity,
        ...sumsOf(intervals),
        debt,
        credit,
      })
    this.buckets = []
    for (const node of all(this.root)) node.history.push({ before: hour + 1 - this.policy.windowHours })
    for (const person of all(this.root).filter(({ person }) => person)) {
      const { owed, charged, held } = sumsOf(windowOf(person.history))
      if (owed + charged + held > 0n) continue
      if (this.claims.some(({ node, kind }) => node === person && kind !== 'idle')) continue
      person.parent!.children.splice(person.parent!.children.indexOf(person), 1)
      this.closedPersons.push(person.path)
    }
  }
}
