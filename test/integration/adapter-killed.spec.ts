import { expect, it } from 'vitest'
import type { DurationMs } from '../../domain/kernel/units.ts'
import type { WorkloadSubmitted } from '../../domain/planner/cell-event.ts'
import { jobProcesses, logsOf, startAdapterProcess } from '../support/adapter-process.ts'
import { cellOverNats } from '../support/cell-over-nats.ts'
import { until } from '../support/commands.ts'
import { numbersFrom } from '../support/fact-script.ts'
import { newPrefix } from '../support/nats-server.ts'
import { scoped } from '../support/scope.ts'
import { describeOnNats } from '../support/servers.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** One seed for a run of the suite; others by hand. */
const seed = Number(process.env['LEASEHOLD_FAULT_SEED'] ?? 7)
const lives = scoped(3, 30)
const nodes = 4

await describeOnNats('current', 'an adapter and its server, killed over and over', (start) => {
  const folder = tempFolder()

  it(`should leave as many jobs as the cell counts, and each command with one effect (seed ${seed})`, async () => {
    const below = numbersFrom(seed)
    const server = await start()
    const url = `${server.launch.urls['nats']!}?prefix=${newPrefix()}`
    const data = folder()
    const cell = await cellOverNats(url, 'reference', folder())
    const words = ['--nats', url, '--fleet', `${nodes}x8`, '--jobs', 'docs/examples/jobs', '--data', data]
    const submit = (workload: string) =>
      cell.submit(workload, 1 + below(2), (fact) => {
        const submitted = fact.data as WorkloadSubmitted['data']
        const preemption = {
          checkpointIntervalMs: below(2) === 0 ? null : (60_000 as DurationMs),
          gracePeriodMs: 300 as DurationMs,
          minRuntimeMs: 0 as DurationMs,
          tolerated: true,
        }
        const terms = { ...submitted.terms, preemption }
        const kind = below(3) === 0 ? 'forgetful' : 'checkpointing'
        return { ...fact, data: { ...submitted, class: kind, terms } } as typeof fact
      })
    const allReady = async () => {
      for (let i = 0; i < nodes; i++) await cell.setHealth(`node-000${i}`, 'ready')
    }

    let adapter = await startAdapterProcess(words)
    try {
      await until(() => cell.nodes() === nodes)
      const names: string[] = []
      for (let life = 0; life < lives; life++) {
        for (let i = 0; i < 4; i++) {
          names.push(`job-${life}-${i}`)
          await submit(names.at(-1)!)
        }
        if (below(2) === 0) await allReady()
        else await cell.setHealth(`node-000${below(nodes)}`, 'draining')
        if (below(2) === 0) await cell.cancel(names[below(names.length)]!)
        await new Promise((resolve) => setTimeout(resolve, below(below(2) === 0 ? 1_000 : 200)))
        if (below(3) === 0) {
          await server.kill()
          await server.restart()()
        } else {
          await adapter.end(below(3) === 0 ? 'SIGTERM' : 'SIGKILL')
          adapter = await startAdapterProcess(words)
        }
      }
      await allReady()
      const balances = () =>
        cell.openCommands() === 0 && cell.unconfirmed() === 0 && jobProcesses(data).length === 2 * cell.running()
      await until(balances, 45_000)
      const concluded = (await cell.events()).flatMap((event) =>
        event.type === 'CommandConcluded' ? [`${event.data.command} ${event.data.outcome}`] : [],
      )
      expect(concluded.toSorted()).toEqual([...new Set(concluded)].toSorted())
      expect(concluded.filter((each) => each.endsWith('expired'))).toEqual([])
      for (const lines of names.flatMap((name) => logsOf(data, name)))
        expect(lines.filter((line) => line.startsWith('from step')).length).toBeLessThanOrEqual(1)
    } finally {
      await adapter.end('SIGKILL')
      for (const pid of jobProcesses(data)) process.kill(pid, 'SIGKILL')
      await cell.close()
    }
  })
})
