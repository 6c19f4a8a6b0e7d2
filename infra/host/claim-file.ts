import { hash as digest } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { either as E } from 'fp-ts'

/** A process, told from another one that has its number later. */
export interface ProcessIdentity {
  readonly pid: number
  /** When the kernel started it, in ticks since it booted; null where the system does not tell. */
  readonly start: string | null
}

/** Held while the file names this process. */
export interface ClaimFile {
  /** Replaces what the file says; false when it is no longer this process's. */
  readonly rewrite: (text: string) => boolean
  readonly release: () => void
}

export type FileClaimed = { readonly type: 'FileClaimed'; readonly text: string } | { readonly type: 'FileContested' }

/**
 * One process at a time holds the file `path`. It is there whole or not at all; one that is left behind by a process that
 * is gone, or that names none, is taken over. Waits for nothing.
 * @param text     what the file is to say; `ownerOf` finds this process in it
 * @param ownerOf  whom a text names; null: nobody
 * @throws what the file system refuses
 */
export const claimFile = (
  path: string,
  text: string,
  ownerOf: (text: string) => ProcessIdentity | null,
): E.Either<FileClaimed, ClaimFile> => {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    if (placeNew(path, text)) return E.right(claimOf(path, text))
    const held = textIn(path)
    if (held === null) continue
    const owner = ownerOf(held)
    if (owner !== null && isAlive(owner)) return E.left({ type: 'FileClaimed', text: held })
    // Of several that find it stale one replaces it: only who holds this further file may, and only while it is the same.
    const heir = claimFile(`${path}.${digest('sha256', held).slice(0, 16)}`, text, ownerOf)
    if (E.isLeft(heir)) continue
    try {
      const claim = claimOf(path, held)
      if (claim.rewrite(text)) return E.right(claim)
    } finally {
      heir.right.release()
    }
  }
  return E.left({ type: 'FileContested' })
}

const attemptsMax = 4

const claimOf = (path: string, first: string): ClaimFile => {
  let own = first
  return {
    rewrite: (text) => {
      if (textIn(path) !== own) return false
      const next = besides(path)
      writeFileSync(next, text, { mode: 0o600 })
      renameSync(next, path)
      own = text
      return true
    },
    release: () => {
      if (textIn(path) === own) rmSync(path, { force: true })
    },
  }
}

const besides = (path: string): string => `${path}.${process.pid}.new`

/** Puts a whole file there unless one is there. */
const placeNew = (path: string, text: string): boolean => {
  const next = besides(path)
  try {
    writeFileSync(next, text, { mode: 0o600 })
    try {
      linkSync(next, path)
    } catch (cause) {
      if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(String(codeOf(cause)))) throw cause
      // A file system without links: the file is there a moment before its text, and may be taken for a stale one then.
      writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
    }
    return true
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  } finally {
    rmSync(next, { force: true })
  }
}

const codeOf = (cause: unknown): unknown => (cause instanceof Error && 'code' in cause ? cause.code : undefined)

/** Null: there is none. */
export const textIn = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return null
    throw cause
  }
}

/** What the kernel says of a process, from its state on; null where it is gone or the system does not tell. Linux alone does. */
const statOf = (pid: number): ReadonlyArray<string> | null => {
  try {
    return fieldsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return null
  }
}

/** Behind the name of its program, in which anything may stand. */
const fieldsOf = (stat: string): ReadonlyArray<string> => stat.slice(stat.lastIndexOf(')') + 2).split(' ')

/** The process that the kernel wrote this about, or whose bare number it is; null: it is neither. */
export const identityIn = (stat: string): ProcessIdentity | null => {
  const pid = /^[1-9]\d{0,9}\b/.exec(stat)?.[0]
  return pid === undefined
    ? null
    : { pid: Number(pid), start: stat.includes(')') ? (fieldsOf(stat)[19] ?? null) : null }
}

export const identityOf = (pid: number): ProcessIdentity => ({ pid, start: statOf(pid)?.[19] ?? null })

export const thisProcess = (): ProcessIdentity => identityOf(process.pid)

export const isAlive = ({ pid, start }: ProcessIdentity): boolean => {
  try {
    process.kill(pid, 0)
  } catch (cause) {
    // Another user's process may not be signalled, and is there.
    if (codeOf(cause) !== 'EPERM') return false
  }
  const stat = statOf(pid)
  // One that has ended, whose parent has not asked how yet, holds nothing any more.
  if (stat?.[0] === 'Z') return false
  const now = stat?.[19] ?? null
  return start === null || now === null || now === start
}
