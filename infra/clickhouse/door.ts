import { readFileSync } from 'node:fs'
import { either as E, type taskEither as TE } from 'fp-ts'
import type { ViewsUnavailable } from '../../domain/ports/views.ts'
import { emptyFolder, openChdb } from './chdb.ts'
import { openEngine, type Engine, type EngineAddress } from './engine.ts'
import { unavailable, viewsFault } from './fault.ts'
import type { ServerPlace } from './place.ts'

/** The way to an engine that may be another one the next time. */
export interface Door {
  readonly kind: 'chdb' | 'server'
  readonly place: string
  /** Waits while it starts. */
  readonly engine: TE.TaskEither<ViewsUnavailable, Engine>
  /** Of the process that runs chDB; null where a server does, or while it is started again. */
  readonly pid: () => number | null
  readonly restarts: () => number
  /** It does its work. */
  readonly answered: () => void
  /** Resolves once an engine that did not answer is known to be gone, or is not. */
  readonly failed: () => Promise<void>
  readonly lender: Lender
  readonly close: () => Promise<void>
}

/** Where the engine answers, until it is another one. */
interface DoorAddress {
  readonly engine: EngineAddress
  /** Of its process; 0 where a server answers. */
  readonly pid: number
}

/** What lies behind a door. All that it says can be sent to another thread. */
export interface Lender {
  readonly address: TE.TaskEither<ViewsUnavailable, DoorAddress>
  readonly answered: () => void
  readonly failed: (pid: number) => Promise<void>
}

const chdbDatabase = 'leasehold'

type Frame = Pick<Door, 'kind' | 'place' | 'pid' | 'restarts' | 'close'>

const doorOf = (lender: Lender, frame: Frame): Door => {
  let current: { readonly pid: number; readonly engine: Engine } | null = null
  return {
    ...frame,
    lender,
    answered: lender.answered,
    engine: async () => {
      const address = await lender.address()
      if (E.isLeft(address)) return address
      const { engine, pid } = address.right
      if (current?.pid !== pid) {
        // Its process is gone, and so is every connection that it had.
        void current?.engine.close()
        current = { pid, engine: openEngine(engine, frame.place) }
      }
      return E.right(current.engine)
    },
    failed: () => (current === null ? Promise.resolve() : lender.failed(current.pid)),
    close: async () => {
      await current?.engine.close()
      await frame.close()
    },
  }
}

/** @param anew makes room for a new one where what is there cannot be opened */
export const inFolder =
  (folder: string, anew: boolean): TE.TaskEither<ViewsUnavailable, Door> =>
  async () => {
    const first = await openChdb(folder)()
    const isDamaged = E.isLeft(first) && first.left.kind === 'not-started'
    const started = anew && isDamaged && emptyFolder(folder) ? await openChdb(folder)() : first
    if (E.isLeft(started)) return started
    const chdb = started.right
    const address = async (): Promise<E.Either<ViewsUnavailable, DoorAddress>> => {
      const found = await chdb.address()
      if (E.isLeft(found)) return found
      const { password, pid, url } = found.right
      return E.right({ engine: { url, user: 'default', password, database: chdbDatabase, ca: null }, pid })
    }
    const { answered, close, gone: failed, pid, restarts } = chdb
    return E.right(doorOf({ address, answered, failed }, { kind: 'chdb', place: folder, pid, restarts, close }))
  }

/** The files that it names are read here, and once. */
export const atServer =
  ({ caFile, database, password, passwordFile, url, user }: ServerPlace): TE.TaskEither<ViewsUnavailable, Door> =>
  () => {
    const place = `ClickHouse at ${url}`
    const ca = caFile === null ? E.right(null) : textOf(caFile, place, 'tlsCAFile')
    if (E.isLeft(ca)) return Promise.resolve(ca)
    const secret = passwordFile === null ? E.right(password ?? '') : textOf(passwordFile, place, 'passwordFile')
    if (E.isLeft(secret)) return Promise.resolve(secret)
    const engine = { url, user, password: secret.right.replace(/\r?\n$/, ''), database, ca: ca.right }
    const address = () => Promise.resolve(E.right({ engine, pid: 0 }))
    const failed = () => Promise.resolve()
    try {
      void openEngine(engine, place).close()
      const door = doorOf({ address, answered: () => undefined, failed }, { kind: 'server', place, ...noProcess })
      return Promise.resolve(E.right(door))
    } catch {
      return Promise.resolve(
        E.left(unavailable('refused', `${url} is no address of a server`, 'give one: http://HOST:8123')),
      )
    }
  }

const textOf = (file: string, place: string, option: string): E.Either<ViewsUnavailable, string> => {
  try {
    return E.right(readFileSync(file, 'utf8'))
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    return E.left(
      unavailable('refused', `${place}: ${option} ${file} cannot be read: ${code}`, 'name a file that this user reads'),
    )
  }
}

const noProcess = { pid: () => null, restarts: () => 0, close: () => Promise.resolve() }

/** To what another thread keeps. */
export const borrowedDoor = (lender: Lender, kind: Door['kind'], place: string): Door =>
  doorOf(lender, { kind, place, ...noProcess })

export const using = async <A>(
  door: Door,
  work: (engine: Engine) => Promise<A>,
): Promise<E.Either<ViewsUnavailable, A>> => {
  const engine = await door.engine()
  if (E.isLeft(engine)) return engine
  try {
    const done = await work(engine.right)
    door.answered()
    return E.right(done)
  } catch (cause) {
    const fault = viewsFault(cause, door.place)
    if (fault.kind === 'unreachable') await door.failed()
    return E.left(fault)
  }
}
