import type { Candidate } from '../fairness/candidate.ts'
import { UsageOrdering, type UsageOrderingSnapshot } from '../fairness/usage-ordering.ts'
import type { Placement } from '../fleet/fleet.ts'
import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import { quotaResources, type UsageOrderingPolicy } from '../policy/quota-policy.ts'
import { partOf } from '../workload/request.ts'
import { heldMilli } from './tallies.ts'
import type { Workload } from './workload.ts'

type Teams = UsageOrderingSnapshot['subQueues']

/** Plain data: of each queue those teams that use something, or did. */
export type KueueUsageSnapshot = ReadonlyArray<{ readonly queue: string; readonly teams: Teams }>

/** What runs, and at which instant it is looked at. */
interface Standing {
  readonly now: EpochMs
  readonly running: Iterable<Workload>
}

/** What the teams of each queue have used, folded from what started and ended. Changes in place. */
export class KueueUsage {
  private readonly policy: UsageOrderingPolicy
  private readonly byQueue = new Map<string, UsageOrdering>()
  private readonly held = new Map<Workload, ReadonlyArray<number>>()
  /** As of which the order is asked for. */
  private at: EpochMs

  /** @param from of the same policy */
  constructor(policy: UsageOrderingPolicy, { now, running }: Standing, from: KueueUsageSnapshot) {
    this.policy = policy
    this.at = now
    for (const { queue, teams } of from) this.open(queue, teams)
    for (const workload of running) this.putBack(workload, workload.run!.parts)
  }

  /** Under another policy, or from the beginning: what was used stays used, and whatever runs counts from then on. */
  static carriedOn(policy: UsageOrderingPolicy, standing: Standing, before: KueueUsage | null): KueueUsage {
    const running = [...standing.running]
    const used = new Map<string, Map<string, { readonly usage: ReadonlyArray<bigint>; readonly held: number[] }>>()
    const teamOf = (queue: string, team: string) => {
      const teams = used.get(queue) ?? new Map<string, { readonly usage: ReadonlyArray<bigint>; held: number[] }>()
      used.set(queue, teams)
      const known = teams.get(team) ?? { usage: before?.usageOf(queue, team, standing.now) ?? nothing, held: [0, 0, 0] }
      teams.set(team, known)
      return known
    }
    for (const { queue, teams } of before?.snapshot() ?? []) for (const { name } of teams) teamOf(queue, name)
    for (const workload of running) {
      const { held } = teamOf(workload.queue.name, workload.team)
      amountsOf(workload, workload.run!.parts).forEach((amount, i) => (held[i]! += amount))
    }
    const sample = Math.floor(standing.now / policy.samplingMs)
    const from = Array.from(used, ([queue, teams]) => ({
      queue,
      teams: Array.from(teams, ([name, { usage, held }]) => {
        return { name, weightMilli: weightOf(policy, name), sample, usage: usage.map(String), held, debits: [] }
      }),
    }))
    return new KueueUsage(policy, { ...standing, running }, from)
  }

  /** What is asked for next is as of this instant, which is no earlier than the last event. */
  lookAt(at: EpochMs): void {
    this.at = at
    for (const ordering of this.byQueue.values()) ordering.lookAt(at)
  }

  /** From when on time alone may have changed the order. */
  get changesAt(): number {
    const { samplingMs } = this.policy
    return (Math.floor(this.at / samplingMs) + 1) * samplingMs
  }

  started(workload: Workload, parts: Placement['parts'], at: EpochMs): void {
    const amounts = amountsOf(workload, parts)
    this.held.set(workload, amounts)
    this.orderingOf(workload).started(workload.team, workload.id, amounts, at)
  }

  /** It runs, as was folded already. */
  putBack(workload: Workload, parts: Placement['parts']): void {
    this.held.set(workload, amountsOf(workload, parts))
  }

  ended(workload: Workload, at: EpochMs): void {
    const amounts = this.held.get(workload)
    assert(amounts !== undefined, 'what ends has run')
    this.held.delete(workload)
    this.orderingOf(workload).ended(workload.team, amounts, at)
  }

