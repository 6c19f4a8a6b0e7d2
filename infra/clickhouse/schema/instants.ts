import type { Column } from './definition.ts'

/** A column of ms since 1970 as an instant of the calendar. */
export const instant = (column: string): string => `fromUnixTimestamp64Milli(${column}, 'UTC')`

const dateTime = "DateTime64(3, 'UTC')"
export const at = (name: string, comment: string): Column => [name, dateTime, comment]
export const maybeAt = (name: string, comment: string): Column => [name, `Nullable(${dateTime})`, comment]

export const hourMs = 3_600_000
export const dayMs = 86_400_000
/** 2300-01-01: where the calendar of DateTime64 ends, and with it what is split into hours. */
export const calendarEndMs = 10_413_792_000_000

/** The latest instant of each cell, to join: what has no end so far lasts until then. */
export const cellNow = '(SELECT cell, now_ms FROM cell_rows FINAL) AS c USING (cell)'
