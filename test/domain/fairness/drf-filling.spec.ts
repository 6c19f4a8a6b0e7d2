import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillByTasks, fillEvenly, type DrfUser } from '../../../domain/fairness/drf-filling.ts'

const paper: ReadonlyArray<DrfUser> = [
  { name: 'A', weightMilli: 1000, demand: [1, 4] },
  { name: 'B', weightMilli: 1000, demand: [3, 1] },
]

const draw = fc.record({
  total: fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 })),
  users: fc.array(
    fc.record({
      weightMilli: fc.constantFrom(500, 1000, 3000),
      demand: fc.tuple(fc.nat(5), fc.nat(5)).filter(([a, b]) => a + b > 0),
    }),
    { minLength: 1, maxLength: 5 },
  ),
})
const named = (users: ReadonlyArray<Omit<DrfUser, 'name'>>): ReadonlyArray<DrfUser> =>
  users.map((user, index) => ({ ...user, name: `u${index}` }))

/** Share of so many tasks over all weights and totals, in whole numbers. */
const shareOf = ({ demand, weightMilli }: DrfUser, tasks: number, total: ReadonlyArray<number>): number => {
  const [scale, weights] = [total[0]! * total[1]!, 3000]
  return Math.max(...demand.map((amount, i) => (tasks * amount * scale) / total[i]!)) * (weights / weightMilli)
}

describe('a task at a time', () => {
  it('should give A three tasks and B two, as in the paper', () => {
    const steps = fillByTasks([9, 18], paper, 'B')
    expect(steps.map(({ pick }) => pick)).toEqual(['B', 'A', 'A', 'B', 'A'])
    expect(steps.at(-1)!.shares.map(({ near }) => near)).toEqual([2 / 3, 2 / 3])
    expect(steps.at(-1)!.used).toEqual([9, 14])
  })

  it('should pick whom a list that is gone through anew each time picks', () => {
    fc.assert(
      fc.property(draw, ({ total, users: drawn }) => {
        const users = named(drawn)
        const tasks = users.map(() => 0)
        const picks: string[] = []
        for (;;) {
          const shares = users.map((user, index) => shareOf(user, tasks[index]!, total))
          let pick = 0
          shares.forEach((share, i) => {
            if (share < shares[pick]! || (share === shares[pick]! && tasks[i]! < tasks[pick]!)) pick = i
          })
          const used = total.map((_, i) => users.reduce((sum, { demand }, u) => sum + demand[i]! * tasks[u]!, 0))
          if (used.some((amount, i) => amount + users[pick]!.demand[i]! > total[i]!)) break
          tasks[pick]!++
          picks.push(users[pick]!.name)
        }
        expect(fillByTasks(total, users).map(({ pick }) => pick)).toEqual(picks)
      }),
    )
  })

  it('should refuse a task that needs nothing', () => {
    expect(() => fillByTasks([1], [{ name: 'a', weightMilli: 1000, demand: [0] }])).toThrow('use up something')
  })
})

describe('all at once', () => {
  it('should bring both to two thirds, as in the paper', () => {
    const { tasks, shares, dominant } = fillEvenly([9, 18], paper)
    expect([tasks, shares].map((list) => list.map(({ near }) => near))).toEqual([
      [3, 2],
      [2 / 3, 2 / 3],
    ])
    expect(dominant).toEqual([1, 0])
  })

  it('should let go on whoever needs none of what is used up', () => {
    const users = named([
      { weightMilli: 1000, demand: [1, 0] },
      { weightMilli: 3000, demand: [1, 0] },
      { weightMilli: 1000, demand: [0, 1] },
    ])
    const { tasks, shares } = fillEvenly([8, 10], users)
    expect(tasks.map(({ near }) => near)).toEqual([2, 6, 10])
    expect(shares.map(({ near }) => near)).toEqual([0.25, 0.25, 1])
  })

  it('should give nothing to whom something is missing altogether', () => {
    const users = named([
      { weightMilli: 1000, demand: [1, 1] },
      { weightMilli: 1000, demand: [1, 0] },
    ])
    expect(fillEvenly([4, 0], users).tasks.map(({ near }) => near)).toEqual([0, 4])
  })

  it('should use no more than there is, and stop nobody below others without something used up', () => {
    fc.assert(
      fc.property(draw, ({ total, users: drawn }) => {
        const users = named(drawn)
        const { tasks, shares } = fillEvenly(total, users)
        const used = total.map((_, i) => users.reduce((sum, { demand }, u) => sum + demand[i]! * tasks[u]!.near, 0))
        const isUsedUp = used.map((amount, i) => amount > total[i]! - 1e-9)
        used.forEach((amount, i) => {
          expect(amount).toBeLessThanOrEqual(total[i]! + 1e-9)
        })
        users.forEach(({ demand }, user) => {
          // Something it needs is used up, by users who have no more than it, so that raising it would lower one of those.
          const holds = demand.some(
            (amount, i) =>
              amount > 0 &&
              isUsedUp[i]! &&
              users.every((other, o) => other.demand[i] === 0 || shares[o]!.near <= shares[user]!.near + 1e-9),
          )
          expect(holds).toBe(true)
        })
      }),
    )
  })
})
