import type { CellDecision, CellEvent, CellInput, WorkloadAdmitted } from '../../../domain/planner/cell-event.ts'
import { isOfLentQuota } from './lent-rules.ts'
import type { ToldCell } from './told-cell.ts'
import { type Job } from './told-cell.ts'
import { isReady, leavingOf, sizeOf, takenOf } from './told-devices.ts'
import { limitsBroken } from './told-limits.ts'
import { VictimRules, type Standing } from './victim-rules.ts'

/**
 * Holds a history to what always holds in the default mode, decision by decision, by nothing but the events. Whatever is
 * broken is thrown with its numbers.
 */
export class BudgetInvariants {
  readonly told: ToldCell
  readonly counts = { admitted: 0, decided: 0, evicted: 0, shrunk: 0, moved: 0, released: 0, returned: 0 }
  private readonly victims: VictimRules

  /** @param standing how a node of the budget tree stands now, by its path */
  constructor(told: ToldCell, standing: (path: string) => Standing) {
    this.told = told
    this.victims = new VictimRules(told, standing)
  }

  /** One append: an input, and what was decided behind it. @param after called once each is heard, in order */
  hear(input: CellInput, decisions: ReadonlyArray<CellDecision>, after: (event: CellEvent) => void): void {
    const { told } = this
    told.hear(input)
    after(input)
    const held = new Set<string>()
    for (const decision of decisions) {
      this.check(decision, held)
      told.follow(decision)
      after(decision)
    }
    if (input.type === 'Ticked') this.victims.appended(decisions)
    this.checkDevices()
    if (input.type === 'Ticked' && told.decides) this.checkReasons(decisions)
    for (const [id, { decision }] of told.places)
      if (input.type === 'Ticked' && told.decides && decision.holdUntil <= input.at)
        fail(`the place of ${id} is kept beyond ${decision.holdUntil}`)
  }

  private check(decision: CellDecision, held: Set<string>): void {
    switch (decision.type) {
      case 'WorkloadAdmitted':
        this.counts.admitted++
        this.checkAdmitted(decision)
        break
      case 'WorkloadHeld': {
        const { code, rule, workload } = decision.data
        if (held.has(workload)) fail(`${workload} is told two reasons at once`)
        held.add(workload)
        const job = this.told.jobs.get(workload)
        if (job?.run !== null) fail(`${workload} is told why it waits, and does not`)
        if (job.reason === `${code} ${rule}`) fail(`${workload} is told ${code} again`)
        break
      }
      case 'PreemptionDecided':
        this.counts.decided++
        if (isOfLentQuota(decision.data.rule)) this.counts.returned++
        for (const { keeps } of decision.data.victims) this.counts[keeps === null ? 'evicted' : 'shrunk']++
        this.victims.check(decision)
        break
      case 'PlaceReleased':
        this.counts.released++
        if (!this.told.places.has(decision.data.workload)) fail(`no place of ${decision.data.workload} to release`)
    }
  }

  private checkAdmitted({ at, data }: WorkloadAdmitted): void {
    const { told } = this
    const job = told.jobs.get(data.workload)
    if (job?.run !== null || job.onHold) fail(`${data.workload} starts, and runs or is on hold`)
    if (data.attempt !== job.attempt + 1) fail(`${data.workload} starts as attempt ${data.attempt}`)
    this.checkGang(job, data)
    const place = told.places.get(job.id)
    if ((place !== undefined) !== (data.preempted === true)) fail(`${job.id} starts beside the place kept for it`)
    if (place !== undefined) {
      this.counts.moved++
      if (JSON.stringify(place.decision.lease) !== JSON.stringify(data.lease)) fail(`${job.id} starts elsewhere`)
    }
    const taken = takenOf(told, new Map(), job.id)
    for (const { node, devices, milli } of data.lease)
      for (const device of devices)
        if (taken.get(node)![device]! + milli > 1000)
          fail(`${job.id} starts on ${node} ${device}, which is taken or kept`)
    const broken = limitsBroken(told, job, data.lease, at)
    if (broken !== null) fail(`${job.id} starts at ${at} beyond ${broken}`)
  }

  private checkGang({ id, data: { request } }: Job, { lease }: WorkloadAdmitted['data']): void {
    const { told } = this
    const devices = lease.flatMap((part) => part.devices.map((device) => `${part.node} ${device}`))
    if (new Set(devices).size !== request.devices) fail(`${id} starts on ${devices.length} of ${request.devices}`)
    if (sizeOf(lease) !== request.devices * request.milli) fail(`${id} starts on parts of another size`)
    if (request.span === 'node' && lease.length !== 1) fail(`${id} starts on ${lease.length} nodes`)
    for (const { node, devices: own } of lease) {
      const { model } = told.nodes.get(node)!.spec
      if (request.models !== null && !request.models.includes(model ?? '')) fail(`${id} starts on a ${model}`)
      if (own.some((device) => !isReady(told, node, device))) fail(`${id} starts on what is not ready`)
    }
  }

  private checkDevices(): void {
    const { told } = this
    for (const taken of [takenOf(told, leavingOf(told)), takenOfLeases(told)])
      for (const [node, devices] of taken)
        for (const [device, milli] of devices.entries())
          if (milli > 1000) fail(`${node} ${device} is leased or kept for ${milli} thousandths`)
  }

  /** Who has just left is told by the tick that follows. */
  private checkReasons(decisions: ReadonlyArray<CellDecision>): void {
    const left = new Set(decisions.flatMap(({ type, data }) => (type === 'AttemptStopped' ? [data.workload] : [])))
    for (const { id, run, reason } of this.told.jobs.values())
      if (run === null && reason === null && !left.has(id)) fail(`${id} waits and is told nothing`)
  }
}

const takenOfLeases = (told: ToldCell) => {
  const places = [...told.places]
  told.places.clear()
  const taken = takenOf(told)
  for (const [id, place] of places) told.places.set(id, place)
  return taken
}

export const fail: (what: string) => never = (what) => {
  throw new Error(`broken: ${what}`)
}
