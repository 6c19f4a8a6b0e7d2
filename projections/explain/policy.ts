import type { Json } from '../../domain/kernel/canonical-json.ts'
import { wholeGpu, type EpochMs } from '../../domain/kernel/units.ts'
import { budgetPathOf } from '../../domain/planner/budget-path.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { isPast } from '../../domain/planner/protection.ts'
import { heldMilli } from '../../domain/planner/tallies.ts'
import type { Workload } from '../../domain/planner/workload.ts'
import { encodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import {
  modeOf,
  sharingOf,
  type AllocationPolicy,
  type Mode,
  type Sharing,
} from '../../domain/policy/allocation-policy.ts'
import { isAtOrBelow } from '../../domain/policy/budget-node-path.ts'
import type {
  ExceptionPolicy,
  HeadroomPolicy,
  ProtectedPoolPolicy,
  ReservationPolicy,
} from '../../domain/policy/contract-policy.ts'
import { fleetOf } from './fleet.ts'

/** `holds`: it has not expired. `heldMilli`: what its budget holds, anywhere; `keptMilli`: what is idle for it. */
export type ReservationRow = ReservationPolicy & {
  readonly holds: boolean
  readonly heldMilli: number
  readonly keptMilli: number
}
/** Held on its nodes, by its budgets and by others; `devices`: of those of its nodes that the fleet has. */
export type PoolRow = ProtectedPoolPolicy & {
  readonly devices: number
  readonly heldMilli: number
  readonly heldByOthersMilli: number
}
/** Held by work that may not be evicted, and most that it may hold. */
export type HeadroomRow = HeadroomPolicy & {
  readonly heldMilli: number
  readonly mostMilli: number
  readonly schedulableMilli: number
}
export type ExceptionRow = ExceptionPolicy & { readonly holds: boolean }

/** The policy in force, what it grants, and what is made of that. Thousandths of devices. */
export interface PolicyAnswer {
  readonly at: EpochMs
  readonly cell: string
  readonly hash: string
  readonly name: string
  readonly owner: string | null
  readonly reviewDate: string | null
  readonly impactHypothesis: string | null
  readonly sharing: Sharing | 'queues'
  /** Of this pool, which is what it does while it is not frozen. */
  readonly mode: Mode
  readonly frozen: boolean
  readonly reservations: ReadonlyArray<ReservationRow>
  readonly protectedPools: ReadonlyArray<PoolRow>
  readonly headroom: HeadroomRow | null
  readonly exceptions: ReadonlyArray<ExceptionRow>
  /** As it can be activated again. */
  readonly document: Json
}

/** Null: there is none. */
export const policyOf = (cell: Cell): PolicyAnswer | null => {
  const { now: at, policy, policyHash } = cell
  if (policy === null || policyHash === null) return null
  const { impactHypothesis, name, owner, reviewDate } = policy
  const running = [...cell.workloads.values()].filter(({ run }) => run !== null)
  return {
    at,
    cell: cell.name,
    hash: policyHash,
    ...{ name, owner, reviewDate, impactHypothesis },
    sharing: sharingOf(policy),
    mode: modeOf(policy, cell.name),
    frozen: cell.standing === 'frozen',
    reservations: reservationRows(policy, running, at),
    protectedPools: poolRows(cell, policy, running),
    headroom: headroomRow(cell, policy, running),
    exceptions: (policy.exceptions ?? []).map((each) => ({ ...each, holds: !isPast(each.expires, at) })),
    document: encodePolicy(policy),
  }
}

const pathOf = (policy: AllocationPolicy, workload: Workload): string | null =>
  workload.account?.path ?? budgetPathOf(policy, workload)

const reservationRows = (
  policy: AllocationPolicy,
  running: ReadonlyArray<Workload>,
  at: EpochMs,
): ReadonlyArray<ReservationRow> => {
  const { reservations = [] } = policy
  if (reservations.length === 0) return []
  const heldAt = new Map<string, number>()
  for (const workload of running) {
    const path = pathOf(policy, workload)
    if (path !== null) heldAt.set(path, (heldAt.get(path) ?? 0) + heldMilli(workload.run!.parts))
  }
  return reservations.map((each) => {
    const held = [...heldAt].reduce((sum, [path, milli]) => (isAtOrBelow(path, each.budget) ? sum + milli : sum), 0)
    const holds = !isPast(each.expires, at)
    const idle = Math.max(0, each.devices - Math.floor(held / wholeGpu))
    return { ...each, holds, heldMilli: held, keptMilli: holds ? idle * wholeGpu : 0 }
  })
}

const poolRows = (
  { fleet }: Cell,
  policy: AllocationPolicy,
  running: ReadonlyArray<Workload>,
): ReadonlyArray<PoolRow> =>
  (policy.protectedPools ?? []).map((pool) => {
    const numbers = new Set(pool.nodes.flatMap((node) => fleet.node(node) ?? []))
    let [own, others] = [0, 0]
    for (const workload of running) {
      const milli = heldMilli(workload.run!.parts.filter(({ node }) => numbers.has(node)))
      const path = pathOf(policy, workload)
      if (path !== null && pool.budgets.some((budget) => isAtOrBelow(path, budget))) own += milli
      else others += milli
    }
    const devices = [...numbers].reduce((sum, node) => sum + fleet.nodes[node]!.devices, 0)
    return { ...pool, devices, heldMilli: own, heldByOthersMilli: others }
  })

const headroomRow = (
  cell: Cell,
  { headroom }: AllocationPolicy,
  running: ReadonlyArray<Workload>,
): HeadroomRow | null => {
  if (headroom === undefined) return null
  const firm = running.filter((workload) => !cell.isPreemptible(workload, cell.now))
  const { schedulableMilli } = fleetOf(cell).total
  return {
    ...headroom,
    heldMilli: firm.reduce((sum, { run }) => sum + heldMilli(run!.parts), 0),
    mostMilli: Math.floor((schedulableMilli * (100 - headroom.percent)) / 100),
    schedulableMilli,
  }
}
