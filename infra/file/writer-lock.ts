import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { either as E } from 'fp-ts'

/** Held while the file `path` names this process. */
export interface WriterLock {
  readonly release: () => void
}

/**
 * A lock file that is left behind by a process that is gone is taken over. `Left` says who holds it.
 * @throws what the file system refuses
 */
export const takeWriterLock = (path: string): E.Either<string, WriterLock> => {
  const own = `${process.pid} ${startOf(process.pid) ?? ''}\n`
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    try {
      writeFileSync(path, own, { flag: 'wx', mode: 0o600 })
      return E.right({
        release: () => {
          if (textOf(path) === own) rmSync(path, { force: true })
        },
      })
    } catch (cause) {
      if (codeOf(cause) !== 'EEXIST') throw cause
    }
    const held = textOf(path)
    if (held === null) continue
    if (isAlive(held)) return E.left(`process ${held.trim().split(' ', 1)[0]!} is writing it`)
    // Of several that find it stale one moves it away; whoever moved a live one instead puts it back.
    const aside = `${path}.${process.pid}`
    try {
      renameSync(path, aside)
      if (textOf(aside) !== held) linkSync(aside, path)
    } catch (cause) {
      if (codeOf(cause) !== 'ENOENT' && codeOf(cause) !== 'EEXIST') throw cause
    }
    rmSync(aside, { force: true })
  }
  return E.left('other processes are taking it')
}

const attemptsMax = 8

const codeOf = (cause: unknown): unknown => (cause instanceof Error && 'code' in cause ? cause.code : undefined)

const textOf = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null
    throw cause
  }
}

/** When the kernel started the process, so that another one with the same number is not taken for it; Linux alone tells. */
const startOf = (pid: number): string | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

const isAlive = (held: string): boolean => {
  const [pid, start] = held.trim().split(' ')
  if (pid === undefined || !/^\d+$/.test(pid)) return false
  try {
    process.kill(Number(pid), 0)
  } catch (cause) {
    if (codeOf(cause) === 'ESRCH') return false
  }
  const now = startOf(Number(pid))
  return start === undefined || now === null || now === start
}
