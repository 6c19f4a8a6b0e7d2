import { describeFault, type Fault } from '../../domain/kernel/fault.ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import { wrapped } from '../../projections/explain/wording.ts'
import { defaultWidth, terminalSafe } from './output.ts'

/**
 * What a verb's exit status says; scripts rely on it, so it never changes its meaning.
 * SIGINT is left to the system, which stops the process at once even inside a long computation; a shell reports 130.
 */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  unverified: 4,
  different: 5,
  interrupted: 130,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const exitCodesHelp = `
Exit codes:
  0    done, or yes
  1    failed, or not found: the environment is in the way (disk, lock, missing file)
  2    usage, or invalid input
  3    refused, or not now
  4    verification failed
  5    differences found
  130  interrupted`

/** The one way a verb ends that is not success: what is wrong, in words for the person who ran it. */
export class VerbFailed extends Error {
  readonly code: ExitCode
  readonly faults: ReadonlyArray<Fault>
  /** The file that those faults lie in that have a line. */
  readonly file: string | undefined

  constructor(code: ExitCode, message: string, faults: ReadonlyArray<Fault> = [], file?: string) {
    super(message)
    this.code = code
    this.faults = faults
    this.file = file
  }
}

export const invalidInput = (file: string, faults: ReadonlyArray<Fault>): VerbFailed =>
  new VerbFailed(exitCodes.usage, `${file} is not valid`, faults, file)

export const logUnavailable = ({ kind, reason, mend }: LogUnavailable): VerbFailed =>
  new VerbFailed(exitCodes.failed, `the log cannot be used: ${reason}; ${kind === 'absent' ? noLogMend : mend}`)

/** A log is begun by a system, and by no verb that only asks. */
const noLogMend = 'start `leasehold up`, or name the folder of a log with --data'

const faultsMax = 20
const lineCharsMax = 500

/** What goes to stderr: `error: ...`, then one indented line for each fault, all of it bounded. */
export const describeFailure = ({ message, faults, file }: VerbFailed): string => {
  const lines = faults
    .slice(0, faultsMax)
    .map((fault) => `  ${describeFault(fault, fault.line === undefined ? undefined : file)}`)
  if (faults.length > faultsMax) lines.push(`  ... and ${faults.length - faultsMax} more`)
  return [`error: ${message}`, ...lines].map(failureLine).join('')
}

const failureLine = (line: string): string => `${wrapped(shorten(terminalSafe(line)), defaultWidth, 4)}\n`

/** A bug of ours: one line and what to do; the stack only on request. */
export const describeBug = (cause: unknown, debug: boolean): string => {
  const message = cause instanceof Error ? cause.message : String(cause)
  const stack = debug && cause instanceof Error ? `${cause.stack ?? ''}\n` : ''
  return (
    failureLine(`error: unexpected: ${message}`) +
    '  This is a bug in Leasehold. Please report it with the output of `leasehold doctor` and of this\n' +
    '  command with LEASEHOLD_DEBUG=1.\n' +
    stack
  )
}

const shorten = (line: string): string => (line.length > lineCharsMax ? `${line.slice(0, lineCharsMax - 1)}…` : line)
