import { either as E } from 'fp-ts'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CpuMilli, DurationMs, EpochMs, GpuMilli, Mebibytes } from '../../../domain/kernel/units.ts'
import { countNodes, countTrace, type TraceCounts } from '../../../domain/simulation/trace-counts.ts'
import type { TraceJob } from '../../../domain/simulation/trace-job.ts'
import { readNodeList } from '../../../infra/traces/node-list.ts'
import { readTrace, type TraceFormat } from '../../../infra/traces/trace.ts'
import { describeOnData, sharedData } from '../../support/shared-data.ts'

const countsOf = async (path: string, format: TraceFormat): Promise<TraceCounts> => {
  const trace = await readTrace(sharedData(path), { format })
  if (E.isLeft(trace)) throw new Error(JSON.stringify(trace.left))
  return countTrace(trace.right.jobs, { recorded: trace.right.recorded })
}
const rounded = (value: number | null, digits: number): number => Number(value!.toFixed(digits))
const gpus = (counts: TraceCounts, count: number) => counts.byGpus.find((share) => share.gpus === count)!

describeOnData('counts of openb default', () => {
  let counts: TraceCounts
  beforeAll(async () => {
    counts = await countsOf('openb/openb_pod_list_default.csv', 'openb')
  })

  it('should count jobs and what they ask for', () => {
    expect(counts).toMatchObject({
      jobs: 8152,
      gpuJobs: 7064,
      cpuOnlyJobs: 1088,
      gpus: 7433,
      gpuMilli: 6_086_800,
      cpuMilli: 85_436_012,
      hostMemoryMib: 303_546_211,
      fractional: { jobs: 3078, gpuMilli: 1_731_800 },
      wholeSingle: { jobs: 3911, gpuMilli: 3_911_000 },
      multi: { jobs: 75, gpuMilli: 444_000 },
    })
    expect(counts.byGpus.map((share) => [share.gpus, share.jobs])).toEqual([
      [0, 1088],
      [1, 6989],
      [2, 16],
      [4, 15],
      [8, 44],
    ])
    expect(counts.byFraction.slice(0, 6).map(({ milli, jobs }) => [milli, jobs])).toEqual([
      [810, 1078],
      [470, 750],
      [320, 328],
      [650, 253],
      [230, 140],
      [460, 128],
    ])
  })

  it('should count by class and phase', () => {
    const table = counts.byClass.map((share) => [
      share.name,
      share.jobs,
      share.gpuJobs,
      share.gpuMilli,
      rounded(share.gpuHours, 2),
      ['Running', 'Failed', 'Pending', 'Succeeded'].map(
        (phase) => share.phases.find(({ name }) => name === phase)?.jobs ?? 0,
      ),
    ])
    expect(table).toEqual([
      ['LS', 4647, 4011, 3_867_520, 41_502.22, [3837, 203, 454, 153]],
      ['BE', 3398, 2948, 1_963_280, 1351.35, [1330, 1627, 441, 0]],
      ['Burstable', 100, 99, 250_000, 7460.41, [19, 40, 2, 39]],
      ['Guaranteed', 7, 6, 6000, 1286.49, [7, 0, 0, 0]],
    ])
    expect(counts.byPhase?.map((share) => [share.name, share.jobs, share.gpuMilli])).toEqual([
      ['Running', 5193, 3_373_300],
      ['Failed', 1870, 1_877_630],
      ['Pending', 897, 601_870],
      ['Succeeded', 192, 234_000],
    ])
  })

  it('should count GPU-hours', () => {
    const { times, fractional, wholeSingle } = counts
    expect(rounded(times!.gpuHours, 4)).toBe(51_600.4733)
    expect(rounded(fractional.gpuHours, 2)).toBe(7119.01)
    expect(rounded((100 * fractional.gpuHours!) / times!.gpuHours, 3)).toBe(13.796)
    expect(rounded(wholeSingle.gpuHours, 2)).toBe(36_854.68)
    expect([2, 4, 8].map((count) => rounded(gpus(counts, count).gpuHours, 2))).toEqual([547.0, 93.8, 6985.98])
    expect(rounded(times!.recorded!.gpuHoursScheduled, 4)).toBe(51_470.6742)
    expect(times!.recorded!.wait.count).toBe(7255)
    expect([times!.long.jobs, rounded(times!.long.gpuHours, 1)]).toEqual([25, 33_533.7])
  })

  it('should find the peaks of demand, and its mean', () => {
    expect(counts.times!.peak).toEqual({
      gpuMilli: { value: 65_590, atS: 12_523_614 },
      gpus: { value: 71, atS: 12_523_614 },
      jobs: { value: 56, atS: 11_821_598 },
      cpuMilli: { value: 778_516, atS: 12_522_200 },
    })
    expect(rounded(counts.times!.meanGpuMilli, 2)).toBe(14_396.83)
    const { firstSubmitS, lastSubmitS, lastEndS } = counts.times!
    expect([firstSubmitS, lastSubmitS, lastEndS]).toEqual([0, 12_901_761, 12_902_960])
  })

  it('should measure demand in the window that nearly all jobs are in', () => {
    const { window } = counts.times!
    expect(window).toMatchObject({
      fromS: 10_022_400,
      p50GpuMilli: 35_900,
      p90GpuMilli: 46_930,
      p95GpuMilli: 49_030,
      p99GpuMilli: 53_560,
      submitted: { jobs: 8050, gpuMilli: 6_002_640 },
      aliveAtStart: { jobs: 29, gpuMilli: 28_360 },
    })
    expect(rounded(window.meanGpuMilli, 2)).toBe(36_389.95)
    expect(window.above.map((c) => [c.gpus, rounded(100 * c.timeShare, 3), rounded(c.gpuHours, 2)])).toEqual([
      [32, 71.196, 4426.97],
      [40, 30.004, 1230.9],
      [48, 7.046, 162.2],
      [56, 0.366, 8.94],
      [64, 0.011, 0.11],
    ])
  })

  it('should tell the recorded wait and the life of a pod', () => {
    const { recorded, duration } = counts.times!
    expect(recorded!.wait).toMatchObject({ zero: 2046, p50S: 2, p90S: 106, p99S: 889.64, maxS: 14_330 })
    expect(rounded(recorded!.wait.meanS, 2)).toBe(61.3)
    expect(duration).toMatchObject({ zero: 1, p50S: 540, p90S: 6573.4, maxS: 12_537_496 })
    expect(rounded(duration.meanS, 1)).toBe(25_839.4)
  })
})

