import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CellEvent } from '../../domain/planner/cell-event.ts'
import type { EventLog, StoredEvent } from '../../domain/ports/event-log.ts'
import { migrations } from '../../infra/clickhouse/schema/migrations.ts'
import { openViews, type ClickHouseViews } from '../../infra/clickhouse/views.ts'
import { catchUp } from '../../services/project/catch-up.ts'
import { rebuild } from '../../services/project/rebuild.ts'
import { allEvents, contraryLog } from '../projections/rows/told-logs.ts'
import { right } from '../support/events.ts'

/* A history in which two cells contend by budgets: what analysts are told of it, worked out again from what was told. */

const root = mkdtempSync(join(tmpdir(), 'leasehold-'))
const limits = { timeMaxMs: 30_000, rowsMax: 1_000_000 }
const hourMs = 3_600_000
const dayMs = 24 * hourMs

type Asked = Readonly<Record<string, unknown>>
let views: ClickHouseViews
let log: EventLog
let events: ReadonlyArray<StoredEvent>
const ask = async (sql: string): Promise<ReadonlyArray<Asked>> => {
  const { columns, rows } = await right(views.query(sql, limits))
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])))
}

beforeAll(async () => {
  views = await right(openViews({ folder: join(root, 'views') }))
  log = await contraryLog(85)
  events = await allEvents(log)
  await right(catchUp(log, views))
}, 60_000)
afterAll(async () => {
  await views.close()
  rmSync(root, { recursive: true, force: true })
})

describe('share_ledger', () => {
  it('should hold, in raw device-time, what the ladder has as allocated, exactly', async () => {
    const rows = await ask(
      `SELECT s.cell AS cell, s.hour AS hour, s.device AS device, l.allocated_milli_ms AS allocated
       FROM (SELECT cell, hour, sum(device_milli_ms) AS device FROM share_ledger WHERE node = '' GROUP BY cell, hour) AS s
       LEFT JOIN ladder_hourly AS l ON l.cell = s.cell AND l.hour_at = s.hour ORDER BY cell, hour`,
    )
    for (const { cell, hour, device, allocated } of rows)
      expect(device, `${cell as string} ${hour as string}`).toBe(allocated)
    expect(rows.filter(({ device }) => Number(device) > 0).length).toBeGreaterThan(20)
    const whole = `SELECT sum(allocated_milli_ms) FROM ladder_hourly AS l
       WHERE (l.cell, l.hour_at) IN (SELECT cell, hour FROM share_ledger)`
    expect(await ask(`SELECT (${whole}) - sum(device_milli_ms) AS differ FROM share_ledger WHERE node = ''`)).toEqual([
      { differ: 0 },
    ])
  })

  it('should add up from persons to projects, programs and the cell, as far as work has a budget', async () => {
    const rows = await ask(
      `SELECT p.cell AS cell, p.hour AS hour, p.policy AS policy, p.node AS node, any(p.held) - sum(c.held) AS held,
         any(p.device_milli_ms) - sum(c.device_milli_ms) AS device
       FROM share_ledger AS p INNER JOIN share_ledger AS c ON c.cell = p.cell AND c.hour = p.hour AND c.policy = p.policy
       WHERE c.node != '' AND p.node = arrayStringConcat(arrayPopBack(splitByChar('/', c.node)), '/')
       GROUP BY cell, hour, policy, node`,
    )
    expect(rows.length).toBeGreaterThan(50)
    // What lost its budget is held by the cell alone.
    expect(rows.filter(({ held, device, node }) => held !== 0 || (device !== 0 && node !== ''))).toEqual([])
    expect(rows.filter(({ device }) => Number(device) < 0)).toEqual([])
  })

  it('should give hours beside exact amounts, which are far beyond 2^53 where they are added up', async () => {
    const [row] = await ask(
      `SELECT sum(toInt128(capacity) * 1000000000000) AS large, sum(capacity_hours) AS hours,
         toFloat64(sum(capacity)) / 3.6e9 AS again FROM share_ledger`,
    )
    expect(typeof row!['large']).toBe('string')
    expect(Number(row!['hours'])).toBeCloseTo(Number(row!['again']), 6)
  })
})

