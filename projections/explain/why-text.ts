import { wholeGpu } from '../../domain/kernel/units.ts'
import { durationText, gpusText, instantText, leaseText, needText, wrapped } from './wording.ts'
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
  why.expectedEndAt === null
    ? 'When it ends is not known.'
    : `It is expected to end ${instantText(why.expectedEndAt)} (in ${durationText(why.expectedEndAt - why.at)}).`,
]

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

const standingText = (standing: Why['standing']): string =>
  ({
    observe: 'observed only',
    advise: 'advised only',
    automate: 'automated',
    frozen: 'frozen',
    'no-policy': 'without a policy',
  })[standing]

const waitingLines = (why: Waiting): ReadonlyArray<string> => [
  `${why.workload} waits in queue ${why.queue}, position ${why.position}, for ${waitText(why)} (as of ${instantText(why.at)}).`,
  `Reason     ${why.code ?? 'PendingEvaluation'}: ${reasonText(why)}`,
  ...(decides(why) ? [] : [`Standing   the pool is ${standingText(why.standing)}: nothing starts there.`]),
  ...(why.rule === null ? [] : [`Rule       ${why.rule}, policy ${why.policy?.slice(0, 12) ?? '-'}`]),
  ...(why.aheadCount === 0 ? [] : [`Ahead      ${aheadText(why)}`]),
  `Projected  ${projectionText(why)}`,
]

/** What was stopped waits once more. */
const waitText = ({ at, queuedAt, submittedAt, waitedMs }: Waiting): string =>
  queuedAt === submittedAt
    ? durationText(waitedMs)
    : `${durationText(at - queuedAt)} since it was stopped, ${durationText(waitedMs)} in all`

const decides = ({ standing }: Waiting): boolean => standing === 'automate' || standing === 'advise'

const reasonText = (why: Waiting): string => {
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
    case 'BehindInQueue':
      return `another goes first. It needs ${needs}${counted ? `; ${places}` : ''}.`
    case 'WouldDelayReservation':
      return `it needs ${needs} and would fit, but would still run when the head of the queue is due to start there.`
    case 'Misconfigured':
      return `the policy has no queue ${why.queue}.`
    case null:
      return `no pass has looked at it yet: it needs ${needs}; ${free}. \`leasehold up\` decides.`
    default:
      return `it needs ${needs}; ${free}.`
  }
}

const needsText = ({ needDevices, needMilli, needMemoryMib }: Waiting): string => {
  if (needDevices === 0) return 'CPU and host memory only'
  if (needMilli === 0) return needText({ devices: needDevices, milli: 0, memoryMib: needMemoryMib })
  if (needMilli === needDevices * wholeGpu) return `${needDevices} whole ${needDevices === 1 ? 'GPU' : 'GPUs'}`
  const share = `${needMilli / needDevices} thousandths`
  return needDevices === 1 ? `${share} of one GPU` : `${share} of each of ${needDevices} GPUs`
}

const largestText = ({ largestMilli, needDevices, needMilli }: Waiting): string =>
  needMilli < needDevices * wholeGpu ? `${largestMilli} thousandths` : gpusText(largestMilli)

const aheadText = ({ ahead, aheadCount }: Waiting): string => {
  const more = aheadCount - ahead.length
  return `${ahead.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const projectionText = (why: Waiting): string => {
  const { at, code, projectedStartAt, projection, queue } = why
  if (projectedStartAt !== null)
    return `${instantText(projectedStartAt)} (in ${durationText(projectedStartAt - at)})${placeText(why)}, if all ends as expected and nothing new comes in.`
  if (!decides(why)) return 'not known: nothing is decided here.'
  if (code === 'Misconfigured') return `not before the policy has a queue ${queue}.`
  return projection === 'looked too far ahead'
    ? 'not known: too far ahead to say.'
    : 'not known: nothing that runs is expected to make room for it.'
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
