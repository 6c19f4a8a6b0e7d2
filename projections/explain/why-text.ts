import type { Claim } from '../../domain/planner/claim.ts'
import type { Exemption } from '../../domain/planner/exemption.ts'
import type { Hint } from '../../domain/planner/hint.ts'
import type { NextTurn } from '../../domain/planner/next-turn.ts'
import type { RaisedLimit } from '../../domain/policy/raised-limits.ts'
import { mendText, reasonText } from './reason-text.ts'
import { standingText } from './standing-text.ts'
import {
  amountText,
  coresText,
  countText,
  durationText,
  gpusText,
  instantText,
  leaseText,
  quotaAmounts,
  wrapped,
} from './wording.ts'
import type { Why } from './why.ts'

type Waiting = Extract<Why, { readonly state: 'waiting' }>
type Running = Extract<Why, { readonly state: 'running' }>

/** Room for two blanks before it in a terminal of 100 columns. */
const width = 98
/** Where what is said begins, behind `Projected`. */
const indent = 11

/** The answer for the person who asked, in a few lines. */
export const whyText = (why: Why): string => {
  const lines = why.state === 'running' ? runningLines(why) : waitingLines(why)
  return lines.map((line) => `${wrapped(line, width, line.startsWith(' ') ? 2 : indent)}\n`).join('')
}

const runningLines = (why: Running) => [
  headText(why),
  ...why.lease.map((part) => `  ${leaseText(part)}`),
  ...(why.command === null ? [] : [`Asked      ${askedText(why)}`]),
  ...failedLines(why),
  ...(why.onHold
    ? [`On hold    once it is stopped it will not start again before \`leasehold release ${why.workload}\`.`]
    : []),
  why.expectedEndAt === null
    ? 'When it ends is not known.'
    : `It is expected to end ${instantText(why.expectedEndAt)} (in ${durationText(why.expectedEndAt - why.at)}).`,
]

/** `Failed     to start 2 times, the last 2026-08-14 02:00:00 UTC: no such image. After 3 it is given up.` */
const failedLines = ({ failedStarts }: Why): ReadonlyArray<string> => {
  if (failedStarts === null) return []
  const { at, count, countMax, reason } = failedStarts
  const last = `${count === 1 ? ',' : ', the last'} ${instantText(at)}${reason === null ? '' : `: ${reason}`}`
  return [`Failed     to start ${count === 1 ? 'once' : `${count} times`}${last}. After ${countMax} it is given up.`]
}

const headText = ({ workload, at, startedAt, waitedMs, attempt, phase }: Running): string => {
  const does = {
    advised: 'is advised to run',
    starting: 'starts',
    running: 'runs',
    stopping: 'is being stopped, and runs',
  }
  return `${workload} ${does[phase]} since ${instantText(startedAt)} (${durationText(at - startedAt)}), attempt ${attempt}; it waited ${durationText(waitedMs)}.`
}

const askedText = ({ command, because, deadlineAt, at, standing }: Running): string => {
  const sent = standing === 'automate' ? '' : ` Nothing is sent while the pool is ${standingText(standing)}.`
  const due =
    deadlineAt! > at ? `due in ${durationText(deadlineAt! - at)}` : `due ${durationText(at - deadlineAt!)} ago`
  return `${command}, because ${because!.replaceAll('-', ' ')}; an answer is ${due}.${sent}`
}

const waitingLines = (why: Waiting): ReadonlyArray<string> => [
  `${why.workload} waits ${placeOf(why)}, ${orderText(why)}, for ${waitText(why)} (as of ${instantText(why.at)}).`,
  `Reason     ${why.code ?? 'PendingEvaluation'}: ${reasonText(why)}`,
  ...(decides(why) ? [] : [`Standing   the pool is ${standingText(why.standing)}: nothing starts there.`]),
  ...(why.rule === null ? [] : [`Rule       ${why.rule}, policy ${why.policy?.slice(0, 12) ?? '-'}`]),
  ...(why.aheadCount === 0 ? [] : [`Ahead      ${aheadText(why)}`]),
  ...(why.holdersCount === 0 ? [] : [`Held by    ${namesText(why.holders, why.holdersCount)}`]),
  ...why.exemptions.map((exemption) => `Excepted   ${exemptionText(exemption)}`),
  ...(why.nextTurn === null ? [] : [`Next turn  ${turnText(why.nextTurn, why.at)}`]),
  `Projected  ${projectionText(why)}`,
  ...why.hints.map((hint) => `Would help ${hintText(hint, why)}`),
  ...(why.hintsCut ? ['Not tried  all that might help: that would have taken too long.'] : []),
  ...failedLines(why),
  ...(why.preemptions === 0 ? [] : [`Preempted  ${preemptedText(why)}`]),
]

