import { wholeGpu } from '../../domain/kernel/units.ts'
import type { SideStanding } from '../../domain/planner/cell-event.ts'
import {
  amountText,
  durationText,
  gpuHoursText,
  gpusText,
  instantText,
  needText,
  quotaAmounts,
  ratioText,
} from './wording.ts'
import type { Why } from './why.ts'

type Waiting = Extract<Why, { readonly state: 'waiting' }>

/** Why it waits: the code's numbers in words, so that the comparison can be done again. */
export const reasonText = (why: Waiting): string => {
  const needs = needsText(why)
  const idle = why.outOfServiceMilli
  const beside = idle === 0 ? '' : ` (beside ${gpusText(idle)} on nodes that take nothing: see \`leasehold fleet\`)`
  const free = `${gpusText(why.freeMilli)} free in total${beside}`
  // What is not counted in thousandths cannot be held against how many are free.
  const counted = why.needMilli > 0
  const places = counted ? `${free}, ${largestText(why)} in one place` : 'no place has all of it free'
  switch (why.code) {
    case 'WaitingForCapacity':
      return `it needs ${needs}; ${places}.`
    case 'FragmentedCapacity':
      return `it needs ${needs} in one place; ${free}, but at most ${largestText(why)} in one.`
    case 'TopologyPlacementFailed':
      return `it needs ${needs} in one domain of the level that it requires; ${free}, but no such domain has all of it.`
    case 'BehindInQueue': {
      const first = why.behind === null ? 'another' : why.behind
      return `${first} goes first. It needs ${needs}${counted ? `; ${places}` : ''}.`
    }
    case 'NoMatchingAccelerator':
      return `it needs ${needs}; queue ${why.queue} has quota for ${why.quotaFor.join(' and ')} only, and the fleet has none that could hold it.`
    case 'Misconfigured':
      return misconfiguredText(why)
    case null:
      return `no pass has looked at it yet: it needs ${needs}; ${free}. \`leasehold up\` decides.`
    default:
      return shareText(why) ?? limitText(why) ?? victimText(why) ?? `it needs ${needs}; ${free}.`
  }
}

const misconfiguredText = ({ misnamed, queue }: Waiting): string => {
  if (misnamed === null) return 'the policy has changed since, and has what it names: the next pass looks at it.'
  const { byQueue, kind, leaves, meant, name } = misnamed
  const perhaps = meant === null ? '' : ` (did you mean ${meant}?)`
  if (kind === 'queue') return `the policy has no queue ${queue}${perhaps}.`
  if (name === null)
    return `the policy's budget tree has no leaf for it: neither its own \`spec.budget\` nor that of queue ${queue} names one.`
  const whose = byQueue ? `the budget of its queue ${queue}, ${name},` : `its budget ${name}`
  return leaves.length > 0
    ? `${whose} is no leaf of the policy's tree: name one below it (${leaves.slice(0, 3).join(', ')}${leaves.length > 3 ? ', ...' : ''}).`
    : `${whose} is not in the policy's tree${perhaps}.`
}

/** What has to change before one that is misconfigured may start. */
export const mendText = ({ misnamed, queue }: Waiting): string => {
  if (misnamed === null) return 'not before the next pass has looked at it.'
  const { kind, name } = misnamed
  if (kind === 'queue')
    return `not before the policy has a queue ${queue}, or it is submitted anew to one that there is.`
  return name === null
    ? `not before queue ${queue} names a budget, or it is submitted anew with one.`
    : `not before the policy's tree has a leaf ${name}, or it is submitted anew with a budget that there is.`
}

/** Of what is owed, and to whom first. */
const shareText = (why: Waiting): string | null => {
  const { code, other, own } = why
  if (code === 'OnHold') return `somebody asked that it wait: \`leasehold log ${why.workload}\` says who and why.`
  if (own === null) return code === 'BehindHigherShare' ? outrunText(why) : null
  if (code === 'BudgetExhaustedInWindow')
    return `${chargedText(own)}; it holds ${amountText(own.heldMilli)} of the ${amountText(own.entitledMilli)} that it is entitled to. Beyond that only what nobody else wants is free for it.`
  if (code === 'BehindHigherShare')
    return `it would fit, but others were served less: ${chargedText(own)}, ${other === null ? 'and others less' : chargedText(other)}.`
  return null
}

