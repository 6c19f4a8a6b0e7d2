import { expect, it } from 'vitest'
import { countSlowly } from '../support/oracle/count-only.ts'
import { itpJobsOf, machinesOf, podsOf } from '../support/oracle/files.ts'
import { counts, fills, firstUnplaced, replays } from '../support/oracle/published.ts'
import { fillSlowly } from '../support/oracle/static-fill.ts'
import { replaySlowly } from '../support/oracle/time-replay.ts'
import { describeOnData, sharedData } from '../support/shared-data.ts'

/** The reference simulators share nothing with the product; here they are held against the published tables. */
const pods = (list: string) => podsOf(sharedData(`openb/openb_pod_list_${list}.csv`))
const machines = (list: 'all' | 'gpu') => machinesOf(sharedData(`openb/openb_node_list_${list}_node.csv`))
const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))

describeOnData('the slow static fill', () => {
  it.each(fills)('should fill %s nodes with %s, %s fit', (nodes, list, rule, ...row) => {
    const fill = fillSlowly(pods(list), machines(nodes), rule)
    const [placed, unplaced, unplacedMilli, allocatedMilli, share, free, partial, partialMilli, free8] = row
    expect(fill).toMatchObject({ placed, unplaced, unplacedMilli, allocatedMilli })
    expect(rounded(fill.share, 6)).toBe(share)
    expect([fill.freeGpus, fill.partialGpus, fill.partialFreeMilli, fill.free8GpuNodes]).toEqual([
      free,
      partial,
      partialMilli,
      free8,
    ])
    const first = firstUnplaced.get(`${nodes} ${list} ${rule}`)
    if (first !== undefined) expect(fill.firstUnplaced).toBe(first)
  })
})

describeOnData('the slow replay by time', () => {
  it.each(replays)('should replay openb default on %i GPUs, %s', (gpus, rule, ...row) => {
    const replay = replaySlowly(pods('default'), gpus / 8, rule)
    expect([
      replay.waiting,
      replay.sumWait,
      rounded(replay.meanWait, 3),
      rounded(replay.p90Wait, 1),
      rounded(replay.p99Wait, 1),
      replay.maxWait,
      rounded(replay.meanWaitByQos.get('LS')!, 2),
      rounded(replay.meanWaitByQos.get('BE')!, 2),
      rounded(replay.meanWaitByGpus.get(8)!, 1),
      replay.queueNonEmpty,
      rounded(replay.meanFreeMilliWhileQueued, 1),
      replay.lastEnd,
      rounded(replay.util, 6),
    ]).toEqual(row)
    expect(replay.held.size).toBe(replay.waiting)
  })

  it('should tell how things stood when a pod began to wait', () => {
    const { held, startedAt } = replaySlowly(pods('default'), 6, 'greedy')
    expect(held.size).toBe(68)
    for (const pod of held.values()) {
      // Skipped, not overtaken: nothing could take it, whoever is ahead.
      expect(pod.mostFittingDevices).toBeLessThan(pod.gpus)
      expect(pod.ahead).toHaveLength(pod.position)
      expect(pod.startedAt).toBeGreaterThan(pod.heldAt)
      for (const name of pod.ahead) expect(startedAt.get(name)).toBeGreaterThan(pod.heldAt)
    }
  })

  it('should bring the eight-GPU pods forward with best fit', () => {
    expect(Math.round(replaySlowly(pods('default'), 6, 'greedy', 'best').meanWaitByGpus.get(8)!)).toBe(132_549)
    const at40 = replaySlowly(pods('default'), 5, 'greedy', 'best')
    expect(Math.round(at40.meanWaitByGpus.get(8)!)).toBe(488_345)
    expect(Math.round(at40.meanWait)).toBe(3346)
  })
})

describeOnData('the slow replay that only counts', () => {
  it.each(counts)('should replay ITP %s on %i GPUs, %s', (cluster, capacity, rule, sumWait, mean, ...row) => {
    const replay = countSlowly(itpJobsOf(sharedData(`itp/cluster${cluster}.csv`)), capacity, rule)
    expect(replay.sumWait).toBe(sumWait)
    if (mean !== null) expect(rounded(replay.meanWait, 2)).toBe(mean)
    expect([
      rounded(replay.p50Wait, 1),
      rounded(replay.p90Wait, 1),
      replay.maxWait,
      replay.waiting,
      rounded(replay.meanJct, 2),
      replay.lastEnd,
      rounded(replay.util, 5),
    ]).toEqual(row)
  })

  it('should show what a reservation is for', () => {
    const jobs = itpJobsOf(sharedData('itp/cluster06.csv'))
    expect(rounded(countSlowly(jobs, 128, 'reserve').meanWaitByGpus.get(64)!, 1)).toBe(49_939.3)
    expect(rounded(countSlowly(jobs, 128, 'greedy').meanWaitByGpus.get(64)!, 1)).toBe(221_557.1)
  })
})