const orderText = ({ code, position }: Waiting): string => {
  if (code === 'OnHold') return 'on hold'
  return code === 'Misconfigured' ? 'in no order' : `position ${position}`
}

const placeOf = ({ budget, queue }: Waiting): string =>
  budget === null ? `in queue ${queue}` : `at ${budget} (queue ${queue})`

const hintText = (hint: Hint, { needDevices }: Waiting): string =>
  `${changeText(hint, needDevices)} it would start now, on ${listed([...new Set(hint.nodes)])}.`

const changeText = (hint: Hint, needDevices: number): string => {
  const each = needDevices === 1 ? 'the GPU' : `each of ${needDevices} GPUs`
  switch (hint.change) {
    case 'fewer-devices':
      return `with ${hint.devices} ${hint.devices === 1 ? 'GPU' : 'GPUs'}`
    case 'smaller-share':
      return `with ${hint.milli} thousandths of ${each}`
    case 'less-memory':
      return `with ${countText(hint.memoryMib)} MiB of ${each}`
    case 'fewer-cores':
      return `with ${coresText(hint.cpuMilli)}`
    case 'less-host-memory':
      return `with ${countText(hint.hostMemoryMib)} MiB of host memory`
    case 'accelerator':
      return `if it accepted ${hint.models.join(' or ')}, too,`
    case 'shorter':
      return `if it said that it runs for ${durationText(hint.estimateMs)} at most`
    case 'preemptible':
      return `if it might be evicted${hint.drill ? ', and had passed a drill,' : ''}`
    case 'limits':
      return `if ${hint.limits.map(limitText).join(' and ')}`
    case 'ends':
      return `if ${listed(hint.workloads)} ended`
  }
}

const limitText = ({ rule, resource, from, to }: RaisedLimit): string => {
  const { unit } = quotaAmounts[resource]
  return `${rule} were ${unit(to)} instead of ${unit(from)}`
}

const preemptedText = ({ preemptions, workload }: Waiting): string =>
  `${preemptions === 1 ? 'once' : `${preemptions} times`} before: \`leasehold why-preempted ${workload}\` says for whom.`

/** What was stopped waits once more. */
const waitText = ({ at, queuedAt, submittedAt, waitedMs }: Waiting): string =>
  queuedAt === submittedAt
    ? durationText(waitedMs)
    : `${durationText(at - queuedAt)} since it was stopped, ${durationText(waitedMs)} in all`

const decides = ({ standing }: Waiting): boolean => standing === 'automate' || standing === 'advise'

const aheadText = ({ ahead, aheadCount }: Waiting): string => namesText(ahead, aheadCount)

const namesText = (names: ReadonlyArray<string>, count: number): string =>
  `${names.join(', ')}${count > names.length ? ` and ${count - names.length} more` : ''}`

/** `by 2026-08-14 02:00:00 UTC (in 2 h), when the protected window of sweep-7 ends` */
export const turnText = ({ at, because, workload }: NextTurn, now: number): string => {
  const when = {
    'protected-window': `when the protected window of ${workload} ends`,
    exception: `when the exception ends that spares ${workload}`,
    reservation: `until when a place is kept for ${workload}`,
    'expected-end': `when ${workload} is expected to end`,
  }
  return `by ${instantText(at)} (in ${durationText(Math.max(0, at - now))}), ${when[because]}.`
}

/** Whatever ends: it asks for more than it could have alone; null: nothing of the kind is known. */
const neverText = ({ budget, code, compared, needMilli, queue, quotaOf }: Waiting): string | null => {
  const { available = 0, capMilli = 0 } = compared
  if (code === 'OverQueueLimit' && needMilli > capMilli && capMilli > 0)
    return `the cap is ${amountText(capMilli)}, and it needs ${amountText(needMilli)}`
  if (code !== 'ExceedsMaxQuota') return null
  return `the quota of queue ${queue} is too small for it${budget === null ? `, ${quotaAmounts[quotaOf ?? 'devices'].bare(available)} at best` : ''}`
}

