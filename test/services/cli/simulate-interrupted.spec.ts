import { spawn } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { describe, expect, it } from 'vitest'
import { temporaryFile, temporaryFolder } from '../../support/temporary-file.ts'
import { run } from './terminal.ts'

const binary = resolve('dist/services/cli/main.js')

/** So many jobs that the log is written for a while, on a fleet on which some wait. */
const trace = (jobs: number): string => {
  const state = xoroshiro128plus(3)
  const rows = ['submit,duration,gpus,class']
  let at = 0
  for (let i = 0; i < jobs; i++) {
    at += uniformInt(state, 0, 20)
    rows.push(`${at},${uniformInt(state, 1, 900)},${2 ** uniformInt(state, 0, 3)},batch`)
  }
  return rows.join('\n')
}
const jobs = 5_000
const wordsFor = (file: string, folder: string, ordering = 'reserve'): ReadonlyArray<string> => [
  ...['simulate', file, '--nodes', '24', '--ordering', ordering, '--data', folder, '-o', 'json'],
]

type Kind = 'sqlite' | 'file'
/** How much of the log there is: events in SQLite, bytes in one file. */
const sizeIn = (kind: Kind, folder: string): number => {
  if (kind === 'file') return statSync(join(folder, 'log.ndjson')).size
  try {
    const db = new Sqlite(join(folder, 'log.sqlite'), { readonly: true })
    const size = db.prepare('SELECT max(position) + 1 FROM event').pluck().get() as number | null
    db.close()
    return size ?? 0
  } catch {
    return 0 // It is not there yet.
  }
}
/** A folder in which a log of that kind will be written. */
const folderFor = (kind: Kind): string => {
  const folder = join(temporaryFolder(), 'data')
  mkdirSync(folder)
  if (kind === 'file') writeFileSync(join(folder, 'log.ndjson'), '')
  return folder
}

/** Runs the binary until the log has got that far, and kills it there; resolves with how it ended. */
const killedAt = async (kind: Kind, words: ReadonlyArray<string>, folder: string, size: number) => {
  const child = spawn(process.execPath, [binary, ...words], {
    stdio: 'ignore',
    env: { ...process.env, LEASEHOLD_VIEWS: 'none' },
  })
  const exit = new Promise<NodeJS.Signals | number | null>((resolve) => {
    child.on('exit', (code, signal) => {
      resolve(signal ?? code)
    })
  })
  while (child.exitCode === null && sizeIn(kind, folder) < size) await sleep(1)
  child.kill('SIGKILL')
  return exit
}

const shown = async (words: ReadonlyArray<string>): Promise<Record<string, unknown>> => {
  const { code, stdout, stderr } = await run(words)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Record<string, unknown>
}
const exported = async (folder: string) => (await run(['log', 'export', '--data', folder])).stdout

describe('a simulation that is killed and run again', () => {
  it.each(['sqlite', 'file'] as const)(
    'should end as if nothing had been, in %s',
    { timeout: 120_000 },
    async (kind) => {
      const file = temporaryFile(trace(jobs), 'jobs.csv')
      const calm = folderFor(kind)
      const undisturbed = await shown(wordsFor(file, calm))
      expect(undisturbed).toMatchObject({ jobs, refused: 0 })
      const all = sizeIn(kind, calm)
      const lines = await exported(calm)

      const folder = folderFor(kind)
      const words = wordsFor(file, folder)
      const state = xoroshiro128plus(kind === 'sqlite' ? 1 : 2)
      const instants = Array.from({ length: 8 }, () => uniformInt(state, 1, Math.floor(all * 0.9))).sort(
        (a, b) => a - b,
      )
      let landed = 0
      for (const instant of instants) {
        const before = sizeIn(kind, folder)
        const end = await killedAt(kind, words, folder, instant)
        const stored = sizeIn(kind, folder)
        expect(stored).toBeGreaterThanOrEqual(before)
        if (end === 'SIGKILL' && stored > 0 && stored < all) landed++
        // What is there is the beginning of what will be, and passes.
        expect(lines.startsWith(await exported(folder))).toBe(true)
        expect(await run(['audit', 'verify', '--data', folder])).toMatchObject({ code: 0 })
      }
      expect(landed).toBeGreaterThanOrEqual(6)

      const { wallMs } = undisturbed
      expect({ ...(await shown(words)), wallMs }).toEqual(undisturbed)
      expect((await exported(folder)) === lines).toBe(true)
      expect(await run(['replay', 'verify', '--data', folder])).toMatchObject({ code: 0 })
      // Once more, when it is all there: nothing is added.
      expect({ ...(await shown(words)), wallMs }).toEqual(undisturbed)
      expect(sizeIn(kind, folder)).toBe(all)
    },
  )

  it('should not go on in the log of another run', async () => {
    const folder = folderFor('sqlite')
    const file = temporaryFile(trace(400), 'jobs.csv')
    await shown(wordsFor(file, folder))
    const lines = await exported(folder)
    const others = {
      'another policy': wordsFor(file, folder, 'fifo'),
      'a smaller fleet': wordsFor(file, folder).map((word) => (word === '24' ? '23' : word)),
      'the beginning of the trace': wordsFor(temporaryFile(trace(300), 'jobs.csv'), folder),
      'more of the trace': wordsFor(temporaryFile(trace(500), 'jobs.csv'), folder),
    }
    for (const [what, words] of Object.entries(others)) {
      const { code, stdout, stderr } = await run(words)
      expect({ what, code, stdout, stderr }).toEqual({
        ...{ what, code: 1, stdout: '' },
        stderr: expect.stringMatching(
          /^error: the folder holds the log of another run, which differs at event \d+ of cell-default; name another folder with --data\n$/,
        ) as unknown,
      })
      expect((await exported(folder)) === lines).toBe(true)
    }
  })
})
