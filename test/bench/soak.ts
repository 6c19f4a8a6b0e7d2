import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { either as E } from 'fp-ts'
import type { DurationMs, EpochMs, GpuMilli, Mebibytes } from '../../domain/kernel/units.ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import { timedRun } from '../../domain/simulation/run.ts'
import type { TraceJob } from '../../domain/simulation/trace-job.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import { policyActivated } from '../../services/decide/policy-activated.ts'
import { cellName } from '../support/up-cell.ts'
import { getStatus, postFacts } from '../support/up-client.ts'
import { chdbChildren, residentKib, startUp, type UpProcess } from '../support/up-process.ts'
import { lineOf, nodeFact, numbersFrom } from '../support/fact-script.ts'

/*
 * `npm run soak [HOURS] [SPEED]`: hours of steady demand (one, unless told), ten jobs a second on 48 GPUs, sent to a running
 * system so many times faster than it comes; as fast as it is taken, unless told. Prints what memory the system and
 * its chDB hold as the time goes on, as JSON.
 */

/** How long, in hours of demand. */
const hours = Number(process.argv[2] ?? 1)
const demandMs = 3_600_000 * hours
const speed = Number(process.argv[3] ?? Infinity)
const jobEveryMs = 100
const sampleEveryMs = 300_000
const batchFacts = 500

const jobsFrom = (seed: number): ReadonlyArray<TraceJob> => {
  const below = numbersFrom(seed)
  return Array.from({ length: demandMs / jobEveryMs }, (_, i) => {
    const runMs = (2_000 + below(4_001)) as DurationMs
    return {
      id: `job-${i}`,
      submitAt: (i * jobEveryMs) as EpochMs,
      runMs,
      estimateMs: runMs,
      class: ['training', 'debug', 'evaluation'][below(3)]!,
      queue: 'default',
      team: `team-${below(20)}`,
      request: {
        cpuMilli: 0 as never,
        devices: 1,
        hostMemoryMib: 0 as Mebibytes,
        memoryMib: 0 as Mebibytes,
        milli: 1_000 as GpuMilli,
        models: null,
        span: 'node' as const,
      },
    }
  })
}

/** The facts of that hour, in order; an end comes when what it ends would have been started. */
function* factsOf(jobs: ReadonlyArray<TraceJob>, writer: CellWriter): Generator<readonly [number, string]> {
  let count = 0
  const send = (input: CellInput) => {
    const id = `soak-${count++}`
    const taken = writer.take(input, id)
    if (E.isLeft(taken)) throw new Error(taken.left.type)
    writer.skip(writer.waiting.events.length)
    return [lineOf(id, input), taken.right] as const
  }
  for (let i = 0; i < 6; i++) yield [0, send(nodeFact(`node-${i}`, 8))[0]]
  yield [0, send(policyActivated(defaultPolicy, 0 as EpochMs))[0]]
  const run = timedRun(jobs)
  for (let step = run.next([]); step.done !== true;) {
    const [line, decisions] = send(step.value)
    yield [step.value.at, line]
    step = run.next(decisions)
  }
}

interface Sample {
  readonly minutes: number
  readonly upMib: number
  readonly chdbMib: number
  readonly lagEvents: number
}

const sampleOf = async (up: UpProcess, at: number): Promise<Sample> => {
  const mib = (pid: number | undefined) => (pid === undefined ? 0 : Math.round(residentKib(pid) / 1_024))
  const status = await getStatus(up.address)
  return {
    minutes: at / 60_000,
    upMib: mib(up.pid),
    chdbMib: mib(chdbChildren(up.pid)[0]),
    lagEvents: status?.views?.lagEvents ?? -1,
  }
}

const folder = mkdtempSync(join(tmpdir(), 'leasehold-soak-'))
const recording = { stream: cellName, source: 's', actor: 'a', recordTime: (at: EpochMs) => at }
const opened = await CellWriter.open(memoryEventLog(), recording)
if (E.isLeft(opened)) throw new Error(opened.left.reason)
const up = await startUp({ folder, clock: 'events', adapter: null, views: true })
const samples: Sample[] = []
const start = performance.now()
let facts = 0
let batch: string[] = []
const flush = async (): Promise<void> => {
  const answer = await postFacts(up.address, batch)
  if (answer === null || answer.recorded + answer.unneeded !== batch.length) throw new Error(JSON.stringify(answer))
  facts += batch.length
  batch = []
}
for (const [at, line] of factsOf(jobsFrom(1), opened.right)) {
  batch.push(line)
  if (batch.length < batchFacts) continue
  await flush()
  const earlyMs = at / speed - (performance.now() - start)
  if (earlyMs > 0) await new Promise((resolve) => setTimeout(resolve, earlyMs))
  if (at >= samples.length * sampleEveryMs) samples.push(await sampleOf(up, at))
}
await flush()
const wallS = Math.round((performance.now() - start) / 1_000)
samples.push(await sampleOf(up, demandMs))
const events = (await getStatus(up.address))?.events
up.kill('SIGTERM')
const code = await up.ended
rmSync(folder, { recursive: true, force: true })
process.stdout.write(
  `${JSON.stringify({ facts, events, wallS, factsPerSecond: Math.round(facts / wallS), code, samples }, null, 2)}\n`,
)
