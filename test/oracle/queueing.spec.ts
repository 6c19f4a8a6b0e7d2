import { expect, it } from 'vitest'
import { counts, replays } from '../support/oracle/published.ts'
import { headsIn, type HeadSeen } from '../support/heads.ts'
import { describeOnData, sharedData } from '../support/shared-data.ts'
import { eventsIn, openbOn, rounded, simulated } from '../support/simulated.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folderFor = tempFolder()

/** Where the order is kept and the estimates are exact, what was promised first holds. */
const expectPromisesKept = (heads: ReadonlyArray<HeadSeen>): void => {
  for (const { workload, promisedAt, startedAt } of heads)
    if (promisedAt === null || startedAt === null || startedAt > promisedAt)
      expect({ workload, promisedAt, startedAt }).toBe('started by then')
}

describeOnData('openb by time', () => {
  it.each(replays)('should be as published on %i GPUs, %s', async (gpus, rule, ...row) => {
    const folder = folderFor()
    const ran = await simulated(openbOn(gpus, rule), folder)
    expect([
      ran.waiting,
      ran.sumWaitS,
      rounded(ran.meanWaitS, 3),
      rounded(ran.p90WaitS, 1),
      rounded(ran.p99WaitS, 1),
      ran.maxWaitS,
      rounded(ran.meanWaitByClass?.['LS'], 2),
      rounded(ran.meanWaitByClass?.['BE'], 2),
      rounded(ran.meanWaitByGpus?.['8'], 1),
      ran.queueNonEmptyS,
      rounded(ran.meanFreeMilliWhileQueued, 1),
      ran.lastEndS,
      rounded(ran.util, 6),
    ]).toEqual(row)
    expect(ran).toMatchObject({ jobs: 7064, refused: 0, firstSubmitS: 0 })
    if (rule !== 'fifo') return
    const heads = headsIn(await eventsIn(folder))
    expect(heads.length > 0).toBe(ran.waiting! > 0)
    expectPromisesKept(heads)
    for (const { promisedAt, startedAt } of heads) expect(startedAt).toBe(promisedAt)
  })

  it('should keep a place for the eight-GPU pods at 40 GPUs', async () => {
    const folder = folderFor()
    const greedy = await simulated(openbOn(40, 'greedy', 'best-fit'))
    const reserve = await simulated(openbOn(40, 'reserve', 'best-fit'), folder)
    const told = ({ meanWaitByGpus, meanWaitS }: typeof greedy) =>
      `eight-GPU pods ${rounded(meanWaitByGpus?.['8'], 0)} s, all ${rounded(meanWaitS, 0)} s`
    console.log(`openb, 40 GPUs, best-fit, mean wait: greedy ${told(greedy)}; reserve ${told(reserve)}`)
    expect(rounded(greedy.meanWaitByGpus?.['8'], 0)).toBe(488_345)
    expect(rounded(greedy.meanWaitS, 0)).toBe(3346)
    expect(reserve.meanWaitByGpus?.['8']).toBeLessThanOrEqual(305_000)
    expect(reserve.meanWaitS).toBeLessThanOrEqual(50_000)
    expectPromisesKept(headsIn(await eventsIn(folder)))
  })

  it('should bring the eight-GPU pods forward at 48 GPUs with best-fit alone', async () => {
    const greedy = await simulated(openbOn(48, 'greedy', 'best-fit'))
    expect(rounded(greedy.meanWaitByGpus?.['8'], 0)).toBe(132_549)
  })
})

describeOnData('ITP, where only the number of GPUs counts', () => {
  const cluster = (name: string, gpus: number, ordering: string) =>
    [
      ...[sharedData(`itp/cluster${name}.csv`), '--format', 'itp'],
      ...['--nodes', String(gpus / 8), '--ordering', ordering],
    ] as const

  it.each(counts)('should be as published: cluster %s, %i GPUs, %s', async (name, gpus, rule, sum, mean, ...row) => {
    const folder = folderFor()
    const ran = await simulated(cluster(name, gpus, rule), folder)
    expect(ran.sumWaitS).toBe(sum)
    if (mean !== null) expect(rounded(ran.meanWaitS, 2)).toBe(mean)
    expect([
      rounded(ran.p50WaitS, 1),
      rounded(ran.p90WaitS, 1),
      ran.maxWaitS,
      ran.waiting,
      rounded(ran.meanJctS, 2),
      ran.lastEndS,
      rounded(ran.util, 5),
    ]).toEqual(row)
    // The 64-GPU jobs of cluster 06 are what a reservation is for.
    const wide = rounded(ran.meanWaitByGpus?.['64'], 1)
    if (name === '06' && rule === 'reserve') expect(wide).toBe(49_939.3)
    if (name === '06' && rule === 'greedy') expect(wide).toBe(221_557.1)
    if (rule === 'greedy') return
    const heads = headsIn(await eventsIn(folder))
    expect(heads.length).toBeGreaterThan(0)
    expectPromisesKept(heads)
  })
})
