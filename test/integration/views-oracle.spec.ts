import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { EventLog, NewEvent } from '../../domain/ports/event-log.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { openLog } from '../../infra/host/open-log.ts'
import { readTrace } from '../../infra/traces/trace.ts'
import { openViews, type ClickHouseViews } from '../../infra/clickhouse/views.ts'
import { simulate } from '../../services/decide/simulate.ts'
import { catchUp } from '../../services/project/catch-up.ts'
import {
  allocatedByHand,
  fragmentationByHand,
  openbByHand,
  percentileByHand,
  type ByHand,
} from '../projections/oracle/openb-by-hand.ts'
import { right } from '../support/events.ts'
import { describeOnData, sharedData } from '../support/shared-data.ts'

const nodeCount = 6
const deviceMemoryMib = 32_510
const domainOf = (node: number): string => `rack-${node % 4}`
const list = sharedData('openb/openb_pod_list_default.csv')
const root = mkdtempSync(join(tmpdir(), 'leasehold-'))
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
})
const limits = { timeMaxMs: 60_000, rowsMax: 1_000_000 }

type Asked = Readonly<Record<string, unknown>>
const ask = async (views: ClickHouseViews, sql: string): Promise<ReadonlyArray<Asked>> => {
  const { columns, rows } = await right(views.query(sql, limits))
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])))
}

/** The beginning of a log, as a log of its own. */
const beginning = async (log: EventLog, until: number): Promise<EventLog> => {
  const part = memoryEventLog()
  const events = (await right(log.readAll(0, 1_000_000))).filter(({ message }) => message.at <= until)
  await right(part.append('cell-default', -1, events as ReadonlyArray<NewEvent>))
  return part
}