describeOnData('counts of the other openb lists', () => {
  it('should count what gpuspec33 asks of each set of models', async () => {
    const counts = await countsOf('openb/openb_pod_list_gpuspec33.csv', 'openb')
    const table = counts.byModelsWritten!.map(({ name, jobs, gpuMilli }) => [name, jobs, gpuMilli])
    expect(table).toHaveLength(17)
    expect(table).toEqual(
      expect.arrayContaining([
        ['any', 4676, 3_971_380],
        ['T4', 1291, 1_028_270],
        ['G2', 331, 385_000],
        ['P100', 279, 156_840],
        ['V100M16|V100M32', 141, 149_000],
        ['P100|V100M16|V100M32', 103, 104_000],
        ['G3', 86, 128_000],
        ['G2|P100|T4|V100M16|V100M32', 39, 33_310],
        ['P100|T4|V100M16|V100M32', 33, 33_000],
        ['A10|G2|T4|V100M16|V100M32', 24, 24_000],
        ['V100M16|V100M32|V100M32', 22, 31_000],
        ['V100M32', 20, 22_000],
        ['A10|T4', 6, 6000],
        ['P100|V100M16', 4, 4000],
        ['A10|G2|P100|T4|V100M16|V100M32|V100M32', 3, 3000],
        ['T4|V100M16|V100M32', 3, 5000],
        ['V100M16', 3, 3000],
      ]),
    )
    // A request takes them as a set.
    expect(counts.byModels.find(({ name }) => name === 'V100M16|V100M32')).toMatchObject({
      jobs: 163,
      gpuMilli: 180_000,
    })
    expect(counts.constrained).toMatchObject({ jobs: 2388, gpuMilli: 2_115_420 })
  })

  it('should count gpushare40, cpu050 and multigpu50', async () => {
    const share40 = await countsOf('openb/openb_pod_list_gpushare40.csv', 'openb')
    expect(share40).toMatchObject({ jobs: 8152, gpuMilli: 5_641_250 })
    expect(rounded(share40.times!.gpuHours, 4)).toBe(42_534.4033)
    expect(share40.times!.peak.gpuMilli).toEqual({ value: 61_650, atS: 12_523_614 })

    const cpu050 = await countsOf('openb/openb_pod_list_cpu050.csv', 'openb')
    expect(cpu050).toMatchObject({ jobs: 7439, gpuJobs: 7064, cpuOnlyJobs: 375, gpuMilli: 6_086_800 })
    expect(rounded(cpu050.times!.gpuHours, 4)).toBe(51_600.4733)
    expect(cpu050.times!.peak.gpuMilli).toEqual({ value: 65_590, atS: 12_523_614 })

    const multi = await countsOf('openb/openb_pod_list_multigpu50.csv', 'openb')
    expect(multi).toMatchObject({ jobs: 9061, gpuMilli: 11_358_800, times: null, byPhase: null })
  })
})

