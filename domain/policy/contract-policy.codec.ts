import { flag, name, oneOf, prose, wholeNumber } from '../kernel/document.ts'
import { day } from '../kernel/quantity.ts'
import { ownerMax } from './budget-policy.codec.ts'
import {
  allowances,
  defaultCaps,
  defaultContract,
  defaultHeadroom,
  defaultLimits,
  subjectKinds,
  type CapsPolicy,
  type ContractPolicy,
  type ExceptionPolicy,
  type HeadroomPolicy,
  type LimitsPolicy,
  type ProtectedPoolPolicy,
  type ReservationPolicy,
} from './contract-policy.ts'
import {
  dictionary,
  list,
  may,
  must,
  orAbsent,
  orNull,
  orUnlimited,
  plain,
  struct,
  thousandths,
  time,
  type Form,
} from './form.ts'
import { devices } from './quota-policy.codec.ts'

const countMax = 1_000_000
const lossMax = 1_000_000
const teamsMax = 10_000
const entriesMax = 1000
const nodesMax = 10_000
const reasonMax = 2000

export const contract: Form<ContractPolicy> = struct<ContractPolicy>({
  minRuntimeMaxMs: may('minRuntimeMax', time(0), defaultContract.minRuntimeMaxMs),
  gracePeriodMaxMs: may('gracePeriodMax', time(0), defaultContract.gracePeriodMaxMs),
  drillRequired: may('drillRequired', plain(flag), defaultContract.drillRequired),
  drillValidMs: may('drillValid', time(1), defaultContract.drillValidMs),
  progressRequired: may('progressRequired', plain(flag), defaultContract.progressRequired),
})

const counted = orUnlimited(plain(wholeNumber(0, countMax)))

export const limits: Form<LimitsPolicy> = struct<LimitsPolicy>({
  preemptionsPerTeamHour: may('preemptionsPerTeamHour', counted, defaultLimits.preemptionsPerTeamHour),
  promotionAfter: may('promotionAfter', orUnlimited(plain(wholeNumber(1, countMax))), defaultLimits.promotionAfter),
  evictionsPerMinute: may('evictionsPerMinute', counted, defaultLimits.evictionsPerMinute),
  lossMaxMilliUnitHours: may(
    'lossMax',
    orUnlimited(thousandths('unit-hours', lossMax)),
    defaultLimits.lossMaxMilliUnitHours,
  ),
  holdMs: may('hold', time(1), defaultLimits.holdMs),
  searchMax: may('searchMax', plain(wholeNumber(1, countMax)), defaultLimits.searchMax),
})

export const caps: Form<CapsPolicy> = struct<CapsPolicy>({
  perPersonMilli: may('perPerson', orUnlimited(devices), defaultCaps.perPersonMilli),
  perTeamMilli: may('perTeam', orUnlimited(devices), defaultCaps.perTeamMilli),
  teams: may('teams', dictionary(devices, teamsMax), defaultCaps.teams),
})

const protectedPool: Form<ProtectedPoolPolicy> = struct<ProtectedPoolPolicy>({
  name: must('name', plain(name)),
  nodes: must(
    'nodes',
    list(plain(name), 1, nodesMax, (node) => node),
  ),
  budgets: must(
    'budgets',
    list(plain(name), 1, entriesMax, (budget) => budget),
  ),
})
export const protectedPools = list(protectedPool, 1, entriesMax, (pool) => pool.name)

const reservation: Form<ReservationPolicy> = struct<ReservationPolicy>({
  name: must('name', plain(name)),
  budget: must('budget', plain(name)),
  devices: must('devices', plain(wholeNumber(1, countMax))),
  owner: must('owner', plain(prose(ownerMax))),
  justification: must('justification', plain(prose(reasonMax))),
  expires: must('expires', plain(day)),
})
export const reservations = list(reservation, 1, entriesMax, (each) => each.name)

const percentage: Form<number> = plain(wholeNumber(0, 100))

export const headroom: Form<HeadroomPolicy> = struct<HeadroomPolicy>({
  percent: must('percent', percentage),
  lent: may('lent', plain(flag), defaultHeadroom.lent),
  band: may(
    'band',
    struct<HeadroomPolicy['band']>(
      {
        low: may('low', percentage, defaultHeadroom.band.low),
        high: may('high', percentage, defaultHeadroom.band.high),
      },
      ({ low, high }, notes) => {
        if (low !== undefined && high !== undefined && low > high)
          notes.add(`begins at ${low} and ends at ${high}`, 'give a low that is at most the high')
      },
    ),
    defaultHeadroom.band,
  ),
})

interface Allowance {
  readonly devicesMilli?: number
  readonly kind: (typeof allowances)[number]
}
const allowance: Form<Allowance> = struct<Allowance>(
  {
    kind: must('kind', plain(oneOf(allowances))),
    devicesMilli: orAbsent('devices', devices),
  },
  ({ kind }, notes, isStated) => {
    if (kind === 'cap' && !isStated('devicesMilli'))
      notes.add('is missing', 'add the cap that holds instead, in devices', 'devices')
    if (kind !== undefined && kind !== 'cap' && isStated('devicesMilli'))
      notes.add('is only for a cap', 'remove it, or write kind: cap', 'devices')
  },
)

export const exception: Form<ExceptionPolicy> = struct<ExceptionPolicy>({
  name: must('name', plain(name)),
  subject: must(
    'subject',
    struct<ExceptionPolicy['subject']>({
      kind: must('kind', plain(oneOf(subjectKinds))),
      name: must('name', plain(name)),
    }),
  ),
  // Its rule holds exactly the cap's devices to being there.
  allows: must('allows', allowance as Form<ExceptionPolicy['allows']>),
  owner: must('owner', plain(prose(ownerMax))),
  reason: must('reason', plain(prose(reasonMax))),
  expires: orNull('expires', plain(day)),
  granted: orAbsent('granted', plain(flag), false),
})
export const exceptions = list(exception, 1, entriesMax, (each) => each.name)
