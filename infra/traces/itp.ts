import type { Span } from '../../domain/workload/request.ts'
import type { JobField } from './column-map.ts'
import { findColumns, readDelimited, type Wanted } from './delimited.ts'
import type { FaultList } from './fault-list.ts'
import { jobTable, type JobTable } from './job-table.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'

/** Columns of a job list of Microsoft's ITP clusters: whole GPUs, times in seconds, run times and no estimates. */
const wanted: ReadonlyArray<Wanted<JobField>> = [
  { key: 'id', name: 'job_id', required: true },
  { key: 'submit', name: 'submission_time', required: true },
  { key: 'duration', name: 'duration', required: true },
  { key: 'gpus', name: 'num_gpu', required: true },
]

export const readItp = async (
  file: string,
  span: Span,
  faults: FaultList,
): Promise<readonly [FileUnreadable | null, JobTable | null]> => {
  let table: JobTable | null = null
  const down = await readDelimited(file, faults, (names, line) => {
    const columns = findColumns(names, line, wanted, faults)
    if (columns === null) return null
    table = jobTable({ columns, unitMs: 1000, span, wholeGangs: true, sparse: false }, faults)
    return table.add
  })
  return [down, table]
}
