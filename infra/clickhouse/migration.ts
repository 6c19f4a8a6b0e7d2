/**
 * One step of the schema. Its statements run in order, and it is noted as done after the last: a crash in between runs
 * them all again, so each says `IF NOT EXISTS` or `OR REPLACE`. Names are unqualified; the database is the current one.
 * A migration that was released is never edited: another one is added behind it.
 */
export interface Migration {
  readonly name: string
  readonly statements: ReadonlyArray<string>
  /** Of what an older release did under this name, which a later migration does anew: it is not done any more. */
  readonly replaced?: string
}
