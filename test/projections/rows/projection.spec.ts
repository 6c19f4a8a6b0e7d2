import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { StoredEvent } from '../../../domain/ports/event-log.ts'
import { tables } from '../../../infra/clickhouse/schema/tables.ts'
import { Projection } from '../../../projections/rows/projection.ts'
import { levelsByHand } from './levels-by-hand.ts'
import { FinalRows } from './final-rows.ts'
import { allEvents, contraryLog } from './told-logs.ts'

const seeds = Array.from({ length: 24 }, (_, i) => i + 1)
const logs: ReadonlyArray<StoredEvent>[] = []
beforeAll(async () => {
  for (const seed of seeds) logs.push(await allEvents(await contraryLog(seed)))
})

const isNumbers = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((each) => typeof each === 'number')

const inOnePass = (events: ReadonlyArray<StoredEvent>): FinalRows => {
  const projection = new Projection()
  const final = new FinalRows()
  for (const event of events) projection.follow(event)
  final.add(projection.take())
  return final
}

it('should give every table rows, with the columns of the schema and of its own types', () => {
  const seen = new Map<string, number>()
  for (const events of logs) {
    const projection = new Projection()
    for (const event of events) projection.follow(event)
    for (const { table, columns, rows } of projection.take()) {
      const definition = tables.find((one) => one.table === table)!
      expect(columns, table).toEqual(definition.columns.map(([name]) => name))
      for (const row of rows)
        for (const [i, [name, type]] of definition.columns.entries()) {
          const value = row[i]
          const fits =
            (value === null && type.startsWith('Nullable(')) ||
            (typeof value === 'string' && /^(LowCardinality\()?String/.test(type)) ||
            (typeof value === 'string' && type === 'Int128' && /^-?\d+$/.test(value)) ||
            (isNumbers(value) && type === 'Map(String, Float64)') ||
            (typeof value === 'boolean' && type.includes('Bool')) ||
            (Array.isArray(value) && type.startsWith('Array(')) ||
            (Number.isSafeInteger(value) && /U?Int\d+/.test(type) && (Number(value) >= 0 || !type.includes('UInt'))) ||
            (typeof value === 'number' && type.includes('Float64'))
          if (!fits) expect({ table, name, type, value }).toBe('of its type')
        }
      seen.set(table, (seen.get(table) ?? 0) + rows.length)
    }
  }
  for (const { table } of tables) expect(seen.get(table) ?? 0, table).toBeGreaterThan(10)
})

it('should come to the same rows wherever batches end, and after any crash', () => {
  const plan = fc.record({
    log: fc.nat(seeds.length - 1),
    steps: fc.array(fc.record({ events: fc.integer({ min: 1, max: 40 }), crashes: fc.boolean(), partly: fc.nat(12) })),
  })
  fc.assert(
    fc.property(plan, ({ log, steps }) => {
      const events = logs[log]!
      const final = new FinalRows()
      let projection = new Projection()
      let acknowledged = -1
      let told = -1
      for (const { events: count, crashes, partly } of [...steps, { events: Infinity, crashes: false, partly: 0 }]) {
        for (const event of events.slice(told + 1, told + 1 + count)) projection.follow(event)
        told = Math.min(events.length - 1, told + count)
        const taken = projection.take()
        if (!crashes) {
          final.add(taken)
          acknowledged = told
          continue
        }
        // Some tables are in, and the position is not.
        final.add(taken.slice(0, partly))
        projection = new Projection()
        projection.recall(() => {
          for (const event of events.slice(0, acknowledged + 1)) projection.follow(event)
        })
        told = acknowledged
      }
      expect(final.text).toBe(inOnePass(events).text)
    }),
    { numRuns: 150 },
  )
})

it('should make so many rows per event at most, whatever the history, and one per budget and hour', () => {
  for (const events of logs) {
    const projection = new Projection()
    for (const [i, event] of events.entries()) {
      projection.follow(event)
      const rows = projection
        .take()
        .reduce((sum, { rows: some, table }) => (table === 'share_rows' ? sum : sum + some.length), 0)
      const { data } = event.message as { readonly data: Readonly<Record<string, ReadonlyArray<unknown> | undefined>> }
      // Per part of a lease, one row of it and one of its node; those of the parts that it replaces are as many.
      const parts = Math.max(4, data['lease']?.length ?? 0) + (data['victims']?.length ?? 0)
      if (rows > 8 + 2 * parts) expect({ i, type: event.message.type, rows }).toBe('few')
    }
  }
})

describe('levels', () => {
  it('should be those of a fleet that is worked out by hand, at every instant', () => {
    let instants = 0
    for (const events of logs) {
      const rows = inOnePass(events).rows('fleet_level_rows')
      for (const cell of ['cell-a', 'cell-b']) {
        const byHand = levelsByHand(events.filter(({ stream }) => stream === cell))
        const mine = rows.filter(([name]) => name === cell)
        for (const [, at, ...level] of mine)
          expect([at, ...level.slice(0, 5)]).toEqual([at, ...(byHand.get(Number(at)) ?? [])])
        instants += mine.length
        let last = '0,0,0,0,0'
        const ats = new Set(mine.map(([, at]) => at))
        for (const [at, level] of byHand) {
          if (level.join() !== last) expect(ats, `a row at ${at}`).toContain(at)
          last = level.join()
        }
      }
    }
    expect(instants).toBeGreaterThan(500)
  })
})
