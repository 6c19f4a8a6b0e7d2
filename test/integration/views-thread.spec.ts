import { closeSync, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import type { EventLog, NewEvent, StoredEvent } from '../../domain/ports/event-log.ts'
import type { RebuiltTable } from '../../domain/ports/views.ts'
import { rebuildMend } from '../../infra/clickhouse/fault.ts'
import { openViews, type LentViews } from '../../infra/clickhouse/views.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { openLog } from '../../infra/host/open-log.ts'
import { AttachedViews } from '../../services/project/attached-views.ts'
import { rebuild } from '../../services/project/rebuild.ts'
import { ThreadedProjector } from '../../services/project/threaded-projector.ts'
import { allEvents, contraryLog } from '../projections/rows/told-logs.ts'
import { right } from '../support/events.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folderFor = tempFolder()
const events = await allEvents(await contraryLog(7))
const appendTo = async (log: EventLog, some: ReadonlyArray<StoredEvent>): Promise<void> => {
  for (const event of some) await right(log.append(event.stream, event.revision - 1, [event as NewEvent]))
}
const withoutSqlite = { load: () => Promise.resolve(E.left('not here')) }
const reached = (projector: ThreadedProjector, position: number) =>
  expect.poll(() => projector.status().projected, { timeout: 20_000 }).toBe(position)
const differing = (tables: ReadonlyArray<RebuiltTable>): ReadonlyArray<string> =>
  tables.filter((one) => one.hashBefore !== one.hashAfter || one.rowsBefore !== one.rowsAfter).map(({ table }) => table)

it.each([
  ['SQLite', {}],
  ['a file', withoutSqlite],
])('should follow a log in %s, build again beside it, and go on after a stop where it was', async (_, options) => {
  const folder = folderFor()
  const { log } = await right(openLog(folder, options))
  const views = await right(openViews({ folder: join(folder, 'views') }))
  const [some, more] = [Math.floor(events.length / 3), Math.floor(events.length / 2)]
  await appendTo(log, events.slice(0, some))
  const first = new ThreadedProjector(folder, views.lent(), systemClock)
  await reached(first, some - 1)
  const building = first.rebuild()()
  await appendTo(log, events.slice(some, more))
  expect(differing(await right(() => building))).toEqual([])
  await reached(first, more - 1)
  expect(first.status()).toEqual({ projected: more - 1, told: more - 1, lagMs: 0, fault: null })
  await first.stop()
  await appendTo(log, events.slice(more))
  const second = new ThreadedProjector(folder, views.lent(), systemClock)
  await reached(second, events.length - 1)
  await second.stop()
  expect(differing(await right(rebuild(log, views)))).toEqual([])
  await views.close()
  await log.close()
})

it('should find the engine again when its process was killed', async () => {
  const folder = folderFor()
  const { log } = await right(openLog(folder))
  const views = await right(openViews({ folder: join(folder, 'views') }))
  const projector = new ThreadedProjector(folder, views.lent(), systemClock)
  const third = Math.ceil(events.length / 3)
  for (let from = 0; from < events.length; from += third) {
    process.kill(views.pid()!, 'SIGKILL')
    const part = events.slice(from, from + third)
    await appendTo(log, part)
    await reached(projector, from + part.length - 1)
  }
  expect(views.restarts()).toBe(3)
  await projector.stop()
  expect(differing(await right(rebuild(log, views)))).toEqual([])
  await views.close()
  await log.close()
})

it('should say that the thread ended, and start it again until it does its work', async () => {
  const folder = folderFor()
  const views = await right(openViews({ folder: join(folder, 'views') }))
  let starts = 0
  const lent: LentViews = {
    lender: views.lent().lender,
    get described() {
      const { described } = views.lent()
      return ++starts < 3 ? { ...described, tableFunctions: 5 as never } : described
    },
  }
  const projector = new ThreadedProjector(folder, lent, systemClock)
  // There is no log at first.
  await expect.poll(() => projector.status().fault, { timeout: 20_000 }).toMatchObject({ kind: 'absent' })
  const { log } = await right(openLog(folder))
  const isBehindWithFault = () => projector.status().fault?.kind === 'input-output' && projector.status().lagMs > 0
  // Looked for from now on: it may be over when all has been appended.
  const ended = expect.poll(isBehindWithFault, { timeout: 20_000 }).toBe(true)
  await appendTo(log, events)
  await ended
  await reached(projector, events.length - 1)
  expect(projector.status()).toMatchObject({ lagMs: 0, fault: null })
  await projector.stop()
  await views.close()
  await log.close()
})

it('should drop views that cannot be read and build them anew when that is asked for, and not before', async () => {
  const folder = folderFor()
  const { log } = await right(openLog(folder))
  await appendTo(log, events)
  const parts = { log, logPlace: folder, place: { folder: join(folder, 'views') }, clock: systemClock }
  const first = new AttachedViews(parts)
  await expect.poll(async () => (await first.status())?.projected, { timeout: 20_000 }).toBe(events.length - 1)
  const held = await right((await right(() => Promise.resolve(first.views))).contents())
  await first.stop()
  damage(parts.place.folder)
  const second = new AttachedViews(parts)
  await second.tried
  expect(second.fault).toMatchObject({ type: 'ViewsUnavailable', mend: rebuildMend })
  const built = await right(second.rebuild())
  expect(built.map(({ hashAfter, rowsAfter, table }) => ({ table, rows: rowsAfter, hash: hashAfter }))).toEqual(held)
  expect(built.every(({ hashBefore }) => hashBefore === '')).toBe(true)
  expect(second.fault).toBeNull()
  expect(await second.status()).toMatchObject({ projected: events.length - 1, lagEvents: 0 })
  expect(differing(await right(second.rebuild()))).toEqual([])
  await second.stop()
  await log.close()
})

const damage = (folder: string): void => {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/metadata.leasehold\.sql$/.test(path)) continue
    const fd = openSync(join(folder, path), 'r+')
    writeSync(fd, Buffer.alloc(statSync(join(folder, path)).size, 7))
    closeSync(fd)
  }
}
