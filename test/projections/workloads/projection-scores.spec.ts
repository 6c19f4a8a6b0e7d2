import { expect, it } from 'vitest'
import type { CellEvent } from '../../../domain/planner/cell-event.ts'
import { Projection } from '../../../projections/rows/projection.ts'
import { projectionRows } from '../../../projections/workloads/projection-row.ts'
import { FinalRows } from '../rows/final-rows.ts'
import { allEvents, contraryLog } from '../rows/told-logs.ts'

interface Told {
  readonly position: number
  readonly from: number | null
  readonly to: number | null
  readonly projectedAt: number | null
  outcome: string
  endedAt: number | null
}

/** By the position of the decision that told it: what was told first in each wait, and what came of it. */
const toldByHand = (events: ReadonlyArray<{ readonly event: CellEvent; readonly position: number }>) => {
  const all: Told[] = []
  const waiting = new Map<string, Told>()
  let now = 0
  for (const { event, position } of events) {
    now = Math.max(now, event.at)
    if (event.type === 'WorkloadHeld' && !waiting.has(event.data.workload)) {
      const { projectedFrom: from = null, projectedStartAt: projectedAt, projectedTo: to = null, workload } = event.data
      if (projectedAt === null && to === null) continue
      const told: Told = { position, from, to, projectedAt, outcome: '', endedAt: null }
      all.push(told)
      waiting.set(workload, told)
    }
    if (event.type !== 'WorkloadAdmitted' && event.type !== 'WorkloadCancelled' && event.type !== 'WorkloadRefused')
      continue
    const told = waiting.get(event.data.workload)
    waiting.delete(event.data.workload)
    if (told === undefined) continue
    told.endedAt = now
    const latest = told.to ?? told.projectedAt!
    const started = told.from !== null && now < told.from ? 'before' : now > latest ? 'behind' : 'within'
    told.outcome = event.type === 'WorkloadAdmitted' ? started : 'withdrawn'
  }
  return all
}

it('should hold what was told first in each wait against the start that came', async () => {
  const outcomes = new Map<string, number>()
  for (let seed = 1; seed < 60; seed++) {
    const log = await allEvents(await contraryLog(seed))
    const projection = new Projection()
    for (const event of log) projection.follow(event)
    const final = new FinalRows()
    final.add(projection.take())
    for (const cell of ['cell-a', 'cell-b']) {
      const own = log
        .filter(({ stream }) => stream === cell)
        .map(({ message, position }) => ({ event: message as unknown as CellEvent, position }))
      const rows = final
        .rows('projection_rows')
        .map((row) => Object.fromEntries(projectionRows.columns.map((name, i) => [name, row[i]])))
        .filter((row) => row['cell'] === cell)
      const given = rows.map((row) => [
        ...['position', 'from_ms', 'to_ms', 'projected_ms', 'outcome', 'ended_ms'].map((name) => row[name]),
      ])
      const byHand = toldByHand(own)
      expect(
        given.toSorted((a, b) => Number(a[0]) - Number(b[0])),
        `seed ${seed}`,
      ).toEqual(
        byHand.map(({ position, from, to, projectedAt, outcome, endedAt }) => [
          ...[position, from, to, projectedAt, outcome, endedAt],
        ]),
      )
      for (const { outcome } of byHand) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
  }
  for (const outcome of ['', 'within', 'behind', 'withdrawn'])
    expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(0)
}, 120_000)
