import { expect, it } from 'vitest'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { budgetPolicy, hour } from '../../../support/cell-life.ts'
import { ContestedLife, monday, victimsOf } from '../../../support/contested-life.ts'

/** A pool of node-0 for serving, beside node-1 for all; two teams within serving. */
const pooled = (): ContestedLife => {
  const life = new ContestedLife(monday).policy(
    budgetPolicy(
      { research: 1, serving: 1 },
      { protectedPools: [{ budgets: ['serving'], name: 'serving', nodes: ['node-0'] }] },
    ),
  )
  return life.nodes(2, 2).drilled('research', 'serving')
}
const hold = (life: ContestedLife, budget: string, persons: ReadonlyArray<string>) => {
  persons.forEach((submitter, i) => life.submit(`${budget}-${i}`, 1, { budget, terms: { submitter } }))
  life.tick()
}

it('should keep work from outside from taking members of a pool there, and not elsewhere', () => {
  const life = pooled()
  hold(life, 'serving', ['u', 'u', 'u', 'u'])
  life.submit('out', 1, { budget: 'research' }).submit('out-too', 1, { budget: 'research' })
  life.submit('out-three', 1, { budget: 'research' })
  expect([...victimsOf(life.pass(3 * hour))].sort()).toEqual(['serving-2', 'serving-3'])
  const alone = pooled()
  hold(alone, 'serving', ['u', 'u', 'u', 'u'])
  alone.submit('out', 2, { budget: 'research', request: requestOf({ devices: 2 }) })
  expect(victimsOf(alone.pass(3 * hour))).toHaveLength(2)
  expect(alone.cell.workloads.get('out')!.run!.parts[0]!.node).toBe(1)
})

it('should let members take from each other there', () => {
  const life = pooled()
  hold(life, 'serving', ['u', 'u', 'u', 'u'])
  life.health('node-1', 'cordoned')
  life.submit('member', 1, { budget: 'serving', terms: { submitter: 'v' } })
  expect(victimsOf(life.pass(3 * hour))).toHaveLength(1)
  expect(life.cell.workloads.get('member')!.run!.parts[0]!.node).toBe(0)
})

it('should let members, and others, take guests from there', () => {
  for (const [taker, submitter] of [
    ['serving', 'u'],
    ['research', 'other'],
  ] as const) {
    const life = pooled()
    hold(life, 'research', ['u', 'u', 'u', 'u'])
    life.health('node-1', 'cordoned')
    life.submit('taker', 1, { budget: taker, terms: { submitter } })
    expect(victimsOf(life.pass(3 * hour)), taker).toHaveLength(1)
  }
})
