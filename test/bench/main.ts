import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { either as E } from 'fp-ts'
import { loadSqlite, type SqliteDriver } from '../../infra/sqlite/event-log.ts'
import {
  benchBudgetGang,
  benchBudgetPass,
  benchReclaim,
  benchTopologyGang,
  benchWhy,
  benchWhyRecorded,
} from './budgets.ts'
import { busServers } from './bus-servers.ts'
import { benchFold, benchReplay } from './cell.ts'
import { benchGrowth, growthRun, runGrowth } from './growth.ts'
import { benchHttp } from './http.ts'
import { benchDeliver, benchKafkaToLog, benchPublish } from './kafka.ts'
import { benchKueue } from './kueue.ts'
import { benchAppend, benchAuditVerify, madeUpEvents } from './log.ts'
import { benchMemory } from './memory.ts'
import { benchCommands } from './nats.ts'
import { benchGang, benchPass } from './pass.ts'
import type { Ratio } from './ratio.ts'
import { standardLog } from './standard-log.ts'
import { benchWall } from './wall.ts'

/** One line of the report: a figure against its bar. */
interface Row {
  readonly what: string
  readonly figure: number
  readonly bar: string
  readonly holds: boolean
  readonly detail: unknown
}

const atLeast = (what: string, figure: number, bar: number, detail: unknown): Row => ({
  what,
  figure,
  bar: `>= ${bar}`,
  holds: figure >= bar,
  detail,
})
const atMost = (what: string, figure: number, bar: number, detail: unknown): Row => ({
  what,
  figure,
  bar: `<= ${bar}`,
  holds: figure <= bar,
  detail,
})
const ratioRow = (ratio: Ratio, bar: number): Row => atLeast(ratio.name, ratio.median, bar, ratio)

const standardEvents = 200_000
const appendEvents = 50_000
const httpEvents = 60_000
const busEvents = 60_000

const driver = async (): Promise<SqliteDriver> => {
  const loaded = await loadSqlite()
  if (E.isLeft(loaded)) throw new Error(`better-sqlite3 does not load: ${loaded.left}`)
  return loaded.right
}

