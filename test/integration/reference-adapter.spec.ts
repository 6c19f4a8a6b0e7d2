import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { DurationMs } from '../../domain/kernel/units.ts'
import type { WorkloadSubmitted } from '../../domain/planner/cell-event.ts'
import { attemptFolders, jobProcesses, logsOf, startAdapterProcess } from '../support/adapter-process.ts'
import { cellOverNats } from '../support/cell-over-nats.ts'
import { until } from '../support/commands.ts'
import { newPrefix } from '../support/nats-server.ts'
import { describeOnNats } from '../support/servers.ts'
import { tempFolder } from '../support/temp-folder.ts'
import type { submission } from '../support/up-cell.ts'

const jobs = 'docs/examples/jobs'
const ms = (count: number) => count as DurationMs

/** May be stopped, and says that it checkpoints. */
const tolerant =
  (gracePeriodMs: number, more: Partial<WorkloadSubmitted['data']['terms']> = {}) =>
  (fact: ReturnType<typeof submission>): ReturnType<typeof submission> => {
    const data = fact.data as WorkloadSubmitted['data']
    const preemption = {
      ...{ checkpointIntervalMs: ms(60_000), gracePeriodMs: ms(gracePeriodMs), minRuntimeMs: ms(0), tolerated: true },
    }
    return { ...fact, data: { ...data, terms: { ...data.terms, preemption, ...more } } } as typeof fact
  }
const lasting =
  (estimateMs: number) =>
  (fact: ReturnType<typeof submission>): ReturnType<typeof submission> =>
    ({ ...fact, data: { ...fact.data, estimateMs } }) as typeof fact

