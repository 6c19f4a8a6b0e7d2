import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { DrillConcluded } from '../../domain/planner/cell-event.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { limitsOf } from '../../domain/policy/allocation-policy.ts'
import { contractRun, type ContractTerms } from '../../domain/simulation/contract-run.ts'
import { durations } from '../../domain/simulation/durations.ts'
import type { ContractJob } from '../../domain/simulation/job-work.ts'
import { timedRun, type Run } from '../../domain/simulation/run.ts'
import { estimated } from '../../domain/simulation/trace-job.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import { readTrace } from '../../infra/traces/trace.ts'
import { ContractLedger, type ContractReport } from '../../projections/simulation/contract-report.ts'
import { describeOnData, sharedData } from '../support/shared-data.ts'
import { inMemory } from '../support/simulation/in-memory.ts'
import { policyFile } from '../support/simulation/policy-file.ts'

const dayMs = 86_400_000
const [others, bestEffort] = ['others', 'best-effort']

/**
 * GPU pods with the durations that they had. All is drilled, nothing is protected, and nothing makes checkpoints; but
 * only best effort ever holds more than it is entitled to.
 */
const jobs = async (): Promise<ReadonlyArray<ContractJob>> => {
  const read = await readTrace(sharedData('openb/openb_pod_list_default.csv'), { format: 'openb' })
  if (E.isLeft(read)) throw new Error(JSON.stringify(read.left))
  return estimated(read.right.jobs.filter(({ request }) => request.devices > 0)).map((job) => {
    const kind = job.class === 'BE' ? bestEffort : others
    const preemption = { ...unstatedTerms.preemption, gracePeriodMs: 0 as DurationMs, tolerated: true }
    return {
      ...{ ...job, class: kind, queue: 'default', team: kind },
      terms: { ...unstatedTerms, budget: kind, preemption },
    }
  })
}

/** Drills again and again, as they have to be. Nothing else is due by time alone: an hour between ticks is enough. */
const terms: ContractTerms = {
  automated: true,
  drills: [0, 25, 50, 75, 100, 125, 150, 175].flatMap((day) =>
    [others, bestEffort].map((team): DrillConcluded => ({
      type: 'DrillConcluded',
      at: (day * dayMs) as EpochMs,
      data: { modelFamily: null, outcome: 'passed', team },
    })),
  ),
  holds: [],
  tickEveryMs: 3_600_000 as DurationMs,
  until: Infinity,
}

const policy = policyFile('others-before-best-effort.yaml')
/** A place is kept for the head of the one queue, and nobody is evicted. */
const reserve: AllocationPolicy = {
  ...{ name: 'reserve', owner: null, reviewDate: null, impactHypothesis: null, mode: policy.mode, poolModes: {} },
  ...{ placement: policy.placement, queues: [{ name: 'default', ordering: 'reserve' }] },
}
const nobodyEvicted: AllocationPolicy = {
  ...policy,
  name: 'nobody evicted',
  limits: { ...limitsOf(policy), preemptionsPerTeamHour: 0 },
}

interface Ran {
  readonly report: ContractReport
  readonly eightMeanS: number
}

const ran = (nodes: number, rules: AllocationPolicy, run: Run): Ran => {
  const ledger = new ContractLedger()
  const cameAt = new Map<string, number>()
  const eights: number[] = []
  let end = 0
  inMemory(nodes, 8, rules, run, ({ input, decisions }, cell) => {
    ledger.follow(input, decisions, cell)
    if (input.type === 'AttemptEnded') end = input.at
    if (input.type === 'WorkloadSubmitted' && input.data.request.devices === 8)
      cameAt.set(input.data.workload, input.at)
    for (const { type, at, data } of decisions) {
      if (type !== 'WorkloadAdmitted' || !cameAt.has(data.workload)) continue
      eights.push(at - cameAt.get(data.workload)!)
      cameAt.delete(data.workload)
    }
  })
  expect(eights).toHaveLength(44)
  return { report: ledger.report(end), eightMeanS: durations(eights)!.meanS }
}

const print = (what: string, { eightMeanS, report }: Ran): void => {
  const { evictions, lost, lostShare, waits, waitsInAll } = report
  console.log(
    `openb, best-fit, ${what}: others p99 ${waits[others]!.p99S.toFixed(0)} s, ` +
      `mean ${waits[others]!.meanS.toFixed(0)} s; best effort p90 ${waits[bestEffort]!.p90S.toFixed(0)} s, ` +
      `p99 ${waits[bestEffort]!.p99S.toFixed(0)} s, with all waits after evictions ` +
      `${waitsInAll[bestEffort]!.p99S.toFixed(0)} s; eight-GPU pods ${eightMeanS.toFixed(0)} s; ` +
      `${evictions.length} evictions, ${(lost / 3.6e9).toFixed(1)} GPU-hours or ${(100 * lostShare).toFixed(3)} % lost`,
  )
}

describeOnData('openb, where best effort makes room', () => {
  it('should let the others wait less at 48 GPUs, for hardly any work lost', async () => {
    const pods = await jobs()
    const before = ran(6, reserve, timedRun(pods))
    const after = ran(6, policy, contractRun(pods, terms))
    print('48 GPUs, reserve', before)
    print('48 GPUs, others first', after)
    const { evictions, lostShare, neverStarted, waits } = after.report
    expect(before.report.waits[others]!.p99S).toBeGreaterThan(0)
    expect(waits[others]!.p99S).toBeLessThanOrEqual(0.8 * before.report.waits[others]!.p99S)
    expect(evictions.length).toBeGreaterThan(0)
    expect(evictions.filter((each) => each.class !== bestEffort)).toEqual([])
    expect(evictions.filter(({ inWindow, undrilled }) => inWindow || undrilled)).toEqual([])
    // Of what was run, not of what was installed: that is three times as much.
    expect(lostShare).toBeLessThanOrEqual(0.002)
    expect([neverStarted, after.report.finished]).toEqual([0, pods.length])
  })

  it('should keep a place for the eight-GPU pods at 40 GPUs', async () => {
    const pods = await jobs()
    const before = ran(5, reserve, timedRun(pods))
    const after = ran(5, nobodyEvicted, contractRun(pods, terms))
    print('40 GPUs, reserve', before)
    print('40 GPUs, others first, nobody evicted', after)
    // Those who are let in by evictions stay long, on every node: what is wide waits for them, whatever is kept for it.
    print('40 GPUs, others first', ran(5, policy, contractRun(pods, terms)))
    expect(before.eightMeanS).toBeGreaterThan(0)
    expect(after.eightMeanS).toBeLessThanOrEqual(before.eightMeanS)
    expect(after.report.evictions).toEqual([])
    expect(after.report.finished).toBe(pods.length)
  })
})
