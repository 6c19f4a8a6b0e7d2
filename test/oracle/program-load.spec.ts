import { describe, expect, it } from 'vitest'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { ContractTerms } from '../../domain/simulation/contract-run.ts'
import { programTerms } from '../../domain/simulation/program-load.ts'
import { policyFile } from '../support/simulation/policy-file.ts'
import { barsOf, missed, programMonth, told, type Month } from '../support/simulation/program-month.ts'

const policy = policyFile('three-programs.yaml')
const timeout = 600_000

const print = (what: string, { oracle, report, wallMs }: Month, days?: number): void => {
  const percent = (part: number) => `${(100 * part).toFixed(3)} %`
  console.log(
    `three programs, ${what}: ${told(barsOf(oracle, days))}; ${report.jobs} jobs, ${report.evictions.length} evictions, ` +
      `${report.promotions} promoted, work lost ${percent(report.lostShare)}, kept idle ${percent(report.heldIdle)}, ` +
      `unallocated ${percent(report.unallocated)}, ${(wallMs / 1000).toFixed(0)} s`,
  )
}

describe('a month of three programs that want two and a half times what there is', () => {
  it.each([1, 2, 3, 4, 5])('should be delivered as promised, seed %i', { timeout }, (seed) => {
    const month = programMonth(seed, policy)
    print(`seed ${seed}`, month)
    const { oracle, report } = month
    for (const { delivered, worstWeek } of Object.values(report.programs)) {
      expect(delivered).toBeGreaterThanOrEqual(0.98)
      expect(worstWeek).toBeGreaterThanOrEqual(0.95)
    }
    expect(Object.keys(report.programs)).toHaveLength(3)
    expect(report.occupancy).toBeGreaterThanOrEqual(0.98)
    expect(report.waits['debug']!.p90S).toBeLessThanOrEqual(30)
    expect(report.evictions.length).toBeGreaterThan(0)
    expect(report.evictions.filter(({ inWindow, beyondCap, undrilled }) => inWindow || beyondCap || undrilled)).toEqual(
      [],
    )
    expect(report.lostShare).toBeLessThanOrEqual(0.01)
    expect(missed(barsOf(oracle))).toEqual([])

    // The same from the log alone, by somebody who has never heard of the ledger.
    const amounts = (each: Readonly<Record<string, { readonly held: number; readonly owed: number }>>) =>
      Object.entries(each).map(([name, { held, owed }]) => ({ name, held, owed }))
    expect(amounts(report.programs)).toEqual(expect.arrayContaining(amounts(oracle.programs)))
    for (const [name, { worstWeek }] of Object.entries(oracle.programs))
      expect(report.programs[name]!.worstWeek).toBeCloseTo(worstWeek, 12)
    expect(report.lost).toBe(oracle.lost)
    expect(report.unallocated).toBeCloseTo(oracle.unallocated / oracle.allocated, 12)
    expect(report.heldIdle).toBe(oracle.kept)
    expect(
      report.evictions.map(({ workload, at, inWindow, beyondCap }) => ({ workload, at, inWindow, beyondCap })),
    ).toEqual(oracle.evictions)
  })

  /** The first third of the month holds the day without one program; whoever misses a bar there need not run on. */
  const third = 10
  const controls: ReadonlyArray<Control> = [
    { name: 'first come, first served', policy: queuesOnly(policy), seed: 1, evicts: false },
    {
      name: 'one program before the others',
      policy: withShares(policy, { product: 1, platform: 0, research: 0 }),
      seed: 1,
      evicts: true,
    },
    {
      name: 'nobody drilled, so nobody preempted',
      policy,
      seed: 1,
      evicts: false,
      terms: { ...programTerms, drills: [] },
    },
  ]
  it.each(controls)('should not be had by other rules: $name, seed $seed', { timeout }, (control) => {
    const { evicts, name, seed, terms } = control
    const month = programMonth(seed, { ...control.policy, name }, third, terms)
    print(`${name}, seed ${seed}`, month, third)
    const misses = missed(barsOf(month.oracle, third))
    console.log(`three programs, ${name}: misses ${misses.join(', ')}`)
    expect(misses).not.toEqual([])
    expect(month.report.evictions.length > 0).toBe(evicts)
  })
})

interface Control {
  readonly name: string
  readonly policy: AllocationPolicy
  readonly seed: number
  readonly evicts: boolean
  readonly terms?: ContractTerms
}

/** In the order in which they come, whoever fits. */
function queuesOnly(policy: AllocationPolicy): AllocationPolicy {
  const { name, owner, reviewDate, impactHypothesis, placement, queues, mode, poolModes } = policy
  return { name, owner, reviewDate, impactHypothesis, placement, queues, mode, poolModes }
}

function withShares(policy: AllocationPolicy, shares: { readonly [program: string]: number }): AllocationPolicy {
  const budgets = policy.budgets!
  return {
    ...policy,
    budgets: { ...budgets, tree: budgets.tree.map((node) => ({ ...node, share: shares[node.name]! })) },
  }
}
