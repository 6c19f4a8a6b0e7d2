import type { Step } from '../kernel/document.ts'
import { instantText } from '../kernel/quantity.ts'
import type { EpochMs } from '../kernel/units.ts'
import { capsOf, contractOf, type AllocationPolicy } from './allocation-policy.ts'
import { placedBudgets } from './budget-tree.ts'
import type { ExceptionPolicy } from './contract-policy.ts'
import { devicesText, warning, type Warnable, type Warning } from './warning.ts'
import type { Supply } from './supply.ts'

const soonDays = 14
const dayMs = 86_400_000

/** Of promises and limits: what expires, what is kept from everybody, what lifts nothing. */
export const contractWarnings = (warnable: Warnable): ReadonlyArray<Warning> => {
  const { policy, supply, today } = warnable
  return [
    ...drillWarnings(policy),
    ...capWarnings(policy),
    ...(supply === null ? [] : poolWarnings(policy, supply)),
    ...reservationWarnings(policy, today),
    ...(supply === null ? [] : keptWarnings(policy, supply)),
    ...headroomWarnings(policy),
    ...(policy.exceptions ?? []).flatMap((exception, i) => exceptionWarnings(policy, exception, i, today)),
  ]
}

const drillWarnings = (policy: AllocationPolicy): ReadonlyArray<Warning> =>
  contractOf(policy).drillRequired
    ? []
    : [
        warning(
          'is false: work may be evicted that never showed that it can go on where it was',
          'leave it out, unless all work is known to',
          ...['spec', 'contract', 'drillRequired'],
        ),
      ]

const capWarnings = (policy: AllocationPolicy): ReadonlyArray<Warning> => {
  const { perPersonMilli, perTeamMilli } = capsOf(policy)
  return perPersonMilli === null || perTeamMilli === null || perPersonMilli <= perTeamMilli
    ? []
    : [
        warning(
          `never binds: a whole team holds at most ${devicesText(perTeamMilli)}`,
          'give less than perTeam, or remove it',
          ...['spec', 'caps', 'perPerson'],
        ),
      ]
}

const poolWarnings = ({ protectedPools = [] }: AllocationPolicy, { nodes }: Supply): ReadonlyArray<Warning> => {
  const strange = protectedPools.flatMap((pool, i) =>
    pool.nodes.flatMap((node, j) =>
      nodes.has(node)
        ? []
        : [
            warning(
              `the fleet has no node ${node}`,
              'correct it, or remove it',
              'spec',
              'protectedPools',
              i,
              'nodes',
              j,
            ),
          ],
    ),
  )
  const protectedNodes = new Set(protectedPools.flatMap((pool) => pool.nodes))
  if (nodes.size === 0 || [...nodes].some((node) => !protectedNodes.has(node))) return strange
  return [
    ...strange,
    warning(
      'cover every node: nobody outside can ever take anything back',
      'leave nodes out of them',
      ...['spec', 'protectedPools'],
    ),
  ]
}

const reservationWarnings = (policy: AllocationPolicy, today: string): ReadonlyArray<Warning> => {
  const capOf = new Map(placedBudgets(policy.budgets).map(({ node, path }) => [path, node.capMilli]))
  return (policy.reservations ?? []).flatMap(({ budget, devices, expires }, i) => {
    const cap = capOf.get(budget) ?? null
    return [
      ...(cap === null || devices * 1000 <= cap
        ? []
        : [
            warning(
              `is more than ${budget} may hold, ${devicesText(cap)}: the rest stays idle`,
              'lower it, or raise the cap',
              ...['spec', 'reservations', i, 'devices'],
            ),
          ]),
      ...expiryWarnings('it is released', expires, today, ['spec', 'reservations', i, 'expires']),
    ]
  })
}

const expiryWarnings = (
  what: string,
  expires: string,
  today: string,
  steps: ReadonlyArray<Step>,
): ReadonlyArray<Warning> => {
  if (expires <= today)
    return [warning(`${expires} is past: it binds nothing`, 'remove it, or justify it again', ...steps)]
  const soon = instantText((Date.parse(today) + soonDays * dayMs) as EpochMs).slice(0, today.length)
  return expires > soon
    ? []
    : [warning(`is within ${soonDays} days: then ${what}`, 'justify it again, or tell those who rely on it', ...steps)]
}

/** Devices that are kept from everybody else, beside what there is. */
const keptWarnings = (
  { classes = [], reservations = [] }: AllocationPolicy,
  { devices }: Supply,
): ReadonlyArray<Warning> => {
  const reserved = reservations.reduce((sum, each) => sum + each.devices, 0)
  const kept = classes.reduce((sum, each) => sum + each.reserveDevices, reserved)
  if (kept <= devices) return []
  return [
    warning(
      `keep, with the reserves of classes, ${kept} devices, and the fleet has ${devices}`,
      'lower them until something is left to share',
      ...['spec', reservations.length > 0 ? 'reservations' : 'classes'],
    ),
  ]
}

const headroomWarnings = ({ headroom }: AllocationPolicy): ReadonlyArray<Warning> => {
  if (headroom === undefined) return []
  const { lent, percent } = headroom
  return [
    ...(lent || percent === 0
      ? []
      : [
          warning(
            `is false: ${percent} % of the fleet stay idle while preemptible work waits`,
            'lend it; such work is evicted when the room is needed',
            ...['spec', 'headroom', 'lent'],
          ),
        ]),
    ...(percent >= 10 && percent <= 20
      ? []
      : [
          warning(
            percent < 10 ? 'leaves little room for what cannot wait' : 'is more than most fleets need',
            'give 10 to 20',
            ...['spec', 'headroom', 'percent'],
          ),
        ]),
  ]
}

const exceptionWarnings = (
  policy: AllocationPolicy,
  { allows, expires, subject }: ExceptionPolicy,
  i: number,
  today: string,
): ReadonlyArray<Warning> => {
  const steps = ['spec', 'exceptions', i]
  const lifted = allows.kind === 'cap' ? capLifted(policy, subject) : null
  return [
    ...(expires === null
      ? [warning('never expires: what began as an exception becomes the rule', 'give it a date', ...steps)]
      : expiryWarnings('the rule holds again', expires, today, [...steps, 'expires'])),
    ...(allows.kind !== 'cap' || (lifted !== null && allows.devicesMilli > lifted)
      ? []
      : [
          warning(
            lifted === null
              ? `lifts nothing: ${subject.name} has no cap`
              : `is not above the cap, ${devicesText(lifted)}`,
            lifted === null ? 'remove it' : 'give more, or remove the exception',
            ...[...steps, 'allows', 'devices'],
          ),
        ]),
  ]
}

/** The cap that such an exception would lift; null: there is none. */
const capLifted = (policy: AllocationPolicy, { kind, name }: ExceptionPolicy['subject']): number | null => {
  const { perPersonMilli, perTeamMilli, teams } = capsOf(policy)
  switch (kind) {
    case 'team':
      return Object.hasOwn(teams, name) ? teams[name]! : perTeamMilli
    case 'submitter':
      return perPersonMilli
    case 'budget':
      return placedBudgets(policy.budgets).find(({ path }) => path === name)?.node.capMilli ?? null
    case 'workload': {
      const caps = [perPersonMilli, perTeamMilli, ...Object.values(teams)].filter((cap) => cap !== null)
      return caps.length === 0 ? null : Math.min(...caps)
    }
  }
}