const projectionText = (why: Waiting): string => {
  const { at, code, projectedStartAt, projection } = why
  if (code === 'OnHold') return 'not before it is released.'
  const never = neverText(why)
  if (never !== null) return `never under this policy: ${never}.`
  if (projection === 'its place is kept')
    return `by ${instantText(projectedStartAt!)} at the latest, if those in its place leave as asked.`
  if (projection === 'by history') return bandText(why)
  if (projectedStartAt !== null)
    return `${instantText(projectedStartAt)} (in ${durationText(projectedStartAt - at)})${placeText(why)}, if all ends as expected and nothing new comes in.`
  if (!decides(why)) return 'not known: nothing is decided here.'
  if (code === 'Misconfigured') return mendText(why)
  if (code === 'NoMatchingAccelerator')
    return `not before the fleet has ${why.quotaFor.join(' or ')} for it, or its queue has quota for what the fleet has.`
  if (why.claim !== null) return claimText(why.claim, at)
  if (projection === 'too few waits') return 'not known: too few of its kind have waited and started here to tell.'
  if (projection === 'too much waits') return 'not known: too much waits to play it through for one question.'
  return projection === 'looked too far ahead'
    ? 'not known: too far ahead to say.'
    : 'not known: nothing that runs is expected to make room for it.'
}

/** `demo spares sweep-1 and sweep-2 until 2027-03-31: "The fair." Ann answers for it.` */
const exemptionText = ({ expires, name, owner, reason, workloads, workloadsCount }: Exemption): string => {
  const whom = workloadsCount === 0 ? 'those who would have to leave' : namesText(workloads, workloadsCount)
  const until = expires === null ? 'as long as the policy holds' : `until ${expires}`
  return `exception ${name} spares ${whom} ${until}; ${owner} answers for it. Its reason: ${reason}`
}

const sparedText = ({ until }: NonNullable<Claim['spared']>): string =>
  until === null ? 'for as long as the policy holds' : `until ${instantText(until)}`

const claimText = ({ at, firm, lackingMilli, node, spared }: Claim, now: number): string => {
  const owed = `${node} is owed ${gpusText(lackingMilli)} that it does not hold`
  if (spared !== undefined)
    return `not known; ${owed}, and exceptions spare all who hold it, ${sparedText(spared)}: before that only their ends make room.`
  if (firm === true)
    return `not known; ${owed}, and those who hold it never tolerate eviction: only their ends make room.`
  return at > now
    ? `not known; ${owed}, and takes that back when its debt reaches \`reclaimAfter\`: as things stand ${instantText(at)} (in ${durationText(at - now)}).`
    : `not known; ${owed}, and takes that back as soon as those who hold it may leave: its debt has reached \`reclaimAfter\`.`
}

/** `2026-08-14 02:00:00 UTC (in 2 h); four of five such start between ... and ...` */
const bandText = ({ at, expectedWaitMs, projectedFrom, projectedStartAt, projectedTo }: Waiting): string => {
  const middle = projectedStartAt!
  const pace =
    expectedWaitMs === null
      ? ''
      : ` At the pace of its leaf, what is ahead of it takes ${durationText(expectedWaitMs)}.`
  return `${instantText(middle)} (in ${durationText(middle - at)}); four of five such start between ${instantText(projectedFrom!)} (in ${durationText(projectedFrom! - at)}) and ${instantText(projectedTo!)} (in ${durationText(projectedTo! - at)}).${pace}`
}

/** ` on node-0004, when training-0399 ends` */
const placeText = ({ projectedNodes, projectedAfter }: Waiting): string => {
  const nodes = listed(projectedNodes)
  const after =
    projectedAfter.length === 0
      ? ''
      : `, when ${listed(projectedAfter)} ${projectedAfter.length === 1 ? 'ends' : 'end'}`
  return nodes === '' ? '' : ` on ${nodes}${after}`
}

const listedMax = 3
const listed = (names: ReadonlyArray<string>): string => {
  const more = names.length - listedMax
  return more > 0 ? `${names.slice(0, listedMax).join(', ')} and ${more} more` : names.join(', ')
}
