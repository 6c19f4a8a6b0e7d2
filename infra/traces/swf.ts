import { shown } from '../../domain/kernel/wording.ts'
import type { Span } from '../../domain/workload/request.ts'
import { mendName, type ColumnMap, type JobField } from './column-map.ts'
import type { FaultList } from './fault-list.ts'
import { jobTable, type Column, type JobTable } from './job-table.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'
import { readLines } from './lines.ts'

/** The 18 fields of the Standard Workload Format 2.2, in the order they stand in a line, under names for `--map`. */
export const swfFields = [
  'job',
  'submit',
  'wait',
  'run',
  'allocated',
  'cpuTime',
  'usedMemory',
  'requested',
  'requestedTime',
  'requestedMemory',
  'status',
  'user',
  'group',
  'executable',
  'queue',
  'partition',
  'preceding',
  'think',
] as const
type SwfField = (typeof swfFields)[number]

/** Requested processors where they are known, else the allocated ones. A 19th cell that only this reader writes. */
const processors = swfFields.length
const at = (name: SwfField): number => swfFields.indexOf(name)
const statusAt = at('status')
const submitAt = at('submit')
const runAt = at('run')
const partial = new Set(['2', '3', '4'])

/** Lines that are no job to run, counted by why not. */
export interface SwfSkipped {
  partialExecution: number
  unknownProcessors: number
  unknownRunTime: number
  unknownSubmitTime: number
}

export interface SwfTable extends JobTable {
  readonly skipped: Readonly<SwfSkipped>
  /** What the comments at the top say: `MaxProcs`, `UnixStartTime`; the first of each name. */
  readonly header: ReadonlyMap<string, string>
}

const headerMax = 1000

/** Processors are devices, times are seconds, -1 is unknown. A map replaces or adds fields: `queue=partition`. */
export const readSwf = async (
  file: string,
  map: ColumnMap | null,
  span: Span,
  faults: FaultList,
): Promise<readonly [FileUnreadable | null, SwfTable | null]> => {
  const columns = swfColumns(map, faults)
  if (columns === null) return [null, null]
  const table = jobTable({ columns, unitMs: 1000, span, wholeGangs: false, sparse: false }, faults)
  const gpusAt = columns.get('gpus')!.index
  const header = new Map<string, string>()
  const skipped: SwfSkipped = { partialExecution: 0, unknownProcessors: 0, unknownRunTime: 0, unknownSubmitTime: 0 }
  const down = await readLines(file, faults, (text, line) => {
    const trimmed = text.trim()
    if (trimmed === '') return true
    if (trimmed.startsWith(';')) {
      const [, name, value] = /^;\s*([A-Za-z][A-Za-z0-9_]*):\s*(.*)$/.exec(trimmed) ?? []
      if (name !== undefined && value !== undefined && header.size < headerMax && !header.has(name))
        header.set(name, value)
      return true
    }
    const cells = trimmed.split(/\s+/)
    if (cells.length !== swfFields.length) {
      const reason = `has ${cells.length} fields, not ${swfFields.length}`
      faults.add({ path: '$', line, reason, mend: 'write all fields of a job in one line, -1 where unknown' })
      return true
    }
    for (let i = 0; i < cells.length; i++) if (cells[i] === '-1') cells[i] = ''
    const requested = cells[at('requested')]!
    cells.push(requested === '' || requested === '0' ? cells[at('allocated')]! : requested)
    if (partial.has(cells[statusAt]!)) skipped.partialExecution += 1
    else if (cells[submitAt] === '') skipped.unknownSubmitTime += 1
    else if (cells[runAt] === '') skipped.unknownRunTime += 1
    else if (cells[gpusAt] === '' || cells[gpusAt] === '0') skipped.unknownProcessors += 1
    else return table.add(cells, line)
    return true
  })
  return [down, { ...table, skipped, header }]
}

const swfColumns = (map: ColumnMap | null, faults: FaultList): ReadonlyMap<JobField, Column> | null => {
  const columns = new Map<JobField, Column>([
    ['id', { index: at('job'), name: 'job' }],
    ['submit', { index: submitAt, name: 'submit' }],
    ['duration', { index: runAt, name: 'run' }],
    ['gpus', { index: processors, name: 'processors' }],
    ['estimate', { index: at('requestedTime'), name: 'requestedTime' }],
  ])
  const before = faults.count()
  for (const [field, name] of map ?? []) {
    const index = (swfFields as ReadonlyArray<string>).indexOf(name)
    if (index >= 0) columns.set(field, { index, name })
    else {
      const reason = `there is no field ${shown(name)} in this format`
      faults.add({ path: `--map ${field}`, reason, mend: mendName(name, swfFields) })
    }
  }
  if (columns.has('end')) {
    const reason = 'this format has run times'
    faults.add({ path: '--map end', reason, mend: 'map duration instead' })
  }
  return faults.count() > before ? null : columns
}
