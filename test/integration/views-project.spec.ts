import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EventLog, NewEvent, StoredEvent } from '../../domain/ports/event-log.ts'
import type { Views } from '../../domain/ports/views.ts'
import { openViews, type ClickHouseViews } from '../../infra/clickhouse/views.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { RebuiltTable } from '../../domain/ports/views.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import { policyActivated } from '../../services/decide/policy-activated.ts'
import { catchUp } from '../../services/project/catch-up.ts'
import { Projector } from '../../services/project/project.ts'
import { rebuild, type CountedViews } from '../../services/project/rebuild.ts'
import { allEvents, contraryLog } from '../projections/rows/told-logs.ts'
import { left, right } from '../support/events.ts'
import { nodeFact } from '../support/fact-script.ts'

const root = mkdtempSync(join(tmpdir(), 'leasehold-'))
let views: ClickHouseViews
let log: EventLog
let events: ReadonlyArray<StoredEvent>
beforeAll(async () => {
  views = await right(openViews({ folder: join(root, 'views') }))
  log = await contraryLog(7)
  events = await allEvents(log)
})
beforeEach(async () => {
  await right(views.reset())
})
afterAll(async () => {
  await views.close()
  rmSync(root, { recursive: true, force: true })
})

const limits = { timeMaxMs: 10_000, rowsMax: 100_000 }
const ask = async (sql: string) => (await right(views.query(sql, limits))).rows
const contents = () => right(views.contents())

/** A log that holds these events, in streams of their own names. */
const logOf = async (some: ReadonlyArray<StoredEvent>): Promise<EventLog> => {
  const copy = memoryEventLog()
  await appendTo(copy, some)
  return copy
}
const appendTo = async (copy: EventLog, some: ReadonlyArray<StoredEvent>): Promise<void> => {
  for (const event of some) await right(copy.append(event.stream, event.revision - 1, [event as NewEvent]))
}

const half = (): number => Math.floor(events.length / 2)

const differing = (tables: ReadonlyArray<RebuiltTable>): ReadonlyArray<string> =>
  tables.filter((one) => one.hashBefore !== one.hashAfter || one.rowsBefore !== one.rowsAfter).map(({ table }) => table)

describe('catching up', () => {
  it('should bring in everything once, however often it is done', async () => {
    expect(await right(catchUp(log, views))).toBe(events.length - 1)
    const once = await contents()
    expect(once.filter(({ rows }) => rows > 0).length).toBeGreaterThan(10)
    expect(await right(catchUp(log, views))).toBe(events.length - 1)
    expect(await contents()).toEqual(once)
  })

  it('should come to the same in parts', async () => {
    await right(catchUp(log, views))
    const once = await contents()
    await right(views.reset())
    for (const share of [0.1, 0.3, 0.31, 0.8, 1]) {
      const part = await logOf(events.slice(0, Math.ceil(events.length * share)))
      await right(catchUp(part, views))
    }
    expect(await contents()).toEqual(once)
  })

  it('should begin anew on views of another log, or of more than the log holds', async () => {
    await right(catchUp(await contraryLog(8), views))
    await right(catchUp(log, views))
    const ours = await contents()
    await right(views.reset())
    await right(catchUp(log, views))
    expect(await contents()).toEqual(ours)
    const shorter = await logOf(events.slice(0, events.length - 5))
    expect(await right(catchUp(shorter, views))).toBe(events.length - 6)
    expect(await right(views.projected())).toBe(events.length - 6)
  })

  it('should name the event of a log that does not follow', async () => {
    const [first] = events
    const odd = memoryEventLog()
    await right(odd.append('cell-a', -1, [{ ...(first as NewEvent), message: { ...first!.message, type: 'Unheard' } }]))
    expect(await left(catchUp(odd, views))).toMatchObject({ type: 'LogUnavailable', kind: 'damaged', position: 0 })
  })
})

describe('a log that was idle for 56 years', () => {
  const year2026 = 1_767_225_600_000
  const written = async (inputs: ReadonlyArray<CellInput>): Promise<EventLog> => {
    const idle = memoryEventLog()
    const recording = { stream: 'cell-idle', source: 'test', actor: 'test', recordTime: (at: EpochMs) => at }
    const writer = await right(() => CellWriter.open(idle, recording))
    for (const [i, input] of inputs.entries()) expect(E.isRight(writer.take(input, `input-${i}`))).toBe(true)
    await right(() => writer.flush())
    return idle
  }
  const nodeAt = (node: string, at: number) => ({ ...nodeFact(node, 8), at: at as EpochMs })

  it('should have its hours when they are asked for, and not before', async () => {
    await right(catchUp(await written([nodeAt('a', 0), nodeAt('b', year2026)]), views))
    const held = (await contents()).reduce((sum, { rows }) => sum + rows, 0)
    expect(held).toBeLessThan(10)
    expect(
      await ask('SELECT count(), max(covered_ms), sum(installed_milli_ms) = 8000 * 1767225600000 FROM ladder_hourly'),
    ).toEqual([[year2026 / 3_600_000, 3_600_000, 1]])
    expect(await ask('SELECT count(), sum(allocated_milli_ms) FROM ladder_daily')).toEqual([[year2026 / 86_400_000, 0]])
  })

  it('should have none in which nothing is installed', async () => {
    const first = policyActivated(defaultPolicy, 0 as EpochMs)
    const idle = await written([first, nodeAt('a', year2026), nodeAt('b', year2026 + 5_400_000)])
    await right(catchUp(idle, views))
    expect(
      await ask(
        'SELECT toString(hour_at), covered_ms, installed_milli_ms, installed_gpu_hours FROM ladder_hourly ORDER BY hour_at',
      ),
    ).toEqual([
      ['2026-01-01 00:00:00.000', 3_600_000, 28_800_000_000, 8],
      ['2026-01-01 01:00:00.000', 1_800_000, 14_400_000_000, 4],
    ])
  })
})