describeOnData('counts of the openb node lists', () => {
  it('should count nodes, GPUs and models', async () => {
    const all = await readNodeList(sharedData('openb/openb_node_list_all_node.csv'))
    const gpu = await readNodeList(sharedData('openb/openb_node_list_gpu_node.csv'))
    if (E.isLeft(all) || E.isLeft(gpu)) throw new Error('a node list was not read')
    const counts = countNodes(all.right)
    expect(counts).toMatchObject({
      nodes: 1523,
      gpuNodes: 1213,
      gpus: 6212,
      cpuMilli: 125_514_000,
      hostMemoryMib: 612_028_416,
      gpuNodesCpuMilli: 107_018_000,
      gpuNodesHostMemoryMib: 503_828_480,
    })
    expect(counts.byModel.map(({ model, nodes, gpus }) => [model, nodes, gpus])).toEqual([
      ['G2', 549, 4392],
      ['T4', 404, 842],
      ['G3', 39, 312],
      ['P100', 134, 265],
      ['V100M32', 30, 204],
      ['V100M16', 55, 195],
      ['A10', 2, 2],
    ])
    expect(counts.byGpusPerNode.map(({ gpusPerNode, nodes }) => [gpusPerNode, nodes])).toEqual([
      [0, 310],
      [1, 24],
      [2, 518],
      [4, 54],
      [8, 617],
    ])
    expect(countNodes(gpu.right)).toMatchObject({ nodes: 1213, gpus: 6212, cpuMilli: 107_018_000 })
  })
})

type Itp = readonly [jobs: number, hours: number, sizes: string, p50: number, p90: number, max: number]
const itp: ReadonlyArray<readonly [cluster: string, ...Itp, peak: number, atS: number, peakJobs: number]> = [
  [
    '02',
    5778,
    123_748.3628,
    '1:4937 2:102 4:301 8:352 16:36 32:36 64:14',
    6181.5,
    56_614.5,
    1_114_383,
    346,
    3_265_809,
    285,
  ],
  [
    '04',
    15_802,
    705_682.885,
    '1:11924 2:125 4:532 8:2779 16:182 32:254 64:6',
    7949,
    29_000.6,
    1_237_189,
    2025,
    1_314_505,
    464,
  ],
  ['05', 3629, 14_303.1419, '1:3465 2:50 4:37 8:77', 7699, 16_586.2, 203_901, 341, 1_884_977, 200],
  ['06', 2396, 123_878.6564, '1:1073 2:6 4:148 8:1082 16:59 32:20 64:8', 4320.5, 54_299.5, 899_735, 516, 2_265_806, 83],
  ['10', 260, 4023.4914, '1:193 2:51 4:14 16:2', 17_761, 68_253.9, 211_425, 52, 4_936_716, 33],
]