describeOnData('views of openb at 48 GPUs', () => {
  let whole: ClickHouseViews
  let part: ClickHouseViews
  let byHand: ByHand
  /** The instant at which most wait: what waits then is in the figures of its class. */
  let crowded = 0
  beforeAll(async () => {
    byHand = openbByHand(list, nodeCount)
    for (const { at, waiting } of byHand.standings)
      if (waiting.length > byHand.standings.find((one) => one.at === crowded)!.waiting.length) crowded = at
    const { log } = await right(openLog(join(root, 'log')))
    const { jobs } = await right(() => readTrace(list, { format: 'openb' }))
    const nodes = Array.from({ length: nodeCount }, (_, i) => ({
      ...{ cpuMilli: null, deviceMemoryMib, devices: 8, domain: domainOf(i), hostMemoryMib: null, model: null },
      node: `node-${i}`,
    }))
    const gpuJobs = jobs.filter(({ request }) => request.devices > 0)
    const scenario = { jobs: gpuJobs, nodes, policy: defaultPolicy, fill: false }
    await right(() => simulate(log, 'cell-default', scenario, () => undefined))
    whole = await right(openViews({ folder: join(root, 'whole') }))
    await right(catchUp(log, whole))
    part = await right(openViews({ folder: join(root, 'part') }))
    await right(catchUp(await beginning(log, crowded), part))
    await log.close()
  }, 300_000)
  afterAll(async () => {
    await whole.close()
    await part.close()
  })
  const views = () =>
    [
      [whole, Infinity],
      [part, crowded],
    ] as const
  const lastAt = (until: number): number => Math.min(until, byHand.standings.at(-1)!.at)
  const standingsUntil = (until: number) => byHand.standings.filter(({ at }) => at <= until)

  it('should give the ladder by hour and by day', async () => {
    for (const [asked, until] of views())
      for (const [view, beginsAt, windowMs] of [
        ['ladder_hourly', 'hour_at', 3_600_000],
        ['ladder_daily', 'day_at', 86_400_000],
      ] as const) {
        const end = lastAt(until)
        const allocated = allocatedByHand(standingsUntil(until), end, windowMs)
        const rows = await ask(
          asked,
          `SELECT toUnixTimestamp64Milli(${beginsAt}) AS begins, * FROM ${view} ORDER BY begins`,
        )
        expect(rows).toHaveLength(allocated.size)
        for (const row of rows) {
          const begins = Number(row['begins'])
          const coveredMs = Math.min(end, begins + windowMs) - begins
          const expected = {
            covered_ms: coveredMs,
            installed_milli_ms: coveredMs * 48_000,
            schedulable_milli_ms: coveredMs * 48_000,
            allocated_milli_ms: Number(allocated.get(begins)),
            installed_gpu_hours: (coveredMs * 48_000) / 3_600_000_000,
            allocated_gpu_hours: Number(allocated.get(begins)) / 3_600_000_000,
          }
          const given = Object.fromEntries(Object.keys(expected).map((name) => [name, row[name]]))
          if (JSON.stringify(given) !== JSON.stringify(expected)) expect({ begins, ...given }).toEqual(expected)
        }
      }
  })

  it('should give waits by class, over those that started and with those that wait', async () => {
    for (const [asked, until] of views()) {
      const rows = await ask(asked, 'SELECT * FROM waits ORDER BY class')
      const come = byHand.pods.filter(({ submit }) => submit * 1000 <= until)
      const kinds = [...new Set(come.map(({ qos }) => qos))].sort()
      expect(rows.map((row) => row['class'])).toEqual(kinds)
      let waited = 0
      for (const [i, kind] of kinds.entries()) {
        const started: number[] = []
        const all: number[] = []
        for (const { name, submit, qos } of come) {
          if (qos !== kind) continue
          const at = byHand.startedAt.get(name)!
          if (at <= until) started.push(at - submit * 1000)
          all.push(Math.min(at, until) - submit * 1000)
        }
        waited += all.length - started.length
        const figures = (prefix: string, values: ReadonlyArray<number>) => {
          const sum = values.reduce((total, value) => total + value, 0)
          return {
            [`${prefix}_count`]: values.length,
            [`${prefix}_sum_ms`]: sum,
            [`${prefix}_mean_ms`]: sum / values.length,
            [`${prefix}_p50_ms`]: percentileByHand(values, 50),
            [`${prefix}_p90_ms`]: percentileByHand(values, 90),
            [`${prefix}_p99_ms`]: percentileByHand(values, 99),
            [`${prefix}_max_ms`]: Math.max(...values),
          }
        }
        const expected = { ...figures('started', started), ...figures('all', all), never_started: 0 }
        expect(rows[i]).toEqual({ cell: 'cell-default', class: kind, ...expected })
      }
      expect(waited > 0).toBe(until !== Infinity)
    }
  })

  it('should give fragmentation after every instant', async () => {
    for (const [asked, until] of views()) {
      const rows = await ask(asked, 'SELECT toUnixTimestamp64Milli(at) AS at_ms, * FROM fragmentation ORDER BY at_ms')
      const standings = standingsUntil(until)
      expect(rows.map((row) => row['at_ms'])).toEqual(standings.map(({ at }) => at))
      for (const [i, standing] of standings.entries()) {
        const row = rows[i]!
        const expected = {
          lasted_ms: (standings[i + 1]?.at ?? lastAt(until)) - standing.at,
          ...fragmentationByHand(standing, deviceMemoryMib, domainOf),
        }
        const given = Object.fromEntries(Object.keys(expected).map((name) => [name, row[name]]))
        if (JSON.stringify(given) !== JSON.stringify(expected)) expect({ at: standing.at, ...given }).toEqual(expected)
      }
    }
  })

  it('should give free devices by node at any instant', async () => {
    for (const share of [0.1, 0.5, 0.9]) {
      const { at, free } = byHand.standings[Math.floor(byHand.standings.length * share)]!
      const rows = await ask(
        whole,
        `SELECT node, argMax(free_devices, at) AS devices, argMax(free_milli, at) AS milli FROM fragmentation_nodes
         WHERE toUnixTimestamp64Milli(at) <= ${at} GROUP BY node ORDER BY node`,
      )
      const expected = free.map((devices, node) => ({
        node: `node-${node}`,
        devices: devices.filter((one) => one === 1000).length,
        milli: devices.reduce((sum, one) => sum + one, 0),
      }))
      // A node on which nothing ever was has one row, of when it was registered.
      expect(rows).toEqual(expected)
    }
  })
})
