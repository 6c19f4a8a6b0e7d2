/**
 * One step of the schema. Its statements run in order, and it is noted as done after the last: a crash in between runs
 * them all again, so each says `IF NOT EXISTS` or `OR REPLACE`. Names are unqualified; the database is the current one.
 * A migration that was released is never edited: another one is added behind it.
 */
export interface Migration {
  readonly name: string
  readonly statements: ReadonlyArray<string>
}
