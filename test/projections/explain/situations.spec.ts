import { expect, it } from 'vitest'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import type { BudgetNodePolicy } from '../../../domain/policy/budget-policy.ts'
import { whyText } from '../../../projections/explain/why-text.ts'
import { whyWithHints } from '../../../projections/explain/why.ts'
import { requestOf } from '../../support/arbitrary-fleet.ts'
import { budgetPolicy, CellLife, hour, minute, minutes } from '../../support/cell-life.ts'

const monday = Date.UTC(2026, 7, 3)

/** As it is printed in a terminal of 100 columns, where two blanks stand before it. */
const toldOf = (life: CellLife, workload: string): string => {
  life.cell.now = life.now as typeof life.cell.now
  const text = whyText(whyWithHints(life.cell, workload)!)
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(98)
  return text.replaceAll(/policy \S{12}/g, 'policy ...')
}

const node = (name: string, share: number, children: ReadonlyArray<BudgetNodePolicy> = []): BudgetNodePolicy => ({
  capMilli: null,
  children,
  name,
  owner: null,
  persons: {},
  reviewDate: null,
  share,
})

it('situation 15, kueue#10872: should print the arithmetic of shares at the level that binds', () => {
  const policy = budgetPolicy(
    {},
    {},
    { tree: [node('lab', 60, [node('vision', 1), node('speech', 2)]), node('ops', 40)] },
  )
  const life = new CellLife(monday).policy(policy).nodes(1, 10).drilled('lab', 'ops')
  const of = (budget: string) => ({ budget, team: budget.split('/')[0]! })
  for (let i = 0; i < 8; i++) life.submit(`speech-${i}`, 1, of('lab/speech'))
  for (let i = 0; i < 6; i++) life.submit(`ops-${i}`, 1, of('ops'))
  for (let i = 0; i < 4; i++) life.submit(`vision-${i}`, 1, of('lab/vision'))
  life.tick()
  for (let at = 0; at < 5 * hour; at += 10 * minute) life.at(monday + at).tick()
  const waits = [...life.cell.workloads.values()].filter(
    ({ run, hold }) => run === null && hold?.code !== 'BehindInQueue',
  )
  expect(waits.map(({ id }) => toldOf(life, id)).join('\n')).toMatchInlineSnapshot(`
    "speech-0 waits at lab/speech/unknown (queue default), position 1, for 4 h 40 min since it was
               stopped, 4 h 40 min in all (as of 2026-08-03 04:50:00 UTC).
    Reason     BudgetExhaustedInWindow: lab/speech was charged 20 of 19.33 GPU-hours that it was owed
               over the window (1.035); it holds 4 of the 4 that it is entitled to. Beyond that only
               what nobody else wants is free for it.
    Rule       spec.budgets.tree[0].children[1], policy ...
    Projected  not known: too few of its kind have waited and started here to tell.
    Preempted  once before: \`leasehold why-preempted speech-0\` says for whom.

    ops-4 waits at ops/unknown (queue default), position 1, for 4 h 50 min (as of 2026-08-03 04:50:00
               UTC).
    Reason     BehindHigherShare: it would have fitted, but ops-3 was next and took the room.
    Rule       spec.budgets.tree[1], policy ...
    Projected  not known: too few of its kind have waited and started here to tell.
    Would help if speech-4 ended it would start now, on node-0.

    vision-2 waits at lab/vision/unknown (queue default), position 1, for 4 h 50 min (as of 2026-08-03
               04:50:00 UTC).
    Reason     BudgetExhaustedInWindow: lab was charged 29.67 of 29 GPU-hours that it was owed over
               the window (1.023); it holds 6 of the 6 that it is entitled to. Beyond that only what
               nobody else wants is free for it.
    Rule       spec.budgets.tree[0], policy ...
    Projected  not known: too few of its kind have waited and started here to tell.
    "
  `)
})

