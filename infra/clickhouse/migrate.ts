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
  applied_at DateTime64(3) DEFAULT now64(3)
) ENGINE = ReplacingMergeTree ORDER BY number`

export const checksumOf = ({ name, statements }: Migration): string =>
  createHash('sha256')
    .update(JSON.stringify([name, statements]))
    .digest('hex')

type Applied = { readonly number: number; readonly name: string; readonly checksum: string }

/** Applies what is not applied yet, in order. A schema that a newer release made, or another one, is left alone. */
export const migrate = async (
  engine: Engine,
  migrations: ReadonlyArray<Migration>,
): Promise<E.Either<ViewsUnavailable, void>> => {
  await engine.command(ledger)
  const applied = await engine.rows('SELECT number, name, checksum FROM schema_migration FINAL ORDER BY number')
  const differs = differenceOf(
    engine.place,
    migrations,
    applied.map(([number, name = '', checksum = '']) => ({ number: Number(number), name, checksum })),
  )
  if (differs !== null) return E.left(differs)
  // Dropping begins with the position: where it alone is missing, dropping was cut short.
  if (applied.length > 0 && !(await engine.tables()).includes('projection')) {
    await dropAll(engine)
    return migrate(engine, migrations)
  }
  for (const [number, migration] of migrations.entries()) {
    if (number < applied.length) continue
    for (const statement of migration.statements) await engine.command(statement)
    await engine.insert(
      'schema_migration',
      ['number', 'name', 'checksum'],
      [[number, migration.name, checksumOf(migration)]],
    )
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

/** The position first and the migrations last, so that a crash in between is noticed and dropping goes on. */
export const dropAll = async (engine: Engine): Promise<void> => {
  const names = await engine.tables()
  const order = (name: string) => (name === 'projection' ? 0 : name === 'schema_migration' ? 2 : 1)
  for (const name of [...names].sort((a, b) => order(a) - order(b)))
    await engine.command(`DROP TABLE IF EXISTS \`${name}\` SYNC`)
}
