import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import { Cell } from '../../../domain/planner/cell.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import { fork } from '../../../domain/planner/cell-snapshot.ts'
import { decide } from '../../../domain/planner/decide.ts'
import { OpenCommands } from '../../../domain/planner/open-commands.ts'
import { contraryFacts } from '../../support/contrary-facts.ts'

it('should be the same whether they were followed or are read off the cell, and hold what runs and nothing else', () => {
  let most = 0
  for (let seed = 1; seed <= 200; seed++) {
    const cell = new Cell('cell-default')
    const followed = new OpenCommands(new Cell('cell-default'))
    for (const input of contraryFacts(seed)) {
      const decided = decide(input, cell)
      if (E.isLeft(decided)) continue
      for (const event of [input, ...decided.right]) {
        evolve(cell, event)
        followed.follow(event)
      }
      const afresh = new OpenCommands(fork(cell)).open
      expect(new Map([...followed.open].sort()), `seed ${seed}`).toEqual(new Map([...afresh].sort()))
      for (const { workload, attempt } of afresh.values()) {
        expect(cell.workloads.get(workload)?.run).not.toBeNull()
        expect(cell.workloads.get(workload)?.attempt).toBe(attempt)
      }
      most = Math.max(most, afresh.size)
    }
  }
  expect(most).toBeGreaterThan(3)
})