it('situation 15, kueue#9466: should print what a queue may use of its own and of its cohort', () => {
  const quotas = (nominal: number, borrowing: number) => [
    { accelerator: 'x', devices: { borrowing: borrowing * 1000, lending: null, nominal: nominal * 1000 } },
  ]
  const more: Partial<AllocationPolicy> = {
    cohorts: [{ fairWeightMilli: 1000, name: 'all', parent: null, quotas: [] }],
    queues: [
      { cohort: 'all', name: 'default', ordering: 'greedy', quotas: quotas(4, 2) },
      { cohort: 'all', name: 'other', ordering: 'greedy', quotas: quotas(4, 4) },
    ],
  }
  const life = new CellLife(monday)
    .policy(budgetPolicy({ a: 1, b: 1 }, more))
    .nodes(1, 10, 'x')
    .drilled('a', 'b')
  life.submit('a-runs', 5, { budget: 'a' }).submit('b-runs', 2, { budget: 'b', queue: 'other' }).tick()
  life.submit('a-waits', 2, { budget: 'a' }).tick()
  life.at(monday + 10 * minute)
  expect(toldOf(life, 'a-waits')).toMatchInlineSnapshot(`
    "a-waits waits at a/unknown (queue default), position 1, for 10 min (as of 2026-08-03 00:10:00
               UTC).
    Reason     WaitingForQuota: it asks for 2 GPUs of quota, and queue default may use 1 more now,
               until others give back what they borrow or hold: of its own it has 4 and uses 5, it may
               borrow 2 (4 + 2 - 5 = 1), and its cohort has 1 left for it.
    Rule       spec.queues[0].quotas, policy ...
    Projected  not known: too few of its kind have waited and started here to tell.
    Would help with 1 GPU it would start now, on node-0.
    Would help if spec.queues[0].quotas[0].devices.nominal were 5 GPUs instead of 4 GPUs it would
               start now, on node-0.
    Would help if a-runs ended it would start now, on node-0.
    "
  `)
})

it('situation 25, kueue#2833: should say who is ahead, why it waits and when it starts in one answer', () => {
  const life = new CellLife(monday)
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(1, 8)
    .drilled('a', 'b')
  const asks = (devices: number) => ({
    budget: 'a',
    estimateMs: minutes(90),
    request: requestOf({ devices }),
  })
  // So many of its kind have waited behind two others, and started, that it is known how such waits go.
  for (let i = 0; i < 40; i++) {
    life.submit(`before-${i}`, 8, asks(8)).tick()
    if (i < 2) continue
    life.at(life.now + (80 + 10 * (i % 3)) * minute)
    life.end(life.running[0]!).tick()
  }
  life.submit('last', 8, asks(8)).tick()
  life.at(life.now + 20 * minute)
  expect(toldOf(life, 'last')).toMatchInlineSnapshot(`
    "last waits at a/unknown (queue default), position 2, for 20 min (as of 2026-08-05 09:20:00 UTC).
    Reason     BehindInQueue: before-39 goes first. It needs 8 whole GPUs; 0 GPUs free in total, 0
               GPUs in one place.
    Rule       spec.budgets.tree[0], policy ...
    Ahead      before-39
    Projected  2026-08-05 12:26:06 UTC (in 3 h 6 min); four of five such start between 2026-08-05
               12:11:49 UTC (in 2 h 51 min) and 2026-08-05 12:37:03 UTC (in 3 h 17 min). At the pace
               of its leaf, what is ahead of it takes 2 h 56 min.
    "
  `)
})

it('situation 25, kueue#10852: should say the same where nothing is known of waits like it', () => {
  const life = new CellLife(monday)
    .policy(budgetPolicy({ a: 1, b: 1 }))
    .nodes(1, 8)
    .drilled('a', 'b')
  life.submit('runs', 6, { budget: 'b', estimateMs: minutes(90), preemption: { minRuntimeMs: minutes(60) } }).tick()
  life.submit('small', 2, { budget: 'b', estimateMs: minutes(30) }).tick()
  life
    .at(monday + 20 * minute)
    .submit('first', 4, { budget: 'a' })
    .submit('second', 4, { budget: 'a' })
    .tick()
  life.at(monday + 30 * minute).tick()
  expect(toldOf(life, 'first')).toMatchInlineSnapshot(`
    "first waits at a/unknown (queue default), position 1, for 10 min (as of 2026-08-03 00:30:00 UTC).
    Reason     ProtectedWindow: its side is owed the room, but the one attempt that would have to
               leave is in a protected window, the first until 2026-08-03 01:00:00 UTC (in 30 min).
    Rule       spec.contract.minRuntimeMax, policy ...
    Held by    runs
    Projected  not known; a is owed 4 GPUs that it does not hold, and takes that back as soon as those
               who hold it may leave: its debt has reached \`reclaimAfter\`.
    Would help if runs ended it would start now, on node-0.
    "
  `)
  expect(toldOf(life, 'second')).toMatchInlineSnapshot(`
    "second waits at a/unknown (queue default), position 2, for 10 min (as of 2026-08-03 00:30:00 UTC).
    Reason     BehindInQueue: first goes first. It needs 4 whole GPUs; 0 GPUs free in total, 0 GPUs in
               one place.
    Rule       spec.budgets.tree[0], policy ...
    Ahead      first
    Projected  not known: too few of its kind have waited and started here to tell.
    "
  `)
})
