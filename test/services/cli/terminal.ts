import { PassThrough } from 'node:stream'
import { expect } from 'vitest'
import type { Register } from '../../../services/cli/program.ts'
import { runProgram } from '../../../services/cli/program.ts'
import type { ExitCode } from '../../../services/cli/exit.ts'

export interface Ran {
  readonly code: ExitCode
  readonly stdout: string
  /** Each error and each fault on a line of its own, however long: see `shown`. */
  readonly stderr: string
  /** Both as they were written, where what is too long for a line goes on in the next. */
  readonly shown: string
}

/** What an error that was folded says, on one line. */
export const unfolded = (errors: string): string => errors.replaceAll(/\n {4}(?=\S)/g, ' ')

/** A text that holds these words in this order, on however many lines. */
export const saying = (text: string): unknown =>
  expect.stringMatching(
    text
      .trim()
      .split(/\s+/)
      .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('\\s+'),
  )

export interface Surroundings {
  /** Views are left out unless it says LEASEHOLD_VIEWS: they take a second, a process and 250 MB each time. */
  readonly environment?: { readonly [name: string]: string }
  readonly workingDirectory?: string
  /** Columns of a terminal that a person looks at; absent: output goes to a file. */
  readonly columns?: number
  readonly verbs?: ReadonlyArray<Register>
}

/** Runs a command line in this process, against streams that stand for a terminal or a file. */
export const run = async (words: ReadonlyArray<string>, around: Surroundings = {}): Promise<Ran> => {
  const stream = () => {
    const chunks: string[] = []
    const through = new PassThrough()
    through.on('data', (chunk: Buffer) => chunks.push(chunk.toString('utf8')))
    const terminal = around.columns === undefined ? {} : { isTTY: true, columns: around.columns }
    return { stream: Object.assign(through, terminal), text: () => chunks.join('') }
  }
  const stdout = stream()
  const stderr = stream()
  const code = await runProgram(
    words,
    {
      stdout: stdout.stream,
      stderr: stderr.stream,
      environment: { LEASEHOLD_VIEWS: 'none', ...around.environment },
      workingDirectory: around.workingDirectory ?? '/nonexistent',
    },
    around.verbs,
  )
  await new Promise((resolve) => setImmediate(resolve))
  const [said, told] = [stdout.text(), stderr.text()]
  const ran = { code, stdout: said, stderr: unfolded(told) }
  // Not one of the members that a test compares.
  return Object.defineProperty(ran, 'shown', { value: `${said}${told}` }) as Ran
}
