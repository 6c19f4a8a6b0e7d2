import { constants } from 'node:fs'
import { access, readdir, stat, statfs } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { either as E } from 'fp-ts'
import type { EventLog } from '../../domain/ports/event-log.ts'
import { durationText } from '../../projections/explain/wording.ts'
import type { Check } from './doctor.ts'

export const folderCheck = async (folder: string): Promise<Check> => {
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
        (): Check => ({ check, status: 'broken', detail: `${folder} can be read, not written`, mend }),
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

const sizeOf = async (folder: string): Promise<number> =>
  (await sizesIn(folder)).reduce((sum, { size }) => sum + size, 0)

/** Every file beneath, with its size; one that goes meanwhile counts nothing. */
const sizesIn = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name)
        const size = await stat(path).then(
          (found) => found.size,
          () => 0,
        )
        return { part: relative(folder, path).split('/', 1)[0]!, size }
      }),
  )
}

/** What each part of the folder takes: the log, the views, snapshots ... */
export const partsCheck = async (folder: string): Promise<ReadonlyArray<Check>> => {
  const byPart = new Map<string, number>()
  for (const { part, size } of await sizesIn(folder).catch(() => [])) {
    const name = part.replace(/^(log\.\w+).*/, '$1')
    byPart.set(name, (byPart.get(name) ?? 0) + size)
  }
  return [...byPart]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .filter(([, size]) => size >= partBytesMin)
    .map(([part, size]) => ({ check: `size of ${part}`, status: 'ok', detail: bytes(size), mend: null }))
}
const partBytesMin = 4_096

const dayMs = 86_400_000

/** How many events each stream has, and how many came a day since its first. */
export const growthChecks = async (log: EventLog): Promise<ReadonlyArray<Check>> => {
  const heads = await log.heads()()
  if (E.isLeft(heads)) return []
  const checks: Check[] = []
  for (const { size, stream } of heads.right.slice(0, streamsShownMax)) {
    const first = await log.readMessages(stream, 0, 1)()
    const last = await log.readMessages(stream, size - 1, 1)()
    if (E.isLeft(first) || E.isLeft(last)) continue
    const spanMs = (last.right[0]?.at ?? 0) - (first.right[0]?.at ?? 0)
    const daily = spanMs < dayMs ? '' : `, ${Math.round(size / (spanMs / dayMs)).toLocaleString('en-US')} a day`
    const detail = `${size.toLocaleString('en-US')} ${size === 1 ? 'event' : 'events'} over ${durationText(spanMs)}${daily}`
    checks.push({ check: `stream ${stream}`, status: 'ok', detail, mend: null })
  }
  return checks
}
const streamsShownMax = 20

const diskDegradedBytes = 1 << 30
const diskBrokenBytes = 16 << 20

export const diskCheck = async (folder: string): Promise<Check> => {
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

export const bytes = (count: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, count < 1 ? 0 : Math.floor(Math.log2(count) / 10))
  const value = count / 1024 ** power
  return `${power === 0 || value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${units[power]!}`
}
