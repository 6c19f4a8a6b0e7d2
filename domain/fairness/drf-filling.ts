import { assert } from '../kernel/decider.ts'
import { DominantShares } from './dominant-shares.ts'
import {
  compareFractions,
  dividedBy,
  fraction,
  leastOf,
  minus,
  nothing,
  plus,
  times,
  type Fraction,
} from './fraction.ts'

/** Somebody who has as many tasks as there is room for. */
export interface DrfUser {
  readonly name: string
  /** Above 0. */
  readonly weightMilli: number
  /** Of one task, whole numbers, shape [resources]; of some resource more than 0. */
  readonly demand: ReadonlyArray<number>
}

export interface FillStep {
  readonly pick: string
  /** Of each user, in their order, over its weight. */
  readonly shares: ReadonlyArray<Fraction>
  readonly used: ReadonlyArray<number>
}

/**
 * A task at a time, to the user with the lowest share, until the task of the one whose turn it is does not fit.
 * @param total   whole numbers, shape [resources]
 * @param firstOf who begins, while nobody holds anything; absent: the smaller name
 */
export const fillByTasks = (
  total: ReadonlyArray<number>,
  users: ReadonlyArray<DrfUser>,
  firstOf?: string,
): ReadonlyArray<FillStep> => {
  const shares = new DominantShares(total)
  const demands = new Map(users.map(({ name, demand }) => [name, demand]))
  for (const { name, weightMilli, demand } of users) {
    assert(isBounded(demand, total), `tasks of ${name} use up something`)
    shares.add(name)
    shares.setWeight(name, weightMilli)
    shares.setWaiting(name, true)
  }
  const steps: FillStep[] = []
  let used: ReadonlyArray<number> = total.map(() => 0)
  for (;;) {
    const pick = (steps.length === 0 ? firstOf : undefined) ?? shares.next
    if (pick === null) return steps
    const demand = demands.get(pick)!
    const wanted = used.map((amount, i) => amount + demand[i]!)
    if (wanted.some((amount, i) => amount > total[i]!)) return steps
    used = wanted
    shares.started(pick, demand)
    steps.push({ pick, shares: users.map(({ name }) => shares.shareOf(name)), used })
  }
}

export interface EvenFill {
  /** Of each user, in their order: parts of a task count too. */
  readonly tasks: ReadonlyArray<Fraction>
  readonly shares: ReadonlyArray<Fraction>
  /** Index of the resource that the share is of. */
  readonly dominant: ReadonlyArray<number>
}

/**
 * All shares rise together, parts of tasks included, until a resource is used up; who needs none of it goes on.
 * @param total whole numbers, shape [resources]
 */
export const fillEvenly = (total: ReadonlyArray<number>, users: ReadonlyArray<DrfUser>): EvenFill => {
  const dominant = users.map(({ demand }) => dominantOf(demand, total))
  // Tasks that a user has at a share of 1.
  const pace = users.map(({ name, demand, weightMilli }, user) => {
    assert(isBounded(demand, total), `tasks of ${name} use up something`)
    const resource = dominant[user]!
    return fraction(BigInt(total[resource]!) * BigInt(weightMilli), BigInt(demand[resource]!) * 1000n)
  })
  let shares = users.map(() => nothing)
  let free = total.map(whole)
  let active = users.map(({ demand }) => demand.every((amount, i) => amount === 0 || total[i]! > 0))
  while (active.includes(true)) {
    const drain = total.map((_, i) =>
      users.reduce(
        (sum, { demand }, user) => (active[user] ? plus(sum, times(pace[user]!, whole(demand[i]!))) : sum),
        nothing,
      ),
    )
    const rise = free
      .flatMap((amount, i) => (drain[i]!.over === 0n ? [] : [dividedBy(amount, drain[i]!)]))
      .reduce(leastOf)
    shares = shares.map((share, user) => (active[user] ? plus(share, rise) : share))
    free = free.map((amount, i) => minus(amount, times(rise, drain[i]!)))
    active = active.map(
      (on, user) => on && users[user]!.demand.every((amount, i) => amount === 0 || free[i]!.over > 0n),
    )
  }
  return { dominant, shares, tasks: shares.map((share, user) => times(share, pace[user]!)) }
}

const whole = (amount: number): Fraction => fraction(BigInt(amount), 1n)

const isBounded = (demand: ReadonlyArray<number>, total: ReadonlyArray<number>): boolean =>
  demand.length === total.length && demand.some((amount) => amount > 0)

/** The first of the resources of which a task is the largest part; one that there is nothing of is larger than all. */
const dominantOf = (demand: ReadonlyArray<number>, total: ReadonlyArray<number>): number => {
  let dominant = 0
  let most = nothing
  demand.forEach((amount, i) => {
    if (amount === 0) return
    const part = fraction(BigInt(amount), BigInt(total[i]!))
    if (compareFractions(part, most) <= 0) return
    most = part
    dominant = i
  })
  return dominant
}
