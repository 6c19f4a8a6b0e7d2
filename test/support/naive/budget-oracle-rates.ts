import type { BudgetNodePolicy } from '../../../domain/policy/budget-policy.ts'

/** What one node came to between two instants at which anything changed. Rates are milli-units. */
export interface Interval {
  readonly from: number
  readonly to: number
  readonly hour: number
  /** Counts the trees that there have been. */
  readonly part: number
  readonly version: string
  readonly path: string
  readonly e: bigint
  readonly a: bigint
  readonly d: bigint
  readonly o: bigint
  readonly idle: bigint
  readonly siblingBehind: boolean
}

/** The hours before this one have left the window for good. */
export interface Forgotten {
  readonly before: number
}

export interface OracleNode {
  path: string
  name: string
  parent: OracleNode | null
  children: OracleNode[]
  person: boolean
  share: number
  policy: BudgetNodePolicy | null
  /** Null: without limit. */
  allowance: bigint | null
  readonly history: (Interval | Forgotten)[]
}

/** A lease, or a workload that waits. */
export interface OracleClaim {
  readonly kind: 'hold' | 'wait' | 'idle'
  readonly node: OracleNode
  readonly rate: bigint
}

export const all = (node: OracleNode): OracleNode[] => [node, ...node.children.flatMap(all)]

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const isWithin = (node: OracleNode, above: OracleNode): boolean =>
  node === above || (node.parent !== null && isWithin(node.parent, above))

export const sumOf = (claims: ReadonlyArray<OracleClaim>, kind: OracleClaim['kind'], above: OracleNode): bigint =>
  claims.filter((claim) => claim.kind === kind && isWithin(claim.node, above)).reduce((sum, { rate }) => sum + rate, 0n)

/** e: by definition, from the top down each time. */
export const entitledRate = (node: OracleNode, capacity: bigint): bigint => {
  if (node.parent === null) return capacity
  const total = entitledRate(node.parent, capacity)
  const siblings = node.parent.children
  const shares = siblings.reduce((sum, { share }) => sum + BigInt(share), 0n)
  if (shares === 0n) return 0n
  const parts = siblings.map((sibling) => ({
    sibling,
    whole: (total * BigInt(sibling.share)) / shares,
    rest: (total * BigInt(sibling.share)) % shares,
  }))
  let left = total - parts.reduce((sum, { whole }) => sum + whole, 0n)
  parts.sort((x, y) => (x.rest === y.rest ? (x.sibling.path < y.sibling.path ? -1 : 1) : x.rest > y.rest ? -1 : 1))
  for (const part of parts) {
    if (part.sibling === node) return left > 0n ? part.whole + 1n : part.whole
    left--
  }
  throw new Error('a node is among its siblings')
}

export interface Rates {
  readonly e: bigint
  readonly a: bigint
  readonly d: bigint
  readonly o: bigint
  readonly idle: bigint
  readonly behind: boolean
}

/** The terms of the specification, of one node at this instant. */
export const ratesOf = (node: OracleNode, claims: ReadonlyArray<OracleClaim>, capacity: bigint): Rates => {
  const e = entitledRate(node, capacity)
  const a = sumOf(claims, 'hold', node)
  const waiting = sumOf(claims, 'wait', node)
  let d = a + waiting
  for (let above: OracleNode | null = node; above !== null; above = above.parent)
    if (above.allowance !== null) d = least(d, above.allowance)
  const o = least(d, e)
  const allHeld = claims.filter(({ kind }) => kind === 'hold').reduce((sum, { rate }) => sum + rate, 0n)
  const behind = capacity >= allHeld && a < o && waiting > 0n
  return { e, a, d, o, idle: sumOf(claims, 'idle', node), behind }
}

export interface Sums {
  readonly owed: bigint
  readonly charged: bigint
  readonly unallocated: bigint
  readonly over: bigint
  readonly idleCharged: bigint
  readonly held: bigint
  readonly entitled: bigint
  readonly demand: bigint
}

/** The integrals of the specification over some intervals. */
export const sumsOf = (intervals: ReadonlyArray<Interval>): Sums => {
  let [owed, charged, unallocated, over, idleCharged, held, entitled, demand] = [0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n]
  for (const { from, to, e, a, d, o, idle, siblingBehind } of intervals) {
    const ms = BigInt(to - from)
    const excess = most(0n, a - e)
    const over1 = siblingBehind ? excess : 0n
    const chargedRate = least(a, least(a, e) + over1 + idle)
    owed += o * ms
    charged += chargedRate * ms
    unallocated += (excess - over1) * ms
    over += over1 * ms
    idleCharged += (chargedRate - least(a, e) - over1) * ms
    held += a * ms
    entitled += e * ms
    demand += d * ms
  }
  return { owed, charged, unallocated, over, idleCharged, held, entitled, demand }
}

/** Which intervals are in the window still. */
export const windowOf = (history: ReadonlyArray<Interval | Forgotten>): ReadonlyArray<Interval> => {
  let window: Interval[] = []
  for (const each of history)
    if ('before' in each) window = window.filter(({ hour }) => hour >= each.before)
    else window.push(each)
  return window
}

/** What was left unused, bucket by bucket, less what was taken unallocated: off the oldest bucket first. */
export const creditOf = (history: ReadonlyArray<Interval | Forgotten>): bigint => {
  let left: { readonly hour: number; amount: bigint }[] = []
  let bucket: Interval[] = []
  const closeBucket = () => {
    const first = bucket[0]
    if (first === undefined) return
    const { entitled, owed, unallocated } = sumsOf(bucket)
    left.push({ hour: first.hour, amount: entitled - owed })
    let spent = unallocated
    for (const each of left) {
      const taken = least(spent, each.amount)
      each.amount -= taken
      spent -= taken
    }
    bucket = []
  }
  for (const each of history) {
    const last = bucket[0]
    if ('before' in each) {
      closeBucket()
      left = left.filter(({ hour }) => hour >= each.before)
    } else {
      if (last !== undefined && (last.hour !== each.hour || last.part !== each.part)) closeBucket()
      bucket.push(each)
    }
  }
  closeBucket()
  return left.reduce((sum, { amount }) => sum + amount, 0n)
}
