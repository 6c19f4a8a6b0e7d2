import { entitlements } from '../budget/entitlement.ts'
import { wholeGpu } from '../kernel/units.ts'
import { sharingOf, type AllocationPolicy } from './allocation-policy.ts'
import type { BudgetNodePolicy } from './budget-policy.ts'
import { placedBudgets, type PlacedBudget } from './budget-tree.ts'
import { devicesText, pastReview, warning, type Warnable, type Warning } from './warning.ts'
import type { Supply } from './supply.ts'

type Placed = PlacedBudget<BudgetNodePolicy>

/** Of budgets that nobody reaches or answers for, and of shares that the fleet or a cap makes less of. */
export const budgetWarnings = ({ policy, supply, today }: Warnable): ReadonlyArray<Warning> => {
  const placed = placedBudgets(policy.budgets)
  if (placed.length === 0) return []
  return [
    ...placed.flatMap((each) => ownerWarnings(each, today)),
    ...queueWarnings(policy, placed),
    ...floorWarnings(policy, placed),
    ...(supply === null ? [] : shareWarnings(policy, placed, supply)),
  ]
}

const ownerWarnings = ({ level, node, steps }: Placed, today: string): ReadonlyArray<Warning> => [
  ...(level > 1 || node.owner !== null
    ? []
    : [warning(`nobody answers for ${node.name}`, 'add an owner', 'spec', ...steps)]),
  ...(node.reviewDate === null || node.reviewDate >= today
    ? []
    : [pastReview(node.reviewDate, 'spec', ...steps, 'reviewDate')]),
]

/** Leaves without a queue, and queues without a leaf. */
const queueWarnings = (policy: AllocationPolicy, placed: ReadonlyArray<Placed>): ReadonlyArray<Warning> => {
  if (sharingOf(policy) !== 'budgets') return []
  const led = new Set(policy.queues.flatMap(({ budget }) => (budget === undefined ? [] : [budget])))
  if (led.size === 0)
    return [
      warning(
        'none leads to a budget: what does not name one itself is held as Misconfigured',
        'add a budget to each',
        'spec',
        'queues',
      ),
    ]
  return [
    ...policy.queues.flatMap(({ budget }, i) =>
      budget !== undefined
        ? []
        : [
            warning(
              'leads to no budget: what does not name one itself is held as Misconfigured',
              'add a budget',
              'spec',
              'queues',
              i,
            ),
          ],
    ),
    ...placed.flatMap(({ node, path, steps }) =>
      node.children.length > 0 || led.has(path)
        ? []
        : [
            warning(
              `no queue leads to ${path}: only work that names it itself gets there`,
              `add a queue with budget: ${path}`,
              'spec',
              ...steps,
            ),
          ],
    ),
  ]
}

/** Caps below what the queues that lead there are guaranteed. */
const floorWarnings = (policy: AllocationPolicy, placed: ReadonlyArray<Placed>): ReadonlyArray<Warning> => {
  const floors = new Map<string, number>()
  for (const { budget, quotas = [] } of policy.queues) {
    const nominal = quotas.reduce((sum, { devices }) => sum + (devices?.nominal ?? 0), 0)
    // Of the budget itself and of all above it.
    for (let path = budget ?? ''; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('/'))))
      floors.set(path, (floors.get(path) ?? 0) + nominal)
  }
  return placed.flatMap(({ node, path, steps }) => {
    const floor = floors.get(path) ?? 0
    return node.capMilli === null || node.capMilli >= floor
      ? []
      : [
          warning(
            `is below what the queues that lead there are guaranteed, ${devicesText(floor)}`,
            'raise the cap, or lower their nominals',
            ...['spec', ...steps, 'cap'],
          ),
        ]
  })
}

const shareWarnings = (
  policy: AllocationPolicy,
  placed: ReadonlyArray<Placed>,
  supply: Supply,
): ReadonlyArray<Warning> => {
  const entitled = entitledRates(placed, supply.milliUnits)
  const warnings: Warning[] = []
  for (const { node, parent, path, steps } of placed) {
    const rate = entitled.get(path)!
    const above = parent === null ? supply.milliUnits : entitled.get(parent)!
    if (node.share > 0 && rate < supply.leastMilliUnits && above >= supply.leastMilliUnits)
      warnings.push(
        warning(
          `comes to ${unitsText(rate)}, less than any device: it has one now and then, never all the time`,
          'raise the share, or join it with a sibling',
          ...['spec', ...steps, 'share'],
        ),
      )
    // As many of the fastest as it may hold.
    if (node.capMilli !== null && node.capMilli * supply.mostMilliUnits < rate * 1000)
      warnings.push(
        warning(
          `is below what its share entitles it to, ${unitsText(rate)}: it can never have all of it`,
          'raise the cap, or lower the share',
          ...['spec', ...steps, 'cap'],
        ),
      )
  }
  return [...warnings, ...reserveWarnings(policy, placed, entitled, supply)]
}

/** Milli-units that each node is entitled to while the whole fleet is schedulable. */
const entitledRates = (placed: ReadonlyArray<Placed>, total: number): ReadonlyMap<string, number> => {
  const siblings = new Map<string | null, Placed[]>()
  for (const each of placed) siblings.set(each.parent, [...(siblings.get(each.parent) ?? []), each])
  const rates = new Map<string, number>()
  for (const [parent, level] of siblings) {
    const byName = level.toSorted((a, b) => (a.node.name < b.node.name ? -1 : 1))
    const divided = entitlements(
      parent === null ? total : rates.get(parent)!,
      byName.map(({ node }) => node.share),
    )
    byName.forEach(({ path }, i) => rates.set(path, divided[i]!))
  }
  return rates
}

const reserveWarnings = (
  { classes = [] }: AllocationPolicy,
  placed: ReadonlyArray<Placed>,
  entitled: ReadonlyMap<string, number>,
  { devices, milliUnits }: Supply,
): ReadonlyArray<Warning> =>
  classes.flatMap(({ name, reserveDevices }, i) => {
    const reserved = devices === 0 ? 0 : (reserveDevices * milliUnits) / devices
    const smaller = placed.filter(
      ({ level, node, path }) => level === 1 && node.share > 0 && entitled.get(path)! < reserved,
    )
    if (smaller.length === 0) return []
    const { path } = smaller[0]!
    return [
      warning(
        `is larger than the share of ${path}, ${unitsText(entitled.get(path)!)}: ${name} has more than a program`,
        'lower it, or see to it that it is meant',
        ...['spec', 'classes', i, 'reserve'],
      ),
    ]
  })

const unitsText = (milliUnits: number): string =>
  `${milliUnits / wholeGpu} ${milliUnits === wholeGpu ? 'unit' : 'units'}`
