// An adapter to a batch system whose command `batch` submits, lists and ends jobs. See docs/adapters.md.
import { execFile } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  attemptName,
  commandKey,
  done,
  failed,
  startAdapter,
  type Attempt,
  type Handlers,
} from '../../services/schedulers/sdk/sdk.ts'

const [cell = 'cell-default', folder = '.batch-adapter', lookEveryMs = '1000'] = process.argv.slice(2)
const run = promisify(execFile)

/** Its jobs by name, with how each stands: `running`, `succeeded` or `failed`. */
const jobs = async (): Promise<ReadonlyMap<string, string>> => {
  const { stdout } = await run('batch', ['list'])
  return new Map(
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' ') as [string, string]),
  )
}
/** Each is named after the command that started it, because the names of workloads may come again. */
const runningJobs = async (attempt: Attempt): Promise<ReadonlyArray<string>> =>
  [...(await jobs())]
    .filter(([name, state]) => name.startsWith(`${attemptName(attempt)}/`) && state === 'running')
    .map(([name]) => name)
const ends = async (attempt: Attempt, signal: string, withinMs: number): Promise<boolean> => {
  for (const name of await runningJobs(attempt)) await run('batch', ['end', name, signal])
  const until = Date.now() + withinMs
  while ((await runningJobs(attempt)).length > 0) {
    if (Date.now() > until) return false
    await pause(100)
  }
  return true
}

const handlers: Handlers = {
  start: async (command) => {
    const name = commandKey(command)
    // It may have been submitted already, by a process that was killed in the middle of this.
    if ((await jobs()).has(name)) return done
    const nodes = command.lease.map(({ devices, node }) => `${node}:${devices.join('+')}`)
    try {
      await run('batch', ['submit', name, ...nodes])
      return done
    } catch (cause) {
      return failed(`batch did not take it: ${String(cause)}`)
    }
  },
  stop: async (command) => {
    if (await ends(command, 'TERM', command.graceMs)) return done
    return (await ends(command, 'KILL', 10_000)) ? done : failed('batch does not end it')
  },
}

const started = await startAdapter({
  nats: process.env['LEASEHOLD_NATS'] ?? 'nats://127.0.0.1:4222',
  cell,
  name: 'batch',
  folder,
  handlers,
})
if (started._tag === 'Left') {
  console.error(`error: ${started.left.reason}; ${started.left.mend}`)
  process.exit(1)
}
const adapter = started.right
const stopping = new AbortController()
process.once('SIGTERM', () => {
  stopping.abort()
})

// What ends by itself is seen here, also what has ended while nobody looked.
while (!stopping.signal.aborted) {
  try {
    const seen = await jobs()
    for (const attempt of adapter.running.values()) {
      const state = seen.get(attempt.startedBy)
      if (state === 'running') await adapter.progressed(attempt)
      else await adapter.ended(attempt, state === 'succeeded' ? 'succeeded' : 'failed')
    }
  } catch (cause) {
    console.error(`batch cannot be asked now: ${String(cause)}`)
  }
  await pause(Number(lookEveryMs), undefined, { signal: stopping.signal }).catch(() => undefined)
}
await adapter.stop()
