import type { CellDecision, LeasePart, PreemptionDecided, Victim } from '../../../domain/planner/cell-event.ts'
import { classOf } from '../../../domain/policy/allocation-policy.ts'
import { isOfLentQuota, lentRulesBroken, takesUnlent } from './lent-rules.ts'
import { accountOf, budgetOf } from './told-accounts.ts'
import type { Job, ToldCell } from './told-cell.ts'
import { fits, keptFrom, leavingOf, rateOf, sizeOf, takenOf, type Leaving } from './told-devices.ts'
import { exceptionOf, isWithin } from './told-limits.ts'

/** How a node of the budget tree stands; rates milli-units, integrals milli-units x ms over the window. */
export interface Standing {
  readonly entitled: number
  readonly held: number
  readonly owedRate: number
  readonly behind: boolean
  readonly owed: bigint
  readonly charged: bigint
}

const hourMs = 3_600_000
const minuteMs = 60_000

/** Who may be made to leave for whom: BUDGETS sections 3 and 4, read anew at every decision. */
export class VictimRules {
  private readonly told: ToldCell
  private readonly standing: (path: string) => Standing

  constructor(told: ToldCell, standing: (path: string) => Standing) {
    this.told = told
    this.standing = standing
  }

  /** Before the decision is followed. */
  check({ at, data }: PreemptionDecided): void {
    const { told } = this
    const job = told.jobs.get(data.workload)
    if (job?.run !== null || job.onHold || told.places.has(job.id)) fail(`${data.workload} takes, and does not wait`)
    if (data.victims.length === 0) fail(`${job.id} has victims, and they are none`)
    for (const victim of data.victims) this.checkProtection(job, victim, at)
    this.checkLimits(data.victims, at)
    this.checkSet(job, data)
    const broken = isOfLentQuota(data.rule) ? lentRulesBroken(told, job, data, at) : takesUnlent(told, job, data)
    if (broken !== null) fail(broken)
    if (!isOfLentQuota(data.rule)) this.checkSides(job, data)
  }

  /** Whoever is told to leave for others is a victim of the same append, and the other way round. */
  appended(decisions: ReadonlyArray<CellDecision>): void {
    const victims = decisions.flatMap((each) => (each.type === 'PreemptionDecided' ? each.data.victims : []))
    const asked = decisions.filter((each) => askedToLeave(each))
    if (asked.length !== victims.length) fail(`${victims.length} victims and ${asked.length} that are asked to leave`)
  }

  private checkProtection(job: Job, { attempt, workload }: Victim, at: number): void {
    const { told } = this
    const victim = told.jobs.get(workload)
    const run = victim?.run
    if (victim == null || run == null || victim.attempt !== attempt) fail(`${workload} is a victim, and does not run`)
    if (run.open !== null) fail(`${workload} leaves already`)
    const { preemption } = victim.data.terms
    if (!preemption.tolerated || !told.isDrilled(victim.data, at)) fail(`${workload} is taken without a drill`)
    if (run.confirmedAt === null) fail(`${workload} is taken before it has started`)
    const { budgets, contract, limits, protectedPools = [] } = told.policy!
    const window = run.confirmedAt + Math.min(preemption.minRuntimeMs, contract?.minRuntimeMaxMs ?? 2 * hourMs)
    if (at < window) fail(`${workload} is taken at ${at}, protected until ${window}`)
    const hasTurn = run.byEviction || victim.preemptions > 0
    if (hasTurn && at < run.startedAt + budgets!.turnMs) fail(`${workload} is taken within its turn`)
    const { promotionAfter } = limits ?? { promotionAfter: 3 }
    if (promotionAfter !== null && victim.preemptions >= promotionAfter) fail(`${workload} is promoted, and is taken`)
    if (exceptionOf(told, victim, at, 'not-preempted') !== undefined) fail(`${workload} is excepted, and is taken`)
    for (const { budgets: own, nodes } of protectedPools) {
      const isOf = (other: Job) => own.some((budget) => isWithin(accountOf(told, other), budget))
      if (isOf(victim) && !isOf(job) && run.lease.some(({ node }) => nodes.includes(node)))
        fail(`${workload} is taken out of its pool by ${job.id}`)
    }
  }

