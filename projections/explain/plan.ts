import { wholeGpu, type EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { submissionOf } from '../../domain/planner/submission.ts'
import { dryRun, type DryRun } from '../../domain/planner/dry-run.ts'
import { sharingOf, type AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { WorkloadIntent } from '../../domain/workload/intent.ts'
import { durationText, gpusText, instantText, leaseText, needText, type Need } from './wording.ts'

/** What would become of an intent if it were submitted at this instant. */
export type PlanAnswer = {
  readonly workload: string
  readonly queue: string
  readonly at: EpochMs
  readonly need: Need
  /** Of the whole fleet, whatever is in use. */
  readonly fleetMilli: number
  /** What it states and nothing decides by yet, and a deadline that would be missed. */
  readonly notes: ReadonlyArray<string>
} & DryRun

export const planOf = (cell: Cell, intent: WorkloadIntent): PlanAnswer => {
  const { devices, memoryMib, milli } = intent.request
  const plan = dryRun(cell, submissionOf(intent))
  return {
    workload: intent.name,
    ...plan,
    notes: notesOn(intent, plan, cell.policy),
    queue: intent.queue,
    at: cell.now,
    fleetMilli: cell.fleet.deviceCount * wholeGpu,
    need: { devices, memoryMib, milli },
  }
}

/** Whether the fleet could never run it, or it would not be taken at all. */
export const isTurnedDown = ({ outcome }: PlanAnswer): boolean => outcome === 'refused' || outcome === 'not taken'

const notesOn = (intent: WorkloadIntent, plan: DryRun, policy: AllocationPolicy | null): ReadonlyArray<string> => {
  const { deadline, expectedDurationMs } = intent
  const idle = undecided(intent, policy)
  const notes = idle.length === 0 ? [] : [`recorded, and not decided by yet: ${idle.join(', ')}`]
  const startAt = 'startAt' in plan ? plan.startAt : null
  const endAt = startAt === null ? null : startAt + (expectedDurationMs ?? 0)
  if (deadline !== null && endAt !== null && endAt > deadline)
    notes.push(`too late for its deadline ${instantText(deadline)}, by ${durationText(endAt - deadline)}`)
  return notes
}

/** Members that the intent states and that change no decision under this policy. */
const undecided = (intent: WorkloadIntent, policy: AllocationPolicy | null): ReadonlyArray<string> => {
  const sharing = policy === null ? 'queues' : sharingOf(policy)
  const paid = sharing !== 'queues' && sharing !== 'kueue'
  const evicts = sharing === 'budgets' || sharing === 'kueue'
  // Headroom parts what may be evicted from what may not, where nobody is evicted, too.
  const parted = evicts || (paid && policy?.headroom !== undefined)
  return [
    ...(intent.budget === null || paid ? [] : ['budget']),
    ...(intent.modelFamily === null ? [] : [parted ? 'modelFamily (but for drills)' : 'modelFamily']),
    ...(intent.substitutable.length === 0 ? [] : ['substitutable']),
    ...(intent.elasticity === null || evicts ? [] : ['elasticity']),
    ...(!intent.preemption.tolerated || parted ? [] : ['preemption']),
    ...(intent.deadline === null ? [] : ['deadline']),
  ]
}

/** The answer for the person who asked, line by line. */
export const planLines = (plan: PlanAnswer): ReadonlyArray<string> => [
  ...outcomeLines(plan),
  ...plan.notes.map((note) => `  ${note}`),
]

const outcomeLines = (plan: PlanAnswer): ReadonlyArray<string> => {
  const { at, need, queue, workload } = plan
  switch (plan.outcome) {
    case 'starts': {
      const { lease, expectedEndAt } = plan.decision.data
      const ends = expectedEndAt === null ? '' : ` It would end ${instantText(expectedEndAt)}.`
      return [`${workload} would start at once.${ends}`, ...lease.map((part) => `  ${leaseText(part)}`)]
    }
    case 'waits': {
      const { decision, position, startAt } = plan
      const why = decision === null ? 'nothing decides about its queue' : decision.data.code
      const needs =
        decision === null ? '' : `; it needs ${needText(need)}, ${gpusText(decision.data.freeMilli)} free in total`
      const start = startAt === null ? 'not known' : `${instantText(startAt)} (in ${durationText(startAt - at)})`
      return [
        `${workload} would wait in queue ${queue}, position ${position}: ${why}${needs}.`,
        `  projected start: ${start}`,
      ]
    }
    case 'refused': {
      const { code, needMilli, largestMilli } = plan.decision.data
      const has =
        needMilli === 0
          ? 'no place of the empty fleet has all of it'
          : `the empty fleet has ${gpusText(largestMilli)} in one place of its span, of ${gpusText(plan.fleetMilli)} in all`
      return [`${workload} would be refused: ${code}.`, `  it needs ${needText(need)}; ${has}`]
    }
    case 'not taken':
      return [`${workload} would not be taken: ${plan.rejection.type}.`]
  }
}
