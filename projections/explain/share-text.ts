import { durationText, gpuHoursText, gpusText, instantText, ratioText } from './wording.ts'
import type { ShareAnswer, ShareNode } from './share.ts'

/** One node of the budget tree in words, with the arithmetic. */
export const shareLines = (of: ShareNode, { at, windowHours }: ShareAnswer): ReadonlyArray<string> => {
  const ratio = of.owedMilliUnitH === 0 ? '' : `: ${ratioText(of.chargedMilliUnitH, of.owedMilliUnitH)} of that`
  const delivered =
    of.deliveredMilli === null
      ? 'it was owed nothing'
      : `${(of.deliveredMilli / 10).toFixed(1)} % of what it was owed was delivered`
  return [
    `${of.node} has a share of ${of.share}, now ${gpusText(of.entitledMilli)}. It holds ${gpusText(of.heldMilli)}${standingText(of)}.`,
    `Over the last ${windowHours} hours and the open one, in GPU-hours:`,
    `  owed       ${gpuHoursText(of.owedMilliUnitH)}: what it had demand for within its share`,
    `  charged    ${gpuHoursText(of.chargedMilliUnitH)}${ratio}; the lowest of its siblings is next`,
    `  held       ${gpuHoursText(of.heldMilliUnitH)}: ${delivered}${freeText(of)}`,
    `  debt       ${gpuHoursText(of.debtMilliUnitH)}: owed less charged, where that is more than nothing`,
    `  credit     ${gpuHoursText(of.creditMilliUnitH)}: what it left unused, for when there is more than anybody is owed`,
    `${of.waiting === 0 ? 'Nothing waits' : `${of.waiting} ${of.waiting === 1 ? 'workload waits' : 'workloads wait'}`} there.${turnText(of, at)}`,
    `Owner: ${of.owner ?? 'not stated'}. Review by: ${of.reviewDate ?? 'not stated'}.`,
  ]
}

/** Why what was held and what was charged, and so delivery and debt, may be apart. */
const freeText = ({ chargedMilliUnitH, heldMilliUnitH }: ShareNode): string =>
  heldMilliUnitH <= chargedMilliUnitH
    ? ''
    : `; ${gpuHoursText(heldMilliUnitH - chargedMilliUnitH)} of it nobody was owed, which is not charged and pays no debt`

const standingText = ({ owedMilli, standing }: ShareNode): string => {
  if (standing === 'behind') return `, and is behind the ${gpusText(owedMilli)} that it is owed now`
  return standing === 'over' ? ', and a sibling lacks what it holds beyond that' : ''
}

const turnText = ({ nextTurn, waiting }: ShareNode, at: number): string => {
  if (waiting === 0) return ''
  if (nextTurn === null) return ' When its next turn is, is not known.'
  const when = {
    'protected-window': `the protected window of ${nextTurn.workload} ends`,
    exception: `the exception ends that spares ${nextTurn.workload}`,
    reservation: `the place that is kept for ${nextTurn.workload} is due`,
    'expected-end': `${nextTurn.workload} is expected to end`,
  }
  return ` Next turn: ${instantText(nextTurn.at)} (in ${durationText(Math.max(0, nextTurn.at - at))}), when ${when[nextTurn.because]}.`
}
