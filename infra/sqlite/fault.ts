import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import { closedFault } from '../chain/append-queue.ts'

/** Thrown and caught inside this folder: what was read cannot have been written so. */
export class Damaged extends Error {
  readonly position: number | undefined
  constructor(reason: string, position?: number) {
    super(reason)
    this.position = position
  }
}

/** SQLite's codes and our own, in the words of the port. */
export const faultOf =
  (file: string) =>
  (cause: unknown): LogUnavailable => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    const fault = (kind: LogUnavailable['kind'], why: string, mend: string): LogUnavailable => ({
      type: 'LogUnavailable',
      kind,
      reason: `${file}: ${why}`,
      mend,
    })
    if (cause instanceof Damaged || cause instanceof SyntaxError) {
      const damaged = fault('damaged', reason, damagedMend)
      const position = cause instanceof Damaged ? cause.position : undefined
      return position === undefined ? damaged : { ...damaged, position }
    }
    if (code.startsWith('SQLITE_FULL'))
      return fault('full', 'the disk is full', 'make room; nothing was stored by halves')
    if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'))
      return fault('locked', 'another process is writing', 'try again when it is done, or stop it')
    if (code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_PERM') || code.startsWith('SQLITE_AUTH'))
      return fault('read-only', 'it cannot be written', 'give this user the right to write it and its folder')
    if (code.startsWith('SQLITE_CANTOPEN'))
      return fault(
        'read-only',
        'it cannot be opened',
        'check that folder and file can be read and written by this user',
      )
    if (code.startsWith('SQLITE_CORRUPT') || code.startsWith('SQLITE_NOTADB'))
      return fault('damaged', `it is damaged (${reason})`, damagedMend)
    if (code.startsWith('SQLITE_IOERR'))
      return fault('input-output', `the disk failed (${reason})`, 'see to the disk; appending the same again is safe')
    if (reason.includes('database connection is not open')) return closedFault
    // Any other complaint of SQLite, such as a column that is not there, comes of what the file says.
    if (code.startsWith('SQLITE_')) return fault('damaged', `it is damaged (${reason})`, damagedMend)
    return fault('input-output', reason, 'see to the file; appending the same again is safe')
  }

const damagedMend = 'keep the file, run `leasehold audit verify` to see what is damaged, and restore a backup'
