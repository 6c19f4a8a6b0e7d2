import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareShares, dominantShare, reportedShare } from '../../../domain/kueue/dominant-share.ts'
import { QuotaTree, type NodeQuota, type QuotaNodeSpec } from '../../../domain/quota/quota-tree.ts'
import {
  compareNaiveShares,
  NaiveQuotaTree,
  reportedNaiveShare,
  type NaiveNode,
  type NaiveQuota,
} from '../../support/naive/naive-quota.ts'

const flavors = ['a', 'b', 'c']
const resources = ['memory', 'cpu', 'devices']
/** Up to 10^13, and near each other, so that shares differ in digits that a number of 53 bits has not. */
const amount = fc.oneof(fc.nat(6), fc.nat(5000), fc.integer({ min: 9_999_999_999_990, max: 10_000_000_000_000 }))
const limit = fc.option(amount, { freq: 2 })

const quotas: fc.Arbitrary<ReadonlyArray<NodeQuota>> = fc.uniqueArray(
  fc.record({
    flavor: fc.constantFrom(...flavors),
    resource: fc.constantFrom(...resources),
    nominal: amount,
    borrowing: limit,
    lending: limit,
  }),
  { selector: ({ flavor, resource }) => `${flavor} ${resource}`, maxLength: 5 },
)

const weight = fc.constantFrom(0, 0, 1, 1, 2, 0.5, 1.01, 0.001, 300)

/** Up to six cohorts below one another in any way, and up to six queues below any of them or below none. */
const specs: fc.Arbitrary<ReadonlyArray<QuotaNodeSpec>> = fc
  .tuple(
    fc.array(fc.tuple(fc.nat(), quotas, weight), { minLength: 1, maxLength: 6 }),
    fc.array(fc.tuple(fc.nat(), quotas, weight), { minLength: 1, maxLength: 6 }),
  )
  .map(([cohorts, queues]) => {
    const parentOf = (above: number, among: number) =>
      above % (among + 1) === among ? null : `c${above % (among + 1)}`
    return [
      ...queues.map(([above, own, fairWeight], i): QuotaNodeSpec => {
        return { name: `q${i}`, kind: 'queue', parent: parentOf(above, cohorts.length), fairWeight, quotas: own }
      }),
      ...cohorts.map(([above, own, fairWeight], i): QuotaNodeSpec => {
        return { name: `c${i}`, kind: 'cohort', parent: parentOf(above, i), fairWeight, quotas: own }
      }),
    ]
  })

/** A queue takes so much of what it lists, or one of those that took gives it back. */
interface Step {
  readonly queue: number
  readonly pick: number
  readonly much: number
  readonly gives: boolean
}
const step = fc.record({ queue: fc.nat(5), pick: fc.nat(), much: amount, gives: fc.boolean() })
const steps: fc.Arbitrary<ReadonlyArray<Step>> = fc.array(step, { maxLength: 30 })

const naiveOf = (all: ReadonlyArray<QuotaNodeSpec>): NaiveQuotaTree => {
  const big = (limited: number | null) => (limited === null ? null : BigInt(limited))
  return new NaiveQuotaTree(
    new Map(
      all.map((spec): [string, NaiveNode] => {
        const quotas = new Map<string, Map<string, NaiveQuota>>()
        for (const { flavor, resource, nominal, borrowing, lending } of spec.quotas) {
          const known = quotas.get(flavor) ?? new Map<string, NaiveQuota>()
          quotas.set(flavor, known)
          known.set(resource, { nominal: BigInt(nominal), borrowing: big(borrowing), lending: big(lending) })
        }
        return [spec.name, { parent: spec.parent, weightMilli: BigInt(Math.round(spec.fairWeight * 1000)), quotas }]
      }),
    ),
  )
}

const runBoth = (tree: QuotaTree, naive: NaiveQuotaTree, history: ReadonlyArray<Step>, after: () => void): void => {
  const queues = tree.nodes.flatMap(({ kind }, node) => (kind === 'queue' ? [node] : []))
  const taken: { queue: number; one: number; much: number }[] = []
  const charge = (queue: number, one: number, much: number): void => {
    const { flavor, resource } = tree.flavorResources[one]!
    naive.charge(tree.nodes[queue]!.name, flavor, resource, BigInt(much))
  }
  for (const { queue: which, pick, much, gives } of history) {
    const queue = queues[which % queues.length]!
    const listed = tree.flavorResources.flatMap((_, one) => (tree.lists(queue, one) ? [one] : []))
    if (gives && taken.length > 0) {
      const [back] = taken.splice(pick % taken.length, 1)
      tree.remove(back!.queue, [[back!.one, back!.much]])
      charge(back!.queue, back!.one, -back!.much)
    } else if (listed.length > 0) {
      const one = listed[pick % listed.length]!
      taken.push({ queue, one, much })
      tree.add(queue, [[one, much]])
      charge(queue, one, much)
    }
    after()
  }
}

const amounts = ['subtree', 'local', 'usage', 'available', 'potential'] as const

const expectSameAmounts = (tree: QuotaTree, naive: NaiveQuotaTree): void => {
  tree.nodes.forEach(({ name }, node) => {
    tree.flavorResources.forEach(({ flavor, resource }, one) => {
      for (const amount of amounts) {
        const expected = naive[amount](name, flavor, resource)
        expect(BigInt(tree[amount](node, one)), `${amount} of ${name}: ${resource} on ${flavor}`).toBe(expected)
      }
    })
  })
}

const expectSameShares = (tree: QuotaTree, naive: NaiveQuotaTree): void => {
  const shares = tree.nodes.map((_, node) => dominantShare(tree, node))
  const expected = tree.nodes.map(({ name }) => naive.share(name))
  shares.forEach((share, i) => {
    const { part, of, resource, borrowing } = expected[i]!
    expect(BigInt(share.borrowed) * of).toBe(part * BigInt(share.lendable))
    expect(tree.resources[share.resource] ?? null).toBe(resource)
    expect(share.borrowing).toBe(borrowing)
    const reported = reportedNaiveShare(expected[i]!)
    expect(reportedShare(share)).toBe(reported === null ? Infinity : Number(reported))
    shares.forEach((other, j) => {
      expect(Math.sign(compareShares(share, other))).toBe(compareNaiveShares(expected[i]!, expected[j]!))
    })
  })
}

it('should account for quota and shares as their definitions do, whatever was taken and given back', () => {
  fc.assert(
    fc.property(specs, steps, (all, history) => {
      const [tree, naive] = [new QuotaTree(all), naiveOf(all)]
      expectSameAmounts(tree, naive)
      let step = 0
      runBoth(tree, naive, history, () => {
        if (++step % 10 === 0) expectSameAmounts(tree, naive)
      })
      expectSameAmounts(tree, naive)
      expectSameShares(tree, naive)
    }),
    { numRuns: 1000 },
  )
}, 120_000)