describeOnData('counts of ITP', () => {
  it.each(itp)('should count cluster%s', async (cluster, jobs, hours, sizes, p50, p90, max, peak, atS, peakJobs) => {
    const counts = await countsOf(`itp/cluster${cluster}.csv`, 'itp')
    expect(counts.jobs).toBe(jobs)
    expect(rounded(counts.times!.gpuHours, 4)).toBe(hours)
    expect(counts.byGpus.map((share) => `${share.gpus}:${share.jobs}`).join(' ')).toBe(sizes)
    const { p50S, p90S, maxS } = counts.times!.duration
    expect([p50S, p90S, maxS].map((s) => rounded(s, 1))).toEqual([p50, p90, max])
    expect(counts.times!.peak.gpus).toEqual({ value: peak, atS })
    expect(counts.times!.peak.jobs.value).toBe(peakJobs)
  })

  it('should count GPU-hours by size', async () => {
    const hours = async (cluster: string) =>
      (await countsOf(`itp/cluster${cluster}.csv`, 'itp')).byGpus.map((share) => rounded(share.gpuHours, 1))
    expect(await hours('04')).toEqual([32_576.2, 375.1, 8374.0, 321_488.8, 77_973.7, 233_884.5, 31_010.6])
    expect(await hours('06')).toEqual([2191.4, 539.2, 6387.2, 94_555.6, 1159.1, 946.7, 18_099.6])
  })
})

const job = (id: string, submitMs: number, runMs: number, devices = 1, milli = 1000): TraceJob => ({
  id,
  submitAt: submitMs as EpochMs,
  runMs: runMs as DurationMs,
  estimateMs: null,
  class: 'default',
  queue: 'default',
  team: 'default',
  request: {
    cpuMilli: 0 as CpuMilli,
    devices,
    hostMemoryMib: 0 as Mebibytes,
    memoryMib: 0 as Mebibytes,
    milli: milli as GpuMilli,
    models: null,
    span: 'node',
  },
})

describe('counts of made-up traces', () => {
  it('should say nothing about the times of an empty trace', () => {
    expect(countTrace([])).toMatchObject({ jobs: 0, gpuMilli: 0, byClass: [], times: null })
  })

  it('should release before it starts, and let a job of zero life occupy nothing', () => {
    const { peak } = countTrace([job('a', 0, 1000), job('b', 1000, 1000), job('c', 500, 0, 8)]).times!
    expect(peak.gpus).toEqual({ value: 1, atS: 0 })
    expect(peak.jobs).toEqual({ value: 1, atS: 0 })
  })

  it('should survive a trace without any duration', () => {
    const { times } = countTrace([job('a', 5000, 0)])
    expect(times).toMatchObject({ gpuHours: 0, meanGpuMilli: 0, duration: { zero: 1, maxS: 0 } })
    expect(times!.window).toMatchObject({ meanGpuMilli: 0, above: [] })
  })

  it('should stay exact where a sum of products leaves the safe integers', () => {
    const century = 3_155_760_000_000
    const jobs = Array.from({ length: 1000 }, (_, i) => job(`${i}`, 0, century, 1_000_000))
    expect(countTrace(jobs).times!.gpuHours).toBe((1e9 * century) / 3_600_000)
  })

  it('should compare demand with the numbers of GPUs it is given', () => {
    const jobs = [job('a', 0, 4000, 4), job('b', 1000, 1000, 8)]
    expect(countTrace(jobs, { windowFromMs: 0, capacities: [4, 8, 12] }).times!.window.above).toEqual([
      { gpus: 4, timeShare: 0.25, gpuHours: 8 / 3600 },
      { gpus: 8, timeShare: 0.25, gpuHours: 4 / 3600 },
      { gpus: 12, timeShare: 0, gpuHours: 0 },
    ])
  })
})
