import type { Row, RowTable } from '../rows/row-table.ts'
import type { LiveWorkload } from './live-workload.ts'

export const workloadRows: RowTable = {
  table: 'workload_rows',
  columns: [
    'cell',
    'workload',
    'submission',
    'class',
    'queue',
    'team',
    'submitter',
    'budget',
    'model_family',
    'tolerates',
    'span',
    'devices',
    'milli',
    'memory_mib',
    'cpu_milli',
    'host_memory_mib',
    'models',
    'estimate_ms',
    'deadline_ms',
    'submitted_ms',
    'state',
    'reason',
    'attempts',
    'requeues',
    'first_started_ms',
    'ended_ms',
    'version',
  ],
}

/** What becomes of a workload beside what it asked for. */
export interface WorkloadStanding {
  readonly state: string
  /** Code of the reason why it is held or was refused; empty: none. */
  readonly reason: string
  readonly endedAt: number | null
}

export const workloadRow = (cell: string, live: LiveWorkload, standing: WorkloadStanding, version: number): Row => {
  const { class: kind, estimateMs, queue, request, team, terms } = live.submitted
  const { state, reason, endedAt } = standing
  return [
    cell,
    live.id,
    live.submission,
    kind,
    queue,
    team,
    terms.submitter,
    terms.budget ?? '',
    terms.modelFamily ?? '',
    terms.preemption.tolerated,
    request.span,
    request.devices,
    request.milli,
    request.memoryMib,
    request.cpuMilli,
    request.hostMemoryMib,
    request.models ?? [],
    estimateMs,
    terms.deadline,
    live.submittedAt,
    state,
    reason,
    live.attempts,
    live.requeues,
    live.firstStartedAt,
    endedAt,
    version,
  ]
}
