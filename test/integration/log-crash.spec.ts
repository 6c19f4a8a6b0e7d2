import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AuditedLog } from '../../infra/chain/audited-log.ts'
import { verify } from '../../infra/chain/verify.ts'
import { fileEventLog } from '../../infra/file/event-log.ts'
import { loadSqlite, sqliteEventLog } from '../../infra/sqlite/event-log.ts'
import { setup } from '../support/build.ts'
import { right } from '../support/events.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folderFor = tempFolder()
const writer = join('dist', 'test', 'support', 'append-for-ever.js')
const driver = await loadSqlite()
const kills = 30

beforeAll(setup, 120_000)

/** Runs the writer until `ms` after its first acknowledgement; returns the batches that it acknowledged. */
const killedAfter = (kind: string, path: string, ms: number): Promise<ReadonlyArray<number>> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [writer, kind, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      if (output === '') setTimeout(() => child.kill('SIGKILL'), ms)
      output += chunk.toString()
    })
    child.on('close', (code) => {
      if (code !== null) reject(new Error(`the writer ended by itself with ${code}`))
      // A number that the kill has cut short was not acknowledged to anybody.
      else resolve(output.split('\n').slice(0, -1).map(Number))
    })
  })

const suite = (kind: string, open: (path: string) => Promise<AuditedLog>): void => {
  it(`should lose nothing acknowledged and hold no half batch in ${kind}, over ${kills} kills at random instants`, async () => {
    const folder = folderFor()
    mkdirSync(folder, { recursive: true })
    const path = join(folder, 'log')
    const state = xoroshiro128plus(kind.length)
    const acknowledged = new Set<number>()
    for (let kill = 0; kill < kills; kill++) {
      for (const batch of await killedAfter(kind, path, uniformInt(state, 0, 60))) acknowledged.add(batch)
      if (kind === 'file') expect(readFileSync(`${path}.lock`, 'utf8')).toMatch(/^\d+ /)
      const log = await open(path)
      const messages = await right(log.readMessages('cell', 0, 10_000_000))
      const stored = new Map<number, number>()
      for (const { data } of messages) {
        const { batch, i } = data as { readonly batch: number; readonly i: number }
        expect(i).toBe(stored.get(batch) ?? 0)
        stored.set(batch, i + 1)
      }
      expect([...stored.keys()]).toEqual([...stored.keys()].map((_, n) => n))
      for (const [batch, count] of stored) if (count !== 1 + (batch % 5)) expect({ batch, count }).toBe('whole')
      for (const batch of acknowledged) if (!stored.has(batch)) expect({ kill, batch }).toBe('stored')
      expect((await verify(log)).findings).toEqual([])
      await log.close()
    }
    expect(acknowledged.size).toBeGreaterThan(kills)
  }, 240_000)
}

describe('SIGKILL', () => {
  suite('file', (path) => right(fileEventLog(path)))
  if (E.isRight(driver)) suite('sqlite', (path) => right(sqliteEventLog(driver.right, path)))
  else it.skip(`sqlite: better-sqlite3 does not load: ${driver.left}`, () => undefined)
})
