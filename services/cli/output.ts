import pc from 'picocolors'
import { stringify } from 'yaml'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import { wrapped } from '../../projections/explain/wording.ts'

export const formats = ['table', 'json', 'yaml', 'csv'] as const
export type Format = (typeof formats)[number]

export type JsonObject = { readonly [key: string]: Json }

/** One column of a table, and of a CSV file: what of a row it shows. */
export interface Column<Row> {
  /** The name in CSV; a table prints it in capitals. */
  readonly name: string
  readonly value: (row: Row) => Json
  /** Never shortened, however narrow the terminal: ids that somebody copies. */
  readonly whole?: boolean
  /** Default: numbers to the right, all else to the left. */
  readonly align?: 'left' | 'right'
  readonly paint?: (row: Row) => Paint
}
export type Paint = 'good' | 'warn' | 'bad' | 'plain'

export interface Style {
  readonly format: Format
  /** Characters that a line of a table may take. */
  readonly width: number
  readonly colour: boolean
}

export const defaultWidth = 100

/** Rows under headings. JSON and YAML give each row whole; a table and CSV give its columns. */
export const renderRows = <Row>(
  rows: ReadonlyArray<Row & JsonObject>,
  columns: ReadonlyArray<Column<Row>>,
  style: Style,
): string => {
  switch (style.format) {
    case 'json':
      return renderJson(rows)
    case 'yaml':
      return renderYaml(rows)
    case 'csv':
      return [columns.map(({ name }) => name), ...rows.map((row) => columns.map(({ value }) => value(row)))]
        .map((cells) => `${cells.map(csvCell).join(',')}\r\n`)
        .join('')
    case 'table':
      return renderTable(rows, columns, style)
  }
}

/** Whether no line of the table is longer than its style allows, with nothing in it shortened. */
export const fitsTable = <Row>(
  rows: ReadonlyArray<Row & JsonObject>,
  columns: ReadonlyArray<Column<Row>>,
  { width }: Style,
): boolean =>
  renderTable(rows, columns, { format: 'table', width: Infinity, colour: false })
    .split('\n')
    .every((line) => displayWidth(line) <= width)

/** One row after another, a line for each of its columns: for rows that are too long for a table. */
export const renderRecords = <Row>(
  rows: ReadonlyArray<Row & JsonObject>,
  columns: ReadonlyArray<Column<Row>>,
  { colour }: Style,
): string => {
  const { bold } = pc.createColors(colour)
  const names = columns.map(({ name }) => terminalSafe(name))
  const widest = names.reduce((most, name) => Math.max(most, displayWidth(name)), 0)
  const lineOf = (row: Row, c: number): string => {
    const padding = ' '.repeat(widest - displayWidth(names[c]!))
    return `${bold(names[c])}${padding}${gap}${tableCell(columns[c]!.value(row))}\n`
  }
  return rows.map((row) => columns.map((_, c) => lineOf(row, c)).join('')).join('\n')
}

/** One thing with named members: a table and CSV give a line for each. */
export const renderObject = (object: JsonObject, style: Style): string => {
  if (style.format === 'json') return renderJson(object)
  if (style.format === 'yaml') return renderYaml(object)
  const members = Object.entries(object).map(([name, value]) => ({ name, value }))
  const columns: ReadonlyArray<Column<{ name: string; value: Json }>> = [
    { name: 'name', value: ({ name }) => name, whole: true },
    { name: 'value', value: ({ value }) => value, whole: true, align: 'left' },
  ]
  return renderRows(members, columns, style)
}

const renderJson = (value: Json): string => `${escapeC1Controls(JSON.stringify(value, null, 2))}\n`

/** `yaml` double-quotes a text that holds a control character, but leaves those from 0x7f on as they are. */
const renderYaml = (value: Json): string => escapeC1Controls(stringify(value, { lineWidth: 0 }))