const outrunText = ({ behind }: Waiting): string =>
  `it would have fitted, but ${behind ?? 'another'} was next and took the room.`

/** `research was charged 746 of 730 GPU-hours that it was owed over the window (1.022)` */
export const chargedText = ({ node, chargedMilliUnitH: charged, owedMilliUnitH: owed }: SideStanding): string => {
  const ratio = owed === 0 ? '' : ` (${ratioText(charged, owed)})`
  return `${node} was charged ${gpuHoursText(charged)} of ${gpuHoursText(owed)} GPU-hours that it was owed over the window${ratio}`
}

/** Of limits that a policy states. */
const limitText = (why: Waiting): string | null => {
  const needs = needsText(why)
  const {
    asked = 0,
    available = 0,
    capMilli = 0,
    entitledMilli = 0,
    heldMilli = 0,
    mostMilli,
    rateMilli = 0,
  } = why.compared
  const quota = quotaAmounts[why.quotaOf ?? 'devices']
  switch (why.code) {
    case 'OverQueueLimit':
      return `a cap of ${gpusText(capMilli)}, of which ${amountText(heldMilli)} are held: with ${needs} it would be ${amountText(heldMilli + why.needMilli)}.`
    case 'WaitingForQuota':
      return `it asks for ${quota.unit(asked)} of quota, and queue ${why.queue} may use ${quota.bare(available)} more now, until others give back what they borrow or hold${quotaText(why)}.`
    case 'ExceedsMaxQuota': {
      // By the budget tree it is what is left now; where quota alone decides, the most there can ever be.
      const most = why.budget === null ? `at most ${quota.bare(available)}` : `${quota.bare(available)} now`
      return `it asks for ${quota.unit(asked)}; queue ${why.queue} could never use that many, whatever others hold (${most}).`
    }
    case 'NonPreemptibleOverQuota':
      return mostMilli === undefined
        ? `it may not be evicted, and ${why.own?.node ?? 'its program'} holds ${amountText(heldMilli)} of the ${amountText(entitledMilli)} that it is entitled to: with it that would be ${amountText(heldMilli + rateMilli)}, which could never be taken back.`
        : `${amountText(heldMilli)} are held of the ${amountText(mostMilli)} that the headroom leaves; it needs ${needs}.`
    case 'WouldDelayReservation': {
      const { freeDevices = 0, keptDevices } = why.compared
      if (keptDevices === undefined)
        return `it needs ${needs} and would fit, but would still run when ${why.behind ?? 'the head of the queue'} is due to start there.`
      const keptFor = why.keptFor.length === 0 ? '' : ` for ${why.keptFor.join(' and ')}`
      const usable = Math.max(0, freeDevices - keptDevices)
      return `it needs ${needs}; of ${freeDevices} whole GPUs free, ${keptDevices} are kept${keptFor}, so that ${usable} may be used by it.`
    }
    default:
      return null
  }
}

/** `: of its own it has 4 and uses 5, it may borrow 2 (4 + 2 - 5 = 1), and its cohort has 3 left` */
const quotaText = ({ compared, quotaOf }: Waiting): string => {
  const { bare } = quotaAmounts[quotaOf ?? 'devices']
  const { borrowingMax, cohortLeft, nominal, used } = compared
  if (nominal === undefined || used === undefined) return ''
  const own = `: of its own it has ${bare(nominal)} and uses ${bare(used)}`
  if (cohortLeft === undefined) return `${own} (${bare(nominal)} - ${bare(used)} = ${bare(nominal - used)})`
  const borrows =
    borrowingMax === undefined
      ? 'any amount'
      : `${bare(borrowingMax)} (${bare(nominal)} + ${bare(borrowingMax)} - ${bare(used)} = ${bare(nominal + borrowingMax - used)})`
  return `${own}, it may borrow ${borrows}, and its cohort has ${bare(cohortLeft)} left for it`
}

