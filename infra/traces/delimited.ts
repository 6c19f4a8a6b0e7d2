import { nearest, shown } from '../../domain/kernel/wording.ts'
import { CsvError, parse } from 'csv-parse/sync'
import { jobTable, type Column, type JobTable, type JobTableShape, type RowSink } from './job-table.ts'
import type { FaultList } from './fault-list.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'
import { lineBytesMax, readLines } from './lines.ts'

/**
 * Reads comma-separated values (RFC 4180). `onHeader` gets the names of the columns and says what takes the rows;
 * null: they cannot be read with this header, and its faults say why.
 */
export const readDelimited = async (
  file: string,
  faults: FaultList,
  onHeader: (names: ReadonlyArray<string>, line: number) => RowSink | null,
): Promise<FileUnreadable | null> => {
  let width = 0
  let sink: RowSink | undefined
  let open: { text: string; line: number } | undefined
  let unquoted: ReadonlyArray<string> = []
  // One function for all rows: a fault asks for the place of a cell of the row at hand.
  const columnOf = (index: number): number => {
    let column = 1
    for (let i = 0; i < index; i++) column += unquoted[i]!.length + 1
    return column
  }

  const takeRow = (cells: ReadonlyArray<string>, line: number, plain: boolean): boolean => {
    if (sink === undefined) {
      width = cells.length
      const names = cells.map((name) => name.trim())
      const found = onHeader(names, line)
      sink = found ?? undefined
      return found !== null
    }
    if (cells.length !== width) {
      const reason = `has ${cells.length} cells, the header has ${width}`
      faults.add({ path: '$', line, reason, mend: 'write one cell per column; put a text with commas in quotes' })
      return true
    }
    return plain ? sink(cells, line, columnOf) : sink(cells, line)
  }

  const down = await readLines(file, faults, (text, line) => {
    if (open === undefined && !text.includes('"')) {
      unquoted = text.split(',')
      return takeRow(unquoted, line, true)
    }
    // Quotes may hold commas and line ends: complete the record, then let the library take it apart.
    const record = open === undefined ? text : `${open.text}\n${text}`
    const from = open?.line ?? line
    // The quotes of an open record are odd in number: one more odd line closes it.
    const closes = (open === undefined) === (quotes(text) % 2 === 0)
    if (!closes) {
      open = { text: record, line: from }
      return record.length <= lineBytesMax
    }
    open = undefined
    const parsed = parseRecord(record)
    if (typeof parsed !== 'string') return takeRow(parsed, from, false)
    faults.add({ path: '$', line: from, reason: parsed, mend: 'double each quote inside quotes' })
    return sink !== undefined
  })
  if (open !== undefined) {
    const reason = 'opens a quote that is never closed'
    faults.add({ path: '$', line: open.line, reason, mend: 'close it; nothing after it was read' })
  }
  return down
}

const quotes = (text: string): number => {
  let count = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count += 1
  return count
}

/** The cells of one record, or why it has none. */
const parseRecord = (record: string): ReadonlyArray<string> | string => {
  try {
    return parse(record, { relax_column_count: true })[0] ?? 'has no cells'
  } catch (cause) {
    if (cause instanceof CsvError) return `is not comma-separated values: misplaced quote (${cause.code})`
    throw cause
  }
}

/** What a reader wants of a header: the name of a column, and whether it can do without. */
export interface Wanted<Key> {
  readonly key: Key
  readonly name: string
  readonly required: boolean
}

/**
 * Finds the wanted columns in a header. A column nobody wants is left aside, unless it looks like a misspelt one that
 * is not there: that would quietly change what the rows mean.
 * @returns null when the header has faults, which are told
 */
export const findColumns = <Key>(
  names: ReadonlyArray<string>,
  line: number,
  wanted: ReadonlyArray<Wanted<Key>>,
  faults: FaultList,
): ReadonlyMap<Key, Column> | null => {
  const before = faults.count()
  const found = new Map<Key, Column>()
  const wantedNames = new Set(wanted.map(({ name }) => name))
  const spare = names.filter((name) => !wantedNames.has(name))
  for (const { key, name, required } of wanted) {
    const index = names.indexOf(name)
    if (index >= 0) {
      if (names.includes(name, index + 1))
        faults.add({ path: name, line, reason: 'is the name of two columns', mend: 'rename one of them' })
      found.set(key, { index, name })
      continue
    }
    const meant = required ? nearest(name, spare) : misspelt(name, spare)
    if (!required && meant === null) continue
    const reason = meant === null ? 'there is no such column' : `there is no such column, but ${shown(meant)}`
    faults.add({ path: name, line, reason, mend: mendColumn(names, meant) })
  }
  return faults.count() > before ? null : found
}

/**
 * A job list of the wanted columns; null: its header has faults, which are told.
 * @param shapeOf how the rows become jobs, given the columns that are there; null: not at all, and its faults say why
 */
export const readJobTable = async <Key>(
  file: string,
  wanted: ReadonlyArray<Wanted<Key>>,
  shapeOf: (columns: ReadonlyMap<Key, Column>, line: number) => JobTableShape | null,
  faults: FaultList,
): Promise<readonly [FileUnreadable | null, JobTable | null]> => {
  let table: JobTable | null = null
  const down = await readDelimited(file, faults, (names, line) => {
    const columns = findColumns(names, line, wanted, faults)
    const shape = columns === null ? null : shapeOf(columns, line)
    if (shape === null) return null
    table = jobTable(shape, faults)
    return table.add
  })
  return [down, table]
}

/** As `nearest`, but sure enough to refuse a file for: short names lie near too many others. */
export const misspelt = (name: string, among: ReadonlyArray<string>): string | null => {
  const meant = nearest(name, among)
  return meant !== null && (name.length > 4 || meant.toLowerCase() === name.toLowerCase()) ? meant : null
}

const namesToldMax = 20
const mendColumn = (names: ReadonlyArray<string>, meant: string | null): string => {
  if (meant !== null) return 'did you mean it? Rename the column, or map it'
  const only = names[0] ?? ''
  const separator = names.length === 1 ? [';', '\t', '|', ' '].find((character) => only.includes(character)) : undefined
  if (separator !== undefined) return `the header has no comma, but ${shown(separator)}: save it with commas`
  const told = names.slice(0, namesToldMax).map((name) => (/^[\w.-]{1,60}$/.test(name) ? name : shown(name)))
  return `the header has ${told.join(', ')}${names.length > namesToldMax ? ', ...' : ''}`
}
