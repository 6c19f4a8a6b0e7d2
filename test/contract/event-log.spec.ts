import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterAll, it } from 'vitest'
import { fileEventLog } from '../../infra/file/event-log.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { loadSqlite, sqliteEventLog } from '../../infra/sqlite/event-log.ts'
import { right } from '../support/events.ts'
import { eventLogContract } from './event-log.contract.ts'

const root = mkdtempSync(join(tmpdir(), 'leasehold-'))
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
})
let places = 0

eventLogContract('memory', () => {
  const lines: string[] = []
  return { open: () => Promise.resolve(memoryEventLog(lines)) }
})

eventLogContract('file', () => {
  const path = join(root, `${places++}.ndjson`)
  return { open: () => right(fileEventLog(path)) }
})

const driver = await loadSqlite()
if (E.isRight(driver))
  eventLogContract('sqlite', () => {
    const path = join(root, `${places++}.sqlite`)
    return { open: () => right(sqliteEventLog(driver.right, path)) }
  })
else it.skip(`sqlite: better-sqlite3 does not load: ${driver.left}`, () => undefined)
