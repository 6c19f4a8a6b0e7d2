import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import { claimFile, isAlive, textIn, thisProcess, type ProcessIdentity } from './claim-file.ts'

/** The one process that may write what a data folder holds, as `owner.json` in it says. */
export interface FolderOwner extends ProcessIdentity {
  /** `http://127.0.0.1:7878`; null: it answers nobody, yet or at all. */
  readonly address: string | null
  readonly since: EpochMs
  /** Release of the owner. */
  readonly version: string
  /** `up`, or the verb that holds the folder for a moment. */
  readonly what: string
}

export interface FolderClaim {
  /** From now on it answers here. `Left`: the folder is no longer ours, or cannot be written. */
  readonly announce: (address: string) => E.Either<LogUnavailable, void>
  readonly release: () => void
}

/** Of kind `locked`, with who holds it where that is known; or what the file system refuses. */
export type FolderRefused = LogUnavailable & { readonly owner: FolderOwner | null }

export const ownerFile = (folder: string): string => join(folder, 'owner.json')

/**
 * Takes a data folder, which is made where there is none, for this process alone until it is released or the process is
 * gone, however that goes. Waits for nothing.
 */
export const claimFolder = (
  folder: string,
  as: Omit<FolderOwner, 'pid' | 'start'>,
): E.Either<FolderRefused, FolderClaim> => {
  const path = ownerFile(folder)
  const textOf = (address: string | null) => `${JSON.stringify({ ...thisProcess(), ...as, address }, null, 2)}\n`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const claimed = claimFile(path, textOf(as.address), ownerIn)
    if (E.isLeft(claimed)) {
      const owner = claimed.left.type === 'FileClaimed' ? ownerIn(claimed.left.text) : null
      return E.left(heldBy(folder, owner))
    }
    const { release, rewrite } = claimed.right
    return E.right({
      announce: (address) => {
        try {
          return rewrite(textOf(address)) ? E.right(undefined) : E.left(heldBy(folder, ownerOf(folder)))
        } catch (cause) {
          return E.left(faultOf(path, cause))
        }
      },
      release: () => {
        try {
          release()
        } catch {
          // Then it is found stale by whoever comes next.
        }
      },
    })
  } catch (cause) {
    return E.left({ ...faultOf(path, cause), owner: null })
  }
}

/** Who owns the folder now; null: nobody. */
export const ownerOf = (folder: string): FolderOwner | null => {
  try {
    const owner = ownerIn(textIn(ownerFile(folder)) ?? '')
    return owner !== null && isAlive(owner) ? owner : null
  } catch {
    return null // What cannot be read tells of no owner; what is behind it is told when it is written.
  }
}

/** Why a folder cannot be had now. */
export const heldBy = (folder: string, owner: FolderOwner | null): FolderRefused => {
  const refused = { type: 'LogUnavailable', kind: 'locked', owner } as const
  if (owner === null)
    return { ...refused, reason: `${folder} is being taken by other processes`, mend: 'try again in a moment' }
  const { address, pid, since, what } = owner
  const where = address === null ? '' : `, at ${address}`
  const by = `\`leasehold ${what}\`, process ${pid}${where}, since ${new Date(since).toISOString()}`
  const mend = what === 'up' ? 'stop it, or name another folder with --data' : 'try again when it is done, or stop it'
  return { ...refused, reason: `${folder} is held by ${by}`, mend }
}

const faultOf = (path: string, cause: unknown): LogUnavailable => {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  const kind = code === 'ENOSPC' ? 'full' : ['EROFS', 'EACCES', 'EPERM'].includes(code) ? 'read-only' : 'input-output'
  const mend = kind === 'full' ? 'free some space' : 'name a folder that can be written with --data'
  return { type: 'LogUnavailable', kind, reason: `${path} cannot be written: ${code}`, mend }
}

/** What a text of unknown origin says; null: it names nobody. */
const ownerIn = (text: string): FolderOwner | null => {
  try {
    const value = JSON.parse(text) as Partial<Record<keyof FolderOwner, unknown>> | null
    const { address, pid, since, start, version, what } = value ?? {}
    const isOwner =
      Number.isSafeInteger(pid) &&
      (pid as number) > 0 &&
      (start === null || typeof start === 'string') &&
      (address === null || typeof address === 'string') &&
      Number.isSafeInteger(since) &&
      Math.abs(since as number) < 8.64e15 &&
      typeof version === 'string' &&
      typeof what === 'string'
    return isOwner ? (value as FolderOwner) : null
  } catch {
    return null
  }
}
