import type { Command } from 'commander'
import { either as E } from 'fp-ts'
import {
  readConfiguration,
  type Configuration,
  type ConfigurationSources,
  type EffectiveConfiguration,
} from '../../infra/host/configuration.ts'
import { exitCodes, VerbFailed, type ExitCode } from './exit.ts'
import { defaultWidth, folded, renderObject, renderRows, type Column, type JsonObject, type Style } from './output.ts'
import { startProgress, type Progress } from './progress.ts'

export type Terminal = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }

/** The process around a verb, handed in so that a test can be one. */
export interface Context {
  readonly stdout: Terminal
  readonly stderr: Terminal
  readonly environment: ConfigurationSources['environment']
  readonly workingDirectory: string
  /** Takes the exit code of the verb that ran. */
  readonly ended: (code: ExitCode) => void
}

/** What a verb works with: the configuration in effect, and the ways to say something. */
export interface Session {
  readonly context: Context
  readonly configuration: Configuration
  readonly origins: EffectiveConfiguration['origins']
  readonly style: Style
  readonly printRows: <Row>(rows: ReadonlyArray<Row & JsonObject>, columns: ReadonlyArray<Column<Row>>) => Promise<void>
  readonly printObject: (object: JsonObject) => Promise<void>
  /** As it is, to stdout; resolves when the reader has taken enough of it to go on. */
  readonly write: (text: string) => Promise<void>
  /** Sentences to stdout, each broken where it is too long for a line. */
  readonly say: (text: string) => Promise<void>
  /** Talk, to stderr, likewise: data alone goes to stdout. */
  readonly note: (text: string) => void
  readonly progress: (title: string, total: number) => Progress
}

/**
 * The action of a verb: `program.command('plan <file>').action(verb(context, async (session, file: string) => ...))`.
 * Its work gets the session, then the verb's arguments, then its options, and returns the exit code.
 */
export const verb =
  (context: Context, work: (session: Session, ...args: ReadonlyArray<never>) => Promise<ExitCode>) =>
  async (...received: ReadonlyArray<unknown>): Promise<void> => {
    const command = received.at(-1) as Command
    context.ended(await work(openSession(context, command), ...(received.slice(0, -1) as never[])))
  }

const openSession = (context: Context, command: Command): Session => {
  const { environment, stderr, stdout, workingDirectory } = context
  const flags = command.optsWithGlobals<ConfigurationSources['flags']>()
  const read = readConfiguration({ workingDirectory, environment, flags })
  if (E.isLeft(read)) {
    const fault = read.left
    throw fault.type === 'FileUnreadable'
      ? new VerbFailed(exitCodes.failed, `cannot read the configuration ${fault.file}: ${fault.reason}; ${fault.mend}`)
      : new VerbFailed(exitCodes.usage, 'the configuration is not valid', fault.faults, fault.file ?? undefined)
  }
  const { origins, values } = read.right
  const style: Style = {
    format: values.output,
    // Some terminals say 0 when they mean that they do not know.
    width: stdout.columns === undefined || stdout.columns === 0 ? defaultWidth : stdout.columns,
    colour: isColoured(stdout, environment),
  }
  return {
    context,
    configuration: values,
    origins,
    style,
    ...printing(style, (text) => writeAll(stdout, text)),
    note: (text) => stderr.write(folded(text, style.width)),
    progress: (title, total) => startProgress(stderr, title, total),
  }
}

type Printing = Pick<Session, 'printRows' | 'printObject' | 'say' | 'write'>

const printing = (style: Style, write: (text: string) => Promise<void>): Printing => ({
  printRows: (rows, columns) => write(renderRows(rows, columns, style)),
  printObject: (object) => write(renderObject(object, style)),
  say: (text) => write(folded(text, style.width)),
  write,
})

/** The same session, which writes and talks elsewhere and shows no progress. */
export const writingTo = (session: Session, write: (text: string) => void): Session => ({
  ...session,
  ...printing(session.style, (text) => {
    write(text)
    return Promise.resolve()
  }),
  note: (text) => {
    write(folded(text, session.style.width))
  },
  progress: () => ({ at: () => undefined, stop: () => undefined }),
})

/** @see https://no-color.org: any value but the empty one turns colour off */
const isColoured = (stream: Terminal, environment: Context['environment']): boolean =>
  stream.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'

const writeAll = (stream: Terminal, text: string): Promise<void> =>
  stream.write(text) ? Promise.resolve() : new Promise((resolve) => stream.once('drain', resolve))
