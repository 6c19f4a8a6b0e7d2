import fc from 'fast-check'
import type { DurationMs } from '../../../domain/kernel/units.ts'
import { defaultBudget, type BudgetNodePolicy, type BudgetPolicy } from '../../../domain/policy/budget-policy.ts'
import type { BudgetChange } from '../../../domain/budget/budget-change.ts'
import type { BudgetBooks, ClaimKind } from './budget-books.ts'

const hourMs = 3_600_000

const level = (depth: number): fc.Arbitrary<ReadonlyArray<BudgetNodePolicy>> =>
  fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      share: fc.constantFrom(1, 2, 3, 7, 40, 0, 100_000_007),
      owner: fc.constant(null),
      reviewDate: fc.constant(null),
      capMilli: fc.constant(null),
      children: depth === 0 ? fc.constant([]) : fc.oneof(fc.constant([]), level(depth - 1)),
      persons: fc.dictionary(fc.constantFrom('p', 'a'), fc.constantFrom(0, 1, 2, 5)),
    }),
    { selector: ({ name }) => name, maxLength: depth === 0 ? 2 : 4 },
  )

const policy: fc.Arbitrary<BudgetPolicy> = fc.record({
  ...Object.fromEntries(Object.entries(defaultBudget).map(([key, value]) => [key, fc.constant(value)])),
  windowHours: fc.constantFrom(3, 1, 2, 5, 0, 10, 167),
  creditMaxMs: fc.constantFrom(24 * hourMs, hourMs, 0) as fc.Arbitrary<DurationMs>,
  tree: level(2),
}) as fc.Arbitrary<BudgetPolicy>

const gapMs = fc.oneof(
  fc.constant(0),
  fc.nat(2000),
  fc.nat(hourMs),
  fc.constantFrom(hourMs, 3 * hourMs, hourMs / 2),
  fc.nat(6 * hourMs),
)

const verb = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('hold', 'wait', 'start', 'end', 'idle', 'busy') },
  { weight: 1, arbitrary: fc.constantFrom('capacity', 'allowance', 'tree', 'advance') },
)

export interface Step {
  readonly gapMs: number
  readonly verb: string
  readonly node: number
  readonly person: string | null
  readonly claim: number
  readonly rate: number
  readonly isHuge: boolean
  readonly policy: BudgetPolicy
  readonly version: string
  readonly renamed: ReadonlyArray<readonly [number, number]>
}

const step: fc.Arbitrary<Step> = fc.record({
  gapMs,
  verb,
  node: fc.nat(30),
  person: fc.constantFrom('p', 'q', 'a', null),
  claim: fc.nat(100),
  rate: fc.nat(12),
  isHuge: fc.integer({ min: 0, max: 15 }).map((n) => n === 0),
  policy,
  version: fc.constantFrom('v1', 'v2', 'v3'),
  renamed: fc.array(fc.tuple(fc.nat(12), fc.nat(12)), { maxLength: 2 }),
})

export interface History {
  readonly policy: BudgetPolicy
  readonly at: number
  /** What a rate of 1 comes to. */
  readonly scale: number
  readonly capacity: number
  readonly steps: ReadonlyArray<Step>
}

export const history = (maxLength: number): fc.Arbitrary<History> =>
  fc.record({
    policy,
    at: fc.oneof(fc.constant(0), fc.nat(3 * hourMs), fc.constant(1_790_000_000_123)),
    scale: fc.constantFrom(1, 1000, 5_999_993),
    capacity: fc.nat(40),
    steps: fc.array(step, { maxLength, size: 'max' }),
  })

export const pathsOf = (policies: ReadonlyArray<BudgetNodePolicy>, above = ''): string[] =>
  policies.flatMap(({ name, children }) => [above + name, ...pathsOf(children, `${above}${name}/`)])

interface Claim {
  readonly kind: 'hold' | 'wait'
  path: string
  readonly rate: number
  idle: number
}

const inOrder = (changes: ReadonlyArray<BudgetChange>): ReadonlyArray<BudgetChange> =>
  [...changes].sort((a, b) => (`${a.kind} ${a.path}` < `${b.kind} ${b.path}` ? -1 : 1))

/** A planner in small: remembers what holds and waits where, and tells several books of everything alike. */
export class Teller {
  at: number
  private readonly books: ReadonlyArray<BudgetBooks>
  private readonly scale: number
  private claims: Claim[] = []

