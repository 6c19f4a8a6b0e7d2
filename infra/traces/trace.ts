import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { RecordedRun } from '../../domain/simulation/recorded-run.ts'
import type { TraceJob } from '../../domain/simulation/trace-job.ts'
import type { Span } from '../../domain/workload/request.ts'
import { unitMs, type ColumnMap, type TimeUnit } from './column-map.ts'
import { readCsv } from './csv.ts'
import { faultList, type FaultList } from './fault-list.ts'
import { readItp } from './itp.ts'
import type { JobTable } from './job-table.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'
import { readNdjson } from './ndjson.ts'
import { readOpenb } from './openb.ts'
import { readSwf, type SwfSkipped, type SwfTable } from './swf.ts'

export const traceFormats = ['openb', 'itp', 'swf', 'csv', 'ndjson'] as const
export type TraceFormat = (typeof traceFormats)[number]

export interface TraceOptions {
  readonly format: TraceFormat
  /** For csv, ndjson and swf; absent: the names of the fields themselves. */
  readonly map?: ColumnMap
  /** For csv and ndjson; absent: seconds. */
  readonly timeUnit?: TimeUnit
  /** How far the devices of one job may lie apart; absent: one node in openb, anywhere in the others. */
  readonly span?: Span
}

export interface Trace {
  /** In the order of the file. */
  readonly jobs: ReadonlyArray<TraceJob>
  /** One entry per job, null where the format records nothing. */
  readonly recorded: ReadonlyArray<RecordedRun> | null
  /** Only swf: the lines that are no job to run, and the comments at the top. */
  readonly swf: { readonly skipped: SwfSkipped; readonly header: ReadonlyMap<string, string> } | null
}

/** The file was read and is not what it should be: its first faults, and how many there are. */
export interface FaultyFile {
  readonly type: 'FaultyFile'
  readonly file: string
  readonly faults: ReadonlyArray<Fault>
  readonly count: number
}

export const readTrace = async (
  file: string,
  options: TraceOptions,
): Promise<E.Either<FaultyFile | FileUnreadable, Trace>> => {
  const faults = faultList()
  const fixed = options.format === 'openb' || options.format === 'itp'
  if (fixed && options.map !== undefined)
    faults.add({ path: '--map', reason: `${options.format} has fixed columns`, mend: 'leave it out, or use csv' })
  if (options.format !== 'csv' && options.format !== 'ndjson' && options.timeUnit !== undefined)
    faults.add({ path: '--time-unit', reason: `${options.format} has times in seconds`, mend: 'leave it out' })
  if (faults.count() > 0) return E.left(faulty(file, faults))

  const [down, table] = await readRows(file, options, faults)
  if (down !== null) return E.left(down)
  if (faults.count() === 0 && (table === null || table.jobs.length === 0))
    faults.add({ path: '$', reason: 'holds no job', mend: 'give a file with at least one job' })
  if (faults.count() > 0 || table === null) return E.left(faulty(file, faults))
  return E.right({
    jobs: table.jobs,
    recorded: table.recorded.length > 0 ? table.recorded : null,
    swf: isSwf(table) ? { skipped: table.skipped, header: table.header } : null,
  })
}

const readRows = (
  file: string,
  { format, map, timeUnit = 's', span }: TraceOptions,
  faults: FaultList,
): Promise<readonly [FileUnreadable | null, JobTable | SwfTable | null]> => {
  switch (format) {
    case 'openb':
      return readOpenb(file, span ?? 'node', faults)
    case 'itp':
      return readItp(file, span ?? 'anywhere', faults)
    case 'swf':
      return readSwf(file, map ?? null, span ?? 'anywhere', faults)
    case 'csv':
      return readCsv(file, map ?? null, unitMs[timeUnit], span ?? 'anywhere', faults)
    case 'ndjson':
      return readNdjson(file, map ?? null, unitMs[timeUnit], span ?? 'anywhere', faults)
  }
}

export const faulty = (file: string, faults: FaultList): FaultyFile => ({
  type: 'FaultyFile',
  file,
  faults: faults.told,
  count: faults.count(),
})

const isSwf = (table: JobTable | SwfTable): table is SwfTable => 'skipped' in table
