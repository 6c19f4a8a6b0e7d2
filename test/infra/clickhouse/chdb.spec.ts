import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { either as E } from 'fp-ts'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { describe, expect, it } from 'vitest'
import type { QueryRefused, QueryResult, ViewsUnavailable } from '../../../domain/ports/views.ts'
import { openViews, type ClickHouseViews } from '../../../infra/clickhouse/views.ts'
import { jobs } from '../../contract/views.contract.ts'
import { left, right } from '../../support/events.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { schema } from './job-views.ts'

const folderFor = tempFolder()
const limits = { timeMaxMs: 10_000, rowsMax: 1_000 }
const options = { migrations: schema }

const rowsOf = async (views: ClickHouseViews, sql: string) =>
  (await right<ViewsUnavailable | QueryRefused, QueryResult>(views.query(sql, limits))).rows

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`)
const until = async (holds: () => boolean): Promise<void> => {
  for (let waited = 0; !holds(); waited += 10) {
    if (waited > 20_000) throw new Error('it did not come about in 20 s')
    await new Promise((next) => setTimeout(next, 10))
  }
}
const kill = (views: ClickHouseViews): void => {
  const pid = views.pid()
  if (pid !== null) process.kill(pid, 'SIGKILL')
}

describe('chDB', () => {
  it('should keep what is there, and leave no process behind', async () => {
    const folder = folderFor()
    const first = await right(openViews({ folder }, options))
    const pid = first.pid()!
    expect(isRunning(pid)).toBe(true)
    await right(first.write(3, jobs(['a', 1, null, 0])))
    await first.close()
    expect(isRunning(pid)).toBe(false)
    expect(await left(first.projected())).toMatchObject({ kind: 'unreachable' })
    const again = await right(openViews({ folder }, options))
    expect(await right(again.projected())).toBe(3)
    expect(await rowsOf(again, 'SELECT job FROM job FINAL')).toEqual([['a']])
    await again.close()
  })

  it('should be of one process, and free for the next', async () => {
    const folder = folderFor()
    const first = await right(openViews({ folder }, options))
    const second = await left(openViews({ folder }, options))
    expect(second).toMatchObject({ kind: 'locked', mend: 'ask through it, or stop it' })
    expect(second.reason).toContain(folder)
    await first.close()
    await (await right(openViews({ folder }, options))).close()
  })

  it('should tell a call that was under way, and answer the next', async () => {
    const views = await right(openViews({ folder: folderFor() }, options))
    await right(views.write(3, jobs(['a', 1, null, 0])))
    const running = left<ViewsUnavailable | QueryRefused, QueryResult>(
      views.query('SELECT sum(cityHash64(number)) FROM numbers(1000000000000)', limits),
    )
    await new Promise((next) => setTimeout(next, 300))
    const pid = views.pid()
    kill(views)
    expect(await running).toMatchObject({ type: 'ViewsUnavailable', kind: 'unreachable' })
    expect(await rowsOf(views, 'SELECT job FROM job FINAL')).toEqual([['a']])
    expect(views.pid()).not.toBe(pid)
    expect(views.restarts()).toBe(1)
    await views.close()
  })

  it('should come back however often it is killed, also while it starts', async () => {
    const views = await right(openViews({ folder: folderFor() }, options))
    for (let i = 0; i < 6; i++) {
      const pid = views.pid()
      kill(views)
      // The next one is killed as soon as it is there: it has not answered yet.
      await until(() => views.pid() !== null && views.pid() !== pid)
    }
    kill(views)
    let projected = await views.projected()()
    for (let i = 0; E.isLeft(projected) && i < 400; i++) {
      expect(['unreachable', 'not-started']).toContain(projected.left.kind)
      await new Promise((next) => setTimeout(next, 50))
      projected = await views.projected()()
    }
    expect(projected).toEqual(E.right(-1))
    expect(views.restarts()).toBeGreaterThanOrEqual(7)
    await views.close()
  })

  it('should be started again when what kept it from starting is mended', async () => {
    const folder = folderFor()
    const views = await right(openViews({ folder }, options))
    await right(views.write(3, jobs(['a', 1, null, 0])))
    const aside = `${folder}-aside`
    execFileSync('mv', [folder, aside])
    writeFileSync(folder, 'no folder')
    kill(views)
    await until(() => views.pid() === null)
    let told = await views.projected()()
    for (let i = 0; E.isLeft(told) && told.left.kind === 'unreachable' && i < 100; i++) told = await views.projected()()
    expect(told).toMatchObject({
      left: { kind: 'not-started', reason: expect.stringContaining('is no folder') as unknown },
    })
    rmSync(folder)
    execFileSync('mv', [aside, folder])
    await until(() => views.pid() !== null)
    expect(await right(views.projected())).toBe(3)
    await views.close()
  })

  it('should end a query that looks at no clock, and come back', async () => {
    const views = await right(openViews({ folder: folderFor() }, options))
    const endless =
      "SELECT arraySum(arrayMap(x -> levenshteinDistance(repeat('a', 60000), repeat('b', 60000 - x)), range(100)))"
    const refused = await left<ViewsUnavailable | QueryRefused, QueryResult>(
      views.query(endless, { timeMaxMs: 100, rowsMax: 1 }),
    )
    expect(refused).toMatchObject({ type: 'QueryRefused', kind: 'too-long' })
    expect(await rowsOf(views, 'SELECT 1')).toEqual([[1]])
    await until(() => views.restarts() === 1)
    expect(await rowsOf(views, 'SELECT 1')).toEqual([[1]])
    await views.close()
  })

  it('should end with its owner, however that ended, and be free for the next', async () => {
    const folder = folderFor()
    const script = `
      import { openViews } from ${JSON.stringify(resolve('dist/infra/clickhouse/views.js'))}
      const opened = await openViews({ folder: ${JSON.stringify(folder)} })()
      process.stdout.write(JSON.stringify(opened.right.pid()))
      opened.right.query('SELECT sum(cityHash64(number)) FROM numbers(1000000000000)', { timeMaxMs: 60000, rowsMax: 1 })()
    `
    const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const pid = await new Promise<number>((told) => {
      owner.stdout.once('data', (text: Buffer) => {
        told(Number(text.toString()))
      })
    })
    expect(isRunning(pid)).toBe(true)
    owner.kill('SIGKILL')
    await until(() => !isRunning(pid))
    await (await right(openViews({ folder }))).close()
  })

  it('should say that it is not installed, where it is not', () => {
    const folder = folderFor()
    cpSync('dist/infra/clickhouse', join(folder, 'infra', 'clickhouse'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    mkdirSync(join(folder, 'node_modules'))
    for (const name of ['@clickhouse', 'fp-ts'])
      symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
    const script = `
      import { openViews } from './infra/clickhouse/views.js'
      console.log(JSON.stringify(await openViews({ folder: 'views' })()))
    `
    const told = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: folder }).toString()
    expect(JSON.parse(told)).toMatchObject({
      left: {
        kind: 'not-installed',
        reason: "chDB does not load: Cannot find package 'chdb'",
        mend: expect.stringContaining('npm install chdb') as unknown,
      },
    })
  })

  it(
    'should lose nothing acknowledged and double nothing, over 30 kills at random instants under load',
    { timeout: 300_000 },
    async () => {
      const views = await right(openViews({ folder: folderFor() }, options))
      const state = xoroshiro128plus(4)
      let acknowledged = -1
      const load = { isOn: true }
      let unreachable = 0
      const batch = (n: number) => jobs(...Array.from({ length: 50 }, (_, i) => [`job-${n}-${i}`, n, null, n]))
      const writing = (async () => {
        for (let n = 0; load.isOn;) {
          const written = await views.write(n, batch(n))()
          if (E.isRight(written)) acknowledged = n++
          else {
            expect(['unreachable', 'not-started']).toContain(written.left.kind)
            unreachable++
            await new Promise((next) => setTimeout(next, 10))
          }
        }
      })()
      const killed = new Set<number>()
      while (killed.size < 30) {
        const before = acknowledged
        await until(() => acknowledged > before)
        await new Promise((next) => setTimeout(next, uniformInt(state, 0, 60)))
        const pid = views.pid()
        if (pid === null || killed.has(pid)) continue
        process.kill(pid, 'SIGKILL')
        killed.add(pid)
      }
      await until(() => views.restarts() === 30)
      load.isOn = false
      await writing
      expect(unreachable).toBeGreaterThan(0)
      expect(await right(views.projected())).toBe(acknowledged)
      const rows = (acknowledged + 1) * 50
      expect(await rowsOf(views, 'SELECT count(), uniqExact(job), max(wait_ms) FROM job FINAL')).toEqual([
        [rows, rows, acknowledged],
      ])
      const before = await right(views.contents())
      await right(views.reset())
      for (let n = 0; n <= acknowledged; n += 100)
        await right(
          views.write(
            Math.min(n + 99, acknowledged),
            Array.from({ length: Math.min(100, acknowledged + 1 - n) }, (_, i) => batch(n + i)).flat(),
          ),
        )
      expect(await right(views.contents())).toEqual(before)
      await views.close()
    },
  )
})
