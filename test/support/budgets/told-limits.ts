import type { LeasePart } from '../../../domain/planner/cell-event.ts'
import type { BudgetNodePolicy } from '../../../domain/policy/budget-policy.ts'
import type { ExceptionPolicy } from '../../../domain/policy/contract-policy.ts'
import { NaiveQuotaTree, type NaiveNode } from '../naive/naive-quota.ts'
import { accountOf, budgetOf } from './told-accounts.ts'
import type { Job, ToldCell } from './told-cell.ts'
import { capacityOf, rateOf, sizeOf } from './told-devices.ts'

/** What a start on that lease would break, beside who else is there: a cap, quota, an entitlement; null: nothing. */
export const limitsBroken = (told: ToldCell, job: Job, lease: ReadonlyArray<LeasePart>, at: number): string | null =>
  capBroken(told, job, sizeOf(lease), at) ?? quotaBroken(told, job, lease) ?? firmBroken(told, job, lease, at)

const running = (told: ToldCell): ReadonlyArray<Job> => [...told.jobs.values()].filter(({ run }) => run !== null)

const heldBy = (told: ToldCell, isOf: (job: Job) => boolean): number =>
  running(told).reduce((sum, job) => sum + (isOf(job) ? sizeOf(job.run!.lease) : 0), 0)

const capBroken = (told: ToldCell, job: Job, size: number, at: number): string | null => {
  const { policy } = told
  const { caps } = policy!
  const { team, terms } = job.data
  const raised = exceptionOf(told, job, at, 'cap')
  const raisedTo = raised?.allows.kind === 'cap' ? raised.allows.devicesMilli : 0
  const over = (cap: number | null | undefined, isOf: (other: Job) => boolean, what: string): string | null => {
    if (cap == null) return null
    const held = heldBy(told, isOf)
    return held + size > Math.max(cap, raisedTo) ? `the cap of ${what}: ${held} + ${size} > ${cap}` : null
  }
  const ofTeam = over(caps?.teams[team] ?? caps?.perTeamMilli, (other) => other.data.team === team, team)
  const isSame = (other: Job) => other.data.terms.submitter === terms.submitter
  const ofPerson = over(caps?.perPersonMilli, isSame, terms.submitter)
  return ofTeam ?? ofPerson ?? nodeCapBroken(told, job, over)
}

const nodeCapBroken = (
  told: ToldCell,
  job: Job,
  over: (cap: number | null, isOf: (other: Job) => boolean, what: string) => string | null,
): string | null => {
  let level: ReadonlyArray<BudgetNodePolicy> = told.policy!.budgets!.tree
  let path = ''
  for (const name of budgetOf(told, job)!.split('/')) {
    const node = level.find((each) => each.name === name)!
    path = path === '' ? name : `${path}/${name}`
    const within = path
    const broken = over(node.capMilli, (other) => isWithin(accountOf(told, other), within), path)
    if (broken !== null) return broken
    level = node.children
  }
  return null
}

export const isWithin = (path: string | null, above: string): boolean =>
  path !== null && (path === above || path.startsWith(`${above}/`))

/** Usage within nominal and borrowing, with what is lent never reaching into what is not to be lent. */
const quotaBroken = (told: ToldCell, job: Job, lease: ReadonlyArray<LeasePart>): string | null => {
  const { queues } = told.policy!
  if (queues.every(({ quotas, cohort }) => quotas === undefined && cohort === undefined)) return null
  const tree = quotaTreeOf(told)
  const quotas = queues.find(({ name }) => name === job.data.queue)!.quotas ?? []
  for (const { node } of lease) {
    const accelerator = acceleratorOf(told, node)
    if (!quotas.some((quota) => quota.accelerator === accelerator && quota.devices !== undefined)) continue
    const asked = sizeOf(lease.filter((part) => acceleratorOf(told, part.node) === accelerator))
    const available = tree.available(`queue ${job.data.queue}`, accelerator, 'devices')
    if (available < BigInt(asked)) return `its quota of ${accelerator}: ${asked} of ${available}`
  }
  return null
}

