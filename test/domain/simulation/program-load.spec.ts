import { describe, expect, it } from 'vitest'
import { programJobs, programLoad, programTerms } from '../../../domain/simulation/program-load.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const { days, devicesPerNode, nodes, paused, pausedDay, programs } = programLoad

describe('the load of three programs', () => {
  const jobs = programJobs(1)
  const devices = nodes * devicesPerNode
  const gpuHours = (which: (job: (typeof jobs)[number]) => boolean): number =>
    jobs.filter(which).reduce((sum, { request, runMs }) => sum + (request.devices * runMs!) / hourMs, 0)

  it('should be the same for the same seed, and another for another', () => {
    expect(programJobs(1)).toEqual(jobs)
    expect(programJobs(2)).not.toEqual(jobs)
  })

  it.each(programs)('should ask for two and a half times what $name is entitled to', ({ name, share }) => {
    const open = name === paused ? days - 1 : days
    const entitled = (devices * share * open * 24) / 100
    const ofKind = (kind: string) => gpuHours((job) => job.team === name && job.class === kind)
    expect(gpuHours(({ team }) => team === name) / entitled).toBeCloseTo(2.5, 2)
    expect(ofKind('debug') / entitled).toBeCloseTo(0.02, 3)
    expect(ofKind('evaluation') / entitled).toBeCloseTo(0.25, 3)
  })

  it('should be of jobs as they are described', () => {
    expect(jobs.length).toBeGreaterThan(60_000)
    expect(jobs.length).toBeLessThan(70_000)
    const bounds = { debug: [1, 1, 5, 15], evaluation: [1, 4, 1, 60], training: [1, 16, 18, 53 * 60] }
    for (const [kind, [fewest, most, shortest, longest]] of Object.entries(bounds)) {
      const those = jobs.filter((job) => job.class === kind)
      const sizes = those.map(({ request }) => request.devices)
      const minutes = those.map(({ runMs }) => runMs! / 60_000)
      expect([Math.min(...sizes), Math.max(...sizes)]).toEqual([fewest, most])
      expect(Math.min(...minutes)).toBeGreaterThanOrEqual(shortest!)
      expect(Math.max(...minutes)).toBeLessThanOrEqual(longest!)
    }
    const training = jobs.filter((job) => job.class === 'training').map(({ runMs }) => runMs! / hourMs)
    expect(training.sort((a, b) => a - b)[training.length >> 1]).toBeCloseTo(4, 0)
    expect(jobs.every(({ estimateMs }) => estimateMs === null)).toBe(true)
    const promised = jobs.map(({ terms }) => terms.preemption.minRuntimeMs / 60_000)
    expect(promised.reduce((least, each) => Math.min(least, each))).toBeGreaterThanOrEqual(30)
    expect(promised.reduce((most, each) => Math.max(most, each))).toBeLessThanOrEqual(120)
  })

  it('should come in order over a month, but on one day nothing of one program', () => {
    for (let i = 1; i < jobs.length; i++) expect(jobs[i]!.submitAt! >= jobs[i - 1]!.submitAt!).toBe(true)
    const dayOf = (at: number): number => Math.floor(at / dayMs) + 1
    expect(dayOf(jobs.at(-1)!.submitAt!)).toBe(days)
    const open = new Set(jobs.filter(({ team }) => team === paused).map(({ submitAt }) => dayOf(submitAt!)))
    expect(open.size).toBe(days - 1)
    expect(open.has(pausedDay)).toBe(false)
    const [hold] = programTerms.holds
    expect([dayOf(hold!.from), dayOf(hold!.until)]).toEqual([pausedDay, pausedDay + 1])
  })
})
