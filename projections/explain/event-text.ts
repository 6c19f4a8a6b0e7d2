import { wholeGpu } from '../../domain/kernel/units.ts'
import type { CellEvent, LeasePart, WorkloadHeld } from '../../domain/planner/cell-event.ts'
import { durationText, gpusText, instantText, needText } from './wording.ts'

/** What an event says, for a person, in one line. */
export const eventText = (event: CellEvent): string => {
  switch (event.type) {
    case 'WorkloadSubmitted': {
      const { request, class: kind, queue, estimateMs } = event.data
      const asked = estimateMs === null ? '' : `, for ${durationText(estimateMs)}`
      return `${needText(request)}${asked}, class ${kind}, queue ${queue}`
    }
    case 'WorkloadAdmitted': {
      const { lease, waitedMs, freeMilli } = event.data
      return `${lease.map(partText).join('; ')}; waited ${durationText(waitedMs)}, of ${gpusText(freeMilli)} free`
    }
    case 'WorkloadHeld':
      return heldText(event.data)
    case 'WorkloadRefused': {
      const { code, needMilli, largestMilli } = event.data
      // What is not counted in thousandths cannot be held against what the fleet has of them.
      return needMilli === 0
        ? `${code}: no place of the empty fleet has all of it`
        : `${code}: needs ${gpusText(needMilli)}, the empty fleet has ${gpusText(largestMilli)} in one place`
    }
    case 'EstimateOverran':
      return `now expected until ${instantText(event.data.expectedEndAt)}`
    case 'AttemptEnded':
      return `attempt ${event.data.attempt} ${event.data.outcome}`
    case 'NodeRegistered':
      return `${event.data.node}: ${gpusText(event.data.devices * wholeGpu)}`
    case 'NodeHealthChanged':
      return `${event.data.node}${event.data.device === null ? '' : ` device ${event.data.device}`} is ${event.data.health}`
    case 'PolicyActivated':
      return `policy ${event.data.document.name}, ${event.data.hash.slice(0, 12)}`
    case 'CancelRequested': {
      const { actor, reason } = event.data
      return `${actor} wants it ended${reason === null ? '' : `: ${reason}`}`
    }
    case 'CommandConcluded': {
      const { verb, outcome, reason } = event.data
      return `${verb}: ${outcome}${reason === null ? '' : `, ${reason}`}`
    }
    case 'CommandIssued': {
      const { because, deadlineAt, keeps, node, verb } = event.data
      const left = keeps === null ? '' : `, keeping ${keeps.map(partText).join('; ')}`
      return `${verb}${left}: ${because}${node === null ? '' : ` ${node}`}; due ${instantText(deadlineAt)}`
    }
    case 'AttemptStopped': {
      const { attempt, outcome, requeued } = event.data
      return `attempt ${attempt} ${outcome}, ${requeued ? 'waits again' : 'and is gone'}`
    }
    case 'HoldRequested':
      return `${event.data.actor} wants it to wait${event.data.reason === null ? '' : `: ${event.data.reason}`}`
    case 'ReleaseRequested':
      return `${event.data.actor} lets it go on${event.data.reason === null ? '' : `: ${event.data.reason}`}`
    case 'CheckpointCommitted':
      return `attempt ${event.data.attempt} has a durable checkpoint`
    case 'ProgressObserved':
      return `attempt ${event.data.attempt} goes on`
    case 'DrillConcluded': {
      const { modelFamily, outcome, team } = event.data
      return `drill of team ${team}${modelFamily === null ? '' : `, family ${modelFamily}`}, ${outcome}`
    }
    case 'PreemptionDecided': {
      const { holdUntil, lease, victims } = event.data
      const leave = victims.map(({ workload, keeps }) => (keeps === null ? workload : `a part of ${workload}`))
      return `${leave.join(', ')} make room on ${lease.map(partText).join('; ')}, kept until ${instantText(holdUntil)}`
    }
    case 'PlaceReleased':
      return `its place is kept no longer: ${event.data.because}`
    case 'WorkloadPromoted':
      return `preempted ${event.data.preemptions} times: it is no victim any more`
    case 'LeaseIdled':
      return `no progress since ${instantText(event.data.idleSince)}: what it holds spends its own budget`
    case 'BudgetChanged': {
      const { from, node, to } = event.data
      return `budget ${node}: share ${from ?? 'none'} to ${to ?? 'none'}`
    }
    case 'GrantLapsed':
      return `${event.data.grant} ${event.data.name} has ended`
    case 'LeaseShrunk':
      return `keeps ${event.data.keeps.map(partText).join('; ')}`
    case 'WorkloadCancelled':
      return 'it is gone'
    case 'Ticked':
      return 'time went on'
  }
}

const partText = ({ node, devices, milli }: LeasePart): string => {
  if (devices.length === 0) return node
  return `${node} ${devices.length === 1 ? 'device' : 'devices'} ${devices.join(',')}${milli < wholeGpu ? ` (${milli} thousandths)` : ''}`
}

const heldText = ({
  code,
  needMilli,
  freeMilli,
  largestMilli,
  behind,
  projectedStartAt,
}: WorkloadHeld['data']): string => {
  const after = behind === null ? '' : ` ${behind}`
  const start = projectedStartAt === null ? '' : `; by ${instantText(projectedStartAt)}`
  if (needMilli === 0) return `${code}${after}${start}`
  return `${code}${after}: ${freeMilli / wholeGpu} free, ${largestMilli / wholeGpu} in one place, needs ${needMilli / wholeGpu}${start}`
}

/** `Held`, `Admitted`, `Ended`: what is left of a type where the columns say whose event it is. */
export const shortType = (type: string): string =>
  type.replace(/^(Workload|Attempt|Estimate|Node|Policy|Command|Lease)(?=[A-Z])/, '')
