import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { EpochMs } from '../../../../domain/kernel/units.ts'
import { Cell } from '../../../../domain/planner/cell.ts'
import { evolve } from '../../../../domain/planner/evolve.ts'
import { protectionOf } from '../../../../domain/planner/protection.ts'
import { hour, minute, minutes } from '../../../support/cell-life.ts'
import { contested, type ContestedLife } from '../../../support/contested-life.ts'

const protections = (cell: Cell, at: number) =>
  [...cell.workloads.values()]
    .filter(({ run }) => run !== null)
    .map((workload) => [workload.id, protectionOf(cell, workload, workload.run!, at as EpochMs)])
    .sort()

/** What is recorded: inputs, but for ticks without a decision, each before what was decided about it. */
const folded = ({ told }: ContestedLife): Cell => {
  const cell = new Cell('pool')
  for (const { input, decisions } of told)
    if (input.type !== 'Ticked' || decisions.length > 0) for (const event of [input, ...decisions]) evolve(cell, event)
  return cell
}

const steps = fc.array(
  fc.oneof(
    fc.record({ what: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ what: fc.constantFrom('submit' as const), minutes: fc.integer({ min: 0, max: 90 }) }),
    fc.record({ what: fc.constantFrom('start', 'leave', 'drill', 'fail', 'end', 'checkpoint'), minutes: fc.nat(8) }),
  ),
  { maxLength: 25 },
)

it('should follow from the events alone, at every instant, and survive a restart', () => {
  const seen = new Set<string | null>()
  fc.assert(
    fc.property(steps, (steps) => {
      const life = contested(4, { mode: 'automate' }, { job: { preemption: { minRuntimeMs: minutes(20) } } })
      let made = 0
      for (const { minutes: count, what } of steps) {
        const one = life.running[count % Math.max(1, life.running.length)]
        const run = one === undefined ? null : life.cell.workloads.get(one)!.run
        if (what === 'pass') life.pass(count * minute)
        else if (what === 'drill') life.drill('a', count % 3 === 0 ? 'failed' : 'passed')
        else if (what === 'submit')
          life.submit(`b${made++}`, 1, { budget: 'b', preemption: { minRuntimeMs: minutes(count) } })
        else if (one !== undefined && run !== null) {
          if (what === 'end') life.end(one)
          else if (what === 'checkpoint') life.checkpoint(one)
          else if (what === 'start' && !run.confirmed && run.open === null) life.conclude(one)
          else if (what === 'leave' && run.open !== null) life.conclude(one)
          else if (what === 'fail' && run.open !== null) life.conclude(one, 'failed')
        }
        life.tick()
        const again = life.restarted()
        const read = folded(life)
        for (const at of [life.now, life.now + 15 * minute, life.now + hour]) {
          const lived = protections(life.cell, at)
          expect(protections(read, at)).toEqual(lived)
          expect(protections(again.cell, at)).toEqual(lived)
          for (const [, protection] of lived) seen.add(protection!)
        }
      }
    }),
    { numRuns: 40, seed: 1 },
  )
  expect([...seen].sort()).toEqual(['leaving', 'protected-window', 'starting', 'undrilled', null].sort())
})
