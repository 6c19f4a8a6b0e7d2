import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { either as E, type taskEither as TE } from 'fp-ts'
import { claimFile, thisProcess, type ProcessIdentity } from '../host/claim-file.ts'
import { stackFault, type StackFault } from './stack-fault.ts'

/** What is fetched or built once for this user: `LEASEHOLD_CACHE`, or `leasehold` in the user's cache folder. */
export const cacheFolder = (): string =>
  process.env['LEASEHOLD_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'leasehold')

const askEveryMs = 250
const waitMaxMs = 900_000

/**
 * A folder of the cache, made when it is not there: by one process, while others wait. It is there whole or not at all.
 * @param make  fills a folder that is there and empty
 */
export const cached = (
  server: string,
  folder: string,
  make: (empty: string) => TE.TaskEither<StackFault, void>,
): TE.TaskEither<StackFault, string> => {
  const attempt = async (): Promise<E.Either<StackFault, string>> => {
    mkdirSync(dirname(folder), { recursive: true })
    for (let waitedMs = 0; waitedMs <= waitMaxMs; waitedMs += askEveryMs) {
      if (existsSync(folder)) return E.right(folder)
      const claim = claimFile(`${folder}.making`, JSON.stringify(thisProcess()), identityIn)
      if (E.isRight(claim)) {
        try {
          return await filled(folder, make)
        } finally {
          claim.right.release()
        }
      }
      await wait(askEveryMs)
    }
    return E.left(stackFault(server, `another process is still making ${folder}`, 'end it, and try again'))
  }
  return () =>
    attempt().catch((cause: unknown) =>
      E.left(stackFault(server, wordsOf(cause), 'name a folder that can be written in LEASEHOLD_CACHE')),
    )
}

const filled = async (
  folder: string,
  make: (empty: string) => TE.TaskEither<StackFault, void>,
): Promise<E.Either<StackFault, string>> => {
  if (existsSync(folder)) return E.right(folder)
  const part = `${folder}.part`
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part)
  const made = await make(part)()
  if (E.isLeft(made)) return made
  renameSync(part, folder)
  return E.right(folder)
}

const identityIn = (text: string): ProcessIdentity | null => {
  try {
    const { pid, start } = JSON.parse(text) as Partial<ProcessIdentity>
    return typeof pid === 'number' ? { pid, start: start ?? null } : null
  } catch {
    return null
  }
}

export const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