  private checkLimits(victims: ReadonlyArray<Victim>, at: number): void {
    const { told } = this
    const limits = told.policy!.limits ?? {
      preemptionsPerTeamHour: 20,
      evictionsPerMinute: 60,
      lossMaxMilliUnitHours: null,
    }
    const stops = victims.filter(({ keeps }) => keeps === null).map(({ workload }) => told.jobs.get(workload)!)
    const before = (since: number) => told.evictions.filter(({ at: then }) => then > at - since)
    for (const {
      data: { team },
    } of stops) {
      const count = [...before(hourMs), ...stops.map(({ data }) => data)].filter((each) => each.team === team).length
      if (limits.preemptionsPerTeamHour !== null && count > limits.preemptionsPerTeamHour)
        fail(`${count} evictions of ${team} in an hour`)
    }
    const ofCell = before(minuteMs).length + stops.length
    if (stops.length > 0 && limits.evictionsPerMinute !== null && ofCell > limits.evictionsPerMinute)
      fail(`${ofCell} evictions in a minute`)
    if (limits.lossMaxMilliUnitHours === null) return
    const loss = stops.reduce((sum, { run }) => {
      const since = Math.max(run!.confirmedAt!, run!.checkpointAt ?? 0)
      return sum + rateOf(told, run!.lease) * (at - since)
    }, 0)
    if (loss > limits.lossMaxMilliUnitHours * hourMs) fail(`${loss} milli-unit ms of work are lost at once`)
  }

  /** It fits with these gone and not with one fewer, and they free less too much than the least of them frees. */
  private checkSet(job: Job, { lease, victims }: PreemptionDecided['data']): void {
    const { told } = this
    const before = leavingOf(told)
    const leaving = (set: ReadonlyArray<Victim>): Leaving =>
      new Map(set.map(({ keeps, workload }) => [workload, keeps]))
    const { request } = job.data
    // What is free may be kept for somebody who is due, and what is lacked may be quota.
    const hasQuota = told.policy!.queues.some(({ name, quotas }) => name === job.data.queue && quotas !== undefined)
    const kept = hasQuota || this.isSomebodyDue(job) ? Infinity : keptFrom(told, job)
    const all = takenOf(told, new Map([...before, ...leaving(victims)]))
    for (const { node, devices, milli } of lease)
      for (const device of devices)
        if (all.get(node)![device]! + milli > 1000) fail(`${job.id} is promised ${node} ${device}, which stays taken`)
    for (const victim of victims) {
      const others = leaving(victims.filter((each) => each !== victim))
      if (fits(told, takenOf(told, others), request, kept)) fail(`${victim.workload} makes room for ${job.id} in vain`)
      const shrunk = mostShrunk(told, victim)
      const then = new Map([...before, ...others, [victim.workload, shrunk] as const])
      if (shrunk !== null && fits(told, takenOf(told, then), request, kept))
        fail(`${victim.workload} is stopped for ${job.id}, and need only shrink`)
    }
    const freed = victims.map(
      ({ keeps, workload }) => sizeOf(told.jobs.get(workload)!.run!.lease) - sizeOf(keeps ?? []),
    )
    // Places that are kept already take their part of it first.
    const given = [...told.places.values()].flatMap(({ decision }) => decision.lease)
    const beyond = freed.reduce((sum, each) => sum + each, 0) - usedOf(told, victims, [...given, ...lease])
    if (kept === 0 && beyond >= Math.min(...freed)) fail(`${beyond} thousandths are freed beyond what ${job.id} needs`)
  }

  /** Somebody has waited so long that what is free may be kept for it, or what its program is entitled to. */
  private isSomebodyDue(than: Job): boolean {
    const { told } = this
    return [...told.jobs.values()].some(
      (job) =>
        job !== than &&
        job.run === null &&
        !job.onHold &&
        budgetOf(told, job) !== null &&
        told.now - job.submittedAt >= classOf(told.policy, job.data.class).reserveAfterMs,
    )
  }

  private checkSides(job: Job, { lease, victims }: PreemptionDecided['data']): void {
    const { told } = this
    const taker = accountOf(told, job)!
    const left = new Map<string, { readonly path: string; readonly rates: number[]; readonly side: string }>()
    for (const { keeps, workload } of victims) {
      const victim = told.jobs.get(workload)!
      const path = accountOf(told, victim)
      if (path === null) fail(`${workload} is taken, and is nobody's`)
      const [own, side] = partingOf(taker, path)
      this.checkTaker(job, own, rateOf(told, lease))
      const { charged, entitled, owed } = this.standing(side)
      if (entitled > 0 && charged < owed) fail(`${workload} is taken of ${side}, served ${charged} of ${owed}`)
      const rate = rateOf(told, victim.run!.lease) - rateOf(told, keeps ?? [])
      for (const node of upTo(path, side)) {
        const entry = left.get(node) ?? { path: node, rates: [], side }
        entry.rates.push(rate)
        left.set(node, entry)
      }
    }
    for (const { path, rates, side } of left.values()) {
      const { entitled, held } = this.standing(path)
      const last = Math.max(...rates)
      const before = held - this.leavingRate(path) - rates.reduce((sum, rate) => sum + rate, 0) + last
      // Below the parting level, give or take one victim.
      if (path === side ? before <= entitled : before <= entitled - last)
        fail(`${path} gives what it is entitled to: ${before} of ${entitled} before the last of ${rates.join(', ')}`)
    }
  }

