import { constants } from 'node:fs'
import { access, readdir, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { either as E } from 'fp-ts'
import { environmentName, type Member } from '../../infra/host/configuration.ts'
import { chooseLog, openLog, type LogChoice } from '../../infra/host/open-log.ts'
import { loadSqlite } from '../../infra/sqlite/event-log.ts'
import { exitCodes } from './exit.ts'
import type { Column, JsonObject, Paint } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'

/** One thing that was looked at. `degraded` works, with less than there could be; `broken` does not work. */
export interface Check {
  readonly check: string
  readonly status: 'ok' | 'degraded' | 'broken'
  readonly detail: string
  /** What makes it ok again; null when it is. */
  readonly mend: string | null
}
type CheckRow = Check & JsonObject

/** Registers `doctor`. */
export const registerDoctor: Register = (program, context) => {
  program
    .command('doctor')
    .description('is this machine fit, which log is used and why, what should be mended')
    .addHelpText('after', `\nExit code ${exitCodes.failed} when something is broken. Changes nothing.`)
    .action(
      verb(context, async (session) => {
        const checks = await examine(session)
        await session.printRows<CheckRow>(
          checks.map(rowOf),
          session.style.format === 'csv' ? [...columns, mendColumn] : columns,
        )
        const broken = checks.filter(({ status }) => status === 'broken').length
        const degraded = checks.filter(({ status }) => status === 'degraded').length
        if (session.style.format === 'table')
          await session.write(
            broken + degraded === 0
              ? '\nNothing to mend.\n'
              : `\n${mendsOf(checks)}\n${broken} broken, ${degraded} degraded.\n`,
          )
        return broken > 0 ? exitCodes.failed : exitCodes.done
      }),
    )
}

const rowOf = ({ check, status, detail, mend }: Check): CheckRow => ({ check, status, detail, mend })

const paints: { readonly [S in Check['status']]: Paint } = { ok: 'good', degraded: 'warn', broken: 'bad' }
const columns: ReadonlyArray<Column<CheckRow>> = [
  { name: 'check', value: ({ check }) => check, whole: true },
  { name: 'status', value: ({ status }) => status, whole: true, paint: ({ status }) => paints[status] },
  { name: 'detail', value: ({ detail }) => detail, whole: true },
]
const mendColumn: Column<CheckRow> = { name: 'mend', value: ({ mend }) => mend }

/** In a table they stand beneath, where they have room. */
const mendsOf = (checks: ReadonlyArray<Check>): string =>
  checks.flatMap(({ check, mend }) => (mend === null ? [] : [`${check}: ${mend}`])).join('\n')

export const examine = async (session: Session): Promise<ReadonlyArray<Check>> => {
  const folder = resolve(session.context.workingDirectory, session.configuration.data)
  const choice = await chooseLog(folder)()
  return [
    nodeCheck(process.versions.node),
    await sqliteCheck(),
    await logCheck(folder, choice),
    ...(E.isRight(choice) ? [durabilityCheck(choice.right)] : []),
    await folderCheck(folder),
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

const logCheck = async (folder: string, choice: Choice): Promise<Check> => {
  const broken = ({ reason, mend }: { readonly reason: string; readonly mend: string }): Check => ({
    check: 'log',
    status: 'broken',
    detail: reason,
    mend,
  })
  if (E.isLeft(choice)) return broken(choice.left)
  const { because, kind } = choice.right
  const opened = await openLog(folder, { readOnly: true })()
  if (E.isLeft(opened)) {
    if (opened.left.kind !== 'absent') return broken(opened.left)
    return { check: 'log', status: 'ok', detail: `none yet; it will be ${kind}, because ${because}`, mend: null }
  }
  const heads = await opened.right.log.heads()()
  await opened.right.log.close()
  if (E.isLeft(heads)) return broken(heads.left)
  const events = heads.right.reduce((sum, { size }) => sum + size, 0)
  const detail = `${kind}, because ${because}; ${events} events, content not checked (audit verify does)`
  return { check: 'log', status: 'ok', detail, mend: null }
}

const durabilities = {
  sqlite: 'acknowledged after commit: SQLite WAL, synchronous=FULL',
  file: 'acknowledged after fdatasync of the file',
}
const durabilityCheck = ({ kind }: LogChoice): Check => ({
  check: 'durability',
  status: 'ok',
  detail: durabilities[kind],
  mend: null,
})

const folderCheck = async (folder: string): Promise<Check> => {
  const check = 'data folder'
  const writable = (path: string) => access(path, constants.R_OK | constants.W_OK | constants.X_OK)
  try {
    if (!(await stat(folder)).isDirectory())
      return { check, status: 'broken', detail: `${folder} is not a folder`, mend: 'name a folder with --data' }
    await writable(folder)
    return { check, status: 'ok', detail: `${folder}, ${bytes(await sizeOf(folder))}`, mend: null }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const mend = `give yourself the right to write there, or name another folder with --data`
    const readable = () => access(folder, constants.R_OK | constants.X_OK)
    if (code !== 'ENOENT')
      return readable().then(
        (): Check => ({ check, status: 'degraded', detail: `${folder} can be read, not written`, mend }),
        (): Check => ({ check, status: 'broken', detail: message, mend }),
      )
    return writable(await existingAbove(folder)).then(
      (): Check => ({ check, status: 'ok', detail: `${folder}, made when first written to`, mend: null }),
      (): Check => ({ check, status: 'broken', detail: `${folder} cannot be made`, mend }),
    )
  }
}

/** The nearest folder on the way up that is there. */
const existingAbove = async (folder: string): Promise<string> => {
  let at = dirname(folder)
  while (at !== dirname(at)) {
    if (
      await stat(at).then(
        (found) => found.isDirectory(),
        () => false,
      )
    )
      return at
    at = dirname(at)
  }
  return at
}

const sizeOf = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      ),
    )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

const diskDegradedBytes = 1 << 30
const diskBrokenBytes = 16 << 20

const diskCheck = async (folder: string): Promise<Check> => {
  const here = await stat(folder).then(
    () => folder,
    () => existingAbove(folder),
  )
  const { bavail, bsize } = await statfs(here)
  const free = bavail * bsize
  const status = free < diskBrokenBytes ? 'broken' : free < diskDegradedBytes ? 'degraded' : 'ok'
  const mend =
    status === 'ok'
      ? null
      : `free some space, or move the data folder: ${bytes(diskDegradedBytes)} is enough to begin with`
  return { check: 'disk', status, detail: `${bytes(free)} free`, mend }
}

const bytes = (count: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, count < 1 ? 0 : Math.floor(Math.log2(count) / 10))
  const value = count / 1024 ** power
  return `${power === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${units[power]!}`
}

/** Each value with where it comes from, and variables that look like ours but are not read: mostly misspelt. */
const configurationChecks = ({ configuration, context, origins }: Session): ReadonlyArray<Check> => {
  const members = Object.keys(origins) as ReadonlyArray<Member>
  const read = new Set(['LEASEHOLD_DEBUG', ...[...members, 'config' as const].map(environmentName)])
  const strange = Object.keys(context.environment).filter((name) => name.startsWith('LEASEHOLD_') && !read.has(name))
  return [
    ...members.map((member): Check => ({
      check: `setting ${member}`,
      status: 'ok',
      detail: `${configuration[member]}   (${origins[member]})`,
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
