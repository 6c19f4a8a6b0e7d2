/** The file could not be read at all: a matter of the environment, not of what the file says. */
export interface FileUnreadable {
  readonly type: 'FileUnreadable'
  readonly file: string
  /** The code of the operating system, `ENOENT`. */
  readonly code: string
  readonly reason: string
  readonly mend: string
}

const known: ReadonlyMap<string, readonly [reason: string, mend: string]> = new Map([
  ['ENOENT', ['there is no such file', 'check the path']],
  ['ENOTDIR', ['there is no such file', 'check the path']],
  ['EACCES', ['reading it is not permitted', 'give this user the right to read it']],
  ['EPERM', ['reading it is not permitted', 'give this user the right to read it']],
  ['EISDIR', ['is a folder', 'name a file in it']],
  ['ERR_INVALID_ARG_VALUE', ['is no file name', 'give a path without NUL bytes']],
])

/** @param cause what reading threw */
export const fileUnreadable = (file: string, cause: unknown): FileUnreadable => {
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : 'UNKNOWN'
  const [reason, mend] = known.get(code) ?? [`cannot be read (${code})`, 'check the disk and try again']
  return { type: 'FileUnreadable', file, code, reason, mend }
}
