import { shown } from '../../domain/kernel/wording.ts'
import type { Span } from '../../domain/workload/request.ts'
import type { ColumnMap } from './column-map.ts'
import { misspelt } from './delimited.ts'
import { wantedFields } from './csv.ts'
import type { FaultList } from './fault-list.ts'
import { jobTable, type JobTable } from './job-table.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'
import { readLines } from './lines.ts'

/** Checked before the text is parsed: the parser recurses. */
export const nestingMax = 64
const strangersMax = 1000

/** One JSON object per line, with the fields of a table as members; a job may leave out all but its GPUs. */
export const readNdjson = async (
  file: string,
  map: ColumnMap | null,
  unitMs: number,
  span: Span,
  faults: FaultList,
): Promise<readonly [FileUnreadable | null, JobTable]> => {
  const wanted = wantedFields(map)
  const names = wanted.map(({ name }) => name)
  const known = new Set(names)
  const strangers = new Set<string>()
  const required = wanted.filter((field) => field.required)
  const columns = new Map(wanted.map(({ key, name }, index) => [key, { index, name }]))
  const table = jobTable({ columns, unitMs, span, wholeGangs: false, sparse: true }, faults)

  /** A member that nothing reads is left aside, unless it looks like a misspelt one that is missing. */
  const checkStranger = (object: object, member: string, line: number): void => {
    if (strangers.has(member) || strangers.size >= strangersMax) return
    strangers.add(member)
    const meant = names.find((name) => !Object.hasOwn(object, name) && misspelt(name, [member]) !== null)
    if (meant === undefined) return
    faults.add({ path: shown(member), line, reason: 'is no member of a job', mend: `did you mean ${meant}?` })
  }

  const down = await readLines(file, faults, (text, line) => {
    if (text.trim() === '') return true
    const object = parseObject(text)
    if (typeof object === 'string') {
      faults.add({ path: '$', line, reason: object, mend: 'write one JSON object per line' })
      return true
    }
    const before = faults.count()
    for (const member of Object.keys(object)) if (!known.has(member)) checkStranger(object, member, line)
    for (const { name } of required)
      if (!Object.hasOwn(object, name))
        faults.add({ path: name, line, reason: 'is missing', mend: 'every job has this member' })
    if (faults.count() > before) return true
    const cells = names.map((name) => {
      const value: unknown = Object.hasOwn(object, name) ? object[name] : null
      const cell = cellOf(value)
      if (cell !== undefined) return cell
      const reason = `is ${Array.isArray(value) ? 'a list' : typeof value}`
      faults.add({ path: name, line, reason, mend: 'write a text or a number; only models may be a list of texts' })
      return ''
    })
    if (faults.count() > before) return true
    return table.add(cells, line)
  })
  return [down, table]
}

type Members = { readonly [name: string]: unknown }

/** The object a line holds, or why it holds none. */
const parseObject = (text: string): Members | string => {
  if (nestsTooDeep(text)) return `nests more than ${nestingMax} deep`
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
    return `is ${shown(text)}, not an object`
  } catch {
    return `is not JSON: ${shown(text)}`
  }
}

const nestsTooDeep = (text: string): boolean => {
  let depth = 0
  let inText = false
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (inText) {
      if (unit === 0x5c) i += 1
      else if (unit === 0x22) inText = false
    } else if (unit === 0x22) inText = true
    else if (unit === 0x7b || unit === 0x5b) {
      depth += 1
      if (depth > nestingMax) return true
    } else if (unit === 0x7d || unit === 0x5d) depth -= 1
  }
  return false
}

/** A value as the text of a cell; undefined where it is not one. */
const cellOf = (value: unknown): string | undefined => {
  if (value === null) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  if (!Array.isArray(value)) return undefined
  return value.every((part) => typeof part === 'string') ? value.join('|') : undefined
}
