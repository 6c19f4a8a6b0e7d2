import { resolve } from 'node:path'
import { either as E } from 'fp-ts'
import type { ServerPlace } from '../../infra/clickhouse/place.ts'
import type { EventStorePlace } from '../../infra/eventstore/place.ts'
import { environmentName, type Member } from '../../infra/host/configuration.ts'
import { chooseLog, openLog, type LogChoice, type LogPlace } from '../../infra/host/open-log.ts'
import { kafkaMessageBus } from '../../infra/kafka/message-bus.ts'
import { describePlace as describeKafka, type KafkaPlace } from '../../infra/kafka/place.ts'
import { NatsLink } from '../../infra/nats/link.ts'
import { describePlace as describeNats, type NatsPlace } from '../../infra/nats/place.ts'
import { loadSqlite } from '../../infra/sqlite/event-log.ts'
import { kafkaPlace, natsPlace } from './bus-place.ts'
import { counted } from './counted.ts'
import { diskCheck, folderCheck, growthChecks, partsCheck } from './doctor-folder.ts'
import { systemChecks } from './doctor-system.ts'
import { exitCodes } from './exit.ts'
import { wrapped } from '../../projections/explain/wording.ts'
import { gap, type Column, type JsonObject, type Paint } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { version } from './version.ts'
import { logServer } from './log-place.ts'
import { viewsServer, withoutPassword } from './views-place.ts'

/** One thing that was looked at. `degraded` works, with less than there could be; `broken` does not work. */
export interface Check {
  readonly check: string
  readonly status: 'ok' | 'degraded' | 'broken'
  readonly detail: string
  /** What makes it ok again; null when it is. */
  readonly mend: string | null
}
/** Of a table it may be only a further line of what was looked at. */
type CheckRow = Omit<Check, 'status'> & { readonly status: Check['status'] | '' } & JsonObject

/** Registers `doctor`. */
export const registerDoctor: Register = (program, context) => {
  program
    .command('doctor')
    .description('is this machine fit, which log is used and why, what should be mended')
    .addHelpText('after', `\nExit code ${exitCodes.failed} when something is broken. Changes nothing.`)
    .action(
      verb(context, async (session) => {
        const checks = await examine(session)
        const { format, width } = session.style
        if (format === 'table') await session.printRows<CheckRow>(foldedRows(checks, width), columns)
        else await session.printRows<CheckRow>(checks.map(rowOf), [...columns, mendColumn])
        const broken = checks.filter(({ status }) => status === 'broken').length
        const degraded = checks.filter(({ status }) => status === 'degraded').length
        if (format === 'table') {
          await session.write('\n')
          for (const line of mendsOf(checks)) await session.say(line)
          await session.say(broken + degraded === 0 ? 'Nothing to mend.' : `${broken} broken, ${degraded} degraded.`)
        }
        return broken > 0 ? exitCodes.failed : exitCodes.done
      }),
    )
}

const rowOf = ({ check, status, detail, mend }: Check): CheckRow => ({ check, status, detail, mend })

/** A detail that is too long for its line goes on below it. */
const foldedRows = (checks: ReadonlyArray<Check>, width: number): ReadonlyArray<CheckRow> => {
  const before = Math.max(...checks.map(({ check }) => check.length)) + 'degraded'.length + 2 * gap.length
  return checks.flatMap((each) =>
    wrapped(each.detail, Math.max(before, width - before), 0)
      .split('\n')
      .map((detail, i): CheckRow =>
        i === 0 ? { ...rowOf(each), detail } : { check: '', status: '', detail, mend: null },
      ),
  )
}

const paints: { readonly [S in CheckRow['status']]: Paint } = {
  ok: 'good',
  degraded: 'warn',
  broken: 'bad',
  '': 'plain',
}
const columns: ReadonlyArray<Column<CheckRow>> = [
  { name: 'check', value: ({ check }) => check, whole: true },
  { name: 'status', value: ({ status }) => status, whole: true, paint: ({ status }) => paints[status] },
  { name: 'detail', value: ({ detail }) => detail, whole: true },
]
const mendColumn: Column<CheckRow> = { name: 'mend', value: ({ mend }) => mend }