  constructor({ at, scale, capacity }: History, books: ReadonlyArray<BudgetBooks>) {
    this.at = at
    this.scale = scale
    this.books = books
    this.all((each) => {
      each.setCapacity(capacity * scale, at)
    })
  }

  /** @returns what each of the books said of a new tree, in one order; nothing for all else */
  tell(step: Step): ReadonlyArray<ReadonlyArray<BudgetChange>> {
    this.at += step.gapMs
    const { at } = this
    this.all((each) => {
      each.advance(at)
    })
    const rate = step.rate * this.scale
    switch (step.verb) {
      case 'hold':
      case 'wait':
        this.claim(step.verb, this.leafOf(step), step.verb === 'wait' && step.isHuge ? rate * 1000 : rate)
        break
      case 'start': {
        const waiting = this.claims.filter(({ kind, rate }) => kind === 'wait' && rate <= 12 * this.scale)
        const next = waiting[step.claim % waiting.length]
        if (next === undefined) break
        this.end(next)
        this.claim('hold', next.path, next.rate)
        break
      }
      case 'end':
        if (this.claims.length > 0) this.end(this.claims[step.claim % this.claims.length]!)
        break
      case 'idle':
      case 'busy':
        this.setIdle(step)
        break
      case 'capacity':
        this.all((each) => {
          each.setCapacity(rate * 4, at)
        })
        break
      case 'allowance': {
        const paths = this.books[0]!.paths()
        this.all((each) => {
          each.setAllowance(paths[step.node % paths.length]!, step.isHuge ? Infinity : rate, at)
        })
        break
      }
      case 'tree':
        return this.changeTree(step)
    }
    return []
  }

  private changeTree({ policy, version, renamed, node }: Step) {
    const [from, to] = [this.books[0]!.paths(), pathsOf(policy.tree)]
    const named = to.length === 0 ? [] : renamed
    const map = new Map(named.map(([a, b]) => [to[a % to.length]!, from[b % from.length]!] as const))
    const said = this.books.map((each) => inOrder(each.setTree(policy, version, this.at, map)))
    const changes = said[0]!
    const moved = new Map(changes.flatMap((each) => (each.kind === 'moved' ? [[each.from, each.path] as const] : [])))
    const removed = new Set(changes.flatMap(({ kind, path }) => (kind === 'removed' ? [path] : [])))
    const lost = this.claims.filter(({ path }) => removed.has(path))
    this.claims = this.claims.filter(({ path }) => !removed.has(path))
    for (const claim of this.claims) claim.path = moved.get(claim.path) ?? claim.path
    const leaves = this.leaves()
    for (const { kind, rate } of lost) if (leaves.length > 0) this.claim(kind, leaves[node % leaves.length]!, rate)
    return said
  }

  private all(tell: (books: BudgetBooks) => void): void {
    this.books.forEach(tell)
  }

  private leaves(): ReadonlyArray<string> {
    const books = this.books[0]!
    return books.paths().filter((path) => books.isLeaf(path))
  }

  /** A leaf, or a person below one, who is opened. */
  private leafOf({ node, person }: Step): string {
    const leaves = this.leaves()
    const leaf = leaves[node % leaves.length]!
    if (person === null) return leaf
    this.all((each) => {
      each.openPerson(leaf, person, this.at)
    })
    return leaf === '' ? person : `${leaf}/${person}`
  }

  private claim(kind: Claim['kind'], path: string, rate: number): void {
    this.claims.push({ kind, path, rate, idle: 0 })
    this.told('begin', kind, path, rate)
  }

  private end(claim: Claim): void {
    this.claims.splice(this.claims.indexOf(claim), 1)
    if (claim.idle > 0) this.told('end', 'idle', claim.path, claim.idle)
    this.told('end', claim.kind, claim.path, claim.rate)
  }

  private setIdle({ verb, claim, rate }: Step): void {
    const leases = this.claims.filter(({ kind, idle }) => kind === 'hold' && idle > 0 === (verb === 'busy'))
    const lease = leases[claim % leases.length]
    if (lease === undefined) return
    const idle = verb === 'idle' ? Math.min(rate * this.scale, lease.rate) : 0
    if (idle === lease.idle) return
    if (idle > 0) this.told('begin', 'idle', lease.path, idle)
    else this.told('end', 'idle', lease.path, lease.idle)
    lease.idle = idle
  }

  private told(what: 'begin' | 'end', kind: ClaimKind, path: string, rate: number): void {
    this.all((each) => {
      each[what](kind, path, rate, this.at)
    })
  }
}
