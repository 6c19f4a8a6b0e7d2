import type { AllocationPolicy } from '../policy/allocation-policy.ts'
import { quotaResources, type AcceleratorQuota, type QuotaResource } from '../policy/quota-policy.ts'
import type { RaisedLimit } from '../policy/raised-limits.ts'
import { UnitTable } from '../policy/unit-table.ts'
import type { QuotaTree } from '../quota/quota-tree.ts'
import { wholeGpu } from '../kernel/units.ts'
import type { PlacementRequest } from '../workload/request.ts'
import type { Cell } from './cell.ts'
import type { HintedChange } from './hint.ts'
import { HoldingCheck } from './holding-check.ts'
import { StartCheck } from './start-check.ts'
import type { Workload } from './workload.ts'

type Raise = Extract<HintedChange, { readonly change: 'limits' }>

/** What would have to be raised, and by how much, so that caps and quota let it start; the least first. */
export function* raisesFor(cell: Cell, workload: Workload): Generator<Raise> {
  const { policy } = cell
  if (policy === null) return
  const caps = overCaps(cell, policy, workload)
  const options = quotaOptions(cell, policy, workload)
  if (options === 'within') {
    if (caps.length > 0) yield { change: 'limits', limits: caps }
    return
  }
  for (const quotas of options) yield { change: 'limits', limits: [...caps, ...quotas] }
}

const overCaps = (cell: Cell, policy: AllocationPolicy, workload: Workload): ReadonlyArray<RaisedLimit> => {
  const check = checkOf(cell, policy, workload)
  return (check?.allCaps(workload) ?? []).map(({ rule, compared }) => ({
    rule,
    resource: 'devices' as const,
    from: compared.capMilli,
    to: compared.heldMilli + workload.shape.needMilli,
  }))
}

/** Null: nobody counts what it would hold. */
const checkOf = (cell: Cell, policy: AllocationPolicy, { account }: Workload): Pick<HoldingCheck, 'allCaps'> | null => {
  const { books, kueue, now } = cell
  if (kueue !== null) return new HoldingCheck(cell, kueue.held, policy, now)
  if (books === null || account === null) return null
  books.advance(now)
  return new StartCheck(cell, books, policy, now)
}

/** By accelerator class of its queue, that which lacks least first: what it may borrow, where that binds, or its nominal. */
const quotaOptions = (
  { books, kueue }: Cell,
  policy: AllocationPolicy,
  { queue, shape }: Workload,
): ReadonlyArray<ReadonlyArray<RaisedLimit>> | 'within' => {
  const tree = kueue?.holdings.tree ?? books?.quota.tree ?? null
  if (tree?.has('queue', queue.name) !== true) return 'within'
  const { models } = shape.request
  const units = new UnitTable(policy)
  const accepted = models === null ? null : new Set(models.map((model) => units.accelerator(model)))
  const lacks = (policy.queues[queue.index]?.quotas ?? []).flatMap((quota, i) =>
    accepted === null || accepted.has(quota.accelerator)
      ? [
          {
            quota,
            rule: `spec.queues[${queue.index}].quotas[${i}]`,
            lacking: lackingOf(tree, queue.name, quota, shape.request),
          },
        ]
      : [],
  )
  if (lacks.some(({ lacking }) => lacking.length === 0)) return 'within'
  const devicesOf = ({ lacking }: (typeof lacks)[number]) => lacking.reduce((sum, { amount }) => sum + amount, 0)
  return lacks
    .sort((a, b) => devicesOf(a) - devicesOf(b))
    .flatMap(({ lacking, quota, rule }) =>
      (['borrowing', 'nominal'] as const).flatMap((member) => {
        const limits = lacking.flatMap(({ resource, amount }): ReadonlyArray<RaisedLimit> => {
          const from = quota[resource]![member]
          return from === null ? [] : [{ rule: `${rule}.${resource}.${member}`, resource, from, to: from + amount }]
        })
        return limits.length < lacking.length ? [] : [limits]
      }),
    )
}

const lackingOf = (tree: QuotaTree, queue: string, quota: AcceleratorQuota, request: PlacementRequest) => {
  const node = tree.node('queue', queue)
  return quotaResources.flatMap((resource) => {
    const one = tree.flavorResource(quota.accelerator, resource)
    if (one === undefined || !tree.lists(node, one)) return []
    const amount = askedOf(request, resource) - tree.available(node, one)
    return amount > 0 && quota[resource] !== undefined ? [{ resource, amount }] : []
  })
}

const askedOf = ({ cpuMilli, devices, hostMemoryMib, milli }: PlacementRequest, resource: QuotaResource): number =>
  ({ devices: devices * (milli || wholeGpu), cpu: cpuMilli, memory: hostMemoryMib })[resource]