/** In a table they stand beneath, where they have room. */
const mendsOf = (checks: ReadonlyArray<Check>): ReadonlyArray<string> =>
  checks.flatMap(({ check, mend }) => (mend === null ? [] : [`${check}: ${mend}`]))

export const examine = async (session: Session): Promise<ReadonlyArray<Check>> => {
  const folder = resolve(session.context.workingDirectory, session.configuration.data)
  const server = logServer(session.configuration)
  const place = server ?? folder
  const choice = await chooseLog(place)()
  return [
    { check: 'leasehold', status: 'ok', detail: version(), mend: null },
    nodeCheck(process.versions.node),
    await sqliteCheck(),
    ...(await logChecks(place, choice)),
    ...(server === null ? [] : [accessCheck(server)]),
    ...viewsChecks(viewsServer(session.configuration)),
    ...(await busChecks(natsPlace(session.configuration), kafkaPlace(session.configuration))),
    ...(E.isRight(choice) ? [durabilityCheck(choice.right)] : []),
    ...(await systemChecks(folder, session.configuration)),
    await folderCheck(folder),
    ...(await partsCheck(folder)),
    await diskCheck(folder),
    ...configurationChecks(session),
  ]
}

const nodeMin = { major: 20, minor: 19 }

export const nodeCheck = (version: string): Check => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const fit = major > nodeMin.major || (major === nodeMin.major && minor >= nodeMin.minor)
  const mend = fit ? null : `install Node ${nodeMin.major}.${nodeMin.minor} or later`
  return { check: 'node', status: fit ? 'ok' : 'broken', detail: `v${version}`, mend }
}

const sqliteCheck = async (): Promise<Check> => {
  const driver = await loadSqlite()
  if (E.isRight(driver)) return { check: 'sqlite', status: 'ok', detail: 'better-sqlite3 loads', mend: null }
  const detail = `better-sqlite3 does not load: ${driver.left}`
  return { check: 'sqlite', status: 'degraded', detail, mend: sqliteMend }
}
const sqliteMend = 'install python3, make and g++, then run `npm ci`; without it the log is a plain file'

type Choice = Awaited<ReturnType<ReturnType<typeof chooseLog>>>

const logChecks = async (place: LogPlace, choice: Choice): Promise<ReadonlyArray<Check>> => {
  const broken = ({ reason, mend }: { readonly reason: string; readonly mend: string }): ReadonlyArray<Check> => [
    { check: 'log', status: 'broken', detail: reason, mend },
  ]
  if (E.isLeft(choice)) return broken(choice.left)
  const { because, kind } = choice.right
  const opened = await openLog(place, { readOnly: true })()
  if (E.isLeft(opened)) {
    if (opened.left.kind !== 'absent') return broken(opened.left)
    return [{ check: 'log', status: 'ok', detail: `none yet; it will be ${kind}, because ${because}`, mend: null }]
  }
  const { log } = opened.right
  const heads = await log.heads()()
  const growth = await growthChecks(log)
  await log.close()
  if (E.isLeft(heads)) return broken(heads.left)
  const events = heads.right.reduce((sum, { size }) => sum + size, 0)
  const detail = `${kind}, because ${because}; ${counted(events, 'event')}, content not checked (audit verify does)`
  return [{ check: 'log', status: 'ok', detail, mend: null }, ...growth]
}

const durabilities = {
  sqlite: 'acknowledged after commit: SQLite WAL, synchronous=FULL',
  file: 'acknowledged after fdatasync of the file',
  eventstore: 'acknowledged when the server says that it is stored',
}
const durabilityCheck = ({ kind }: LogChoice): Check => ({
  check: 'durability',
  status: 'ok',
  detail: durabilities[kind],
  mend: null,
})

