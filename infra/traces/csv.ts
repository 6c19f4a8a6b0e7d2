import type { Span } from '../../domain/workload/request.ts'
import { jobFields, type ColumnMap, type JobField } from './column-map.ts'
import { readJobTable, type Wanted } from './delimited.ts'
import type { FaultList } from './fault-list.ts'
import type { JobTable } from './job-table.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'

/**
 * Any table with a header. With a map, the columns it names and no others; without one, those that bear the names of
 * the fields. Only the number of GPUs has to be there.
 */
export const readCsv = (
  file: string,
  map: ColumnMap | null,
  unitMs: number,
  span: Span,
  faults: FaultList,
): Promise<readonly [FileUnreadable | null, JobTable | null]> =>
  readJobTable(
    file,
    wantedFields(map),
    (columns, line) => {
      if (!columns.has('duration') || !columns.has('end'))
        return { columns, unitMs, span, wholeGangs: false, sparse: false }
      faults.add({ path: 'end', line, reason: 'duration and end are both there', mend: 'map one of them' })
      return null
    },
    faults,
  )

export const wantedFields = (map: ColumnMap | null): ReadonlyArray<Wanted<JobField>> => {
  if (map === null) return jobFields.map((key) => ({ key, name: key, required: key === 'gpus' }))
  const mapped = [...map].map(([key, name]) => ({ key, name, required: true }))
  return map.has('gpus') ? mapped : [...mapped, { key: 'gpus', name: 'gpus', required: true }]
}
