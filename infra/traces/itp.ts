import type { Span } from '../../domain/workload/request.ts'
import type { JobField } from './column-map.ts'
import { readJobTable, type Wanted } from './delimited.ts'
import type { FaultList } from './fault-list.ts'
import type { JobTable } from './job-table.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'

/** Columns of a job list of Microsoft's ITP clusters: whole GPUs, times in seconds, run times and no estimates. */
const wanted: ReadonlyArray<Wanted<JobField>> = [
  { key: 'id', name: 'job_id', required: true },
  { key: 'submit', name: 'submission_time', required: true },
  { key: 'duration', name: 'duration', required: true },
  { key: 'gpus', name: 'num_gpu', required: true },
]

export const readItp = (
  file: string,
  span: Span,
  faults: FaultList,
): Promise<readonly [FileUnreadable | null, JobTable | null]> =>
  readJobTable(file, wanted, (columns) => ({ columns, unitMs: 1000, span, wholeGangs: true, sparse: false }), faults)