  /** It goes on with fewer devices. */
  shrunk(workload: Workload, parts: Placement['parts'], at: EpochMs): void {
    const before = this.held.get(workload)!
    const amounts = amountsOf(workload, parts)
    this.held.set(workload, amounts)
    this.orderingOf(workload).ended(
      workload.team,
      before.map((amount, i) => amount - amounts[i]!),
      at,
    )
  }

  /** It is about to start: what that will add counts already, until it is taken back. @param parts null: all it asks for */
  charge(workload: Workload, parts: Placement['parts'] | null): void {
    this.orderingOf(workload).admitted(workload.team, workload.id, amountsOf(workload, parts))
  }

  takeBack(workload: Workload): void {
    this.orderingOf(workload).withdrawn(workload.team, workload.id)
  }

  /** Of two that wait in one queue: below 0 where `a` goes first. */
  compare(a: Workload, b: Workload, priorityOf: (workload: Workload) => number): number {
    const ordering = this.orderingOf(a)
    this.orderingOf(b)
    const candidateOf = (workload: Workload): Candidate & { readonly subQueue: string } => {
      const { id, seq, team } = workload
      return { id, subQueue: team, priority: priorityOf(workload), createdAt: seq }
    }
    return ordering.compare(candidateOf(a), candidateOf(b))
  }

  /** Its team, as victims are ordered by it. */
  subQueueOf(workload: Workload): { readonly name: string; readonly usage: number } {
    const ordering = this.orderingOf(workload)
    const { team } = workload
    return {
      name: team,
      get usage() {
        return ordering.weightedUsageOf(team).near
      },
    }
  }

  snapshot(): KueueUsageSnapshot {
    return Array.from(this.byQueue, ([queue, ordering]) => ({
      queue,
      teams: ordering.snapshot().subQueues.filter(isUsed),
    }))
      .filter(({ teams }) => teams.length > 0)
      .sort((a, b) => (a.queue < b.queue ? -1 : 1))
  }

  private usageOf(queue: string, team: string, at: EpochMs): ReadonlyArray<bigint> | null {
    const ordering = this.byQueue.get(queue)
    if (ordering?.has(team) !== true) return null
    ordering.lookAt(at)
    return ordering.usageOf(team)
  }

  private orderingOf({ queue, team }: Workload): UsageOrdering {
    const ordering = this.byQueue.get(queue.name) ?? this.open(queue.name, [])
    if (!ordering.has(team)) ordering.add({ name: team, weightMilli: weightOf(this.policy, team) })
    return ordering
  }

  private open(queue: string, teams: Teams): UsageOrdering {
    const { halfLifeMs, samplingMs, weightsMilli } = this.policy
    const resourceWeightsMilli = quotaResources.map((resource) => weightsMilli[resource])
    const settings = { halfLifeMs, samplingMs, resourceWeightsMilli }
    const ordering = new UsageOrdering(settings, teams, { nowMs: this.at, subQueues: teams })
    this.byQueue.set(queue, ordering)
    return ordering
  }
}

const nothing: ReadonlyArray<bigint> = quotaResources.map(() => 0n)

const isUsed = ({ debits, held, usage }: Teams[number]): boolean =>
  debits.length > 0 || held.some((amount) => amount > 0) || usage.some((amount) => amount !== '0')

const weightOf = ({ teamWeightsMilli }: UsageOrderingPolicy, team: string): number =>
  Object.hasOwn(teamWeightsMilli, team) ? teamWeightsMilli[team]! : 1000

/** Thousandths of devices, thousandths of cores, MiB. @param parts null: of all that it asks for */
const amountsOf = ({ shape }: Workload, parts: Placement['parts'] | null): ReadonlyArray<number> => {
  const { cpuMilli, devices, hostMemoryMib } = shape.request
  const taken = parts === null ? devices : parts.reduce((sum, part) => sum + part.devices.length, 0)
  return [
    parts === null ? shape.needMilli : heldMilli(parts),
    taken === devices ? cpuMilli : partOf(cpuMilli, taken, devices),
    taken === devices ? hostMemoryMib : partOf(hostMemoryMib, taken, devices),
  ]
}
