import type { CohortPolicy } from '../policy/quota-policy.ts'

/** A level of the tree that dominant shares are compared in, or a client of it. */
export interface ShareLevel {
  readonly path: string
  readonly weightMilli: number
}

interface QueueOfShare {
  readonly name: string
  readonly cohort?: string
  readonly fairWeightMilli?: number
}

/** Path of a queue, through its cohorts; a blank is in no name, so that no two of them have one path. */
export const clientPath = ({ name, cohort }: QueueOfShare, cohorts: ReadonlyArray<CohortPolicy>): string =>
  cohort === undefined ? step('queue', name) : `${cohortPath(cohort, cohorts)}/${step('queue', name)}`

export const cohortLevels = (cohorts: ReadonlyArray<CohortPolicy>): ReadonlyArray<ShareLevel> =>
  cohorts.map(({ name, fairWeightMilli }) => ({ path: cohortPath(name, cohorts), weightMilli: fairWeightMilli }))

export const queueClients = (
  queues: ReadonlyArray<QueueOfShare>,
  cohorts: ReadonlyArray<CohortPolicy>,
): ReadonlyArray<ShareLevel> =>
  queues.map((queue) => ({ path: clientPath(queue, cohorts), weightMilli: queue.fairWeightMilli ?? 1000 }))

/** A cohort that nobody describes is a root. */
const cohortPath = (name: string, cohorts: ReadonlyArray<CohortPolicy>): string => {
  const parent = cohorts.find((cohort) => cohort.name === name)?.parent ?? null
  return parent === null ? step('cohort', name) : `${cohortPath(parent, cohorts)}/${step('cohort', name)}`
}

const step = (kind: 'cohort' | 'queue', name: string): string => `${kind} ${name.replaceAll('/', ' ')}`
