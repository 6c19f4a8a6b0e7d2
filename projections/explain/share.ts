import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Books } from '../../domain/planner/books.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { NextTurns, type NextTurn } from '../../domain/planner/next-turn.ts'
import { sharingOf, type AllocationPolicy, type Sharing } from '../../domain/policy/allocation-policy.ts'
import { budgetNodes } from '../../domain/policy/budget-node-path.ts'
import { quotaShares, type QuotaShare } from './quota-share.ts'

/** A node of the budget tree as it stands. Rates in milli-units; `MilliUnitH`: milli-unit hours over the window. */
export interface ShareNode {
  /** Its path; empty: the cell. */
  readonly node: string
  readonly depth: number
  readonly kind: 'cell' | 'budget' | 'person'
  readonly share: number
  readonly entitledMilli: number
  readonly heldMilli: number
  /** Held and waiting, as far as quota and caps allow it. */
  readonly demandMilli: number
  /** The smaller of entitled and demand. */
  readonly owedMilli: number
  readonly chargedMilliUnitH: number
  readonly owedMilliUnitH: number
  readonly heldMilliUnitH: number
  /** What it held of what it was owed, thousandths, at most 1000; null: it was owed nothing. */
  readonly deliveredMilli: number | null
  readonly debtMilliUnitH: number
  readonly creditMilliUnitH: number
  /** `behind`: holds less than it is owed, and has work that waits; `over`: holds more while a sibling is behind. */
  readonly standing: 'behind' | 'over' | 'even'
  /** Workloads that wait at it and below. */
  readonly waiting: number
  /** Null: nothing waits there, or nothing is known that would change that. */
  readonly nextTurn: NextTurn | null
  readonly owner: string | null
  readonly reviewDate: string | null
}

export interface ShareAnswer {
  readonly at: EpochMs
  readonly cell: string
  readonly policy: string | null
  readonly sharing: Sharing | 'queues'
  /** Hours that count, beside the one that is open; 0: none do. */
  readonly windowHours: number
  /** Parents first, siblings by name; none where quota is shared. */
  readonly nodes: ReadonlyArray<ShareNode>
  /** Parents first; none where it is not shared. */
  readonly quotas: ReadonlyArray<QuotaShare>
}

const hour = 3_600_000n

/**
 * How every node of the budget tree stands, or every queue and cohort, or one and what is below it. The ledger is brought to the cell's time.
 * @returns `no books`: the policy shares neither by a budget tree nor by quota; null: there is no such node
 */
export const shareOf = (cell: Cell, only: string | null): ShareAnswer | 'no books' | null => {
  const { books, kueue, now, policy } = cell
  if (kueue !== null && policy !== null) {
    const quotas = quotaShares(cell, kueue, only)
    return quotas === null ? null : { ...headOf(cell, policy, 0), nodes: [], quotas }
  }
  if (books === null || policy === null) return 'no books'
  books.advance(now)
  const root = books.ledger.node(only ?? '')
  if (root === undefined) return null
  const policyNodes = budgetNodes(books.budgets)
  const turns = new NextTurns(cell, books)
  const waits = waitingBelow(books)
  const nodes: ShareNode[] = []
  const visit = (node: number, depth: number): void => {
    const reading = books.ledger.read(node)
    const { node: stated } = policyNodes.get(reading.path) ?? {}
    const { count = 0, rate = 0 } = waits.get(node) ?? {}
    nodes.push({
      node: reading.path,
      depth,
      kind: books.ledger.parent(node) < 0 ? 'cell' : stated === undefined ? 'person' : 'budget',
      share: reading.share,
      entitledMilli: reading.entitled,
      heldMilli: reading.held,
      demandMilli: reading.demand,
      owedMilli: reading.owedRate,
      chargedMilliUnitH: Number(reading.charged / hour),
      owedMilliUnitH: Number(reading.owed / hour),
      heldMilliUnitH: Number(reading.heldIntegral / hour),
      deliveredMilli: deliveredOf(reading.heldIntegral, reading.owed),
      debtMilliUnitH: Number(reading.debt / hour),
      creditMilliUnitH: Number(reading.credit / hour),
      standing: reading.behind ? 'behind' : reading.isOver ? 'over' : 'even',
      waiting: count,
      nextTurn: count === 0 || depth === 0 ? null : turns.of(node, rate),
      owner: stated?.owner ?? null,
      reviewDate: stated?.reviewDate ?? null,
    })
    for (const child of books.ledger.children(node)) visit(child, depth + 1)
  }
  visit(root, root === 0 ? 0 : 1)
  return { ...headOf(cell, policy, books.budgets.windowHours), nodes, quotas: [] }
}

const headOf = (cell: Cell, policy: AllocationPolicy, windowHours: number) => ({
  at: cell.now,
  cell: cell.name,
  policy: cell.policyHash,
  sharing: sharingOf(policy),
  windowHours,
})

const deliveredOf = (held: bigint, owed: bigint): number | null =>
  owed === 0n ? null : Number(((held < owed ? held : owed) * 1000n) / owed)

/** How many wait at each node and below, and the least that one of them would hold. */
const waitingBelow = (books: Books): ReadonlyMap<number, { readonly count: number; readonly rate: number }> => {
  const waits = new Map<number, { readonly count: number; readonly rate: number }>()
  for (const [person, lines] of books.lines)
    for (const line of lines) {
      const rate = line.first?.account?.rate ?? 0
      for (const node of books.upwards(person)) {
        const known = waits.get(node)
        waits.set(node, { count: (known?.count ?? 0) + line.size, rate: Math.min(known?.rate ?? rate, rate) })
      }
    }
  return waits
}
