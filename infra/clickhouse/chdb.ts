import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { either as E, type taskEither as TE } from 'fp-ts'
import type { ViewsUnavailable } from '../../domain/ports/views.ts'
import type { DoorMessage, DoorOrder } from './door-message.ts'
import { rebuildMend, unavailable, wordsOf } from './fault.ts'

/** Where the engine answers, until it is restarted: then it answers elsewhere. */
export interface DoorAddress {
  readonly url: string
  readonly password: string
  readonly pid: number
  /** Of chdb, the package. */
  readonly release: string
}

/** A child process that owns the folder and runs chDB in it. It is started again whenever it dies. */
export interface Chdb {
  /** Waits while it starts. */
  readonly address: TE.TaskEither<ViewsUnavailable, DoorAddress>
  /** How often it died and was started again. */
  readonly restarts: () => number
  readonly pid: () => number | null
  /** Resolves when that process is known to have ended, or soon, if it has not. */
  readonly gone: (pid: number) => Promise<void>
  /** It does its work: should it die, it is started again at once. Else the waits between starts grow. */
  readonly answered: () => void
  readonly close: () => Promise<void>
}

const startMaxMs = 30_000
const closeMaxMs = 6_000
const backOffMinMs = 50
const backOffMaxMs = 10_000
/** A connection breaks before its process is known to have ended; who asks again must not meet it. */
const goneMaxMs = 500
const saidMaxChars = 4_000

/** Node runs what is built; the sources stand beside it. */
const doorFile = (): string => {
  const here = fileURLToPath(import.meta.url)
  if (!here.endsWith('.ts')) return join(dirname(here), 'chdb-door.js')
  return join(dirname(here), '..', '..', 'dist', 'infra', 'clickhouse', 'chdb-door.js')
}

const makeFolder = (folder: string): ViewsUnavailable | null => {
  const mend = 'name a folder that can be written with --data'
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return statSync(folder).isDirectory() ? null : unavailable('not-started', `${folder} is no folder`, mend)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    if (code === 'EEXIST' || code === 'ENOTDIR') return unavailable('not-started', `${folder} is no folder`, mend)
    return code === 'ENOSPC'
      ? unavailable('full', `${folder} cannot be made: the disk is full`, 'make room')
      : unavailable('not-started', `${folder} cannot be made: ${code}`, mend)
  }
}

/** What chDB keeps in its folder. */
const kept = ['data', 'metadata', 'metadata_dropped', 'store', 'tmp', 'status', 'user_files', 'format_schemas', 'flags']

/** Removes what chDB keeps there, and nothing else; for a folder that it cannot open. False where it cannot be removed. */
export const emptyFolder = (folder: string): boolean => {
  try {
    for (const name of kept) rmSync(join(folder, name), { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}

/** Whether chDB has never been there. */
export const isFresh = (folder: string): boolean => kept.every((name) => !existsSync(join(folder, name)))

const rightMend = 'give this user the right to read and write it'

/** `said` is what the engine wrote beside the error, which says nothing by itself. */
const faultOfStart = (folder: string, stage: 'load' | 'open', text: string, said: string): ViewsUnavailable => {
  if (stage === 'load')
    return unavailable(
      'not-installed',
      `chDB does not load: ${wordsOf(text.split('\n', 1)[0]!.replace(/ imported from .*/, ''))}`,
      'run `npm install chdb` (Linux and macOS), or name a ClickHouse server; the log needs neither',
    )
  const all = `${text}\n${said}`
  const exception = said.lastIndexOf('Code: ')
  const words = wordsOf(exception === -1 ? text : said.slice(exception))
  if (/another server instance|cannot lock file/i.test(all))
    return unavailable('locked', `${folder}: another process holds the views`, 'ask through it, or stop it')
  if (/No space left on device|NOT_ENOUGH_SPACE/.test(all))
    return unavailable('full', `${folder}: the disk is full`, 'make room and try again')
  if (/Permission denied|Read-only file system|Operation not permitted/i.test(all))
    return unavailable('not-started', `${folder} cannot be written: ${words}`, rightMend)
  return unavailable('not-started', `${folder}: chDB cannot open it, it may be damaged (${words})`, rebuildMend)
}

type Started = E.Either<ViewsUnavailable, DoorAddress>

/** Starts one child and waits until it answers, fails, ends or takes too long. The child is told apart by `onEnd`. */
const start = (
  folder: string,
  onEnd: (child: ChildProcess) => void,
): { child: ChildProcess; ready: Promise<Started> } => {
  const password = randomBytes(24).toString('base64url')
  // Its output would mix with ours. A thread for every request that it may have at a time.
  const child = fork(doorFile(), [folder], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
    env: { ...process.env, UV_THREADPOOL_SIZE: '12' },
  })
  let said = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-saidMaxChars)
  })
  const ready = new Promise<Started>((settle) => {
    const timer = setTimeout(() => {
      settle(E.left(unavailable('not-started', `${folder}: chDB did not start in ${startMaxMs / 1000} s`, 'try again')))
      child.kill('SIGKILL')
    }, startMaxMs)
    let failed: (DoorMessage & { readonly type: 'failed' }) | null = null
    child.on('message', (message: DoorMessage) => {
      if (message.type === 'failed') {
        failed = message
        return
      }
      clearTimeout(timer)
      const { port, release } = message
      settle(E.right({ url: `http://127.0.0.1:${port}`, password, pid: child.pid!, release }))
    })
    child.on('error', (cause) => {
      settle(E.left(unavailable('not-started', `chDB cannot be run: ${cause.message}`, 'try again')))
    })
    child.on('exit', () => {
      clearTimeout(timer)
      onEnd(child)
    })
    // Behind the exit: what it said last has been read.
    child.on('close', (code, signal) => {
      const how = signal === null ? `with ${code}` : `by ${signal}`
      const { stage, text } = failed ?? { stage: 'open' as const, text: `chDB ended ${how} while it started` }
      settle(E.left(faultOfStart(folder, stage, text, said)))
    })
  })
  const order: DoorOrder = { type: 'open', password }
  // A child that is gone already says so by its exit.
  child.send(order, () => undefined)
  return { child, ready }
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((settle) => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) settle()
    else
      child.once('exit', () => {
        settle()
      })
  })

