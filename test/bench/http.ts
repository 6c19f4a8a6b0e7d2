import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type Sqlite from 'better-sqlite3'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { encodeFact, type SourcedFact } from '../../domain/planner/cloud-event.ts'
import { cellEventVersions, isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import type { NewEvent } from '../../domain/ports/event-log.ts'
import { chdbChildren, residentKib, startUp, type UpProcess } from '../support/up-process.ts'
import { getStatus, postFacts } from '../support/up-client.ts'
import { quantile, ratioOf, type Ratio } from './ratio.ts'
import { inNewLog, rightOf, standardLog, stream } from './standard-log.ts'

export interface HttpFigures {
  readonly ratio: Ratio
  /** Facts that were acknowledged per second, median over the pairs. */
  readonly factsPerSecond: number
  /** Events that were in the log and not in the views, at worst while facts came, and how long the rest took then. */
  readonly lagEventsMost: number
  readonly drainS: number
  readonly residentMib: { readonly up: number; readonly chdb: number }
}

const batchFacts = 1_000

/** Facts sent to a running `up` with its views, in requests of 1,000, against the log alone taking them in the same batches. */
export const benchHttp = async (Driver: typeof Sqlite, events: number): Promise<HttpFigures> => {
  const facts = await standardFacts(Driver, events)
  const batches = Array.from({ length: Math.ceil(facts.length / batchFacts) }, (_, i) =>
    facts.slice(i * batchFacts, (i + 1) * batchFacts),
  )
  const lines = batches.map((batch) => batch.map(encodeFact))
  const after: Omit<HttpFigures, 'ratio' | 'factsPerSecond'>[] = []
  const ours = async (): Promise<number> => {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
    const up = await startUp({ folder, clock: 'events', adapter: null, views: true })
    const [took, lag] = await whileWatching(up, async () => {
      const start = performance.now()
      for (const batch of lines) {
        const answer = await postFacts(up.address, batch)
        if (answer?.recorded !== batch.length) throw new Error(JSON.stringify(answer)?.slice(0, 500))
      }
      return performance.now() - start
    })
    after.push({ lagEventsMost: lag, ...(await drained(up)) })
    up.kill('SIGTERM')
    await up.ended
    rmSync(folder, { recursive: true, force: true })
    return took
  }
  const baseline = (): Promise<number> =>
    inNewLog(Driver, async (log) => {
      const start = performance.now()
      let revision = -1
      for (const batch of batches) revision = rightOf(await log.append(stream, revision, batch.map(asEvent))()).revision
      return performance.now() - start
    })
  const ratio = await ratioOf('facts over HTTP, in requests of 1,000 / the log alone', facts.length, ours, baseline)
  const middle = (of: (one: (typeof after)[number]) => number): number => quantile(after.map(of), 0.5)
  return {
    ratio,
    factsPerSecond: Math.round(1e6 / ratio.oursUs),
    lagEventsMost: Math.max(...after.map(({ lagEventsMost }) => lagEventsMost)),
    drainS: middle(({ drainS }) => drainS),
    residentMib: {
      up: middle(({ residentMib }) => residentMib.up),
      chdb: middle(({ residentMib }) => residentMib.chdb),
    },
  }
}

const standardFacts = async (Driver: typeof Sqlite, events: number): Promise<ReadonlyArray<SourcedFact>> => {
  const { log, end } = await standardLog(Driver, events)
  const facts: SourcedFact[] = []
  for (let position = 0; ;) {
    const page = rightOf(await log.readAll(position, 2_000)())
    for (const { id, source, message } of page)
      if (isInput(message as unknown as CellEvent)) facts.push({ id, source, ...message } as unknown as SourcedFact)
    if (page.length === 0) break
    position += page.length
  }
  await end()
  return facts
}

const asEvent = ({ id, source, type, at, data }: SourcedFact): NewEvent => ({
  id,
  source,
  actor: 'bench',
  message: { at, data, type } as unknown as NewEvent['message'],
  version: cellEventVersions[type],
  recordTime: at as EpochMs,
  causation: null,
  correlation: null,
  policy: null,
})

/** The most events that the views lagged by while the work went on. */
const whileWatching = async (up: UpProcess, work: () => Promise<number>): Promise<readonly [number, number]> => {
  let most = 0
  let goesOn = true
  const watch = async (): Promise<void> => {
    while (goesOn) {
      most = Math.max(most, (await getStatus(up.address))?.views?.lagEvents ?? 0)
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
  const watching = watch()
  const took = await work()
  goesOn = false
  await watching
  return [took, most]
}

const drained = async (up: UpProcess) => {
  const start = performance.now()
  for (;;) {
    const lag = (await getStatus(up.address))?.views?.lagEvents
    if (lag === 0) break
    if (performance.now() - start > 120_000) throw new Error(`the views still lag by ${lag} events`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const [chdb = 0] = chdbChildren(up.pid)
  return {
    drainS: (performance.now() - start) / 1_000,
    residentMib: { up: residentKib(up.pid) / 1_024, chdb: chdb === 0 ? 0 : residentKib(chdb) / 1_024 },
  }
}
