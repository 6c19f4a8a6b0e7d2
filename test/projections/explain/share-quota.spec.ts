import { describe, expect, it } from 'vitest'
import { quotaLines } from '../../../projections/explain/quota-share-text.ts'
import { shareOf, type ShareAnswer } from '../../../projections/explain/share.ts'
import type { QueuePolicy } from '../../../domain/policy/allocation-policy.ts'
import type { KueuePolicy } from '../../../domain/policy/quota-policy.ts'
import type { CellLife } from '../../support/cell-life.ts'
import { devices, kueuePolicy, lifeOf, queue } from '../../domain/planner/kueue/kueue-life.ts'

const answerOf = (life: CellLife, node: string | null = null): ShareAnswer => {
  const answer = shareOf(life.cell, node)
  if (answer === null || typeof answer === 'string') throw new Error(`no answer: ${String(answer)}`)
  return answer
}
const standing = (life: CellLife, name: string) => {
  const found = answerOf(life).quotas.find(({ node }) => node === name)!
  return { ...found, ...found.quotas[0]! }
}

/** Two of the cohort's own, four of each queue but c, which has none; b keeps one for itself. */
const shared = (kueue: KueuePolicy = { fairSharing: null, loops: 'safe' }): CellLife => {
  const queues: ReadonlyArray<QueuePolicy> = [
    queue('a', 4),
    queue('b', 4, {}, { quotas: [devices(4, null, 3)], fairWeightMilli: 2000 }),
    queue('c', 0, {}, { quotas: [devices(0, 8)] }),
  ]
  const cohorts = [{ name: 'all', parent: null, fairWeightMilli: 1000, quotas: [devices(2)] }]
  return lifeOf(kueuePolicy(queues, { cohorts, kueue }), 12)
}
const start = (life: CellLife, queued: string, counts: ReadonlyArray<number>) => {
  for (const count of counts) life.submit(`${queued}${life.cell.workloads.size}`, count, { queue: queued })
  life.tick()
}

describe('the share of quota', () => {
  it('should say what each has, uses, borrows and lends, cohorts before those below them', () => {
    const life = shared()
    start(life, 'a', [2])
    start(life, 'c', [5, 9])
    expect(answerOf(life).quotas.map(({ depth, kind, node, parent }) => [depth, kind, node, parent])).toEqual([
      [0, 'cohort', 'all', null],
      [1, 'queue', 'a', 'all'],
      [1, 'queue', 'b', 'all'],
      [1, 'queue', 'c', 'all'],
    ])
    expect(standing(life, 'c')).toMatchObject({
      nominal: 0,
      used: 5000,
      borrowed: 5000,
      borrowingLimit: 8000,
      lent: 0,
      lendingLimit: null,
      available: 2000,
      most: 8000,
      // The cohort's own first, then of those who leave most of what they lend.
      from: [
        { node: 'all', amount: 2000 },
        { node: 'b', amount: 3000 },
      ],
      to: [],
      running: 1,
      waiting: 1,
    })
    expect(standing(life, 'b')).toMatchObject({ lent: 3000, lendingLimit: 3000, to: [{ node: 'c', amount: 3000 }] })
    expect(standing(life, 'a')).toMatchObject({ lent: 0, used: 2000, borrowed: 0, available: 2000 })
    expect(standing(life, 'all')).toMatchObject({ nominal: 2000, subtree: 9000, used: 7000, available: 2000 })
  })

  it('should sum up to what is borrowed, and to nothing that is not there', () => {
    const life = shared()
    start(life, 'c', [8])
    start(life, 'a', [1])
    const { quotas } = answerOf(life)
    const of = (pick: 'from' | 'to') =>
      quotas.flatMap(({ quotas: own }) => own.flatMap((one) => one[pick])).reduce((sum, { amount }) => sum + amount, 0)
    expect(of('from')).toBe(8000)
    expect(quotas.flatMap(({ quotas: own }) => own).reduce((sum, { lent }) => sum + lent, 0)).toBe(8000)
    for (const { quotas: own } of quotas) for (const one of own) expect(one.lent).toBeLessThanOrEqual(one.nominal)
  })

  it('should say from which cohort above a cohort borrows', () => {
    const cohorts = [
      { name: 'top', parent: null, fairWeightMilli: 1000, quotas: [] },
      { name: 'left', parent: 'top', fairWeightMilli: 1000, quotas: [] },
      { name: 'right', parent: 'top', fairWeightMilli: 1000, quotas: [] },
    ]
    const queues = [queue('a', 1, {}, { cohort: 'left' }), queue('b', 4, {}, { cohort: 'right' })]
    const life = lifeOf(kueuePolicy(queues, { cohorts }), 12)
    start(life, 'a', [3])
    expect(standing(life, 'a').from).toEqual([{ node: 'left', amount: 2000 }])
    expect(standing(life, 'left')).toMatchObject({ borrowed: 2000, from: [{ node: 'right', amount: 2000 }] })
    expect(standing(life, 'right')).toMatchObject({ lent: 2000, to: [{ node: 'left', amount: 2000 }] })
    expect(standing(life, 'b')).toMatchObject({ lent: 2000, to: [{ node: 'right', amount: 2000 }] })
  })

  it('should tell the weighted share where shares decide, and none where they do not', () => {
    const fair = shared({ fairSharing: ['lessThanOrEqualToFinalShare'], loops: 'safe' })
    start(fair, 'b', [6])
    // Two beyond its four, of the nine that its cohort could lend, by a weight of 2.
    expect(standing(fair, 'b').share).toEqual({ milli: 112, resource: 'devices' })
    expect(standing(shared(), 'b').share).toBeNull()
  })

  it('should answer for one and what is below it, and know no other', () => {
    const life = shared()
    expect(answerOf(life, 'b').quotas.map(({ node }) => node)).toEqual(['b'])
    expect(answerOf(life, 'all').quotas).toHaveLength(4)
    expect(shareOf(life.cell, 'nobody')).toBeNull()
  })

  it('should tell one in words, with the arithmetic', () => {
    const life = shared()
    start(life, 'a', [2])
    start(life, 'c', [5, 9])
    const words = (node: string) => quotaLines(answerOf(life, node).quotas[0]!)
    expect(words('c')).toEqual([
      'Queue c of the cohort all: 1 workload runs, 1 waits.',
      'Of gpu it has 0 GPUs of its own and uses 5 GPUs.',
      '  borrows    5 GPUs of at most 8 GPUs: 2 GPUs of what is the own of all, 3 GPUs of b',
      '  lends      nothing',
      '  more       2 GPUs could start now; 8 GPUs are the most that it could ever hold',
    ])
    expect(words('b')[3]).toBe('  lends      3 GPUs of at most 3 GPUs: 3 GPUs to c')
  })
})