/** JSON text, safe for a terminal: `JSON.stringify` escapes the control characters below 0x20 and no others. */
export const escapeC1Controls = (json: string): string =>
  json.replace(/[\u007f-\u009f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const renderTable = <Row>(rows: ReadonlyArray<Row>, columns: ReadonlyArray<Column<Row>>, style: Style): string => {
  const cells = rows.map((row) => columns.map(({ value }) => tableCell(value(row))))
  const heads = columns.map(({ name }) => name.toUpperCase())
  const right = columns.map(({ align, value }) => {
    const values = rows.map(value).filter((each) => each !== null)
    return align === undefined
      ? values.length > 0 && values.every((each) => typeof each === 'number')
      : align === 'right'
  })
  const widths = heads.map((head, c) => cells.reduce((most, row) => Math.max(most, displayWidth(row[c]!)), head.length))
  narrow(
    widths,
    columns.map(({ name, whole }, c) => (whole === true || right[c]! ? null : Math.max(name.length, 8))),
    style.width,
  )
  const colours = pc.createColors(style.colour)
  const paints = { good: colours.green, warn: colours.yellow, bad: colours.red, plain: String }
  const line = (texts: ReadonlyArray<string>, paint: (text: string, c: number) => string): string => {
    const padded = texts.map((text, c) => {
      const short = shortened(text, widths[c]!)
      const padding = ' '.repeat(Math.max(0, widths[c]! - displayWidth(short)))
      return right[c]! ? padding + paint(short, c) : paint(short, c) + (c === texts.length - 1 ? '' : padding)
    })
    return `${padded.join(gap).trimEnd()}\n`
  }
  const body = rows.map((row, r) => line(cells[r]!, (text, c) => paints[columns[c]!.paint?.(row) ?? 'plain'](text)))
  return line(heads, (text) => colours.bold(text)) + body.join('')
}

/** Between columns. */
export const gap = '   '

/** Takes from the widest column that may be shortened, until the line fits or nothing more can be taken. */
const narrow = (widths: number[], floors: ReadonlyArray<number | null>, width: number): void => {
  let excess = widths.reduce((sum, w) => sum + w, 0) + gap.length * (widths.length - 1) - width
  for (; excess > 0; excess -= 1) {
    const widest = widths.reduce((best, w, c) => {
      const floor = floors[c] ?? null
      return floor !== null && w > floor && (best < 0 || w > widths[best]!) ? c : best
    }, -1)
    if (widest < 0) return
    widths[widest] = widths[widest]! - 1
  }
}

const tableCell = (value: Json): string => {
  if (value === null) return '-'
  return terminalSafe(typeof value === 'string' ? value : JSON.stringify(value))
}

/** RFC 4180; a text that a spreadsheet would run as a formula gets an apostrophe before it. */
const csvCell = (value: Json): string => {
  if (value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const formula = /^[=+\-@\t\r]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text)
  const safe = (formula ? `'${text}` : text).replace(terminalEscapes, '').replace(nonCsvControls, '')
  return formula || /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}

/* eslint-disable no-control-regex -- to find control characters is the point */
/** CSI and OSC sequences and two-character escapes, in their 7-bit and 8-bit forms. */
const terminalEscapes =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g
/** Other control characters, and those that turn the direction of writing. */
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const nonCsvControls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
/* eslint-enable no-control-regex */

/** What somebody else wrote, on one line and unable to move the cursor, colour, or hide what stands beside it. */
export const terminalSafe = (text: string): string =>
  text
    .replace(terminalEscapes, '')
    .replace(/[\t\r\n]+/g, ' ')
    .replace(controls, '')

/** A sentence for a terminal of so many columns, on as many lines as it takes; those after the first are indented. */
export const folded = (text: string, width: number): string => {
  const safe = terminalSafe(text)
  // What somebody copies into a shell stays on its line.
  return `${safe.startsWith(copied) ? safe : wrapped(safe, width, /^ */.exec(safe)![0].length + 2)}\n`
}
const copied = '  leasehold '

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const zeroWidth = /[\p{Mn}\p{Me}\p{Cf}]/u

const characterWidth = (character: string): number => (zeroWidth.test(character) ? 0 : wide.test(character) ? 2 : 1)

const displayWidth = (text: string): number => {
  // eslint-disable-next-line no-control-regex -- plain ASCII, by far the most of it
  if (/^[\u0000-\u007f]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += characterWidth(character)
  return width
}

const shortened = (text: string, width: number): string => {
  if (displayWidth(text) <= width) return text
  let kept = ''
  let used = 0
  for (const character of text) {
    used += characterWidth(character)
    if (used > width - 1) break
    kept += character
  }
  return `${kept}…`
}
