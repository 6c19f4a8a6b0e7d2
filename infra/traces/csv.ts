import type { Span } from '../../domain/workload/request.ts'
import { jobFields, type ColumnMap, type JobField } from './column-map.ts'
import { findColumns, readDelimited, type Wanted } from './delimited.ts'
import type { FaultList } from './fault-list.ts'
import { jobTable, type JobTable } from './job-table.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'

/**
 * Any table with a header. With a map, the columns it names and no others; without one, those that bear the names of
 * the fields. Only the number of GPUs has to be there.
 */
export const readCsv = async (
  file: string,
  map: ColumnMap | null,
  unitMs: number,
  span: Span,
  faults: FaultList,
): Promise<readonly [FileUnreadable | null, JobTable | null]> => {
  let table: JobTable | null = null
  const down = await readDelimited(file, faults, (names, line) => {
    const columns = findColumns(names, line, wantedFields(map), faults)
    if (columns === null) return null
    if (columns.has('duration') && columns.has('end')) {
      faults.add({ path: 'end', line, reason: 'duration and end are both there', mend: 'map one of them' })
      return null
    }
    table = jobTable({ columns, unitMs, span, wholeGangs: false, sparse: false }, faults)
    return table.add
  })
  return [down, table]
}

export const wantedFields = (map: ColumnMap | null): ReadonlyArray<Wanted<JobField>> => {
  if (map === null) return jobFields.map((key) => ({ key, name: key, required: key === 'gpus' }))
  const mapped = [...map].map(([key, name]) => ({ key, name, required: true }))
  return map.has('gpus') ? mapped : [...mapped, { key: 'gpus', name: 'gpus', required: true }]
}
