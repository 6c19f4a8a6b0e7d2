import type { Placement } from '../fleet/fleet.ts'
import { Schedulable } from '../fleet/schedulable.ts'
import { capsOf, type AllocationPolicy } from '../policy/allocation-policy.ts'
import { budgetNodes } from '../policy/budget-node-path.ts'
import type { UnitTable } from '../policy/unit-table.ts'
import { budgetPathOf } from './budget-path.ts'
import type { Cell } from './cell.ts'
import type { HeldDevices } from './holding-check.ts'
import { heldMilli, Tallies } from './tallies.ts'
import type { Workload } from './workload.ts'

/** What is held of a cell that shares quota, for what holds in every sharing: budgets have no ledger here, but members. */
export class KueueTallies implements HeldDevices {
  readonly tallies = new Tallies()
  readonly schedulable: Schedulable
  /** Whether the policy has anything that is held against it. */
  readonly bind: boolean
  /** Whether the policy keeps devices for some. */
  readonly keep: boolean
  private readonly policy: AllocationPolicy
  private readonly paths: ReadonlyArray<string>
  private readonly numbers: ReadonlyMap<string, number>
  private readonly ways = new Map<string, ReadonlyArray<number>>()
  private readonly counted = new Map<Workload, Counted>()
  private readonly excepted: ReadonlySet<string>

  constructor({ fleet }: Cell, policy: AllocationPolicy, units: UnitTable) {
    this.policy = policy
    this.schedulable = new Schedulable(fleet, (model) => units.milliUnits(model))
    const nodes = policy.budgets === undefined ? [] : [...budgetNodes(policy.budgets)]
    this.paths = nodes.map(([path]) => path)
    this.numbers = new Map(this.paths.map((path, number) => [path, number]))
    const { perPersonMilli, perTeamMilli, teams } = capsOf(policy)
    const { classes = [], exceptions = [], headroom, protectedPools = [], reservations = [] } = policy
    const caps = perPersonMilli !== null || perTeamMilli !== null || Object.keys(teams).length > 0
    this.keep =
      headroom?.lent === false || reservations.length > 0 || classes.some(({ reserveDevices }) => reserveDevices > 0)
    this.bind =
      caps ||
      this.keep ||
      headroom !== undefined ||
      protectedPools.length > 0 ||
      nodes.some(([, { node }]) => node.capMilli !== null)
    this.excepted = new Set(exceptions.flatMap(({ subject: { kind, name } }) => (kind === 'workload' ? [name] : [])))
  }

  readonly budgetsOf = (workload: Workload): ReadonlyArray<number> => {
    const path = budgetPathOf(this.policy, workload)
    if (path === null) return []
    let way = this.ways.get(path)
    if (way === undefined) {
      const names = path.split('/')
      way = names.map((_, i) => this.numbers.get(names.slice(0, names.length - i).join('/'))!)
      this.ways.set(path, way)
    }
    return way
  }

  readonly pathOf = (budget: number): string => this.paths[budget]!

  readonly numberOf = (path: string): number | undefined => this.numbers.get(path)

  /** One text for those who are alike in all that is held against them, and by which others may be kept from them. */
  likenessOf(workload: Workload): string {
    if (!this.bind) return ''
    const { id, team, terms } = workload
    const { modelFamily, preemption, submitter } = terms
    const path = budgetPathOf(this.policy, workload)
    const key = [team, submitter, path, preemption.tolerated, modelFamily]
    return ` ${JSON.stringify(this.excepted.has(id) ? [...key, id] : key)}`
  }

  add(workload: Workload, parts: Placement['parts']): void {
    const counted = { milli: heldMilli(parts), budgets: this.budgetsOf(workload) }
    this.counted.set(workload, counted)
    this.tallies.add(workload, counted.milli, counted.budgets)
  }

  /** Whoever holds nothing may be told so, too. */
  remove(workload: Workload): void {
    const counted = this.counted.get(workload)
    if (counted === undefined) return
    this.counted.delete(workload)
    this.tallies.add(workload, -counted.milli, counted.budgets)
  }

  /** What is leased on a node, or its health, is another than before. */
  refresh(node: number): void {
    this.schedulable.refresh(node)
  }
}

interface Counted {
  readonly milli: number
  readonly budgets: ReadonlyArray<number>
}
