import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import type { NodeSpec } from '../../../domain/fleet/fleet.ts'
import type { TraceJob } from '../../../domain/simulation/trace-job.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { simulate } from '../../../services/decide/simulate.ts'
import { nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import { singleQueue } from '../../support/histories.ts'

const jobOf = (id: string, submitS: number, runS: number, more: Partial<TraceJob> = {}): TraceJob => ({
  id,
  submitAt: (submitS * 1000) as EpochMs,
  runMs: (runS * 1000) as DurationMs,
  estimateMs: (runS * 1000) as DurationMs,
  class: 'LS',
  queue: 'q0',
  team: 'test',
  request: requestOf({}),
  ...more,
})

const reportOf = async (
  jobs: ReadonlyArray<TraceJob>,
  nodes: ReadonlyArray<NodeSpec>,
  fill = false,
  policy: AllocationPolicy = singleQueue('fifo', 'first-fit'),
) => {
  const done = await simulate(memoryEventLog(), 'cell', { jobs, nodes, policy, fill }, () => undefined)
  if (E.isLeft(done)) throw new Error(JSON.stringify(done.left))
  return done.right
}

describe('figures of a run by time', () => {
  // One device: a 100..110, b 110..130 (waits 8), c 130..160 (waits 25), d, of two devices, comes at 130 and is refused.
  const jobs = [
    jobOf('a', 100, 10),
    jobOf('b', 102, 20, { class: 'BE' }),
    jobOf('c', 105, 30, { request: requestOf({ milli: 500 }) }),
    jobOf('d', 130, 5, { request: requestOf({ devices: 2 }) }),
  ]

  it('should be those that a person works out by hand', async () => {
    const { report, decisions, events } = await reportOf(jobs, [nodeOf('n0', 1)])
    expect(report).toEqual({
      jobs: 4,
      refused: 1,
      waiting: 2,
      neverStarted: 0,
      sumWaitS: 33,
      meanWaitS: 11,
      p50WaitS: 8,
      p90WaitS: 8 + 0.8 * 17,
      p99WaitS: 8 + 0.98 * 17,
      maxWaitS: 25,
      maxWaitJob: 'c',
      maxWaitFromS: 105,
      meanWaitByClass: { BE: 8, LS: 12.5 },
      meanWaitByQueue: { q0: 11 },
      meanWaitByGpus: { '1': 11 },
      meanJctS: (10 + 28 + 55) / 3,
      // From 102, when b came, to 130, when c started; from 110 on nothing of the device is free, as before.
      queueNonEmptyS: 28,
      meanFreeMilliWhileQueued: 0,
      firstSubmitS: 100,
      lastEndS: 160,
      util: (10 + 20 + 15) / 60,
      placed: null,
      unplaced: null,
      unplacedMilli: null,
      allocatedMilli: null,
      share: null,
      freeGpus: null,
      partialGpus: null,
      partialFreeMilli: null,
      free8GpuNodes: null,
      firstUnplaced: null,
    })
    // Refused, three started, two held when they came, c again when it became the head.
    expect(decisions).toBe(1 + 3 + 2 + 1)
    // Besides: node, policy, four submissions, three ends, and the ticks at 100, 102, 105, 110 and 130.
    expect(events).toBe(decisions + 2 + 4 + 3 + 5)
  })

  it('should weigh what is free while something waits by how long it is', async () => {
    // Half and a quarter of a device are taken; b needs both devices and waits from 2 to 10, from 6 on without a.
    const both = requestOf({ devices: 2 })
    const waiting = [
      jobOf('a', 0, 6, { request: requestOf({ milli: 500 }) }),
      jobOf('x', 0, 10, { request: requestOf({ milli: 250 }) }),
      jobOf('b', 2, 5, { request: both }),
    ]
    const { report } = await reportOf(waiting, [nodeOf('n0', 2)])
    expect(report.queueNonEmptyS).toBe(8)
    expect(report.meanFreeMilliWhileQueued).toBe((4 * 1250 + 4 * 1750) / 8)
    expect(report.meanWaitByGpus).toEqual({ '1': 0, '2': 8 })
    expect(report.lastEndS).toBe(15)
  })

  it('should count what never starts, in no figure of waits', async () => {
    const { report } = await reportOf([...jobs, jobOf('lost', 200, 5, { queue: 'unknown' })], [nodeOf('n0', 1)])
    expect(report).toMatchObject({ jobs: 5, refused: 1, waiting: 2, neverStarted: 1, maxWaitJob: 'c' })
  })

  it('should interpolate percentiles at exact ranks', async () => {
    // Eleven jobs, one after the other on one device: waits 0, 1, 2 ... 10.
    const row = Array.from({ length: 11 }, (_, i) => jobOf(`j${i}`, 0, 1))
    const { report } = await reportOf(row, [nodeOf('n0', 1)])
    expect([report.p50WaitS, report.p90WaitS, report.p99WaitS, report.maxWaitS]).toEqual([5, 9, 9.9, 10])
  })

  it('should be null where nothing can be said', async () => {
    const { report } = await reportOf([], [nodeOf('n0', 1)])
    expect(report).toMatchObject({ jobs: 0, waiting: 0, sumWaitS: 0, meanWaitS: null, p50WaitS: null, meanJctS: null })
    expect(report).toMatchObject({ queueNonEmptyS: 0, meanFreeMilliWhileQueued: null, lastEndS: null, util: null })
    const refused = await reportOf([jobOf('d', 50, 5, { request: requestOf({ devices: 2 }) })], [nodeOf('n0', 1)])
    expect(refused.report).toMatchObject({ jobs: 1, refused: 1, waiting: 0, firstSubmitS: 50, util: null })
  })
})

it('should sum up a fill as it stands at its end', async () => {
  const nodes = [nodeOf('n0', 8), nodeOf('n1', 8), nodeOf('n2', 1, { model: 'a' })]
  const jobs = [
    jobOf('a', 0, 1, { request: requestOf({ milli: 300 }) }),
    jobOf('b', 0, 1, { request: requestOf({ devices: 8 }) }),
    jobOf('c', 0, 1, { request: requestOf({ devices: 8 }) }),
    jobOf('d', 0, 1, { request: requestOf({ devices: 9 }) }),
    jobOf('e', 0, 1, { request: requestOf({ models: ['a'], milli: 1000 }) }),
    jobOf('f', 0, 1, { request: requestOf({ milli: 1000, devices: 3 }) }),
  ]
  const { report } = await reportOf(jobs, nodes, true, singleQueue('greedy', 'first-fit'))
  expect(report).toMatchObject({
    jobs: 6,
    refused: 1,
    placed: 4,
    unplaced: 2,
    unplacedMilli: 8000 + 9000,
    allocatedMilli: 300 + 8000 + 1000 + 3000,
    share: 12_300 / 17_000,
    freeGpus: 5 - 1,
    partialGpus: 1,
    partialFreeMilli: 700,
    free8GpuNodes: 0,
    firstUnplaced: 'c',
    waiting: null,
    meanJctS: null,
    util: null,
  })
})
