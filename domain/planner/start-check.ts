import type { Placement } from '../fleet/fleet.ts'
import { wholeGpu, type EpochMs } from '../kernel/units.ts'
import { capsOf, sharingOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import { budgetNodes, isAtOrBelow, type BudgetNodeAt } from '../policy/budget-node-path.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import { exceptionFor, isPast, raisedCapMilli } from './protection.ts'
import type { ReasonCode } from './reason-code.ts'
import type { Workload } from './workload.ts'

/** Why a workload may not start now, and the numbers compared. */
export interface Block {
  readonly code: ReasonCode
  /** Path into the policy document. */
  readonly rule: string
  readonly compared?: { readonly [name: string]: number }
}

/** What caps, entitlement, headroom and reserves say of a start, beside where there is room for it. */
export class StartCheck {
  private readonly cell: Cell
  private readonly books: Books
  private readonly policy: AllocationPolicy
  private readonly at: EpochMs
  private readonly nodeAt: ReadonlyMap<string, BudgetNodeAt>

  constructor(cell: Cell, books: Books, policy: AllocationPolicy, at: EpochMs) {
    this.cell = cell
    this.books = books
    this.policy = policy
    this.at = at
    this.nodeAt = budgetNodes(books.budgets)
  }

  /** Where the node stands in the policy document. */
  ruleOf(path: string): string {
    return this.nodeAt.get(path)?.rule ?? 'spec.budgets.tree'
  }

  /** Caps of its team, its person and the budgets that it belongs to. */
  caps(workload: Workload): Block | null {
    const { tallies, ledger } = this.books
    const { perPersonMilli, perTeamMilli, teams } = capsOf(this.policy)
    const needMilli = workload.shape.needMilli
    const raised = raisedCapMilli(this.policy, workload, this.at)
    const over = (held: number, cap: number | null | undefined, rule: string): Block | null => {
      if (cap === null || cap === undefined) return null
      const capMilli = Math.max(cap, raised)
      if (held + needMilli <= capMilli) return null
      return { code: 'OverQueueLimit', rule, compared: { capMilli, heldMilli: held } }
    }
    const stated = Object.hasOwn(teams, workload.team)
    const rule = stated ? `spec.caps.teams.${workload.team}` : 'spec.caps.perTeam'
    const team = over(tallies.team(workload.team), stated ? teams[workload.team] : perTeamMilli, rule)
    if (team !== null) return team
    const person = over(tallies.person(workload.terms.submitter), perPersonMilli, 'spec.caps.perPerson')
    if (person !== null) return person
    for (const node of this.books.upwards(workload.account!.node)) {
      const at = this.nodeAt.get(ledger.path(node))
      const own = over(tallies.node(node), at?.node.capMilli, `${at?.rule}.cap`)
      if (own !== null) return own
    }
    return null
  }

  /** Devices that are kept for its class, and idle, are enough for it. */
  hasReserve({ class: kind, shape }: Workload): boolean {
    const reserve = this.policy.classes?.find(({ name }) => name === kind)?.reserveDevices ?? 0
    return reserve * wholeGpu - this.books.tallies.ofClass(kind) >= shape.request.devices * wholeGpu
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
    const { fleet } = this.cell
    const { devices: kept, rule } = this.kept(workload)
    if (kept === 0) return null
    const free =
      fleet.wholeTotal - wholeDevices(parts, (node, device) => fleet.deviceFree[fleet.firstDevice[node]! + device]!)
    return free >= kept
      ? null
      : { code: 'WouldDelayReservation', rule, compared: { keptDevices: kept, freeDevices: fleet.wholeTotal } }
  }

  /**
   * Work that may not be evicted never takes its program above what it is entitled to, so that excess can always be taken
   * back, and leaves the headroom alone. A program that holds nothing may start one for a limited time.
   * @param milli    thousandths of devices that it takes
   * @param rate     milli-units that they come to
   * @param arriving milli-units that places are kept for, by node
   * @returns        when it has to leave; null: never
   */
  firm(
    workload: Workload,
    milli: number,
    rate: number,
    arriving: (node: number) => number,
  ): { readonly limitAt: EpochMs | null } | Block {
    const { headroom } = this.policy
    const { schedulable, tallies, ledger } = this.books
    const preemptible = this.cell.isPreemptible(workload, this.at)
    if (headroom?.lent === true && !preemptible) {
      const mostMilli = Math.floor((schedulable.totals.devicesMilli * (100 - headroom.percent)) / 100)
      const held = tallies.firmMilli
      if (held + milli > mostMilli)
        return {
          code: 'NonPreemptibleOverQuota',
          rule: 'spec.headroom.percent',
          compared: { heldMilli: held, mostMilli },
        }
    }
    if (preemptible || sharingOf(this.policy) !== 'budgets') return { limitAt: null }
    const program = this.programOf(workload.account!.node)
    const [held, entitled] = [ledger.held(program) + arriving(program), ledger.entitled(program)]
    if (held + rate <= entitled) return { limitAt: null }
    if (exceptionFor(this.policy, workload, this.at, 'non-preemptible-over-entitlement') !== undefined)
      return { limitAt: null }
    if (held === 0) return { limitAt: (this.at + this.books.budgets.undrilledMaxMs) as EpochMs }
    return {
      code: 'NonPreemptibleOverQuota',
      rule: this.ruleOf(ledger.path(program)),
      compared: { entitledMilli: entitled, heldMilli: held, rateMilli: rate },
    }
  }

  /** Its program could hold it, if it held nothing else that is in the way. */
  fitsEntitlement({ account }: Workload): boolean {
    return account!.rate <= this.books.ledger.entitled(this.programOf(account!.node))
  }

  /** The child of the cell that a node belongs to. */
  programOf(node: number): number {
    let program = node
    for (const above of this.books.upwards(node)) {
      if (this.books.ledger.parent(above) < 0) return program
      program = above
    }
    return program
  }

  private kept(workload: Workload): {
    readonly devices: number
    readonly rule: string
    readonly names: ReadonlyArray<string>
  } {
    const { tallies, ledger, schedulable } = this.books
    let kept = 0
    let rule = ''
    const names: string[] = []
    const keep = (devices: number, held: number, at: string, name: string) => {
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
      const node = ledger.node(budget)
      if (node === undefined || isPast(expires, this.at) || this.isWithin(workload, budget)) return
      keep(devices, tallies.node(node), `spec.reservations[${i}]`, `reservation ${name}`)
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

  private isWithin({ account }: Workload, budget: string): boolean {
    return isAtOrBelow(account!.path, budget)
  }
}

/** Devices of the placement that nobody holds a part of yet. */
const wholeDevices = (parts: Placement['parts'], freeOf: (node: number, device: number) => number): number =>
  parts.reduce(
    (sum, { node, devices }) => sum + devices.filter((device) => freeOf(node, device) === wholeGpu).length,
    0,
  )
