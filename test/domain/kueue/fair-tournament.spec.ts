import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareStanding } from '../../../domain/kueue/cycle-order.ts'
import { compareShares, dominantShare, type DominantShare } from '../../../domain/kueue/dominant-share.ts'
import { FairTournament, type Contestant } from '../../../domain/kueue/fair-tournament.ts'
import type { QuotaTree } from '../../../domain/quota/quota-tree.ts'
import { anyContest } from './contested-quota.ts'

const order = { priorityFirst: true, preemptorsFirst: true }

interface Stand {
  readonly borrows: boolean
  readonly share: DominantShare
}

/** How a node would stand if the contestant's request were added to its queue. */
const stand = (tree: QuotaTree, node: number, { queue, usage }: Contestant): Stand => {
  tree.add(queue, usage)
  const share = dominantShare(tree, node)
  const borrows = usage.some(([one]) => tree.borrows(node, one))
  tree.remove(queue, usage)
  return { borrows, share }
}

/** The whole tournament anew, from the leaves up. */
const winner = (tree: QuotaTree, node: number, left: ReadonlyArray<Contestant>): Contestant | undefined => {
  const own = left.find(({ queue }) => queue === node)
  if (own !== undefined) return own
  const champions = tree.children[node]!.flatMap((child) => {
    const contestant = winner(tree, child, left)
    return contestant === undefined ? [] : [{ contestant, ...stand(tree, child, contestant) }]
  })
  return champions.sort(
    (a, b) =>
      Number(b.contestant.isPreemptor) - Number(a.contestant.isPreemptor) ||
      Number(a.borrows) - Number(b.borrows) ||
      compareShares(a.share, b.share) ||
      compareStanding(a.contestant, b.contestant, order),
  )[0]?.contestant
}

const amounts = fc.tuple(fc.nat(4), fc.nat(2), fc.nat(2))
const contestant = fc.record({
  priority: fc.nat(1),
  queuedAt: fc.nat(1),
  isPreemptor: fc.constantFrom(false, false, true),
  amounts,
  admitted: fc.boolean(),
})

it('should pick in each turn whom a tournament held anew would pick', () => {
  const field = fc.array(fc.option(contestant, { freq: 8 }), { minLength: 5, maxLength: 5 })
  fc.assert(
    fc.property(anyContest, field, ({ holdings: { tree } }, field) => {
      const queues = tree.nodes.flatMap(({ kind }, number) => (kind === 'queue' ? [number] : []))
      const contestants = queues.flatMap((queue, i) => {
        const one = field[i]
        if (one == null) return []
        const usage = one.amounts.flatMap((amount, number) => (amount > 0 ? [[number, amount] as const] : []))
        return [{ ...one, id: `w${i}`, queue, usage }]
      })
      const tournament = new FairTournament(tree, contestants, order)
      const left = [...contestants]
      for (let next = tournament.next(); next !== null; next = tournament.next()) {
        expect(next.id).toBe(winner(tree, 0, left)?.id)
        left.splice(left.indexOf(next), 1)
        if (next.admitted) tree.add(next.queue, next.usage)
      }
      expect(left).toEqual([])
    }),
    { numRuns: 2000 },
  )
})