describe('building again', () => {
  it('should change nothing, and say so of every table', async () => {
    await right(catchUp(log, views))
    const before = await contents()
    const rebuilt = await right(rebuild(log, views))
    expect(rebuilt.map(({ table }) => table)).toEqual(before.map(({ table }) => table))
    expect(differing(rebuilt)).toEqual([])
    expect(await contents()).toEqual(before)
    expect(await right(views.projected())).toBe(events.length - 1)
  })

  it('should give away what was written by another hand', async () => {
    await right(catchUp(log, views))
    const clean = await contents()
    const [[cell, version] = []] = await ask('SELECT cell, version FROM decision_rows FINAL LIMIT 1')
    const forged = { table: 'decision_rows', columns: ['cell', 'version', 'at_ms'], rows: [[cell!, version!, 12_345]] }
    await right(views.write(events.length - 1, [forged]))
    expect(differing(await right(rebuild(log, views)))).toEqual(['decision_rows'])
    expect(await contents()).toEqual(clean)
    // Also where it makes them look like the views of another log.
    const other = { table: 'cell_rows', columns: ['cell', 'version'], rows: [['cell-a', events.length]] }
    await right(views.write(events.length - 1, [other]))
    expect(differing(await right(rebuild(log, views)))).toEqual(['cell_rows'])
    expect(await contents()).toEqual(clean)
  })
})

describe('following the log', () => {
  const options = { lingerMs: 5, backOffMinMs: 10, backOffMaxMs: 200 }

  it('should have everything in soon, with no lag, and go on after a stop where it was', async () => {
    const [some, more] = [Math.floor(events.length / 3), Math.floor(events.length / 2)]
    const growing = await logOf(events.slice(0, some))
    const first = new Projector(growing, views, systemClock, options)
    expect(await first.settled(some - 1)).toBe(true)
    await appendTo(growing, events.slice(some, more))
    expect(await first.settled(more - 1)).toBe(true)
    expect(first.status()).toEqual({ projected: more - 1, told: more - 1, lagMs: 0, fault: null })
    await first.stop()
    await appendTo(growing, events.slice(more))
    const second = new Projector(growing, views, systemClock, options)
    expect(await second.settled(events.length - 1)).toBe(true)
    await second.stop()
    expect(differing(await right(rebuild(growing, views)))).toEqual([])
  })

  it('should write what it has read before it stops', async () => {
    const growing = await logOf(events)
    const projector = new Projector(growing, views, systemClock, { ...options, lingerMs: 60_000 })
    while (projector.status().told < events.length - 1) await new Promise((resolve) => setTimeout(resolve, 5))
    await projector.stop()
    expect(await right(views.projected())).toBe(events.length - 1)
  })

  it('should lose nothing and repeat nothing while the engine is killed again and again', async () => {
    const growing = memoryEventLog()
    const projector = new Projector(growing, views, systemClock, options)
    const restarts = views.restarts()
    for (let i = 0; i < 5; i++) {
      const share = (from: number) => Math.floor((events.length * from) / 5)
      await appendTo(growing, events.slice(share(i), share(i + 0.5)))
      const pid = views.pid()
      if (pid !== null) process.kill(pid, 'SIGKILL')
      await appendTo(growing, events.slice(share(i + 0.5), share(i + 1)))
      await projector.settled(share(i + 0.2))
    }
    expect(await projector.settled(events.length - 1)).toBe(true)
    expect(projector.status().fault).toBeNull()
    await projector.stop()
    expect(views.restarts() - restarts).toBeGreaterThanOrEqual(3)
    expect(differing(await right(rebuild(growing, views)))).toEqual([])
  })

  it('should build the views again while the log goes on', async () => {
    const growing = await logOf(events.slice(0, half()))
    const projector = new Projector(growing, views, systemClock, options)
    await projector.settled(half() - 1)
    const building = projector.rebuild()()
    await appendTo(growing, events.slice(half()))
    expect(differing(await right(() => building))).toEqual([])
    expect(await projector.settled(events.length - 1)).toBe(true)
    await projector.stop()
    expect(differing(await right(rebuild(growing, views)))).toEqual([])
  })

  it('should say what is in the way and go on when it is gone, also in the middle of building again', async () => {
    let down = false
    const fault = { type: 'ViewsUnavailable', kind: 'full', reason: 'the disk is full', mend: 'make room' } as const
    const write: Views['write'] = (upTo, tables) =>
      down ? () => Promise.resolve(E.left(fault)) : views.write(upTo, tables)
    const filling: CountedViews = { ...viewsOf(views), write }
    const growing = await logOf(events.slice(0, half()))
    const projector = new Projector(growing, filling, systemClock, options)
    await projector.settled(half() - 1)
    down = true
    expect(await left(projector.rebuild())).toEqual(fault)
    await appendTo(growing, events.slice(half()))
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(projector.status()).toMatchObject({ projected: -1, fault })
    expect(projector.status().lagMs).toBeGreaterThan(200)
    expect(await left(projector.rebuild())).toEqual(fault)
    down = false
    expect(await projector.settled(events.length - 1)).toBe(true)
    expect(projector.status()).toMatchObject({ lagMs: 0, fault: null })
    await projector.stop()
    expect(differing(await right(rebuild(growing, views)))).toEqual([])
  })
})

/** The views by the names of their port alone. */
const viewsOf = ({ projected, write, query, reset, close, contents: held }: ClickHouseViews): CountedViews => ({
  ...{ projected, write, query, reset, close },
  contents: held,
})