/** Quota as the policy has it, used by what runs. */
export const quotaTreeOf = (told: ToldCell): NaiveQuotaTree => {
  const { cohorts = [], queues } = told.policy!
  const nodes = new Map<string, NaiveNode>()
  for (const { name, parent, quotas } of cohorts) nodes.set(`cohort ${name}`, naiveNode(parent, quotas))
  for (const { name, cohort, quotas } of queues) nodes.set(`queue ${name}`, naiveNode(cohort ?? null, quotas ?? []))
  const tree = new NaiveQuotaTree(nodes)
  const charge = (queue: string, parts: ReadonlyArray<LeasePart>) => {
    for (const { node, devices, milli } of parts)
      if (nodes.has(`queue ${queue}`))
        tree.charge(`queue ${queue}`, acceleratorOf(told, node), 'devices', BigInt(devices.length * milli))
  }
  for (const other of running(told)) charge(other.data.queue, other.run!.lease)
  return tree
}

const naiveNode = (
  parent: string | null,
  quotas: NonNullable<NonNullable<ToldCell['policy']>['queues'][number]['quotas']>,
): NaiveNode => ({
  parent: parent === null ? null : `cohort ${parent}`,
  weightMilli: 1000n,
  quotas: new Map(
    quotas.flatMap(({ accelerator, devices }) =>
      devices === undefined
        ? []
        : [
            [
              accelerator,
              new Map([
                [
                  'devices',
                  {
                    nominal: BigInt(devices.nominal),
                    borrowing: devices.borrowing === null ? null : BigInt(devices.borrowing),
                    lending: devices.lending === null ? null : BigInt(devices.lending),
                  },
                ],
              ]),
            ] as const,
          ],
    ),
  ),
})

const acceleratorOf = (told: ToldCell, node: string): string => {
  const { model } = told.nodes.get(node)!.spec
  const own = told.policy!.accelerators?.find(({ name, models }) => name === model || models.includes(model ?? ''))
  return own?.name ?? model ?? 'any'
}

/** What may not be evicted takes its program above its entitlement only alone, for a time. */
const firmBroken = (told: ToldCell, job: Job, lease: ReadonlyArray<LeasePart>, at: number): string | null => {
  const { policy } = told
  const isFree = job.data.terms.preemption.tolerated && told.isDrilled(job.data, at)
  const { lent = true, percent = 0 } = policy!.headroom ?? {}
  const mostMilli = Math.floor(((100 - percent) * capacityOf(told, () => 1000)) / 100)
  const firm = heldBy(
    told,
    (other) => isFree || !(other.data.terms.preemption.tolerated && told.isDrilled(other.data, at)),
  )
  if (percent > 0 && (!isFree || !lent) && firm + sizeOf(lease) > mostMilli)
    return `the headroom: ${firm} + ${sizeOf(lease)} > ${mostMilli}`
  if (isFree || exceptionOf(told, job, at, 'non-preemptible-over-entitlement') !== undefined) return null
  const [program] = accountOf(told, job)!.split('/') as [string]
  const held = running(told).reduce(
    (sum, other) => sum + (isWithin(accountOf(told, other), program) ? rateOf(told, other.run!.lease) : 0),
    0,
  )
  const entitled = programRate(told, program)
  return held > 0 && held + rateOf(told, lease) > entitled
    ? `what ${program} may hold firmly: ${held} + ${rateOf(told, lease)} > ${entitled}`
    : null
}

/** Its part of the capacity, in whole milli-units, what is left over to the largest rests. */
const programRate = (told: ToldCell, program: string): number => {
  const { tree } = told.policy!.budgets!
  const capacity = capacityOf(told)
  const shares = tree.reduce((sum, { share }) => sum + share, 0)
  const parts = tree.map(({ name, share }) => ({
    name,
    whole: Math.floor((capacity * share) / shares),
    rest: (capacity * share) % shares,
  }))
  let left = capacity - parts.reduce((sum, { whole }) => sum + whole, 0)
  parts.sort((a, b) => b.rest - a.rest || (a.name < b.name ? -1 : 1))
  for (const { name, whole } of parts) if (left-- > 0 && name === program) return whole + 1
  return parts.find(({ name }) => name === program)!.whole
}

/** The exception of this kind that holds for it then. */
export const exceptionOf = (
  told: ToldCell,
  job: Job,
  at: number,
  kind: ExceptionPolicy['allows']['kind'],
): ExceptionPolicy | undefined =>
  told.policy!.exceptions?.find(({ allows, expires, subject }) => {
    if (allows.kind !== kind || (expires !== null && at >= Date.parse(expires))) return false
    if (subject.kind === 'budget') return isWithin(budgetOf(told, job), subject.name)
    const { team, terms } = job.data
    return subject.name === { team, submitter: terms.submitter, workload: job.id }[subject.kind]
  })