/** Gracefully, then not. */
const stop = async (child: ChildProcess): Promise<void> => {
  const order: DoorOrder = { type: 'close' }
  if (child.connected) child.send(order, () => undefined)
  const timer = setTimeout(() => child.kill('SIGKILL'), closeMaxMs)
  await ended(child)
  clearTimeout(timer)
}

class Keeper implements Chdb {
  readonly #folder: string
  #child: ChildProcess | null = null
  #current: Promise<Started>
  #backOffMs = backOffMinMs
  #wait: { timer: NodeJS.Timeout; go: () => void } | null = null
  #isClosed = false
  #restarts = 0

  constructor(folder: string) {
    this.#folder = folder
    this.#current = this.#start()
  }

  readonly address = (): Promise<Started> =>
    this.#isClosed
      ? Promise.resolve(E.left(unavailable('unreachable', `${this.#folder}: the views are closed`, 'open them again')))
      : this.#current

  readonly restarts = (): number => this.#restarts
  readonly pid = (): number | null => this.#child?.pid ?? null

  readonly answered = (): void => {
    this.#backOffMs = backOffMinMs
  }

  readonly gone = async (pid: number): Promise<void> => {
    const child = this.#child
    if (child?.pid !== pid) return
    await new Promise<void>((settle) => {
      const done = () => {
        clearTimeout(timer)
        child.off('exit', done)
        settle()
      }
      const timer = setTimeout(done, goneMaxMs)
      child.once('exit', done)
    })
  }

  readonly close = async (): Promise<void> => {
    this.#isClosed = true
    if (this.#wait !== null) {
      clearTimeout(this.#wait.timer)
      this.#wait.go()
    }
    if (this.#child !== null) await stop(this.#child)
  }

  #start(): Promise<Started> {
    const made = makeFolder(this.#folder)
    if (made !== null) {
      this.#restartLater(Promise.resolve(E.left(made)))
      return Promise.resolve(E.left(made))
    }
    const { child, ready } = start(this.#folder, (gone) => {
      if (gone === this.#child) this.#onEnd(ready)
    })
    this.#child = child
    return ready
  }

  /**
   * Who asks waits for the next start, unless this one had failed: then its reason is the answer until the next start is
   * under way.
   */
  #onEnd(last: Promise<Started>): void {
    this.#child = null
    if (!this.#isClosed) this.#restartLater(last)
  }

  #restartLater(last: Promise<Started>): void {
    const waitMs = this.#backOffMs
    this.#backOffMs = Math.min(backOffMaxMs, this.#backOffMs * 2)
    const restarted = new Promise<void>((go) => {
      const timer = setTimeout(go, waitMs)
      this.#wait = { timer, go }
    }).then(() => {
      this.#wait = null
      if (this.#isClosed)
        return E.left(unavailable('unreachable', `${this.#folder}: the views are closed`, 'open them again'))
      this.#restarts++
      this.#current = this.#start()
      return this.#current
    })
    this.#current = last.then((was) => (E.isLeft(was) ? was : restarted))
  }
}

/** Waits until chDB answers in that folder, which is made where it is not there. Nothing is left running on `Left`. */
export const openChdb =
  (folder: string): TE.TaskEither<ViewsUnavailable, Chdb> =>
  async () => {
    const keeper = new Keeper(resolve(folder))
    const first = await keeper.address()
    if (E.isRight(first)) return E.right(keeper)
    await keeper.close()
    return first
  }
