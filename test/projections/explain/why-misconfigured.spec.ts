import { expect, it } from 'vitest'
import { whyText } from '../../../projections/explain/why-text.ts'
import { whyOf } from '../../../projections/explain/why.ts'
import { budgetPolicy, CellLife } from '../../support/cell-life.ts'

const toldOf = (life: CellLife, workload: string): string =>
  whyText(whyOf(life.cell, workload)!)
    .replaceAll(/\n {11}/g, ' ')
    .replaceAll(/ {2,}/g, ' ')

/** Product holds all there is; research has one leaf, vision. */
const life = (): CellLife => {
  const { budgets, ...rest } = budgetPolicy({ research: 1, product: 1 })
  const [research, product] = budgets!.tree
  const tree = [{ ...research!, children: [{ ...research!, name: 'vision' }] }, product!]
  return new CellLife()
    .policy({ ...rest, budgets: { ...budgets!, tree } })
    .nodes(1, 2)
    .submit('holder', 2, { budget: 'product' })
}

it('should say which budget is not in the tree, what was probably meant, and what has to change', () => {
  const cell = life().submit('early', 1, { budget: 'product' }).submit('lost', 1, { budget: 'research/visio' })
  cell.tick()
  const text = toldOf(cell, 'lost')
  expect(text).toContain(
    "Misconfigured: its budget research/visio is not in the policy's tree (did you mean research/vision?).",
  )
  expect(text).toContain("Projected not before the policy's tree has a leaf research/visio, or it is submitted anew")
  expect(text).toContain('in no order')
  expect(text).not.toContain('Ahead')
})

it('should name the leaves below a budget that is none', () => {
  const cell = life().submit('high', 1, { budget: 'research' })
  cell.tick()
  expect(toldOf(cell, 'high')).toContain(
    "its budget research is no leaf of the policy's tree: name one below it (research/vision).",
  )
})

it('should say so where nobody names a budget, and where the queue is misspelt', () => {
  const cell = life().submit('none', 1).submit('astray', 1, { budget: 'product', queue: 'defualt' })
  cell.tick()
  expect(toldOf(cell, 'none')).toContain('neither its own `spec.budget` nor that of queue default names one.')
  expect(toldOf(cell, 'astray')).toContain('the policy has no queue defualt (did you mean default?).')
})
