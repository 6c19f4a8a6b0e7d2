import { createHash } from 'node:crypto'
import { either as E } from 'fp-ts'
import type { ViewsUnavailable } from '../../domain/ports/views.ts'
import type { Engine } from './engine.ts'
import { rebuildMend, unavailable } from './fault.ts'
import type { Migration } from './migration.ts'

/** Which migrations are in, each under its place in the list, with the checksum of what it did. */
const ledger = `CREATE TABLE IF NOT EXISTS schema_migration (
  number UInt32,
  name String,
  checksum String,
  tables Array(String),
  applied_at DateTime64(3) DEFAULT now64(3)
) ENGINE = ReplacingMergeTree ORDER BY number`

export const checksumOf = ({ name, statements, replaced }: Migration): string =>
  replaced ??
  createHash('sha256')
    .update(JSON.stringify([name, statements]))
    .digest('hex')

type Applied = { readonly number: number; readonly name: string; readonly checksum: string }

/** Applies what is not applied yet, in order. A schema that a newer release made, or another one, is left alone. */
export const migrate = async (
  engine: Engine,
  migrations: ReadonlyArray<Migration>,
): Promise<E.Either<ViewsUnavailable, void>> => {
  const before = await engine.tables()
  // Whoever has the ledger there has the database to himself; nobody else's tables are ever dropped.
  if (before.length > 0 && !before.includes('schema_migration'))
    return E.left(
      unavailable(
        'refused',
        `${engine.place}: the database holds tables of somebody else, such as ${before[0]}`,
        'name an empty database; in a data folder run `leasehold rebuild`',
      ),
    )
  await engine.command(ledger)
  const applied = await engine.rows('SELECT number, name, checksum FROM schema_migration FINAL ORDER BY number')
  const differs = differenceOf(
    engine.place,
    migrations,
    applied.map(([number, name = '', checksum = '']) => ({ number: Number(number), name, checksum })),
  )
  if (differs !== null) return E.left(differs)
  const present = await engine.tables()
  // Making was cut short, or dropping, which begins with the position.
  if (applied.length === 0 ? present.length > 1 : !present.includes('projection')) {
    await dropAll(engine)
    return migrate(engine, migrations)
  }
  if (applied.length > 0) {
    const damage = await damageOf(engine, present)
    if (damage !== null) return E.left(unavailable('refused', `${engine.place}: it is damaged: ${damage}`, rebuildMend))
  }
  for (const [number, migration] of migrations.entries()) {
    if (number < applied.length) continue
    for (const statement of migration.statements) await engine.command(statement)
    await engine.insert({
      table: 'schema_migration',
      columns: ['number', 'name', 'checksum', 'tables'],
      rows: [[number, migration.name, checksumOf(migration), await engine.tables()]],
    })
  }
  return E.right(undefined)
}

const differenceOf = (
  place: string,
  migrations: ReadonlyArray<Migration>,
  applied: ReadonlyArray<Applied>,
): ViewsUnavailable | null => {
  if (applied.length > migrations.length) {
    const { name } = applied.at(-1)!
    return unavailable(
      'newer-schema',
      `${place}: a newer release made the views (${name}, this one knows ${migrations.at(-1)?.name ?? 'none'})`,
      'use that release, or run `leasehold rebuild` with this one',
    )
  }
  for (const [i, { number, name, checksum }] of applied.entries()) {
    const known = migrations[i]!
    if (number !== i || name !== known.name || checksum !== checksumOf(known))
      return unavailable('refused', `${place}: ${name} is not what this release made of it`, rebuildMend)
  }
  return null
}

/** The engine starts without what it cannot read, and says nothing: rows would be missing from the views. */
const damageOf = async (engine: Engine, present: ReadonlyArray<string>): Promise<string | null> => {
  const made = await engine.rows(
    'SELECT arrayJoin(tables) FROM schema_migration FINAL WHERE number = (SELECT max(number) FROM schema_migration)',
  )
  const missing = made.find(([name = '']) => !present.includes(name))?.[0]
  if (missing !== undefined) return `${missing} is missing`
  const [broken] = await engine.rows(
    `SELECT table, count() FROM system.detached_parts
     WHERE database = currentDatabase() AND reason LIKE '%broken%' GROUP BY table ORDER BY table`,
  )
  return broken === undefined ? null : `${broken[1]} parts of ${broken[0]} cannot be read`
}

/** The position first and the migrations last, so that a crash in between is noticed and dropping goes on. */
export const dropAll = async (engine: Engine): Promise<void> => {
  const names = await engine.tables()
  const order = (name: string) => (name === 'projection' ? 0 : name === 'schema_migration' ? 2 : 1)
  for (const name of [...names].sort((a, b) => order(a) - order(b)))
    await engine.command(`DROP TABLE IF EXISTS \`${name}\` SYNC`)
}
