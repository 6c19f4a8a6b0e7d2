import { beforeAll, expect, it } from 'vitest'
import type { Json } from '../../../domain/kernel/canonical-json.ts'
import type { CellEvent, PreemptionDecided } from '../../../domain/planner/cell-event.ts'
import type { StoredEvent } from '../../../domain/ports/event-log.ts'
import { preemptionRows } from '../../../projections/preemptions/preemption-row.ts'
import { victimRows } from '../../../projections/preemptions/victim-row.ts'
import { Projection } from '../../../projections/rows/projection.ts'
import type { RowTable } from '../../../projections/rows/row-table.ts'
import { FinalRows } from '../rows/final-rows.ts'
import { standingByHand } from '../rows/levels-by-hand.ts'
import { allEvents, contraryLog } from '../rows/told-logs.ts'

type Named = Readonly<Record<string, Json>>

/** An event, when it was told, and where. */
interface Told {
  readonly event: CellEvent
  readonly at: number
  readonly position: number
  readonly stops: boolean
}

interface Life {
  readonly cell: string
  readonly stored: ReadonlyArray<StoredEvent>
  readonly told: ReadonlyArray<Told>
  readonly final: FinalRows
}
const lives: Life[] = []
beforeAll(async () => {
  for (let seed = 1; seed < 80; seed += 2) {
    const all = await allEvents(await contraryLog(seed))
    const projection = new Projection()
    for (const event of all) projection.follow(event)
    const final = new FinalRows()
    final.add(projection.take())
    for (const cell of ['cell-a', 'cell-b']) {
      const stored = all.filter(({ stream }) => stream === cell)
      lives.push({ cell, stored, told: toldOf(stored), final })
    }
  }
}, 120_000)

const toldOf = (events: ReadonlyArray<StoredEvent>): ReadonlyArray<Told> => {
  let at = 0
  return events.map(({ id, message, position }) => {
    at = Math.max(at, message.at)
    const stops = events.some(({ causation, message: { type } }) => causation === id && type === 'AttemptStopped')
    return { event: message as unknown as CellEvent, at, position, stops }
  })
}

const rowsOf = ({ cell, final }: Life, { columns, table }: RowTable): ReadonlyArray<Named> =>
  final
    .rows(table)
    .filter(([name]) => name === cell)
    .map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]!])))

const preemptionsOf = ({ told }: Life) =>
  told.flatMap((one, i) =>
    one.event.type === 'PreemptionDecided'
      ? [{ ...one, data: one.event.data satisfies PreemptionDecided['data'], later: told.slice(i + 1) }]
      : [],
  )

const about = ({ event: { data } }: Told): string | null => ('workload' in data ? data.workload : null)

const ends: Readonly<Record<string, string>> = {
  WorkloadAdmitted: 'started',
  HoldRequested: 'on-hold',
  WorkloadCancelled: 'cancelled',
  WorkloadRefused: 'refused',
}

const endOf = ({ event }: Told): string => (event.type === 'PlaceReleased' ? event.data.because : ends[event.type]!)

it('should tell of each preemption how it went on, and what its place kept idle', () => {
  const seen = new Map<string, number>()
  let kept = 0
  for (const life of lives) {
    const rows = rowsOf(life, preemptionRows)
    const { keptMilliMs } = standingByHand(life.stored)
    const preemptions = preemptionsOf(life)
    expect(rows).toHaveLength(preemptions.length)
    for (const { at, data, later, position } of preemptions) {
      const own = later.filter((one) => about(one) === data.workload)
      const again = own.findIndex(({ event }) => event.type === 'PreemptionDecided')
      const until = again < 0 ? own : own.slice(0, again)
      const started = until.find(({ event }) => event.type === 'WorkloadAdmitted')
      const over = until.find(({ event }) => event.type === 'PlaceReleased' || event.type in ends)
      const end = over === undefined ? '' : endOf(over)
      seen.set(end, (seen.get(end) ?? 0) + 1)
      const expected = {
        workload: data.workload,
        at_ms: at,
        need_milli_units: data.needMilli,
        freed_milli_units: data.victims.reduce((sum, { milliUnits }) => sum + milliUnits, 0),
        victims: data.victims.length,
        side_node: data.side?.node ?? '',
        victim_side_charged_milli_h: data.victimSide?.chargedMilliUnitH ?? null,
        started_ms: started?.at ?? null,
        over_ms: over?.at ?? null,
        end,
        kept_milli_ms: over === undefined ? null : (keptMilliMs.get(position) ?? 0),
      }
      const row = rows.find((one) => one['position'] === position)!
      expect(Object.fromEntries(Object.keys(expected).map((name) => [name, row[name]]))).toEqual(expected)
      if (Number(row['kept_milli_ms']) > 0) kept++
    }
  }
  for (const end of ['started', 'expired']) expect(seen.get(end) ?? 0, end).toBeGreaterThan(10)
  expect(kept).toBeGreaterThan(10)
})

it('should tell of each victim what it lost, and when it had left', () => {
  let left = 0
  for (const life of lives) {
    const rows = rowsOf(life, victimRows)
    const preemptions = preemptionsOf(life)
    expect(rows).toHaveLength(preemptions.reduce((sum, { data }) => sum + data.victims.length, 0))
    for (const { data, later, position } of preemptions)
      for (const { attempt, keeps, lossMilliUnitS, milliUnits, workload } of data.victims) {
        const gone = later.find((one) => about(one) === workload && gives(one, keeps !== null))
        const expected = {
          attempt,
          asked: keeps === null ? 'evict' : 'shrink',
          milli_units: milliUnits,
          loss_milli_unit_s: lossMilliUnitS,
          left_ms: gone?.at ?? null,
        }
        const row = rows.find((one) => one['position'] === position && one['victim'] === workload)!
        const { victim_attempt: ofAttempt, asked, milli_units: rate, loss_milli_unit_s: loss, left_ms: leftAt } = row
        expect({ attempt: ofAttempt, asked, milli_units: rate, loss_milli_unit_s: loss, left_ms: leftAt }).toEqual(
          expected,
        )
        const team = life.told.find(
          ({ event, position: at }) => event.type === 'WorkloadSubmitted' && at === row['victim_submission'],
        )
        expect(team?.event).toMatchObject({ data: { workload, team: row['victim_team'] } })
        if (gone !== undefined) left++
      }
  }
  expect(left).toBeGreaterThan(10)
})

const gives = ({ event: { type }, stops }: Told, shrinks: boolean): boolean =>
  (type === 'LeaseShrunk' && shrinks) ||
  (type === 'AttemptEnded' && !stops) ||
  type === 'AttemptStopped' ||
  type === 'WorkloadCancelled'