/** Of those who would have to leave for it. */
const victimText = (why: Waiting): string | null => {
  const { holdUntilMs, protectedAttempts, retryAtMs, searches, undrilledAttempts, untilMs, victims } = why.compared
  const when = (ms: number) => `${instantText(ms)} (in ${durationText(Math.max(0, ms - why.at))})`
  switch (why.code) {
    case 'WaitingForVictims':
      return holdUntilMs === undefined
        ? 'its place is being made free.'
        : `${victims} running ${victims === 1 ? 'attempt makes' : 'attempts make'} room for it, of which ${why.holdersCount} still ${why.holdersCount === 1 ? 'has' : 'have'} to leave; its place is kept until ${when(holdUntilMs)}.`
    case 'ProtectedWindow':
      if (why.rule?.startsWith('spec.exceptions') === true)
        return `its side is owed the room, but ${attempts(protectedAttempts)} that would have to leave ${protectedAttempts === 1 ? 'is' : 'are'} spared by an exception${untilMs === undefined ? '' : `, the first until ${when(untilMs)}`}.`
      return `its side is owed the room, but ${attempts(protectedAttempts)} that would have to leave ${protectedAttempts === 1 ? 'is' : 'are'} in a protected window${untilMs === undefined ? '' : `, the first until ${when(untilMs)}`}.`
    case 'PreemptionRateLimited':
      return `its side is owed the room, but ${limitedText(why)}${retryAtMs === undefined ? '' : `; again from ${when(retryAtMs)}`}.`
    case 'DrillNotPassed':
      return `its side is owed the room, but ${attempts(undrilledAttempts)} that would have to leave ${undrilledAttempts === 1 ? 'has' : 'have'} no passed and fresh drill that shows it goes on from a checkpoint.`
    case 'SearchBudgetExhausted':
      return `its side is owed the room, but ${searches ?? 'as many as a pass may make'} searches for whom to move were made in this pass already; it is searched for again in the next.`
    default:
      return null
  }
}

/** Which limit of the policy is reached, by its rule. */
const limitedText = ({ compared, rule }: Waiting): string => {
  const { evictions, evictionsLeft, limitedAttempts, lossMaxMilliUnitHours, lossMilliUnitHours } = compared
  if (rule === 'spec.limits.lossMax')
    return lossMaxMilliUnitHours === undefined || lossMilliUnitHours === undefined
      ? 'what would have to leave would lose more work since its last checkpoints than one decision may'
      : `what would have to leave would lose ${gpuHoursText(lossMilliUnitHours)} GPU-hours of work since its last checkpoints, and one decision may lose ${gpuHoursText(lossMaxMilliUnitHours)}`
  const [whose, span] =
    rule === 'spec.limits.evictionsPerMinute' ? ['of the pool', 'in a minute'] : ['of one team', 'in an hour']
  return evictions === undefined || evictionsLeft === undefined
    ? `${attempts(limitedAttempts)} that would have to leave may not now: as many ${whose} were evicted as the policy allows ${span}`
    : `${evictions} ${whose} would have to leave, and the policy allows ${evictionsLeft} more ${span}`
}

const attempts = (count: number | undefined): string =>
  count === undefined ? 'what' : count === 1 ? 'the one attempt' : `the ${count} attempts`

export const needsText = ({ needDevices, needMilli, needMemoryMib }: Waiting): string => {
  if (needDevices === 0) return 'CPU and host memory only'
  if (needMilli === 0) return needText({ devices: needDevices, milli: 0, memoryMib: needMemoryMib })
  if (needMilli === needDevices * wholeGpu) return `${needDevices} whole ${needDevices === 1 ? 'GPU' : 'GPUs'}`
  const share = `${needMilli / needDevices} thousandths`
  return needDevices === 1 ? `${share} of one GPU` : `${share} of each of ${needDevices} GPUs`
}

const largestText = ({ largestMilli, needDevices, needMilli }: Waiting): string =>
  needMilli < needDevices * wholeGpu ? `${largestMilli} thousandths` : gpusText(largestMilli)
