import type { SideStanding } from '../../domain/planner/cell-event.ts'
import { chargedText } from './reason-text.ts'
import { amountText, durationText, gpuHoursText, gpusText, instantText, wrapped } from './wording.ts'
import type { ExceptionThen, PreemptedOnce, WhyPreempted } from './why-preempted.ts'

const width = 98
const indent = 13
const sPerHour = 3_600

/** The answer for the person whose work made room. */
export const whyPreemptedText = (why: WhyPreempted): string => {
  const { preemptions, promotedAt, workload } = why
  if (preemptions.length === 0) return `${workload} has made room for nobody.\n`
  const times = preemptions.length === 1 ? 'once' : `${preemptions.length} times`
  const promoted =
    promotedAt === null ? '' : ` Since ${instantText(promotedAt)} it is no victim any more: that was often enough.`
  const lines = [`${workload} made room for others ${times}.${promoted}`]
  for (const once of preemptions) lines.push('', ...onceLines(once, why.at))
  return lines.map((line) => `${wrapped(line, width, line.startsWith(' ') ? indent : 2)}\n`).join('')
}

const onceLines = (once: PreemptedOnce, at: number): ReadonlyArray<string> => [
  `${instantText(once.at)}: attempt ${once.attempt} was asked to ${once.how === 'evicted' ? 'stop' : 'shrink and run on'} for ${once.preemptor}; it gave back ${gpusText(once.milliUnits)}.`,
  `  Rule       ${once.rule}, policy ${once.policy?.slice(0, 12) ?? '-'}; decision ${once.event}`,
  ...(once.side === null ? [] : [`  For        ${sideText(once.side)}: it was behind.`]),
  ...(once.victimSide === null ? [] : [`  From       ${sideText(once.victimSide)}: it held more than that.`]),
  ...once.exceptions.map((exception) => `  Excepted   ${exceptionText(exception, once.preemptor)}`),
  `  Lost       ${gpuHoursText(Math.round(once.lossMilliUnitS / sPerHour))} GPU-hours of work since its last checkpoint that was seen.`,
  `  Instead    ${insteadText(once)}`,
  `  Since      ${sinceText(once, at)}`,
]

const exceptionText = (exception: ExceptionThen, preemptor: string): string => {
  const { allows, capMilli, expires, held, name, owner, reason, whose } = exception
  const who = whose === 'workload' ? 'it' : preemptor
  const may = {
    cap: `might hold ${gpusText(capMilli ?? 0)}, whatever its cap,`,
    'not-preempted': held ? 'was not to be evicted' : 'had not been evicted',
    'non-preemptible-over-entitlement': 'might start beyond its entitlement without tolerating eviction',
  }[allows]
  const until = expires === null ? 'as long as the policy held' : `until ${expires}`
  return `${who} ${may} ${until}, by exception ${name}; ${owner} answers for it. Its reason: ${reason}`
}

const sideText = (side: SideStanding): string =>
  `${chargedText(side)}; it held ${amountText(side.heldMilli)} of the ${amountText(side.entitledMilli)} that it is entitled to`

const insteadText = ({ alsoLeft, freedMilli, looked, needMilli, withoutAt }: PreemptedOnce): string => {
  const others = alsoLeft.length === 0 ? '' : `; ${alsoLeft.join(', ')} had to make room as well`
  const without =
    withoutAt === null
      ? 'when it would have started without that was not known'
      : `without that it would have started by ${instantText(withoutAt)}`
  return `of ${looked} running ${looked === 1 ? 'attempt' : 'attempts'} that could be asked, least work was lost this way: ${gpusText(freedMilli)} freed for ${amountText(needMilli)} needed${others}; ${without}.`
}

const sinceText = ({ how, leftAt, preemptor, resumedAt, usedAt, waitedMs }: PreemptedOnce, at: number): string => {
  const used = usedAt === null ? `${preemptor} has not started` : `${preemptor} started ${instantText(usedAt)}`
  if (leftAt === null) return `it has not made room yet; ${used}.`
  if (how === 'shrunk') return `it runs on with less since ${instantText(leftAt)}; ${used}.`
  const own =
    resumedAt !== null
      ? `went on ${instantText(resumedAt)}, after ${durationText(waitedMs ?? 0)}`
      : `has not gone on: ${durationText(waitedMs ?? at - leftAt)} so far`
  return `it left ${instantText(leftAt)}, and ${own}; ${used}.`
}
