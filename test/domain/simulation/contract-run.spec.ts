import { describe, expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import type { CellEvent } from '../../../domain/planner/cell-event.ts'
import { contractRun, type ContractTerms } from '../../../domain/simulation/contract-run.ts'
import type { ContractJob } from '../../../domain/simulation/job-work.ts'
import { unstatedTerms, type WorkloadTerms } from '../../../domain/workload/terms.ts'
import { ContractLedger, type ContractReport } from '../../../projections/simulation/contract-report.ts'
import { requestOf } from '../../support/arbitrary-fleet.ts'
import { budgetPolicy, hour, minute } from '../../support/cell-life.ts'
import { inMemory } from '../../support/simulation/in-memory.ts'

const terms: ContractTerms = {
  automated: true,
  drills: ['a', 'b'].map((team) => ({
    type: 'DrillConcluded',
    at: 0 as EpochMs,
    data: { modelFamily: null, outcome: 'passed', team },
  })),
  holds: [],
  tickEveryMs: (5 * minute) as DurationMs,
  until: Infinity,
}

const job = (
  id: string,
  team: string,
  devices: number,
  submitAt: number,
  runMs: number,
  preemption: Partial<WorkloadTerms['preemption']> = {},
  elasticity: WorkloadTerms['elasticity'] = null,
): ContractJob => ({
  ...{ id, team, class: 'training', queue: 'default', estimateMs: null },
  submitAt: submitAt as EpochMs,
  runMs: runMs as DurationMs,
  request: requestOf({ devices, span: 'anywhere' }),
  terms: {
    ...unstatedTerms,
    budget: team,
    elasticity,
    preemption: { ...unstatedTerms.preemption, gracePeriodMs: 0 as DurationMs, tolerated: true, ...preemption },
  },
})

/** Two devices of two programs that are owed one each. */
const run = (
  jobs: ReadonlyArray<ContractJob>,
  more: Partial<ContractTerms> = {},
  mode: 'advise' | 'automate' = 'automate',
) => {
  const events: CellEvent[] = []
  const ledger = new ContractLedger()
  const policy = budgetPolicy({ a: 1, b: 1 }, { mode })
  const running = contractRun(jobs, { ...terms, automated: mode === 'automate', ...more })
  inMemory(1, 2, policy, running, ({ input, decisions }, cell) => {
    events.push(input, ...decisions)
    ledger.follow(input, decisions, cell)
  })
  return {
    report: (until: number): ContractReport => ledger.report(until),
    /** Instants of such events about a job, in minutes. */
    at: (type: CellEvent['type'], workload: string): ReadonlyArray<number> =>
      events
        .filter((event) => event.type === type && 'workload' in event.data && event.data.workload === workload)
        .map(({ at }) => at / minute),
  }
}

const checkpoints = { checkpointIntervalMs: (30 * minute) as DurationMs }

describe('a run in which attempts make room', () => {
  it('should let a job go on from its newest checkpoint', () => {
    // b comes at 1:40, is owed ten minutes of its device at 1:50, and runs for an hour.
    const told = run([job('old', 'a', 2, 0, 3 * hour, checkpoints), job('new', 'b', 1, 100 * minute, hour)])
    expect(told.at('CommandIssued', 'old')).toEqual([110])
    expect(told.at('AttemptStopped', 'old')).toEqual([110])
    expect(told.at('WorkloadAdmitted', 'new')).toEqual([110])
    expect(told.at('WorkloadAdmitted', 'old')).toEqual([0, 170])
    expect(told.at('CheckpointCommitted', 'old')).toEqual([30, 60, 90, 200, 230])
    // An hour and a half was saved, twenty minutes on two devices were not.
    expect(told.at('AttemptEnded', 'old')).toEqual([260])
    const { evictions, finished, lost, waits, waitsInAll } = told.report(300 * minute)
    expect([finished, evictions.length, lost]).toEqual([2, 1, 2000 * 20 * minute])
    expect(evictions[0]).toMatchObject({ workload: 'old', preemptor: 'new', inWindow: false, undrilled: false })
    expect([waits['training']!.maxS, waitsInAll['training']!.maxS]).toEqual([600, 3600])
  })

  it('should let it begin anew where it makes none', () => {
    const told = run([job('old', 'a', 2, 0, 3 * hour), job('new', 'b', 1, 100 * minute, hour)])
    expect(told.at('AttemptEnded', 'old')).toEqual([170 + 180])
    expect(told.report(400 * minute).lost).toBe(2000 * 110 * minute)
  })

  it('should give whoever is asked to stop its grace, and it holds its devices meanwhile', () => {
    const grace = { ...checkpoints, gracePeriodMs: (4 * minute) as DurationMs }
    const told = run([job('old', 'a', 2, 0, 3 * hour, grace), job('new', 'b', 1, 100 * minute, hour)])
    expect(told.at('CommandIssued', 'old')).toEqual([110])
    expect(told.at('AttemptStopped', 'old')).toEqual([114])
    expect(told.at('WorkloadAdmitted', 'new')).toEqual([114])
  })

  it('should let it end within its grace if it can', () => {
    const grace = { gracePeriodMs: (4 * minute) as DurationMs }
    const told = run([job('old', 'a', 2, 0, 112 * minute, grace), job('new', 'b', 1, 100 * minute, hour)])
    expect(told.at('AttemptEnded', 'old')).toEqual([112])
    expect(told.at('AttemptStopped', 'old')).toEqual([])
    expect(told.at('WorkloadAdmitted', 'new')).toEqual([112])
  })

  it('should let whoever shrinks run on, slower in proportion', () => {
    const elasticity = { maxReplicas: 2, minReplicas: 1, resizeCostMs: 0 as DurationMs }
    const told = run([job('old', 'a', 2, 0, 3 * hour, {}, elasticity), job('new', 'b', 1, 100 * minute, hour)])
    expect(told.at('LeaseShrunk', 'old')).toEqual([110])
    expect(told.at('WorkloadAdmitted', 'old')).toEqual([0])
    // 70 minutes on two devices are left, and take 140 on one.
    expect(told.at('AttemptEnded', 'old')).toEqual([250])
    expect(told.report(300 * minute)).toMatchObject({ lost: 0, shrinks: 1, evictions: [] })
  })

  it('should do without commands where starts are only advised', () => {
    const told = run(
      [job('old', 'a', 2, 0, 3 * hour, checkpoints), job('new', 'b', 1, 100 * minute, hour)],
      {},
      'advise',
    )
    expect(told.at('CommandIssued', 'old')).toEqual([])
    expect(told.at('CommandConcluded', 'new')).toEqual([])
    expect(told.at('AttemptEnded', 'old')).toEqual([260])
  })

  it('should put all unfinished work that it concerns on hold, and let it go again', () => {
    const holds = [
      {
        from: (20 * minute) as EpochMs,
        until: (90 * minute) as EpochMs,
        concerns: ({ team }: ContractJob) => team === 'b',
      },
    ]
    const jobs = [
      ...[job('first', 'a', 2, 0, 30 * minute), job('second', 'b', 2, 10 * minute, 30 * minute)],
      job('third', 'a', 2, 15 * minute, 30 * minute),
    ]
    const told = run(jobs, { holds })
    expect(told.at('HoldRequested', 'second')).toEqual([20])
    expect(told.at('ReleaseRequested', 'second')).toEqual([90])
    expect([told.at('WorkloadAdmitted', 'third'), told.at('WorkloadAdmitted', 'second')]).toEqual([[30], [90]])
    expect(told.at('HoldRequested', 'first')).toEqual([])
  })

  it('should end when its time is up, and when what waits can never start', () => {
    const told = run([job('only', 'a', 1, 0, 3 * hour)], { until: hour })
    expect(told.at('AttemptEnded', 'only')).toEqual([])
    expect(told.report(hour)).toMatchObject({ finished: 0, occupancy: 0.5, neverStarted: 0 })
    const strange = { ...job('strange', 'c', 1, 0, hour), queue: 'nowhere' }
    expect(run([strange]).report(24 * hour)).toMatchObject({ jobs: 1, finished: 0, neverStarted: 1 })
  })
})
