import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { StoredEvent } from '../../domain/ports/event-log.ts'
import { digestOf } from '../../infra/chain/log-digest.ts'
import { verify } from '../../infra/chain/verify.ts'
import { openLog } from '../../infra/host/open-log.ts'
import { verifyReplay } from '../../services/replay/verify.ts'
import { right } from './events.ts'
import { cellName } from './up-cell.ts'
import { getStatus, postRebuild } from './up-client.ts'

/** What a folder's log holds, read and verified by this process, not told by the other. */
export const storedIn = async (folder: string) => {
  const { log } = await right(openLog(folder, { readOnly: true }))
  const events: StoredEvent[] = []
  for (let page = 0; page === 0 || events.length === page * 5_000; page++)
    events.push(...(await right(log.readAll(page * 5_000, 5_000))))
  expect(await verify(log)).toMatchObject({ ok: true, findings: [] })
  expect(await right(() => verifyReplay(log, cellName))).toMatchObject({ ok: true, finding: null })
  const digest = await right(digestOf(log))
  await log.close()
  expect(new Set(events.map(({ id, stream }) => `${stream} ${id}`)).size).toBe(events.length)
  return { events, digest }
}

interface Deed {
  readonly key: string
  readonly job: { readonly name: string; readonly now: object | null } | null
}

/** What the embedded adapter has done, in order. */
export const deedsIn = (folder: string): ReadonlyArray<Deed> =>
  readFileSync(join(folder, 'embedded', 'journal.ndjson'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"deed"'))
    .map((line) => (JSON.parse(line) as { deed: Deed }).deed)

/** No command was acted on twice, and no attempt started twice. */
export const expectOneEffect = (folder: string): number => {
  const deeds = deedsIn(folder)
  expect(new Set(deeds.map(({ key }) => key)).size).toBe(deeds.length)
  const started = deeds
    .filter(({ key, job }) => /\/(start|resume)@/.test(key) && job !== null)
    .map(({ job }) => job!.name)
  expect(new Set(started).size).toBe(started.length)
  return deeds.length
}

/** The views hold what a rebuild makes of the log; for a system that comes to rest: all work is done, or frozen. */
export const expectViewsRebuilt = async (address: string): Promise<void> => {
  let before = ''
  const standing = async () => {
    const status = await getStatus(address)
    const now = JSON.stringify([status?.views?.lagEvents, status?.views?.projected])
    const rests = status?.views?.lagEvents === 0 && now === before
    before = now
    return rests ? 'at rest' : JSON.stringify({ views: status?.views, degraded: status?.degraded })
  }
  await expect.poll(standing, { timeout: 120_000, interval: 1_500 }).toBe('at rest')
  const tables = await postRebuild(address)
  expect(tables!.length).toBeGreaterThan(5)
  expect(tables!.some(({ rowsAfter }) => rowsAfter > 100)).toBe(true)
  for (const { hashAfter, hashBefore, rowsAfter, rowsBefore, table } of tables!)
    expect({ table, rows: rowsBefore, hash: hashBefore }).toEqual({ table, rows: rowsAfter, hash: hashAfter })
}
