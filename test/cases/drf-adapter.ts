import { DominantShares } from '../../domain/fairness/dominant-shares.ts'
import { fillByTasks, fillEvenly, type DrfUser } from '../../domain/fairness/drf-filling.ts'
import type { Adapter } from './adapters.ts'
import type { JsonObject } from './case-file.ts'

type Amounts = { readonly [resource: string]: number }

interface OrderCase {
  readonly total: Amounts
  readonly clients: ReadonlyArray<{
    readonly path: string
    readonly allocated: Amounts
    readonly weight: number
    readonly allocationCount?: number
    readonly active?: boolean
  }>
  readonly subtreeWeights?: { readonly [path: string]: number }
}

interface FillCase {
  readonly settings: { readonly mode: 'continuous' | 'task-by-task'; readonly firstPickOnTie?: string }
  readonly total: Amounts
  readonly users: ReadonlyArray<{ readonly name: string; readonly weight: number; readonly demandPerTask: Amounts }>
}

/** Cases give parts of a unit of memory; the rules count in whole numbers. */
const thousandths = (amounts: Amounts, resources: ReadonlyArray<string>): number[] =>
  resources.map((resource) => Math.round((amounts[resource] ?? 0) * 1000))

const drfOrder: Adapter = {
  run: ({ document }) => {
    const { total, clients, subtreeWeights = {} } = document as unknown as OrderCase
    const resources = Object.keys(total)
    const nothing = resources.map(() => 0)
    const shares = new DominantShares(thousandths(total, resources))
    for (const { path, allocated, allocationCount = 0, weight, active = true } of clients) {
      shares.add(path)
      // Given once, then without anything until the count is right.
      shares.started(path, thousandths(allocated, resources))
      for (let count = 1; count < allocationCount; count++) shares.started(path, nothing)
      if (allocationCount === 0) shares.undone(path, nothing)
      shares.setWeight(path, Math.round(weight * 1000))
      shares.setWaiting(path, active)
    }
    for (const [path, weight] of Object.entries(subtreeWeights)) shares.setWeight(path, Math.round(weight * 1000))
    return {
      order: [...shares.inOrder()],
      shares: Object.fromEntries(clients.map(({ path }) => [path, shares.shareOf(path).near])),
    }
  },
}

const drfFill: Adapter = {
  run: ({ document }) => {
    const { settings, total, users } = document as unknown as FillCase
    const resources = Object.keys(total)
    const drfUsers = users.map(({ name, weight, demandPerTask }) => ({
      name,
      weightMilli: Math.round(weight * 1000),
      demand: thousandths(demandPerTask, resources),
    }))
    const amounts = thousandths(total, resources)
    return settings.mode === 'continuous'
      ? evenly(amounts, drfUsers, resources)
      : taskByTask(amounts, drfUsers, resources, settings.firstPickOnTie)
  },
}

const evenly = (total: ReadonlyArray<number>, users: ReadonlyArray<DrfUser>, resources: ReadonlyArray<string>) => {
  const { tasks, shares, dominant } = fillEvenly(total, users)
  const byUser = <A>(of: (user: DrfUser, index: number) => A): { [name: string]: A } =>
    Object.fromEntries(users.map((user, index) => [user.name, of(user, index)]))
  return {
    tasks: byUser((_, index) => tasks[index]!.near),
    allocated: byUser(({ demand }, index): JsonObject =>
      Object.fromEntries(resources.map((resource, i) => [resource, (tasks[index]!.near * demand[i]!) / 1000])),
    ),
    dominantShare: byUser((_, index) => shares[index]!.near),
    dominantResource: byUser((_, index) => resources[dominant[index]!]!),
  }
}

const taskByTask = (
  total: ReadonlyArray<number>,
  users: ReadonlyArray<DrfUser>,
  resources: ReadonlyArray<string>,
  firstPick: string | undefined,
) => {
  const steps = fillByTasks(total, users, firstPick)
  const picks = steps.map(({ pick }) => pick)
  return {
    tasks: Object.fromEntries(users.map(({ name }) => [name, picks.filter((pick) => pick === name).length])),
    picks,
    steps: steps.map(({ pick, shares, used }) => ({
      pick,
      dominantShare: Object.fromEntries(users.map(({ name }, index) => [name, shares[index]!.near])),
      used: Object.fromEntries(resources.map((resource, i) => [resource, used[i]! / 1000])),
    })),
  }
}

export const drfAdapters: ReadonlyArray<readonly [string, Adapter]> = [
  ['drf-fill', drfFill],
  ['drf-order', drfOrder],
]
