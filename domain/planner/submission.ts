import { termsOf } from '../workload/terms.ts'
import type { WorkloadIntent } from '../workload/intent.ts'
import type { WorkloadSubmitted } from './cell-event.ts'

/** What an intent says of the workload that it asks for; members in canonical order, as an event's data has to be. */
export const submissionOf = (intent: WorkloadIntent): WorkloadSubmitted['data'] => ({
  class: intent.class,
  estimateMs: intent.expectedDurationMs,
  queue: intent.queue,
  request: intent.request,
  team: intent.team,
  terms: termsOf(intent),
  workload: intent.name,
})
