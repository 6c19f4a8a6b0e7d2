import type { Fleet, Placement } from '../fleet/fleet.ts'
import type { Schedulable } from '../fleet/schedulable.ts'
import { wholeGpu, type EpochMs } from '../kernel/units.ts'
import { capsOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import { budgetNodes, cappedNodes, type BudgetNodeAt } from '../policy/budget-node-path.ts'
import type { Block } from './block.ts'
import { isWithinBudgets } from './budget-path.ts'
import type { Cell } from './cell.ts'
import { endOfGrant, isPast, raisedCapMilli } from './protection.ts'
import type { Tallies } from './tallies.ts'
import type { Workload } from './workload.ts'

/** What is held, as caps, headroom and reserves are held against it. */
export interface HeldDevices {
  readonly tallies: Tallies
  readonly schedulable: Schedulable
  /** Numbers by which the tallies know the nodes of the budget tree that a workload belongs to, nearest first. */
  readonly budgetsOf: (workload: Workload) => ReadonlyArray<number>
  readonly pathOf: (budget: number) => string
  /** Undefined: there is no such budget. */
  readonly numberOf: (path: string) => number | undefined
}

interface CapBlock extends Block {
  readonly compared: { readonly capMilli: number; readonly heldMilli: number }
}

/** What caps, headroom and reserves say of a start, in every sharing. */
export class HoldingCheck {
  protected readonly cell: Cell
  protected readonly policy: AllocationPolicy
  protected readonly at: EpochMs
  private readonly held: HeldDevices
  private readonly nodeAt: ReadonlyMap<string, BudgetNodeAt>
  private readonly capped: ReadonlyMap<string, BudgetNodeAt>

  constructor(cell: Cell, held: HeldDevices, policy: AllocationPolicy, at: EpochMs) {
    this.cell = cell
    this.held = held
    this.policy = policy
    this.at = at
    this.nodeAt = policy.budgets === undefined ? new Map() : budgetNodes(policy.budgets)
    this.capped = policy.budgets === undefined ? new Map() : cappedNodes(policy.budgets)
  }

  /** Where the node stands in the policy document. */
  ruleOf(path: string): string {
    return this.nodeAt.get(path)?.rule ?? 'spec.budgets.tree'
  }

  /** Caps of its team, its person and the budgets that it belongs to. */
  caps(workload: Workload): Block | null {
    return this.allCaps(workload)[0] ?? null
  }

  /** Each that keeps it from starting. */
  allCaps(workload: Workload): ReadonlyArray<CapBlock> {
    const { budgetsOf, pathOf, tallies } = this.held
    const { perPersonMilli, perTeamMilli, teams } = capsOf(this.policy)
    const over: CapBlock[] = []
    const stated = Object.hasOwn(teams, workload.team)
    const teamMilli = stated ? teams[workload.team]! : perTeamMilli
    if (teamMilli !== null) {
      const rule = stated ? `spec.caps.teams.${workload.team}` : 'spec.caps.perTeam'
      this.noteOver(over, workload, tallies.team(workload.team), teamMilli, rule)
    }
    if (perPersonMilli !== null)
      this.noteOver(over, workload, tallies.person(workload.terms.submitter), perPersonMilli, 'spec.caps.perPerson')
    if (this.capped.size === 0) return over
    for (const budget of budgetsOf(workload)) {
      const at = this.capped.get(pathOf(budget))
      if (at !== undefined) this.noteOver(over, workload, tallies.node(budget), at.node.capMilli!, `${at.rule}.cap`)
    }
    return over
  }

  private noteOver(over: CapBlock[], workload: Workload, heldMilli: number, cap: number, rule: string): void {
    const capMilli = Math.max(cap, raisedCapMilli(this.policy, workload, this.at))
    if (heldMilli + workload.shape.needMilli > capMilli)
      over.push({ code: 'OverQueueLimit', rule, compared: { capMilli, heldMilli } })
  }

  /** Devices that are kept for its class, and idle, are enough for it. */
  hasReserve({ class: kind, shape }: Workload): boolean {
    const reserve = this.policy.classes?.find(({ name }) => name === kind)?.reserveDevices ?? 0
    const need = shape.needMilli || shape.request.devices * wholeGpu
    return reserve * wholeGpu - this.held.tallies.ofClass(kind) >= need
  }

  /** For whom devices are kept that it may not have, in words, as the policy has them. */
  keepersFrom(workload: Workload): ReadonlyArray<string> {
    return this.kept(workload).names
  }

  /** Devices that are kept for others than this workload, and idle. */
  keptFromOthers(workload: Workload): number {
    return this.kept(workload).devices
  }

  /** What keeps others out of the place that it would have. */
  reserves(workload: Workload, { parts }: Placement): Block | null {
    const taken = wholeDevices(this.cell.fleet, parts)
    return this.reservesBut(workload, taken)
  }

  /** The same of whatever place takes so many devices that are whole. */
  reservesBut(workload: Workload, taken: number): Block | null {
    const { wholeTotal } = this.cell.fleet
    const { devices: kept, rule } = this.kept(workload)
    return kept === 0 || wholeTotal - taken >= kept
      ? null
      : { code: 'WouldDelayReservation', rule, compared: { keptDevices: kept, freeDevices: wholeTotal } }
  }

  /** When the next reservation of devices ends; Infinity: none does. */
  get reservedUntil(): number {
    const ends = (this.policy.reservations ?? []).map(({ expires }) => endOfGrant(expires))
    return Math.min(Infinity, ...ends.filter((end) => end > this.at))
  }

  /** Where the headroom is lent, work that may not be evicted leaves it alone. */
  headroom(workload: Workload, milli: number): Block | null {
    if (this.policy.headroom?.lent !== true || this.cell.isPreemptible(workload, this.at)) return null
    const mostMilli = this.firmMostMilli
    const heldMilli = this.firmMilli
    return heldMilli + milli <= mostMilli
      ? null
      : { code: 'NonPreemptibleOverQuota', rule: 'spec.headroom.percent', compared: { heldMilli, mostMilli } }
  }

  /** Held by what may not be evicted now: drills pass and lapse while things run. */
  get firmMilli(): number {
    return this.held.tallies.firmMilli((of) => this.cell.isDrilled(of, this.at))
  }

  /** What those may hold together: all but the headroom. */
  get firmMostMilli(): number {
    const { percent = 0 } = this.policy.headroom ?? {}
    return Math.floor((this.held.schedulable.totals.devicesMilli * (100 - percent)) / 100)
  }

  private kept(workload: Workload): {
    readonly devices: number
    readonly rule: string
    readonly names: ReadonlyArray<string>
  } {
    const { tallies, numberOf, schedulable } = this.held
    let kept = 0
    let rule = ''
    const names: string[] = []
    const keep = (devices: number, held: number, at: string, name: string) => {
      // What is left of it is kept in whole devices: pieces of shared ones hold some requests and not others.
      const idle = Math.max(0, devices - Math.floor(held / wholeGpu))
      if (idle > 0 && rule === '') rule = at
      if (idle > 0) names.push(name)
      kept += idle
    }
    this.policy.classes?.forEach(({ name, reserveDevices }, i) => {
      if (reserveDevices > 0 && name !== workload.class)
        keep(reserveDevices, tallies.ofClass(name), `spec.classes[${i}].reserve`, `class ${name}`)
    })
    this.policy.reservations?.forEach(({ budget, devices, expires, name }, i) => {
      const number = numberOf(budget)
      if (number === undefined || isPast(expires, this.at)) return
      if (isWithinBudgets(this.policy, workload, [budget])) return
      keep(devices, tallies.node(number), `spec.reservations[${i}]`, `reservation ${name}`)
    })
    const { headroom } = this.policy
    if (headroom?.lent === false)
      keep(
        Math.ceil((schedulable.totals.devicesMilli * headroom.percent) / 100_000),
        0,
        'spec.headroom.percent',
        'the headroom',
      )
    return { devices: kept, rule, names }
  }
}

/** Devices of the placement that nobody holds a part of yet. */
const wholeDevices = ({ deviceFree, firstDevice }: Fleet, parts: Placement['parts']): number =>
  parts.reduce(
    (sum, { node, devices }) =>
      sum + devices.filter((device) => deviceFree[firstDevice[node]! + device] === wholeGpu).length,
    0,
  )
