import fc from 'fast-check'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import { Cell } from '../../../domain/planner/cell.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import { workloadOf, type CellDecision, type CellInput } from '../../../domain/planner/cell-event.ts'
import { decide } from '../../../domain/planner/decide.ts'
import { orderings, strategies } from '../../../domain/policy/allocation-policy.ts'
import { staticFill, timedRun, type Run } from '../../../domain/simulation/run.ts'
import type { TraceJob } from '../../../domain/simulation/trace-job.ts'
import { anyRequest, nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import { singleQueue } from '../../support/histories.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'

const jobOf = (id: string, submitAt: number, runMs: number, more: Partial<TraceJob> = {}): TraceJob => ({
  id,
  submitAt: submitAt as EpochMs,
  runMs: runMs as DurationMs,
  estimateMs: runMs as DurationMs,
  class: 'test',
  queue: 'q0',
  team: 'test',
  request: requestOf({}),
  ...more,
})

interface Line {
  readonly input: CellInput
  readonly decisions: ReadonlyArray<CellDecision>
}

/** Lets a run go through a cell of one node with so many devices. */
const linesOf = (
  run: Run,
  devices = 1,
  policy: AllocationPolicy = singleQueue('greedy', 'first-fit'),
): ReadonlyArray<Line> => {
  const cell = new Cell('cell')
  evolve(cell, { type: 'NodeRegistered', at: 0 as EpochMs, data: nodeOf('n0', devices) })
  evolve(cell, { type: 'PolicyActivated', at: 0 as EpochMs, data: { document: policy, hash: 'policy' } })
  const lines: Line[] = []
  for (let step = run.next([]); step.done !== true;) {
    const decided = decide(step.value, cell)
    if (E.isLeft(decided)) throw new Error(`not taken: ${JSON.stringify([step.value, decided.left])}`)
    evolve(cell, step.value)
    for (const decision of decided.right) evolve(cell, decision)
    lines.push({ input: step.value, decisions: decided.right })
    step = run.next(decided.right)
  }
  return lines
}

/** `10 end a`, `10 submit b`, `10 tick: WorkloadAdmitted b`. */
const told = (lines: ReadonlyArray<Line>): ReadonlyArray<string> =>
  lines.map(({ input, decisions }) => {
    const made = decisions.map((decision) => ` ${decision.type} ${workloadOf(decision)}`).join(',')
    if (input.type === 'WorkloadSubmitted') return `${input.at} submit ${input.data.workload}${made}`
    if (input.type === 'AttemptEnded') return `${input.at} end ${input.data.workload}`
    return `${input.at} tick${made}`
  })

describe('a run by time', () => {
  it('should bring ends first, then arrivals in the order of the file, then one tick', () => {
    const jobs = [jobOf('late', 10, 5), jobOf('first', 0, 10), jobOf('also', 10, 5), jobOf('early', 0, 20)]
    expect(told(linesOf(timedRun(jobs)))).toEqual([
      '0 submit first',
      '0 submit early',
      '0 tick WorkloadAdmitted first, WorkloadHeld early',
      '10 end first',
      '10 submit late',
      '10 submit also',
      '10 tick WorkloadAdmitted early, WorkloadHeld late, WorkloadHeld also',
      '30 end early',
      '30 tick WorkloadAdmitted late, WorkloadHeld also',
      '35 end late',
      '35 tick WorkloadAdmitted also',
      '40 end also',
      '40 tick',
    ])
  })

  it('should end a job that takes no time in a second instant of the same time', () => {
    expect(told(linesOf(timedRun([jobOf('nil', 3, 0), jobOf('next', 3, 4)])))).toEqual([
      '3 submit nil',
      '3 submit next',
      '3 tick WorkloadAdmitted nil, WorkloadHeld next',
      '3 end nil',
      '3 tick WorkloadAdmitted next',
      '7 end next',
      '7 tick',
    ])
  })

  it('should tick when an estimate is overrun, and again when that is, until the job ends', () => {
    const long = jobOf('long', 0, 400_000, { estimateMs: 50_000 as DurationMs })
    expect(told(linesOf(timedRun([long])))).toEqual([
      '0 submit long',
      '0 tick WorkloadAdmitted long',
      '50000 tick EstimateOverran long',
      '110000 tick EstimateOverran long',
      '220000 tick EstimateOverran long',
      '400000 end long',
      '400000 tick',
    ])
  })

  it('should go on past a job that is refused, and stop when only that is left', () => {
    const jobs = [jobOf('huge', 0, 10, { request: requestOf({ devices: 2 }) }), jobOf('small', 0, 10)]
    expect(told(linesOf(timedRun(jobs)))).toEqual([
      '0 submit huge WorkloadRefused huge',
      '0 submit small',
      '0 tick WorkloadAdmitted small',
      '10 end small',
      '10 tick',
    ])
    expect(told(linesOf(timedRun([])))).toEqual([])
  })

  it('should run every job that is not refused for as long as its trace says, whatever was estimated', () => {
    const job = fc.record({
      submitAt: fc.nat(200_000),
      runMs: fc.nat(300_000),
      estimateMs: fc.option(fc.nat(300_000)),
      request: anyRequest,
    })
    const policy = fc.tuple(fc.constantFrom(...orderings), fc.constantFrom(...strategies))
    fc.assert(
      fc.property(fc.array(job, { maxLength: 15 }), policy, (drawn, [ordering, strategy]) => {
        const jobs = drawn.map(({ submitAt, runMs, estimateMs, request }, i) =>
          jobOf(`j${i}`, submitAt, runMs, { request, estimateMs: estimateMs as DurationMs | null }),
        )
        const lines = linesOf(timedRun(jobs), 4, singleQueue(ordering, strategy))
        const seen = new Map(jobs.map(({ id }) => [id, [] as number[]]))
        let now = 0
        for (const { input, decisions } of lines) {
          expect(input.at).toBeGreaterThanOrEqual(now)
          now = input.at
          if (input.type === 'WorkloadSubmitted') seen.get(input.data.workload)!.push(input.at)
          if (input.type === 'AttemptEnded') seen.get(input.data.workload)!.push(input.at)
          for (const { type, data } of decisions)
            if (type === 'WorkloadAdmitted') seen.get(data.workload)!.push(now)
            else if (type === 'WorkloadRefused') seen.delete(data.workload)
        }
        for (const [id, [submitted, started, ended, ...more]] of seen) {
          const { submitAt, runMs } = jobs.find((one) => one.id === id)!
          expect(submitted).toBe(submitAt)
          expect(ended! - started!).toBe(runMs)
          expect(more).toEqual([])
        }
      }),
      { numRuns: 150 },
    )
  })
})

describe('a static fill', () => {
  it('should submit all in the order of the file at once, tick once, and let nothing leave', () => {
    const jobs = [jobOf('b', 7, 1), jobOf('a', 3, 1), jobOf('c', 0, 1)]
    const lines = linesOf(staticFill(jobs), 2)
    expect(told(lines)).toEqual([
      '0 submit b',
      '0 submit a',
      '0 submit c',
      '0 tick WorkloadAdmitted b, WorkloadAdmitted a, WorkloadHeld c',
    ])
    for (const { decisions } of lines)
      for (const { type, data } of decisions) if (type === 'WorkloadAdmitted') expect(data.expectedEndAt).toBeNull()
  })
})