await describeOnNats('packaged', 'the reference adapter, jobs as processes', (start) => {
  const folder = tempFolder()
  const closing: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  let server: Promise<string> | null = null
  const scene = async (fleet = '1x4', programs = jobs) => {
    server ??= start().then(({ launch }) => launch.urls['nats']!)
    const url = `${await server}?prefix=${newPrefix()}`
    const data = folder()
    const cell = await cellOverNats(url, 'reference', folder())
    closing.push(() => cell.close())
    closing.push(() => {
      for (const pid of jobProcesses(data)) process.kill(pid, 'SIGKILL')
      return Promise.resolve()
    })
    const adapter = async (environment = {}, ...more: ReadonlyArray<string>) => {
      const words = ['--nats', url, '--fleet', fleet, '--jobs', programs, '--data', data, ...more]
      const started = await startAdapterProcess(words, environment)
      closing.push(() => started.end('SIGKILL'))
      await until(() => cell.nodes() === Number(fleet[0]))
      return started
    }
    return { cell, data, adapter }
  }
  const step = (data: string, workload: string, attempt: number): number =>
    Math.max(
      0,
      ...(logsOf(data, workload)[attempt - 1] ?? []).map((line) => Number(/^step (\d+)$/.exec(line)?.[1] ?? 0)),
    )
  const first = (data: string, workload: string, attempt: number) => logsOf(data, workload)[attempt - 1]?.[0]

  it('should run a job to its end, and tell what it says of itself meanwhile', async () => {
    const { adapter, cell, data } = await scene()
    const { said } = await adapter({}, '-o', 'json')
    const about = { adapter: 'reference', cell: 'cell-default', nodes: 1, devices: 4, running: 0 }
    expect(JSON.parse(said())).toMatchObject(about)
    await cell.submit('checkpointing', 2, lasting(300))
    await until(async () => (await cell.story('checkpointing')).length === 2)
    expect(await cell.story('checkpointing')).toEqual(['start done', 'ended succeeded'])
    expect(first(data, 'checkpointing', 1)).toBe('from step 0 with 2 devices')
    expect((await cell.events()).map(({ type }) => type)).toContain('ProgressObserved')
  })

  it('should have a job that checkpoints go on from there after it was made to leave', async () => {
    const { adapter, cell, data } = await scene()
    await adapter()
    await cell.submit('checkpointing', 4, tolerant(5_000))
    await until(() => step(data, 'checkpointing', 1) >= 3)
    await cell.setHealth('node-0000', 'draining')
    await until(async () => (await cell.story('checkpointing')).length === 3)
    const reached = step(data, 'checkpointing', 1)
    await cell.setHealth('node-0000', 'ready')
    await until(async () => (await cell.story('checkpointing')).length === 4)
    await until(() => step(data, 'checkpointing', 2) > reached)
    expect(await cell.story('checkpointing')).toEqual(['start done', 'checkpoint done', 'evict done', 'resume done'])
    expect(first(data, 'checkpointing', 2)).toBe(`from step ${reached} with 4 devices`)
    // When it was asked to, and when it had to stop.
    const kept = (await cell.events()).filter(({ type }) => type === 'CheckpointCommitted')
    expect(kept.length).toBeGreaterThanOrEqual(1)
    expect(kept[0]).toMatchObject({ data: { attempt: 1, workload: 'checkpointing' } })
    await cell.cancel('checkpointing')
    await until(async () => (await cell.story('checkpointing')).at(-1) === 'cancel done')
    expect(jobProcesses(data)).toEqual([])
  })

  it('should end by force after its grace period a job that only says that it checkpoints, whose work is lost', async () => {
    const { adapter, cell, data } = await scene()
    await adapter()
    await cell.submit('forgetful', 4, tolerant(300))
    await until(() => step(data, 'forgetful', 1) >= 3)
    const since = Date.now()
    await cell.setHealth('node-0000', 'draining')
    await until(async () => (await cell.story('forgetful')).length === 3)
    expect(Date.now() - since).toBeGreaterThanOrEqual(300)
    expect(jobProcesses(data)).toEqual([])
    expect(logsOf(data, 'forgetful')[0]).toContain('not now')
    expect(existsSync(join(attemptFolders(data, 'forgetful')[0]!, 'ended'))).toBe(false)
    await cell.setHealth('node-0000', 'ready')
    await until(() => step(data, 'forgetful', 2) >= 1)
    expect(await cell.story('forgetful')).toEqual(['start done', 'checkpoint done', 'evict done', 'resume done'])
    expect(first(data, 'forgetful', 2)).toBe('from step 0')
  })

  it('should have a job go on with fewer devices, where it can', async () => {
    const { adapter, cell, data } = await scene('2x2')
    await adapter()
    const elasticity = { maxReplicas: 4, minReplicas: 2, resizeCostMs: ms(0) }
    await cell.submit('checkpointing', 4, (fact) => {
      const { data: submitted, ...rest } = tolerant(5_000, { elasticity })(fact)
      const request = { ...(submitted as WorkloadSubmitted['data']).request, span: 'anywhere' as const }
      return { ...rest, data: { ...submitted, request } } as typeof fact
    })
    await until(() => step(data, 'checkpointing', 1) >= 1)
    await cell.setHealth('node-0001', 'draining')
    await until(async () => (await cell.story('checkpointing')).length === 2)
    expect(await cell.story('checkpointing')).toEqual(['start done', 'shrink done'])
    expect(logsOf(data, 'checkpointing')[0]).toContain('goes on with 2 devices')
    expect((await cell.events()).map(({ type }) => type)).toContain('LeaseShrunk')
  })

  it('should find its jobs again after it was stopped, also what has ended meanwhile', async () => {
    const { adapter, cell, data } = await scene()
    const before = await adapter()
    await cell.submit('checkpointing', 2)
    await cell.submit('forgetful', 2, lasting(600))
    await until(() => step(data, 'checkpointing', 1) >= 1 && step(data, 'forgetful', 1) >= 1)
    await until(async () => (await cell.story('forgetful')).length === 1)
    expect(await before.end('SIGTERM')).toBe(0)
    expect(before.said()).toContain('stopped; its jobs go on')
    await until(() => logsOf(data, 'forgetful')[0]!.includes('all steps done'))
    expect(await cell.story('forgetful')).toEqual(['start done'])
    const after = await adapter()
    expect(after.said()).toContain('2 found running')
    await until(async () => (await cell.story('forgetful')).length === 2)
    expect(await cell.story('forgetful')).toEqual(['start done', 'ended succeeded'])
    await cell.cancel('checkpointing')
    await until(async () => (await cell.story('checkpointing')).length === 2)
    expect(await cell.story('checkpointing')).toEqual(['start done', 'cancel done'])
    expect(jobProcesses(data)).toEqual([])
  })

  it('should tell a job that fails, with the rest of what it started ended too', async () => {
    const programs = folder()
    writeFileSync(join(programs, 'default'), '#!/bin/sh\nsleep 600 &\nexit 3\n')
    chmodSync(join(programs, 'default'), 0o755)
    const { adapter, cell, data } = await scene('1x4', programs)
    const { said } = await adapter()
    await cell.submit('sweep', 1)
    await until(async () => (await cell.story('sweep')).length === 2)
    expect(await cell.story('sweep')).toEqual(['start done', 'ended failed'])
    await until(() => jobProcesses(data).length === 0)
    expect(said()).toContain('sweep/1 ended with exit code 3')
  })

  it('should fail the start of a job that cannot be run, with the reason', async () => {
    const programs = folder()
    writeFileSync(join(programs, 'unfit'), '#!/bin/sh\n')
    const { adapter, cell, data } = await scene('1x4', programs)
    await adapter()
    await cell.submit('unfit', 1)
    await cell.submit('absent', 1)
    await until(async () => (await cell.story('unfit')).length > 0 && (await cell.story('absent')).length > 0)
    const reasons = (await cell.events()).flatMap((event) =>
      event.type === 'CommandConcluded' ? [[event.data.workload, event.data.outcome, event.data.reason]] : [],
    )
    expect(reasons).toContainEqual(['unfit', 'failed', `${join(programs, 'unfit')} may not be run: chmod +x`])
    const none = `there is no job in ${programs} that is called absent, training, default, with .mjs or without`
    expect(reasons).toContainEqual(['absent', 'failed', none])
    expect(jobProcesses(data)).toEqual([])
  })

  /** A PATH whose `ln` waits, so that a job's shell has been started and has not yet claimed its job. */
  const withSlowShell = () => {
    const tools = folder()
    const go = join(tools, 'go')
    const began = join(tools, 'began')
    const script = `#!/bin/sh\n: > '${began}'\nwhile [ ! -e '${go}' ]; do sleep 0.02; done\nexec /bin/ln "$@"\n`
    writeFileSync(join(tools, 'ln'), script)
    chmodSync(join(tools, 'ln'), 0o755)
    return {
      environment: { PATH: `${tools}:${process.env['PATH'] ?? ''}` },
      hasBegun: () => existsSync(began),
      letGo: () => {
        writeFileSync(go, '')
      },
    }
  }

  it.each(['before', 'after'] as const)(
    'should start a job once when it is killed in the middle of that, and what it left comes up %s its next life',
    async (when) => {
      const { adapter, cell, data } = await scene()
      const slow = withSlowShell()
      const before = await adapter(slow.environment)
      await cell.submit('checkpointing', 2)
      await until(slow.hasBegun)
      await before.end('SIGKILL')
      expect(await cell.story('checkpointing')).toEqual([])
      if (when === 'before') {
        slow.letGo()
        await until(() => step(data, 'checkpointing', 1) >= 1)
      }
      await adapter()
      await until(async () => (await cell.story('checkpointing')).length === 1)
      slow.letGo()
      await until(() => jobProcesses(data).length === 2)
      const reached = step(data, 'checkpointing', 1)
      await until(() => step(data, 'checkpointing', 1) > reached + 3)
      expect(
        logsOf(data, 'checkpointing').map((lines) => lines.filter((line) => line.startsWith('from step'))),
      ).toEqual([['from step 0 with 2 devices']])
      expect(await cell.story('checkpointing')).toEqual(['start done'])
      // A shell and its job.
      expect(jobProcesses(data)).toHaveLength(2)
    },
  )

  it('should stop a job once, within its grace period, when it is killed in the middle of that', async () => {
    const { adapter, cell, data } = await scene()
    const before = await adapter()
    await cell.submit('forgetful', 2, tolerant(600))
    await until(() => step(data, 'forgetful', 1) >= 1)
    await cell.cancel('forgetful')
    await until(() => logsOf(data, 'forgetful')[0]!.includes('not now'))
    await before.end('SIGKILL')
    expect(jobProcesses(data)).toHaveLength(2)
    await adapter()
    await until(async () => (await cell.story('forgetful')).length === 2)
    expect(await cell.story('forgetful')).toEqual(['start done', 'cancel done'])
    expect(jobProcesses(data)).toEqual([])
    const stopping = join(attemptFolders(data, 'forgetful')[0]!, 'stopping')
    expect(Number(readFileSync(stopping, 'utf8'))).toBeLessThan(Date.now())
  })

  it('should end within seconds when it is stopped in the middle of a grace period, and let that go on', async () => {
    const { adapter, cell, data } = await scene()
    const before = await adapter()
    await cell.submit('forgetful', 2, tolerant(60_000))
    await until(() => step(data, 'forgetful', 1) >= 1)
    await cell.cancel('forgetful')
    await until(() => logsOf(data, 'forgetful')[0]!.includes('not now'))
    const since = Date.now()
    expect(await before.end('SIGTERM')).toBe(0)
    expect(Date.now() - since).toBeLessThan(30_000)
    expect(before.said()).not.toContain('unexpected')
    // Of the job and its shell nothing was ended.
    expect(jobProcesses(data)).toHaveLength(2)
  })

  it('should leave its folder to one process at a time', async () => {
    const { adapter } = await scene()
    const first = await adapter()
    await expect(adapter()).rejects.toThrow(`process ${first.pid} is writing it`)
  })
})
