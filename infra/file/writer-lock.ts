import { either as E } from 'fp-ts'
import { claimFile, thisProcess, type ClaimFile, type ProcessIdentity } from '../host/claim-file.ts'

/** Held while the file `path` names this process. */
export type WriterLock = Pick<ClaimFile, 'release'>

/**
 * A lock file that is left behind by a process that is gone is taken over. `Left` says who holds it.
 * @throws what the file system refuses
 */
export const takeWriterLock = (path: string): E.Either<string, WriterLock> => {
  const { pid, start } = thisProcess()
  const claimed = claimFile(path, `${pid} ${start ?? ''}\n`, ownerIn)
  if (E.isRight(claimed)) return claimed
  const holder = claimed.left.type === 'FileClaimed' ? ownerIn(claimed.left.text) : null
  return E.left(holder === null ? 'other processes are taking it' : `process ${holder.pid} is writing it`)
}

const ownerIn = (text: string): ProcessIdentity | null => {
  const [pid = '', start] = text.trim().split(' ')
  return /^[1-9]\d{0,9}$/.test(pid) ? { pid: Number(pid), start: start ?? null } : null
}
