import fc from 'fast-check'
import { expect, it } from 'vitest'
import { admissionCycle } from '../../../domain/kueue/admission-cycle.ts'
import type { Assignment } from '../../../domain/kueue/assignment.ts'
import type { Head } from '../../../domain/kueue/head.ts'
import type { Holdings } from '../../../domain/kueue/holdings.ts'
import type { CycleContext } from '../../../domain/kueue/nomination.ts'
import { NominationMemo } from '../../../domain/kueue/nomination-memo.ts'
import { anyWaitingHeads, heldBy, type WaitingHeads } from './waiting-heads.ts'

class CountedMemo extends NominationMemo {
  hits = 0

  override recall(holdings: Holdings, head: Head, newer: boolean): Assignment | undefined {
    const known = super.recall(holdings, head, newer)
    if (known !== undefined) this.hits++
    return known
  }
}

/** In each turn each queue's head comes back as one that is a little newer, whatever became of it; some are admitted. */
const turns = ({ context, heads }: WaitingHeads, memo: NominationMemo | null): ReadonlyArray<unknown> => {
  const remembering: CycleContext = memo === null ? context : { ...context, memo }
  const begun = context.holdings.tree.save()
  const told = [0, 1, 2, 3].map((turn) => {
    const alike = heads.map((head) => ({
      ...head,
      id: `${head.id}-${turn}`,
      createdAt: head.createdAt + turn,
      queuedAt: head.queuedAt + turn,
      likeness: 'same',
    }))
    const outcomes = admissionCycle(remembering, alike)
    for (const outcome of outcomes) if (outcome.reason === null) context.holdings.add(heldBy(outcome, turn))
    return outcomes.map(({ head, assignment, victims, reason, parked }) => ({
      id: head.id,
      assignment,
      victims: victims.map(({ holder }) => holder.id),
      reason,
      parked,
    }))
  })
  for (const [queue] of context.holdings.tree.nodes.entries())
    for (const holder of [...context.holdings.of(queue)]) if (/-\d$/.test(holder.id)) context.holdings.remove(holder)
  expect(context.holdings.tree.save()).toEqual(begun)
  return told
}

it.each(['safe', 'compatible'] as const)('should decide as if nothing were remembered when %s', (loops) => {
  const memos: CountedMemo[] = []
  fc.assert(
    fc.property(anyWaitingHeads(loops), (waiting) => {
      const memo = new CountedMemo()
      memos.push(memo)
      expect(turns(waiting, memo)).toEqual(turns(waiting, null))
    }),
    { numRuns: 1000 },
  )
  expect(memos.filter(({ hits }) => hits > 0).length).toBeGreaterThan(200)
})
