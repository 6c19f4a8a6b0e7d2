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

const runningLines = ({ workload, at, startedAt, expectedEndAt, submittedAt, lease, attempt }: Running) => [
  `${workload} runs since ${instantText(startedAt)} (${durationText(at - startedAt)}), attempt ${attempt}; it waited ${durationText(startedAt - submittedAt)}.`,
  ...lease.map((part) => `  ${leaseText(part)}`),
  expectedEndAt === null
    ? 'When it ends is not known.'
    : `It is expected to end ${instantText(expectedEndAt)} (in ${durationText(expectedEndAt - at)}).`,
]

const waitingLines = (why: Waiting): ReadonlyArray<string> => [
  `${why.workload} waits in queue ${why.queue}, position ${why.position}, for ${durationText(why.at - why.submittedAt)} (as of ${instantText(why.at)}).`,
  `Reason     ${why.code ?? 'PendingEvaluation'}: ${reasonText(why)}`,
  ...(why.rule === null ? [] : [`Rule       ${why.rule}, policy ${why.policy?.slice(0, 12) ?? '-'}`]),
  ...(why.aheadCount === 0 ? [] : [`Ahead      ${aheadText(why)}`]),
  `Projected  ${projectionText(why)}`,
]

const reasonText = (why: Waiting): string => {
  const needs = needsText(why)
  const free = `${gpusText(why.freeMilli)} free in total`
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
