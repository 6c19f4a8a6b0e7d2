import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { text } from 'node:stream/consumers'
import type Sqlite from 'better-sqlite3'
import { encodeFact, type SourcedFact } from '../../domain/planner/cloud-event.ts'
import { isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import type { NewEvent, StoredEvent } from '../../domain/ports/event-log.ts'
import type { FactsAnswer } from '../../services/api/desk.ts'
import { chdbChildren, residentKib, startUp, type UpProcess } from '../support/up-process.ts'
import { getStatus } from '../support/up-client.ts'
import { quantile, ratioOf, type Ratio } from './ratio.ts'
import { inNewLog, rightOf, standardLog, stream } from './standard-log.ts'

export interface HttpFigures {
  /** Against the log alone taking the same: the facts and the decisions that follow from them. */
  readonly ratio: Ratio
  /** Against the log alone taking the facts without what follows, median. */
  readonly toFactsAlone: number
  /** Facts that were acknowledged per second, median over the pairs. */
  readonly factsPerSecond: number
  /** As many would have to come per second for the views to be just behind: what came, by the time until all was in them. */
  readonly factsPerSecondViewed: number
  /** Events that were in the log and not in the views, at worst while facts came, and how long the rest took then. */
  readonly lagEventsMost: number
  readonly drainS: number
  readonly residentMib: { readonly up: number; readonly chdb: number }
}

const batchFacts = 1_000
const factsAloneRuns = 5

/** Facts sent to a running `up` with its views, in requests of 1,000, against the log alone taking them in the same batches. */
export const benchHttp = async (Driver: typeof Sqlite, events: number): Promise<HttpFigures> => {
  const batches = await standardBatches(Driver, events)
  const facts = batches.map((batch) => batch.filter(({ message }) => isInput(message as unknown as CellEvent)))
  const count = facts.reduce((sum, batch) => sum + batch.length, 0)
  const bodies = facts.map((batch) => Buffer.from(batch.map((fact) => `${encodeFact(asFact(fact))}\n`).join('')))
  const after: (Awaited<ReturnType<typeof drained>> & { readonly lag: number; readonly took: number })[] = []
  const ours = async (): Promise<number> => {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
    const up = await startUp({ folder, clock: 'events', adapter: null, views: true })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const [took, lag] = await whileWatching(up, async () => {
      const start = performance.now()
      for (const [i, body] of bodies.entries()) {
        const answer = await post(up, agent, body)
        if (answer.recorded !== facts[i]!.length) throw new Error(JSON.stringify(answer).slice(0, 500))
      }
      return performance.now() - start
    })
    agent.destroy()
    after.push({ lag, took, ...(await drained(up)) })
    up.kill('SIGTERM')
    await up.ended
    rmSync(folder, { recursive: true, force: true })
    return took
  }
  const alone = (of: ReadonlyArray<ReadonlyArray<StoredEvent>>) => (): Promise<number> =>
    inNewLog(Driver, async (log) => {
      const start = performance.now()
      let revision = -1
      for (const batch of of)
        revision = rightOf(await log.append(stream, revision, batch as ReadonlyArray<NewEvent>)()).revision
      return performance.now() - start
    })
  const ratio = await ratioOf('facts over HTTP, in requests of 1,000 / the log alone', count, ours, alone(batches))
  const factsAlone: number[] = []
  for (let run = 0; run < factsAloneRuns; run++) factsAlone.push(await alone(facts)())
  const middle = (of: (one: (typeof after)[number]) => number): number => quantile(after.map(of), 0.5)
  return {
    ratio,
    toFactsAlone: (quantile(factsAlone, 0.5) * 1_000) / count / ratio.oursUs,
    factsPerSecond: Math.round(1e6 / ratio.oursUs),
    factsPerSecondViewed: Math.round(middle(({ drainS, took }) => count / (took / 1_000 + drainS))),
    lagEventsMost: Math.max(...after.map(({ lag }) => lag)),
    drainS: middle(({ drainS }) => drainS),
    residentMib: {
      up: middle(({ residentMib }) => residentMib.up),
      chdb: middle(({ residentMib }) => residentMib.chdb),
    },
  }
}

/** The standard log, cut after every so many facts and what follows from them. */
export const standardBatches = async (
  Driver: typeof Sqlite,
  events: number,
): Promise<ReadonlyArray<ReadonlyArray<StoredEvent>>> => {
  const { log, end } = await standardLog(Driver, events)
  const batches: StoredEvent[][] = []
  let facts = 0
  for (let position = 0; ;) {
    const page = rightOf(await log.readAll(position, 2_000)())
    for (const event of page) {
      if (isInput(event.message as unknown as CellEvent) && facts++ % batchFacts === 0) batches.push([])
      batches.at(-1)!.push(event)
    }
    if (page.length === 0) break
    position += page.length
  }
  await end()
  return batches
}

export const asFact = ({ id, source, message }: StoredEvent): SourcedFact =>
  ({ id, source, ...message }) as unknown as SourcedFact

/** With as little work of its own as can be: the cores are shared. */
const post = async (up: UpProcess, agent: Agent, body: Buffer): Promise<FactsAnswer> => {
  const headers = { 'content-type': 'application/x-ndjson', 'content-length': body.length }
  const sent = request(`${up.address}/v1/facts`, { method: 'POST', agent, headers })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return JSON.parse(await text(response)) as FactsAnswer
}

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
