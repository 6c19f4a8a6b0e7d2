import { either as E, type taskEither as TE } from 'fp-ts'
import type { QueryRefused, TableRows, Views, ViewsUnavailable } from '../../domain/ports/views.ts'
import { emptyFolder, isFresh, openChdb, type Chdb } from './chdb.ts'
import { openEngine, type Engine, type EngineAddress } from './engine.ts'
import { queryFault, unavailable, viewsFault } from './fault.ts'
import { dropAll, migrate } from './migrate.ts'
import type { Migration } from './migration.ts'
import { readOnlyQuery } from './read-only.ts'
import { migrations as released } from './schema/migrations.ts'
import { contentsOf, sizesOf, type TableContent, type TableSize } from './table-content.ts'

/** A folder that chDB keeps, or a ClickHouse server. */
export type ViewsPlace = { readonly folder: string } | EngineAddress

export interface ClickHouseViews extends Views {
  readonly kind: 'chdb' | 'server'
  /** Name and version of what answers. */
  readonly engine: string
  /** Of the process that runs chDB; null where a server does, or while it is started again. */
  readonly pid: () => number | null
  /** How often that process died and was started again. */
  readonly restarts: () => number
  /** Every table that holds rows, as it reads now, in order of their names. */
  readonly contents: () => TE.TaskEither<ViewsUnavailable, ReadonlyArray<TableContent>>
  readonly sizes: () => TE.TaskEither<ViewsUnavailable, ReadonlyArray<TableSize>>
}

export interface OpenViewsOptions {
  /** Drops what is there, whatever made it, and makes everything anew. */
  readonly anew?: boolean
  /** For tests: another schema. */
  readonly migrations?: ReadonlyArray<Migration>
}

const batchRowsMax = 20_000
/** One is encoded while others are stored. */
const insertsAtOnceMax = 3
const writesMax = 64
const queriesMax = 64
const database = 'leasehold'

/** Opens the views and brings their schema up to date. Nothing is left running on `Left`. */
export const openViews =
  (place: ViewsPlace, options: OpenViewsOptions = {}): TE.TaskEither<ViewsUnavailable, ClickHouseViews> =>
  async () => {
    const { anew = false, migrations = released } = options
    const fresh = 'folder' in place && isFresh(place.folder) ? place.folder : null
    const opened = await ('folder' in place ? inFolder(place.folder, anew) : atServer(place))()
    if (E.isLeft(opened)) {
      // What a start that failed leaves there, such as files without a byte, would fail the next one too.
      if (fresh !== null && opened.left.kind !== 'locked') emptyFolder(fresh)
      return opened
    }
    const door = opened.right
    const made = await using(door, async (engine) => {
      await engine.makeDatabase()
      const [[name = ''] = []] = await engine.rows('SELECT version()')
      if (anew && (door.kind === 'chdb' || (await engine.tables()).includes('schema_migration'))) await dropAll(engine)
      const migrated = await migrate(engine, migrations)
      if (E.isLeft(migrated)) return migrated
      const functions = await engine.rows('SELECT lower(name) FROM system.table_functions')
      return E.right({ name, tableFunctions: new Set(functions.map(([each = '']) => each)) })
    })
    const failed = E.isLeft(made) ? made : E.isLeft(made.right) ? made.right : null
    if (failed !== null) {
      await door.close()
      if (fresh !== null) emptyFolder(fresh)
      return failed
    }
    const { name, tableFunctions } = (made as E.Right<E.Right<Made>>).right.right
    return E.right(
      new OpenedViews(door, migrations, `${door.kind === 'chdb' ? 'chDB' : 'ClickHouse'} ${name}`, tableFunctions),
    )
  }

interface Made {
  readonly name: string
  readonly tableFunctions: ReadonlySet<string>
}

/** The way to an engine that may be another one the next time. */
interface Door {
  readonly kind: 'chdb' | 'server'
  readonly place: string
  readonly engine: TE.TaskEither<ViewsUnavailable, Engine>
  readonly chdb: Chdb | null
  /** Resolves once an engine that did not answer is known to be gone, or is not. */
  readonly failed: (engine: Engine) => Promise<void>
  readonly close: () => Promise<void>
}

const inFolder =
  (folder: string, anew: boolean): TE.TaskEither<ViewsUnavailable, Door> =>
  async () => {
    const first = await openChdb(folder)()
    const isDamaged = E.isLeft(first) && first.left.kind === 'not-started'
    const started = anew && isDamaged && emptyFolder(folder) ? await openChdb(folder)() : first
    if (E.isLeft(started)) return started
    const chdb = started.right
    let current: { readonly pid: number; readonly engine: Engine } | null = null
    const engine = async (): Promise<E.Either<ViewsUnavailable, Engine>> => {
      const address = await chdb.address()
      if (E.isLeft(address)) return address
      const { url, password, pid } = address.right
      if (current?.pid !== pid) {
        // Its process is gone, and so is every connection that it had.
        void current?.engine.close()
        current = { pid, engine: openEngine({ url, user: 'default', password, database }, folder) }
      }
      return E.right(current.engine)
    }
    return E.right({
      kind: 'chdb',
      place: folder,
      engine,
      chdb,
      failed: () => (current === null ? Promise.resolve() : chdb.gone(current.pid)),
      close: async () => {
        await current?.engine.close()
        await chdb.close()
      },
    })
  }