interface Delivery {
  owed: bigint
  held: bigint
  charged: bigint
}

/** By day and by seven days, from the hours. */
const deliveredByHand = (rows: ReadonlyArray<Asked>): ReadonlyMap<string, Delivery> => {
  const last = new Map<string, number>()
  for (const { cell, ms } of rows)
    last.set(cell as string, Math.max(last.get(cell as string) ?? 0, Math.floor(Number(ms) / dayMs)))
  const sums = new Map<string, Delivery>()
  for (const { cell, node, ms, owed, held, charged } of rows) {
    const day = Math.floor(Number(ms) / dayMs)
    for (const [days, ahead] of [[1, 0], ...Array.from({ length: 7 }, (_, i) => [7, i] as const)] as const) {
      if (day + ahead > last.get(cell as string)!) continue
      const key = `${cell as string} ${node as string} ${days} ${day + ahead + 1}`
      const sum = sums.get(key) ?? { owed: 0n, held: 0n, charged: 0n }
      sum.owed += BigInt(owed as string)
      sum.held += BigInt(held as string)
      sum.charged += BigInt(charged as string)
      sums.set(key, sum)
    }
  }
  return sums
}

it('should give what was delivered over the whole of each window, not instant by instant', async () => {
  const hours = await ask(
    `SELECT cell, node, toUnixTimestamp64Milli(hour) AS ms, toString(owed) AS owed, toString(held) AS held,
       toString(charged) AS charged FROM share_ledger`,
  )
  const byHand = new Map(deliveredByHand(hours))
  const rows = await ask(
    `SELECT *, toString(owed) AS o, toString(held) AS h, toUnixTimestamp64Milli(from_at) AS from_ms,
       toUnixTimestamp64Milli(to_at) AS to_ms FROM share_delivery`,
  )
  expect(rows).toHaveLength(byHand.size)
  let below = 0
  for (const row of rows) {
    const days = Number(row['days'])
    const key = `${row['cell'] as string} ${row['node'] as string} ${days} ${Number(row['to_ms']) / dayMs}`
    const { owed, held, charged } = byHand.get(key)!
    expect([row['o'], row['h']], key).toEqual([String(owed), String(held)])
    expect(Number(row['to_ms']) - Number(row['from_ms'])).toBe(days * dayMs)
    if (owed === 0n) expect([row['delivered'], row['served']]).toEqual([null, null])
    else {
      const delivered = Number(held < owed ? held : owed) / Number(owed)
      expect(row['delivered']).toBeCloseTo(delivered, 12)
      expect(row['served']).toBeCloseTo(Number(charged) / Number(owed), 12)
      if (delivered < 1) below++
    }
  }
  expect(below).toBeGreaterThan(10)
})

describe('preemptions', () => {
  it('should have one row for each victim, with both sides, the loss and how it went on', async () => {
    const decided = events.flatMap(({ message, position }) => {
      const event = message as unknown as CellEvent
      return event.type === 'PreemptionDecided' ? [{ data: event.data, position }] : []
    })
    expect(decided.length).toBeGreaterThan(0)
    const rows = await ask('SELECT * FROM preemption_losses ORDER BY position, victim')
    const expected = decided.flatMap(({ data, position }) =>
      data.victims
        .toSorted((a, b) => (a.workload < b.workload ? -1 : 1))
        .map((victim) => ({
          position,
          workload: data.workload,
          victim: victim.workload,
          milli_units: victim.milliUnits,
          loss_milli_unit_s: victim.lossMilliUnitS,
          loss_unit_hours: victim.lossMilliUnitS / 3_600_000,
          rule: data.rule,
          side_node: data.side!.node,
          side_owed_milli_h: data.side!.owedMilliUnitH,
          victim_side_charged_milli_h: data.victimSide!.chargedMilliUnitH,
        })),
    )
    const shown = Object.keys(expected[0]!)
    expect(rows.map((row) => Object.fromEntries(shown.map((name) => [name, row[name]])))).toEqual(expected)
    const each = await ask(
      'SELECT position, victims, loss_milli_unit_s, held_ms, kept_milli_ms, end FROM preemptions ORDER BY position',
    )
    expect(each.map(({ position, victims, loss_milli_unit_s: loss }) => [position, victims, loss])).toEqual(
      decided.map(({ data, position }) => [
        position,
        data.victims.length,
        data.victims.reduce((sum, { lossMilliUnitS }) => sum + lossMilliUnitS, 0),
      ]),
    )
    for (const { end, held_ms: held, kept_milli_ms: kept } of each)
      expect([held === null, kept === null]).toEqual([end === '', end === ''])
  })
})