const sections: { readonly [name: string]: () => Promise<ReadonlyArray<Row>> } = {
  log: async () => {
    const Driver = await driver()
    const events = madeUpEvents(appendEvents)
    return [
      ratioRow(await benchAppend(Driver, events, 1_000), 0.7),
      ratioRow(await benchAppend(Driver, events, 1), 0.7),
      ratioRow(await benchAuditVerify(Driver, madeUpEvents(standardEvents)), 0.3),
    ]
  },
  cell: async () => {
    const standard = await standardLog(await driver(), standardEvents)
    const rows = [ratioRow(await benchFold(standard), 0.5), ratioRow(await benchReplay(standard), 0.15)]
    await standard.end()
    return rows
  },
  pass: () => {
    const pass = benchPass(10_000, 10_000)
    const small = benchPass(1_000, 10_000)
    const large = benchPass(100_000, 10_000)
    const gang = benchGang(4_000, 80)
    return Promise.resolve([
      atMost('decision pass, 10,000 devices, 10,000 held: p99 / loop', pass.ratio, 50, pass),
      atMost('decision pass, 100,000 devices / 1,000: p50', large.p50Us / small.p50Us, 1.3, { small, large }),
      atMost('a gang of 80 that cannot run on 4,000 devices, in passes', gang.ratio, 2, gang),
    ])
  },
  budgets: async () => {
    const Driver = await driver()
    // On small cells to warm up: what is compared is run when the code is compiled, as it is where a cell has run for long.
    const warmUp = { devices: 1_000, held: 1_000 }
    benchBudgetPass(warmUp.devices, warmUp.held)
    await benchWhy(warmUp.devices, warmUp.held)
    const pass = { ...benchBudgetPass(10_000, 10_000), warmUp }
    const few = benchBudgetPass(10_000, 1_000)
    const many = benchBudgetPass(10_000, 50_000)
    const gang = benchBudgetGang(4_000, 80)
    const why = { ...(await benchWhy(10_000, 50_000)), warmUp }
    const recorded = await benchWhyRecorded(Driver, 10_000, 50_000)
    const reclaim = await benchReclaim(Driver, 4_000)
    const topology = await benchTopologyGang(Driver, 4_000, 512)
    return [
      atMost('pass by budgets, 10,000 devices, 10,000 pending: p99 / loop', pass.ratio, 50, pass),
      atMost('pass by budgets, 50,000 pending / 1,000: p50', many.p50Us / few.p50Us, 1.3, { few, many }),
      atMost('the same gang of 80 by budgets, in passes', gang.ratio, 2, gang),
      atMost('why at 50,000 pending, in passes', why.ratio, 0.1, why),
      atMost('the same, in passes that are decided and in the log', recorded.ratio, 0.1, recorded),
      atMost('4,000 GPUs taken back from 500, decided and in the log, s', reclaim.ms / 1000, 1, reclaim),
      atMost('512 members within a level of 4,000 GPUs, decided and in the log, s', topology.ms / 1000, 0.2, topology),
    ]
  },
  kueue: async () => {
    const Driver = await driver()
    // Once to warm up: what is compared is run when the code is compiled.
    await benchKueue(Driver, 10, 10, true, false)
    const small = await benchKueue(Driver, 10, 2, true, false)
    const large = await benchKueue(Driver, 10, 100, true, true)
    const spread = await benchKueue(Driver, 10, 100, false, true)
    return [
      atLeast(
        '50,000 workloads at once, 1,000 queues, through the log: decisions/s',
        large.decisionsPerS,
        1_000,
        large,
      ),
      atLeast('the same as they come, with evictions: decisions/s', spread.decisionsPerS, 1_000, spread),
      atMost('cost per decision, 50,000 pending / 1,000', small.decisionsPerS / large.decisionsPerS, 1.3, {
        small,
        large,
      }),
    ]
  },
  memory: () => {
    const memory = benchMemory()
    return Promise.resolve([
      atMost('memory per pending workload, bytes', memory.bytesPerPending, 2048, memory),
      atMost('memory per device, bytes', memory.bytesPerDevice, 1024, memory),
      atMost('memory at the end of a long run / after its first tenth', memory.longRunRatio, 1.1, memory),
    ])
  },
  http: async () => {
    const http = await benchHttp(await driver(), httpEvents)
    return [atLeast(http.ratio.name, http.ratio.median, 0.3, http)]
  },
  buses: async () => {
    const { broker, end, natsUrl } = await busServers()
    try {
      return [
        ratioRow(await benchPublish(broker), 0.5),
        ratioRow(await benchDeliver(broker), 0.5),
        ratioRow(await benchKafkaToLog(await driver(), broker, busEvents), 0.5),
        ratioRow(await benchCommands(natsUrl), 0.5),
      ]
    } finally {
      await end()
    }
  },
  wall: () => Promise.resolve(benchWall().map((wall) => atMost(`${wall.name}, s`, wall.medianS, wall.barS, wall))),
  growth: () =>
    Promise.resolve(
      benchGrowth().map((growth) => atMost(`growth per doubling: ${growth.name}`, growth.worst, 2.2, growth)),
    ),
}

const main = async (): Promise<void> => {
  const asked = process.argv.slice(2).filter((word) => word in sections)
  const rows: Row[] = []
  for (const name of asked.length > 0 ? asked : Object.keys(sections))
    for (const row of await sections[name]!()) {
      rows.push(row)
      const figure = row.figure.toLocaleString('en-US', { maximumSignificantDigits: 4 })
      process.stderr.write(`${row.holds ? 'ok  ' : 'MISS'} ${figure.padStart(9)} ${row.bar.padEnd(8)} ${row.what}\n`)
    }
  const report = {
    at: new Date().toISOString(),
    machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, memoryGiB: Math.round(totalmem() / 2 ** 30) },
    versions: process.versions,
    rows,
  }
  writeFileSync(1, `${JSON.stringify(report, null, 2)}\n`)
  process.exitCode = rows.every((row) => row.holds) ? 0 : 1
}

const [, , first, index, size] = process.argv
if (first === growthRun) writeFileSync(1, String(await runGrowth(await driver(), Number(index), Number(size))))
else await main()
