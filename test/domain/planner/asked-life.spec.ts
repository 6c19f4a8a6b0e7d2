import fc from 'fast-check'
import { expect, it } from 'vitest'
import { takeSnapshot } from '../../../domain/planner/cell-snapshot.ts'
import { logDigest } from '../../../infra/chain/log-digest.ts'
import { whyWithHints } from '../../../projections/explain/why.ts'
import { minute, type CellLife } from '../../support/cell-life.ts'
import { drawn, hintedCell, sharings, submitDrawn, type Drawn } from '../../support/hinted-cell.ts'

interface Step {
  readonly job: Drawn
  /** Whether the one that runs longest ends before it. */
  readonly ends: boolean
  readonly minutes: number
  /** Who asks, of those that wait. */
  readonly asks: number
}
const steps = fc.array(
  fc.record<Step>({ job: drawn, ends: fc.boolean(), minutes: fc.constantFrom(0, 1, 7, 400), asks: fc.nat(7) }),
  { minLength: 4, maxLength: 9 },
)

const stateOf = ({ cell }: CellLife) => JSON.stringify(takeSnapshot(cell))

/** Before and after the tick: what has come is not decided about yet, and then is. */
const take = (life: CellLife, { ends, job, minutes }: Step, i: number, ask: () => void): void => {
  life.at(life.now + minutes * minute)
  const [oldest] = life.running
  if (ends && oldest !== undefined) life.end(oldest)
  submitDrawn(life, `job-${i}`, job)
  if (i % 2 === 0) ask()
  life.tick()
  if (i % 2 === 1) ask()
}

const ask = (life: CellLife, asks: number): void => {
  const waiting = [...life.cell.workloads.values()].filter(({ run }) => run === null)
  if (waiting.length === 0) return
  const before = stateOf(life)
  whyWithHints(life.cell, waiting[asks % waiting.length]!.id)
  expect(stateOf(life)).toBe(before)
}

const digestOf = ({ told }: CellLife): string => {
  const digest = logDigest()
  for (const { input, decisions } of told)
    for (const message of [input, ...decisions]) digest.add('cell', message as never)
  return digest.value()
}

it.each(Object.entries(sharings))('should decide the same under %s whether or not anybody asks why', (_, policy) => {
  fc.assert(
    fc.property(steps, (steps) => {
      const [asked, unasked] = [hintedCell(policy, ['a']), hintedCell(policy, ['a'])]
      for (const [i, step] of steps.entries()) {
        take(asked, step, i, () => {
          ask(asked, step.asks)
        })
        take(unasked, step, i, () => undefined)
      }
      expect(digestOf(asked)).toBe(digestOf(unasked))
      expect(stateOf(asked)).toBe(stateOf(unasked))
    }),
    { numRuns: 200, seed: 23 },
  )
})
