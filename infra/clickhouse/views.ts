import { either as E, type taskEither as TE } from 'fp-ts'
import type { QueryRefused, TableRows, Views, ViewsUnavailable } from '../../domain/ports/views.ts'
import { emptyFolder, isFresh } from './chdb.ts'
import { atServer, borrowedDoor, inFolder, using, type Door, type Lender } from './door.ts'
import type { Engine } from './engine.ts'
import { queryFault, unavailable } from './fault.ts'
import { dropAll, migrate } from './migrate.ts'
import type { Migration } from './migration.ts'
import type { ServerPlace } from './place.ts'
import { readOnlyQuery } from './read-only.ts'
import { migrations as released } from './schema/migrations.ts'
import type { Part } from './retry-tokens.ts'
import { contentsOf, sizesOf, type TableContent, type TableSize } from './table-content.ts'

/** A folder that chDB keeps, or a ClickHouse server. */
export type ViewsPlace = { readonly folder: string } | ServerPlace

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
  /** For another thread, which has them through `borrowViews`. */
  readonly lent: () => LentViews
}

/** What another thread is told of views, and what it asks their owner meanwhile. */
export interface LentViews {
  readonly lender: Lender
  readonly described: {
    readonly kind: ClickHouseViews['kind']
    readonly place: string
    readonly engine: string
    readonly tableFunctions: ReadonlyArray<string>
  }
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

/** The same views for another thread than the one that keeps them. To close them does nothing to what they are lent from. */
export const borrowViews = ({ described, lender }: LentViews): ClickHouseViews => {
  const { engine, kind, place, tableFunctions } = described
  return new OpenedViews(borrowedDoor(lender, kind, place), released, engine, new Set(tableFunctions))
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

  readonly pid = (): number | null => this.#door.pid()
  readonly restarts = (): number => this.#door.restarts()

  readonly projected: Views['projected'] = () => () =>
    using(this.#door, async (engine) => {
      const [row] = await engine.rows('SELECT count(), max(position) FROM projection')
      return row![0] === '0' ? -1 : Number(row![1])
    })

  readonly write: Views['write'] = (upTo, tables) =>
    this.#inTurn(async (engine) => {
      await insertAll(engine, tables)
      const position = { table: 'projection', columns: ['name', 'position'], rows: [['views', upTo]] }
      await engine.insert(position, { whole: tables, from: 0 })
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
          if (fault.kind === 'unreachable') await this.#door.failed()
          return E.left(fault)
        }
      } finally {
        this.#querying--
      }
    }

  readonly contents: ClickHouseViews['contents'] = () => () => using(this.#door, contentsOf)
  readonly sizes: ClickHouseViews['sizes'] = () => () => using(this.#door, sizesOf)
  readonly lent: ClickHouseViews['lent'] = () => ({
    lender: this.#door.lender,
    described: {
      kind: this.kind,
      place: this.#door.place,
      engine: this.engine,
      tableFunctions: [...this.#tableFunctions],
    },
  })

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
      const { batch, part } = batches[next++]!
      await engine.insert(batch, part).catch((cause: unknown) => failures.push(cause))
    }
  }
  await Promise.all(Array.from({ length: insertsAtOnceMax }, worker))
  if (failures.length > 0) throw failures[0]
}

interface Batch {
  readonly batch: TableRows
  readonly part: Part
}

const batchesOf = (all: TableRows): ReadonlyArray<Batch> => {
  const batches: Batch[] = []
  for (let from = 0; from < all.rows.length; from += batchRowsMax) {
    const batch = all.rows.length <= batchRowsMax ? all : { ...all, rows: all.rows.slice(from, from + batchRowsMax) }
    batches.push({ batch, part: { whole: all.rows, from } })
  }
  return batches
}
