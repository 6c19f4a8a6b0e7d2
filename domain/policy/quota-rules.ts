import type { Notes, Step } from '../kernel/document.ts'
import { nearest } from '../kernel/wording.ts'
import type { AllocationPolicy, QueuePolicy } from './allocation-policy.ts'
import type { Rough } from './form.ts'
import { quotaResources, type AcceleratorQuota, type CohortPolicy } from './quota-policy.ts'

type RoughPolicy = Rough<AllocationPolicy>

/** What is wrong between accelerators, cohorts and queues; paths begin below `spec`. */
export const noteQuotaFaults = (policy: RoughPolicy, notes: Notes): void => {
  noteModelsTwice(policy, notes)
  const cohorts = policy.cohorts ?? []
  const names = new Set(cohorts.flatMap(({ name }) => (name === undefined ? [] : [name])))
  cohorts.forEach(({ parent, quotas = [] }, i) => {
    noteUnknown('cohort', parent ?? null, names, notes, ['cohorts', i, 'parent'])
    if (parent === null) noteUnshared('a root has nobody', quotas, notes, ['cohorts', i, 'quotas'])
  })
  noteCircles(cohorts, notes)
  policy.queues?.forEach((queue, i) => {
    const { cohort, quotas = [] } = queue
    noteUnknown('cohort', cohort ?? null, names, notes, ['queues', i, 'cohort'])
    if (cohort === undefined)
      noteUnshared('a queue without a cohort has nobody', quotas, notes, ['queues', i, 'quotas'])
    else noteLentTooMuch(quotas, notes, ['queues', i, 'quotas'])
    noteForeignToSharing(queue, policy, notes, ['queues', i])
    noteNothingLent(queue, policy, notes, ['queues', i, 'lendingDeadline'])
  })
}

const noteModelsTwice = ({ accelerators = [] }: RoughPolicy, notes: Notes): void => {
  const ownerOf = new Map(accelerators.flatMap(({ name }) => (name === undefined ? [] : [[name, name] as const])))
  accelerators.forEach(({ models = [], name = '' }, i) => {
    models.forEach((model, j) => {
      const owner = ownerOf.get(model)
      if (owner === undefined) ownerOf.set(model, name)
      else if (owner !== name) notes.add(`belongs to ${owner} already`, 'keep one of the two', ...at(i, j))
    })
  })
}
const at = (i: number, j: number): ReadonlyArray<Step> => ['accelerators', i, 'models', j]

/** Notes a name that nothing has; null: none is given. */
export const noteUnknown = (
  kind: string,
  name: string | null,
  known: ReadonlySet<string>,
  notes: Notes,
  path: ReadonlyArray<Step>,
): void => {
  if (name === null || known.has(name)) return
  // Only what is listed is worth a search among all names.
  const meant = notes.isFull ? null : nearest(name, [...known])
  const mend =
    meant !== null
      ? `did you mean ${meant}?`
      : known.size === 0
        ? `there is no ${kind} in this document: add it, or leave this out`
        : `name one that is there, such as ${known.values().next().value!}, or add it`
  notes.add(`there is no ${kind} ${name}`, mend, ...path)
}

const noteUnshared = (
  who: string,
  quotas: ReadonlyArray<Rough<AcceleratorQuota>>,
  notes: Notes,
  path: ReadonlyArray<Step>,
): void => {
  quotas.forEach((quota, j) => {
    for (const resource of quotaResources) {
      const { borrowing = null, lending = null } = quota[resource] ?? {}
      const below = [...path, j, resource]
      if (borrowing !== null)
        notes.add(`${who} to borrow from`, 'remove it, or add a cohort above', ...below, 'borrowing')
      if (lending !== null) notes.add(`${who} to lend to`, 'remove it, or add a cohort above', ...below, 'lending')
    }
  })
}

/** Of queues, which have nothing to lend but their own; what a cohort has is known once the whole tree is read. */
const noteLentTooMuch = (
  quotas: ReadonlyArray<Rough<AcceleratorQuota>>,
  notes: Notes,
  path: ReadonlyArray<Step>,
): void => {
  quotas.forEach((quota, j) => {
    for (const resource of quotaResources) {
      const { lending = null, nominal } = quota[resource] ?? {}
      if (nominal === undefined || lending === null || lending <= nominal) continue
      notes.add('lends more than its own nominal', 'give at most the nominal', ...path, j, resource, 'lending')
    }
  })
}

/** What is lent comes back by a deadline only from whom time is kept of, and only where there is anybody to lend to. */
const noteNothingLent = (
  { cohort, lendingDeadlineMs, quotas = [] }: Rough<QueuePolicy>,
  { budgets, sharing = 'budgets' }: RoughPolicy,
  notes: Notes,
  path: ReadonlyArray<Step>,
): void => {
  if (lendingDeadlineMs === undefined) return
  if (sharing !== 'budgets' || budgets === undefined)
    notes.add(
      `binds only where a budget tree shares time, and ${sharing === 'budgets' ? 'there is none' : `spec.sharing is ${sharing}`}`,
      'remove it',
      ...path,
    )
  else if (cohort === undefined || quotas.length === 0)
    notes.add('the queue has no quota that anybody could borrow', 'give it quotas and a cohort, or remove it', ...path)
}

/** Each circle once, at the first of its cohorts. */
const noteCircles = (cohorts: ReadonlyArray<Rough<CohortPolicy>>, notes: Notes): void => {
  const indexOf = new Map(cohorts.map(({ name = '' }, i) => [name, i]))
  const above = (i: number): number => {
    const { parent = null } = cohorts[i]!
    return parent === null ? -1 : (indexOf.get(parent) ?? -1)
  }
  const seen = new Set<number>()
  for (let start = 0; start < cohorts.length; start++) {
    const way: number[] = []
    let next = start
    for (; next >= 0 && !seen.has(next); next = above(next)) {
      seen.add(next)
      way.push(next)
    }
    const from = way.indexOf(next)
    if (from < 0) continue
    const circle = way.slice(from)
    const first = circle.indexOf(Math.min(...circle))
    const names = [...circle.slice(first), ...circle.slice(0, first + 1)].map((i) => cohorts[i]!.name ?? '')
    const shown = names.length > namesShownMax ? [...names.slice(0, namesShownMax), '...'] : names
    notes.add(
      `goes round in a circle: ${shown.join(' > ')}`,
      'remove it from one of them',
      'cohorts',
      circle[first]!,
      'parent',
    )
  }
}
const namesShownMax = 3

const noteForeignToSharing = (
  { fungibility, ordering, preemption }: Rough<QueuePolicy>,
  { kueue, sharing = 'budgets' }: RoughPolicy,
  notes: Notes,
  path: ReadonlyArray<Step>,
): void => {
  if (sharing === 'kueue') {
    if (ordering === 'reserve')
      notes.add(
        'is no ordering of the kueue sharing',
        'write fifo (strict) or greedy (best effort)',
        ...path,
        'ordering',
      )
    if (
      kueue?.fairSharing !== null &&
      kueue?.fairSharing !== undefined &&
      preemption?.borrowWithinCohort === 'lowerPriority'
    )
      notes.add(
        'is for classical preemption, and spec.kueue.fairSharing is stated',
        'leave out one of the two',
        ...path,
        'preemption',
        'borrowWithinCohort',
      )
    return
  }
  for (const [member, stated] of [
    ['preemption', preemption],
    ['fungibility', fungibility],
  ] as const)
    if (stated !== undefined)
      notes.add(`binds only where spec.sharing is kueue, and it is ${sharing}`, 'remove it', ...path, member)
}
