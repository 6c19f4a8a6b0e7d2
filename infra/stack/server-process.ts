import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { either as E, type taskEither as TE } from 'fp-ts'
import { identityOf, isAlive, type ProcessIdentity } from '../host/claim-file.ts'
import { wordsOf } from './cache.ts'
import { lastLines } from './program.ts'
import { stackFault, type StackFault } from './stack-fault.ts'

/** All that it takes to start a server, and to start it again in the same place. */
export interface Launch {
  readonly name: string
  readonly version: string
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** Holds its data, its configuration and `server.log`. */
  readonly folder: string
  /** By what is spoken there: `kafka`, `nats`, `http` ... */
  readonly urls: Readonly<Record<string, string>>
  /** Asked over and over until it says yes. */
  readonly answers: () => Promise<boolean>
  readonly readyMaxMs: number
}

const askEveryMs = 50
const stopMaxMs = 30_000

export const logOf = (folder: string): string => join(folder, 'server.log')

/** A server that we have started: a process of its own, which outlives us unless it is stopped. */
export class ServerProcess {
  readonly launch: Launch
  private running: ProcessIdentity

  private constructor(launch: Launch, running: ProcessIdentity) {
    this.launch = launch
    this.running = running
  }

  /** Resolves when it answers. One that does not in time is ended again. */
  static start(launch: Launch): TE.TaskEither<StackFault, ServerProcess> {
    return async () => {
      const started = await startProcess(launch)
      return E.isLeft(started) ? started : E.right(new ServerProcess(launch, started.right))
    }
  }

  get identity(): ProcessIdentity {
    return this.running
  }

  /** At once, whatever it is doing; resolves when it is gone. */
  async kill(): Promise<void> {
    await endProcess(this.running, 'SIGKILL')
  }

  /** As its operator would; resolves when it is gone. */
  async stop(): Promise<void> {
    await endProcess(this.running, 'SIGTERM')
  }

  /** It keeps its sockets and answers nothing, until it is resumed. */
  suspend(): void {
    process.kill(this.running.pid, 'SIGSTOP')
  }

  resume(): void {
    process.kill(this.running.pid, 'SIGCONT')
  }

  /** In the same place, with the same data, once it is gone. */
  restart(): TE.TaskEither<StackFault, void> {
    return async () => {
      const started = await startProcess(this.launch)
      if (E.isLeft(started)) return started
      this.running = started.right
      return E.right(undefined)
    }
  }
}

const startProcess = async (launch: Launch): Promise<E.Either<StackFault, ProcessIdentity>> => {
  const log = logOf(launch.folder)
  try {
    mkdirSync(launch.folder, { recursive: true })
    if (existsSync(log)) renameSync(log, `${log}.1`)
    const output = openSync(log, 'w')
    // A session of its own: what interrupts us does not reach it.
    const child = spawn(launch.program, launch.args, { detached: true, stdio: ['ignore', output, output] })
    closeSync(output)
    child.unref()
    const failed = new Promise<string>((resolve) => {
      child.once('error', (cause) => {
        resolve(cause.message)
      })
    })
    if (child.pid === undefined)
      return E.left(stackFault(launch.name, await failed, `see that ${launch.program} can be run`))
    return await ready(launch, identityOf(child.pid), log)
  } catch (cause) {
    return E.left(stackFault(launch.name, wordsOf(cause), `see that ${launch.folder} can be written`))
  }
}

const ready = async (
  launch: Launch,
  identity: ProcessIdentity,
  log: string,
): Promise<E.Either<StackFault, ProcessIdentity>> => {
  const until = performance.now() + launch.readyMaxMs
  while (!(await launch.answers())) {
    const late = performance.now() > until
    if (isAlive(identity) && !late) {
      await wait(askEveryMs)
      continue
    }
    if (late) await endProcess(identity, 'SIGKILL')
    const what = late ? `it did not answer within ${launch.readyMaxMs} ms` : 'it ended while it was started'
    return E.left(stackFault(launch.name, `${what}: ${lastLines(textOf(log))}`, `see ${log}`))
  }
  // What answers may be somebody else's, where ours found its port taken.
  if (isAlive(identity)) return E.right(identity)
  return E.left(stackFault(launch.name, `it ended while it was started: ${lastLines(textOf(log))}`, `see ${log}`))
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Resolves when it is gone. One that does not leave when it is asked to is killed. */
export const endProcess = async (identity: ProcessIdentity, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
  const until = performance.now() + stopMaxMs
  let next: 'SIGTERM' | 'SIGKILL' | null = signal
  while (isAlive(identity)) {
    if (performance.now() > until) next = 'SIGKILL'
    if (next !== null) signalTo(identity, next)
    next = null
    await wait(askEveryMs)
  }
}

const signalTo = ({ pid }: ProcessIdentity, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
    // One that is stopped takes no other signal than SIGKILL until it goes on.
    if (signal === 'SIGTERM') process.kill(pid, 'SIGCONT')
  } catch {
    // Gone in the meantime.
  }
}
