import type { JobField } from './column-map.ts'
import { readJobTable, type Wanted } from './delimited.ts'
import type { FaultList } from './fault-list.ts'
import type { JobTable } from './job-table.ts'
import type { FileUnreadable } from '../host/file-unreadable.ts'
import type { Span } from '../../domain/workload/request.ts'

type Key = JobField | 'phase' | 'scheduled'
const optional = (key: Key, name: string): Wanted<Key> => ({ key, name, required: false })
const required = (key: Key, name: string): Wanted<Key> => ({ key, name, required: true })

/** Columns of a pod list of Alibaba's cluster-trace-gpu-v2023; its short form has the first five only. */
const wanted: ReadonlyArray<Wanted<Key>> = [
  required('id', 'name'),
  required('cpu', 'cpu_milli'),
  required('memory', 'memory_mib'),
  required('gpus', 'num_gpu'),
  required('milli', 'gpu_milli'),
  optional('models', 'gpu_spec'),
  optional('class', 'qos'),
  optional('phase', 'pod_phase'),
  optional('submit', 'creation_time'),
  optional('end', 'deletion_time'),
  optional('scheduled', 'scheduled_time'),
]

/** Times are seconds from the start of the trace; a pod runs from its creation to its deletion. */
export const readOpenb = (
  file: string,
  span: Span,
  faults: FaultList,
): Promise<readonly [FileUnreadable | null, JobTable | null]> =>
  readJobTable(
    file,
    wanted,
    (columns) => {
      const fields = [...columns].flatMap(([key, column]) => (isRecord(key) ? [] : [[key, column] as const]))
      const phase = columns.get('phase')
      const scheduled = columns.get('scheduled')
      return { columns: new Map(fields), unitMs: 1000, span, wholeGangs: true, sparse: false, phase, scheduled }
    },
    faults,
  )

const isRecord = (key: Key): key is 'phase' | 'scheduled' => key === 'phase' || key === 'scheduled'