/** What a server lets anybody on the way, or anybody at all, do with the log. */
export const accessCheck = ({ hosts, password, tls, user }: EventStorePlace): Check => {
  const check = 'log server'
  if (user === 'admin' && password === 'changeit')
    return { check, status: 'degraded', detail: 'its admin has the password that it came with', mend: 'change it' }
  const isLocal = hosts.every(({ address }) => isOfThisMachine(address))
  if (!tls && !isLocal)
    return { check, status: 'degraded', detail: 'it is reached without TLS', mend: 'give it a certificate' }
  return { check, status: 'ok', detail: tls ? 'reached over TLS' : 'reached on this machine', mend: null }
}

/** What a server lets anybody on the way see of the views, or of the password for them. */
const viewsChecks = (server: ServerPlace | null): ReadonlyArray<Check> => {
  if (server === null) return []
  const { database, url, user } = server
  const { hostname, protocol } = new URL(url)
  return [wayCheck('views server', `${database} at ${url}, as ${user}`, protocol === 'https:', [hostname], 'https://')]
}

/** Whether the buses answer, and what anybody on the way to them sees. */
const busChecks = async (nats: NatsPlace | null, kafka: KafkaPlace | null): Promise<ReadonlyArray<Check>> => [
  ...(nats === null ? [] : [await natsCheck(nats)]),
  ...(kafka === null ? [] : [await kafkaCheck(kafka)]),
]

const natsCheck = async (place: NatsPlace): Promise<Check> => {
  const check = 'nats'
  const link = await NatsLink.open(place)()
  if (E.isLeft(link)) return { check, status: 'broken', detail: link.left.reason, mend: link.left.mend }
  const release = link.right.connection.info?.version ?? 'of an unknown version'
  await link.right.close()
  const detail = `nats-server ${release} at ${describeNats(place)}`
  return wayCheck(check, detail, place.tls, place.servers.map(hostIn), 'tls://')
}

const kafkaCheck = async (place: KafkaPlace): Promise<Check> => {
  const check = 'kafka'
  const bus = kafkaMessageBus(place)
  const reached = await bus.ensure([])()
  await bus.close()
  if (E.isLeft(reached)) return { check, status: 'broken', detail: reached.left.reason, mend: reached.left.mend }
  return wayCheck(check, describeKafka(place), place.tls, place.brokers.map(hostIn), '?tls=true in its URL')
}

const wayCheck = (check: string, detail: string, tls: boolean, hosts: ReadonlyArray<string>, secure: string): Check => {
  if (tls) return { check, status: 'ok', detail: `${detail}, over TLS`, mend: null }
  if (hosts.every(isOfThisMachine)) return { check, status: 'ok', detail: `${detail}, on this machine`, mend: null }
  const mend = `give it a certificate, and ${secure}`
  return { check, status: 'degraded', detail: `${detail}, without TLS`, mend }
}

/** Of `host:port`. */
const hostIn = (server: string): string => server.slice(0, server.lastIndexOf(':'))

const isOfThisMachine = (host: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(host)

/** Each value with where it comes from, and variables that look like ours but are not read: mostly misspelt. */
const configurationChecks = ({ configuration, context, origins }: Session): ReadonlyArray<Check> => {
  const members = Object.keys(origins) as ReadonlyArray<Member>
  const read = new Set(['LEASEHOLD_DEBUG', ...[...members, 'config' as const].map(environmentName)])
  const strange = Object.keys(context.environment).filter((name) => name.startsWith('LEASEHOLD_') && !read.has(name))
  return [
    ...members.map((member): Check => ({
      check: `setting ${member}`,
      status: 'ok',
      detail: `${withoutPassword(String(configuration[member]))}   (${origins[member]})`,
      mend: null,
    })),
    ...strange.sort().map((name): Check => ({
      check: 'environment',
      status: 'degraded',
      detail: `${name} is set, and nothing reads it`,
      mend: `unset ${name}, or spell it as one of ${[...read].join(', ')}`,
    })),
  ]
}