const atServer =
  (address: EngineAddress): TE.TaskEither<ViewsUnavailable, Door> =>
  () => {
    const place = `ClickHouse at ${address.url}`
    try {
      const engine = openEngine(address, place)
      return Promise.resolve(
        E.right({
          kind: 'server',
          place,
          engine: () => Promise.resolve(E.right(engine)),
          chdb: null,
          failed: () => Promise.resolve(),
          close: engine.close,
        }),
      )
    } catch {
      return Promise.resolve(
        E.left(unavailable('refused', `${address.url} is no address of a server`, 'give one: http://HOST:8123')),
      )
    }
  }

const using = async <A>(door: Door, work: (engine: Engine) => Promise<A>): Promise<E.Either<ViewsUnavailable, A>> => {
  const engine = await door.engine()
  if (E.isLeft(engine)) return engine
  try {
    const done = await work(engine.right)
    door.chdb?.answered()
    return E.right(done)
  } catch (cause) {
    const fault = viewsFault(cause, door.place)
    if (fault.kind === 'unreachable') await door.failed(engine.right)
    return E.left(fault)
  }
}

class OpenedViews implements ClickHouseViews {
  readonly kind: 'chdb' | 'server'
  readonly engine: string
  readonly #door: Door
  readonly #migrations: ReadonlyArray<Migration>
  readonly #tableFunctions: ReadonlySet<string>
  #writes: Promise<unknown> = Promise.resolve()
  #writing = 0
  #querying = 0

  constructor(door: Door, migrations: ReadonlyArray<Migration>, engine: string, tableFunctions: ReadonlySet<string>) {
    this.kind = door.kind
    this.engine = engine
    this.#door = door
    this.#migrations = migrations
    this.#tableFunctions = tableFunctions
  }

  readonly pid = (): number | null => this.#door.chdb?.pid() ?? null
  readonly restarts = (): number => this.#door.chdb?.restarts() ?? 0

  readonly projected: Views['projected'] = () => () =>
    using(this.#door, async (engine) => {
      const [row] = await engine.rows('SELECT count(), max(position) FROM projection')
      return row![0] === '0' ? -1 : Number(row![1])
    })

  readonly write: Views['write'] = (upTo, tables) =>
    this.#inTurn(async (engine) => {
      await insertAll(engine, tables)
      await engine.insert('projection', ['name', 'position'], [['views', upTo]])
    })

  readonly reset: Views['reset'] = () => async () => {
    const done = await this.#inTurn(async (engine) => {
      await dropAll(engine)
      return migrate(engine, this.#migrations)
    })()
    return E.isLeft(done) ? done : done.right
  }

  readonly query: Views['query'] =
    (sql, limits, parameters = {}) =>
    async () => {
      const query = readOnlyQuery(sql, this.#tableFunctions)
      if (E.isLeft(query)) return query
      if (this.#querying >= queriesMax)
        return E.left(unavailable('unreachable', `${queriesMax} queries are being answered`, 'ask again in a moment'))
      this.#querying++
      try {
        const engine = await this.#door.engine()
        if (E.isLeft(engine)) return engine
        try {
          return E.right(await engine.right.read(query.right, limits, parameters))
        } catch (cause) {
          const fault: ViewsUnavailable | QueryRefused = queryFault(cause, this.#door.place)
          if (fault.kind === 'unreachable') await this.#door.failed(engine.right)
          return E.left(fault)
        }
      } finally {
        this.#querying--
      }
    }

  readonly contents: ClickHouseViews['contents'] = () => () => using(this.#door, contentsOf)
  readonly sizes: ClickHouseViews['sizes'] = () => () => using(this.#door, sizesOf)

  readonly close = async (): Promise<void> => {
    await this.#writes
    await this.#door.close()
  }

  /** Writes follow each other, so that the position is never in before the rows of an earlier write. */
  #inTurn<A>(work: (engine: Engine) => Promise<A>): TE.TaskEither<ViewsUnavailable, A> {
    return () => {
      if (this.#writing >= writesMax)
        return Promise.resolve(
          E.left(unavailable('unreachable', `${writesMax} writes wait already`, 'write again when they are done')),
        )
      this.#writing++
      const done = this.#writes
        .then(() => using(this.#door, work))
        .finally(() => {
          this.#writing--
        })
      this.#writes = done
      return done
    }
  }
}

/**
 * Every row of these tables, in no order. It ends when nothing of it is under way any more, also where a batch failed.
 * @throws what the first batch that failed throws
 */
const insertAll = async (engine: Engine, tables: ReadonlyArray<TableRows>): Promise<void> => {
  const batches = tables.flatMap(batchesOf)
  let next = 0
  const failures: unknown[] = []
  const worker = async (): Promise<void> => {
    while (next < batches.length && failures.length === 0) {
      const { table, columns, rows } = batches[next++]!
      await engine.insert(table, columns, rows).catch((cause: unknown) => failures.push(cause))
    }
  }
  await Promise.all(Array.from({ length: insertsAtOnceMax }, worker))
  if (failures.length > 0) throw failures[0]
}

const batchesOf = (all: TableRows): ReadonlyArray<TableRows> => {
  const batches: TableRows[] = []
  for (let from = 0; from < all.rows.length; from += batchRowsMax)
    batches.push(all.rows.length <= batchRowsMax ? all : { ...all, rows: all.rows.slice(from, from + batchRowsMax) })
  return batches
}