  private checkTaker(job: Job, own: string, rate: number): void {
    const { budgets } = this.told.policy!
    const { behind, charged, entitled, held, owed, owedRate } = this.standing(own)
    if (!behind) fail(`${job.id} takes, and ${own} is not behind`)
    if (owed - charged < BigInt(budgets!.reclaimAfterMs) * BigInt(entitled))
      fail(`${own} takes with a debt of ${owed - charged}`)
    const arriving = this.arrivingRate(own)
    if (held + arriving > 0 && owedRate - held - arriving < rate)
      fail(`${own} lacks ${owedRate - held - arriving}, and takes ${rate}`)
  }

  /** Of those who were asked to leave for others and have not. */
  private leavingRate(path: string): number {
    const { told } = this
    let rate = 0
    for (const job of told.jobs.values()) {
      const { run } = job
      if (run?.open?.because !== 'preempted' || !isWithin(accountOf(told, job), path)) continue
      rate += rateOf(told, run.lease) - rateOf(told, run.open.keeps ?? [])
    }
    return rate
  }

  private arrivingRate(path: string): number {
    const { told } = this
    let rate = 0
    for (const [id, { decision }] of told.places)
      if (isWithin(accountOf(told, told.jobs.get(id)!), path)) rate += rateOf(told, decision.lease)
    return rate
  }
}

const askedToLeave = (decision: CellDecision): boolean => {
  if (decision.type === 'CommandIssued') return decision.data.because === 'preempted'
  if (decision.type !== 'LeaseShrunk' && decision.type !== 'AttemptStopped') return false
  return decision.data.rule === 'spec.budgets.reclaimAfter' || isOfLentQuota(decision.data.rule)
}

/** What it would keep if it gave all it can without stopping; null: it shrinks already, or cannot. */
const mostShrunk = (told: ToldCell, { keeps, workload }: Victim): ReadonlyArray<LeasePart> | null => {
  const { data, run } = told.jobs.get(workload)!
  const { elasticity } = data.terms
  if (keeps !== null || elasticity === null || run!.tried.has('shrink')) return null
  const each = data.request.devices / elasticity.maxReplicas
  let left = run!.lease.reduce((sum, { devices }) => sum + devices.length, 0) - each * elasticity.minReplicas
  if (!Number.isInteger(each) || left <= 0) return null
  const kept: LeasePart[] = []
  for (const part of run!.lease.toReversed()) {
    const gone = Math.min(left, part.devices.length)
    left -= gone
    if (gone < part.devices.length)
      kept.unshift({ ...part, devices: part.devices.slice(0, part.devices.length - gone) })
  }
  return kept
}

/** Thousandths of what the victims free that lie within the lease. */
const usedOf = (told: ToldCell, victims: ReadonlyArray<Victim>, lease: ReadonlyArray<LeasePart>): number => {
  const wanted = new Map<string, number>()
  for (const { node, devices, milli } of lease)
    for (const one of devices) wanted.set(`${node} ${one}`, (wanted.get(`${node} ${one}`) ?? 0) + milli)
  let used = 0
  for (const { keeps, workload } of victims) {
    const kept = new Set((keeps ?? []).flatMap(({ node, devices }) => devices.map((one) => `${node} ${one}`)))
    for (const { node, devices, milli } of told.jobs.get(workload)!.run!.lease)
      for (const device of devices) {
        const key = `${node} ${device}`
        if (kept.has(key)) continue
        const part = Math.min(milli, wanted.get(key) ?? 0)
        wanted.set(key, (wanted.get(key) ?? 0) - part)
        used += part
      }
  }
  return used
}

/** Where two paths part: the node of each just below what they share. */
const partingOf = (a: string, b: string): readonly [string, string] => {
  const [x, y] = [a.split('/'), b.split('/')]
  let shared = 0
  while (shared < x.length - 1 && shared < y.length - 1 && x[shared] === y[shared]) shared++
  return [x.slice(0, shared + 1).join('/'), y.slice(0, shared + 1).join('/')]
}

/** The path and those above it, up to this one. */
const upTo = (path: string, above: string): ReadonlyArray<string> => {
  const paths: string[] = []
  for (let at = path; isWithin(at, above); at = at.slice(0, Math.max(0, at.lastIndexOf('/')))) paths.push(at)
  return paths
}

const fail: (what: string) => never = (what) => {
  throw new Error(`broken: ${what}`)
}
