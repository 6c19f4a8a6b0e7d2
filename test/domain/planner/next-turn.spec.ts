import { expect, it } from 'vitest'
import { groundsOf } from '../../../domain/planner/grounds.ts'
import { NextTurns } from '../../../domain/planner/next-turn.ts'
import { budgetPolicy, CellLife, minute, minutes } from '../../support/cell-life.ts'

it('should name an end only if it would be within its entitlement after it', () => {
  const life = new CellLife()
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(1, 4)
    .drilled('a', 'b')
  for (let i = 0; i < 3; i++) life.submit(`a${i}`, 1, { budget: 'a', estimateMs: minutes(30) })
  life.submit('b0', 1, { budget: 'b', estimateMs: minutes(60) }).tick()
  life.submit('b1', 2, { budget: 'b' }).tick()
  const books = life.cell.books!
  const node = books.ledger.node('b')!
  expect(books.ledger.isBehind(node)).toBe(true)
  // With two more it would hold three of the two that it is entitled to, whoever of a ends.
  expect(new NextTurns(life.cell, books).of(node, 2000)).toMatchObject({ at: 60 * minute, workload: 'b0' })
  expect(new NextTurns(life.cell, books).of(node, 1000)).toMatchObject({ at: 30 * minute, workload: 'a0' })
})

it('should wait until every side of it that is spent has had its turn', () => {
  const { budgets, ...rest } = budgetPolicy({ research: 1, product: 1 })
  const [research, product] = budgets!.tree
  const children = ['vision', 'language'].map((name) => ({ ...research!, name }))
  const life = new CellLife()
    .policy({ ...rest, budgets: { ...budgets!, tree: [{ ...research!, children }, product!] } })
    .nodes(1, 4)
    .drilled('research/vision', 'research/language', 'product')
  const lasting = (budget: string, count: number) => ({
    budget,
    estimateMs: minutes(count),
    preemption: { minRuntimeMs: minutes(120) },
  })
  life.submit('v0', 1, lasting('research/vision', 60)).submit('v1', 1, lasting('research/vision', 90))
  life.submit('l0', 1, lasting('research/language', 30)).submit('p0', 1, lasting('product', 300)).tick()
  life.submit('p1', 1, { budget: 'product' }).submit('l1', 1, { budget: 'research/language' })
  life.submit('v2', 1, { budget: 'research/vision' }).tick()
  life.at(10 * minute).tick()
  expect(life.reason('v2')).toBe('BudgetExhaustedInWindow')
  life.cell.now = life.now as typeof life.cell.now
  // Research would be within its own after an hour; vision only when both of it have ended.
  const grounds = groundsOf(life.cell, life.cell.workloads.get('v2')!)
  expect(grounds?.nextTurn).toMatchObject({ at: 90 * minute, workload: 'v1' })
})
