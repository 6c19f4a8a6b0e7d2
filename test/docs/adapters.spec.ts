import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { SourcedFact } from '../../domain/planner/cloud-event.ts'
import { encodeCommand } from '../../domain/planner/command-event.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { streamName } from '../../infra/nats/streams.ts'
import { factIn } from '../contract/command-bus.contract.ts'
import { commandOf, until } from '../support/commands.ts'
import { right } from '../support/events.ts'
import { natsBus } from '../support/nats-bus.ts'
import { linkTo, newPrefix } from '../support/nats-server.ts'
import { describeOnNats } from '../support/servers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const page = readFileSync('docs/adapters.md', 'utf8')
const example = 'docs/examples/batch-adapter.ts'

describe('the example of adapters.md', () => {
  it('should be the one that is compiled and run here, under a hundred lines', () => {
    const shown = /^```ts\n([^]*?)^```$/m.exec(page)![1]!
    expect(shown).toBe(readFileSync(example, 'utf8'))
    expect(shown.split('\n').length).toBeLessThan(100)
  })
})

/** A batch system: a job is a file that says how it stands. What is called `stubborn` ends by force alone. */
const batch = `#!/bin/sh
cd "$BATCH" || exit 1
file=$(printf %s "$2" | tr / +)
case $1 in
submit)
  case $2 in broken*) echo "no such queue" >&2; exit 1 ;; esac
  echo "$*" >> submitted; printf running > "$file" ;;
list) for job in *@*; do [ -e "$job" ] && echo "$(printf %s "$job" | tr + /) $(cat "$job")"; done ;;
end) echo "$*" >> ended; case $2-$3 in stubborn*-TERM) ;; *) printf failed > "$file" ;; esac ;;
esac
exit 0
`

await describeOnNats('packaged', 'the example of adapters.md, run', (start) => {
  const folder = tempFolder()
  const closing: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  it('should start, see what ends, stop with its grace period, and know what it did after it was killed', async () => {
    const url = `${(await start()).launch.urls['nats']!}?prefix=${newPrefix()}`
    const link = await linkTo(url)
    closing.push(() => link.close())
    const bus = natsBus(link, systemClock)
    const told: SourcedFact[] = []
    const taking = bus.outcomeSource.subscribe('cell-a', (lines) => {
      told.push(...lines.map(factIn))
      return Promise.resolve(E.right(undefined))
    })
    closing.push(() => taking.stop())
    const [tools, jobs, own] = [folder(), folder(), folder()]
    writeFileSync(join(tools, 'batch'), batch)
    chmodSync(join(tools, 'batch'), 0o755)
    const live = () => {
      const child = spawn(process.execPath, ['dist/docs/examples/batch-adapter.js', 'cell-a', own, '50'], {
        stdio: 'inherit',
        env: { ...process.env, BATCH: jobs, LEASEHOLD_NATS: url, PATH: `${tools}:${process.env['PATH'] ?? ''}` },
      })
      const ended = once(child, 'exit')
      const end = async (signal: NodeJS.Signals) => {
        child.kill(signal)
        return ((await ended) as [number | null])[0]
      }
      closing.push(() => end('SIGKILL'))
      return end
    }
    const says = (workload: string) =>
      told.flatMap(({ data, type }) => {
        if (type === 'CommandConcluded' && data.workload === workload) return [`${data.verb} ${data.outcome}`]
        return type === 'AttemptEnded' && data.workload === workload ? [data.outcome] : []
      })
    const written = (file: string) => (existsSync(join(jobs, file)) ? readFileSync(join(jobs, file), 'utf8') : '')
    const send = (command: ReturnType<typeof commandOf>) => right(bus.sink('batch').send(command))

    const kill = live()
    const sweep = commandOf('sweep-7')
    const stubborn = commandOf('stubborn', { graceMs: 200 as DurationMs })
    await Promise.all([send(sweep), send(stubborn), send(commandOf('broken'))])
    await until(() => says('sweep-7').length + says('stubborn').length + says('broken').length === 3)
    expect(says('broken')).toEqual(['start failed'])
    expect(told.find(({ data }) => 'reason' in data && data.reason !== null)).toMatchObject({
      data: { reason: expect.stringContaining('no such queue') as string },
    })
    await kill('SIGKILL')
    // It ends while nobody looks, and the bus brings its start again, beyond what the server remembers.
    const file = `sweep-7+1+start@${sweep.issuedAt}`
    writeFileSync(join(jobs, file), 'succeeded')
    await bus.inject('cmd', 'cell-a', 'batch', encodeCommand({ command: sweep, until: sweep.deadlineAt }))
    const stop = live()
    await until(() => says('sweep-7').includes('succeeded'))
    // Answered as before: of that the cell hears once, because the server remembers answers.
    await until(async () => (await link.manager.streams.info(streamName(link.place, 'cmd'))).state.messages === 0)
    expect(says('sweep-7')).toEqual(['start done', 'succeeded'])
    expect(
      written('submitted')
        .split('\n')
        .filter((line) => line.includes('sweep-7')),
    ).toEqual([`submit sweep-7/1/start@${sweep.issuedAt} node-1:0+1`])
    const issuedAt = (stubborn.issuedAt + 1) as EpochMs
    await send({ ...stubborn, command: 'stubborn/1/checkpoint/1', verb: 'checkpoint', issuedAt })
    await send({ ...stubborn, command: 'stubborn/1/evict/2', verb: 'evict', issuedAt })
    await until(() => says('stubborn').length === 3)
    expect(says('stubborn')).toEqual(['start done', 'checkpoint refused', 'evict done'])
    const name = `stubborn/1/start@${stubborn.issuedAt}`
    expect(written('ended')).toBe(`end ${name} TERM\nend ${name} KILL\n`)
    expect(await stop('SIGTERM')).toBe(0)
  })
})
