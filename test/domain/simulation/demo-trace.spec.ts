import { describe, expect, it } from 'vitest'
import {
  demoDays,
  demoGpusPerNode,
  demoJobs,
  demoNodes,
  demoSeed,
  demoTrace,
} from '../../../domain/simulation/demo-trace.ts'
import { countTrace } from '../../../domain/simulation/trace-counts.ts'
import { replaySlowly } from '../../support/oracle/time-replay.ts'

describe('the trace of the demo', () => {
  const jobs = demoTrace(demoSeed)
  const counts = countTrace(jobs)
  const percent = (count: number): number => (100 * count) / counts.jobs

  it('should be the same for the same seed, and another for another', () => {
    expect(demoTrace(demoSeed)).toEqual(jobs)
    expect(demoTrace(demoSeed + 1)).not.toEqual(jobs)
    expect(demoTrace(demoSeed, 10)).toHaveLength(10)
  })

  it('should have ids of its own, in order of submission', () => {
    expect(jobs).toHaveLength(demoJobs)
    expect(new Set(jobs.map(({ id }) => id)).size).toBe(demoJobs)
    for (let i = 1; i < jobs.length; i++) expect(jobs[i]!.submitAt).toBeGreaterThanOrEqual(jobs[i - 1]!.submitAt!)
  })

  it('should look like the demand of a real cluster', () => {
    expect(percent(counts.fractional.jobs)).toBeGreaterThan(40)
    expect(percent(counts.fractional.jobs)).toBeLessThan(50)
    expect(percent(counts.wholeSingle.jobs)).toBeGreaterThan(45)
    expect(percent(counts.wholeSingle.jobs)).toBeLessThan(56)
    expect(percent(counts.multi.jobs)).toBeGreaterThan(2)
    expect(percent(counts.multi.jobs)).toBeLessThan(6)
    expect(counts.byGpus.map(({ gpus }) => gpus)).toEqual([1, 2, 4, 8])
    expect(counts.byClass.map(({ name }) => name).sort()).toEqual(['debug', 'evaluation', 'serving', 'training'])
    const { duration, lastSubmitS } = counts.times!
    expect(lastSubmitS).toBeLessThan(demoDays * 86_400)
    // Most jobs are short, and a few long ones hold most of the time.
    expect(duration.meanS).toBeGreaterThan(1.8 * duration.p50S)
    expect(duration.p99S).toBeGreaterThan(10 * duration.p50S)
  })

  it('should make some jobs wait on the fleet it is made for, and most not', () => {
    const pods = jobs.map((job) => ({
      name: job.id,
      cpu: 0,
      memory: 0,
      gpus: job.request.devices,
      milli: job.request.milli,
      models: [],
      qos: job.class,
      submit: job.submitAt! / 1000,
      end: (job.submitAt! + job.runMs!) / 1000,
    }))
    expect(demoGpusPerNode).toBe(8)
    for (const placement of ['first', 'best'] as const) {
      const { waiting } = replaySlowly(pods, demoNodes, 'greedy', placement)
      expect(waiting).toBeGreaterThan(10)
      expect(waiting).toBeLessThan(100)
    }
  })
})