it('should tell in decisions what each new decision says', async () => {
  const by = new Map<string, number>()
  const rows = new Map((await ask('SELECT * FROM decisions')).map((row) => [row['position'], row]))
  for (const { message, position } of events) {
    const event = message as unknown as CellEvent
    const row = rows.get(position)
    const told = toldBy(event)
    if (told === null) continue
    const given = Object.fromEntries(Object.keys(told).map((name) => [name, row![name]]))
    expect(given, `${position} ${event.type}`).toEqual(told)
    by.set(event.type, (by.get(event.type) ?? 0) + 1)
  }
  const fresh = ['BudgetChanged', 'PreemptionDecided', 'PlaceReleased', 'WorkloadPromoted', 'LeaseIdled', 'GrantLapsed']
  expect(fresh.filter((type) => by.has(type)).length).toBeGreaterThan(3)
})

const toldBy = (event: CellEvent): Asked | null => {
  switch (event.type) {
    case 'WorkloadAdmitted':
      return { budget: event.data.budget, milli_units: event.data.milliUnits, preempted: event.data.preempted === true }
    case 'WorkloadHeld':
      return { code: event.data.code, compared: event.data.compared ?? {} }
    case 'BudgetChanged': {
      const { node, from, to, debtMilliUnitH, owedMilliUnitH, chargedMilliUnitH, creditMilliUnitH } = event.data
      const shares = { ...(from !== null && { from }), ...(to !== null && { to }) }
      return {
        budget: node,
        compared: { chargedMilliUnitH, creditMilliUnitH, debtMilliUnitH, owedMilliUnitH, ...shares },
      }
    }
    case 'PreemptionDecided':
      return {
        milli_units: event.data.needMilli,
        victims: event.data.victims.map(({ workload }) => workload),
        budget: event.data.side?.node,
      }
    case 'PlaceReleased':
      return { because: event.data.because }
    case 'WorkloadPromoted':
      return { preemptions: event.data.preemptions }
    case 'GrantLapsed':
      return { because: event.data.grant, granted: event.data.name, owner: event.data.owner }
    case 'LeaseIdled':
      return { milli_units: event.data.milliUnits, attempt: event.data.attempt }
    case 'CommandIssued':
      return { preemptor: event.data.preemptor ?? '' }
    default:
      return null
  }
}

describe('views of an older release', () => {
  const folder = join(root, 'older')
  const [projection, rows] = migrations
  const old = {
    ...rows!,
    statements: [
      'CREATE TABLE decision_rows (cell String, version UInt64) ENGINE = ReplacingMergeTree(version) ORDER BY (cell, version)',
      'CREATE VIEW decisions AS SELECT * FROM decision_rows',
    ],
  }
  beforeEach(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  it('should be made anew from the log, with what was not known before', async () => {
    const older = await right(openViews({ folder }, { migrations: [projection!, old] }))
    await right(
      older.write(events.length - 1, [{ table: 'decision_rows', columns: ['cell', 'version'], rows: [['x', 1]] }]),
    )
    expect(await right(older.projected())).toBe(events.length - 1)
    await older.close()
    const opened = await right(openViews({ folder }))
    expect(await right(opened.projected())).toBe(-1)
    await right(catchUp(log, opened))
    expect(await right(opened.contents())).toEqual(await right(views.contents()))
    await opened.close()
  })
})

it('should be built again to the same', async () => {
  const before = await right(views.contents())
  expect(before.filter(({ table, rows }) => /share|preempt|victim/.test(table) && rows > 0)).toHaveLength(3)
  for (const { table, hashBefore, hashAfter } of await right(rebuild(log, views)))
    expect(hashAfter, table).toBe(hashBefore)
})
