import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CellEvent } from '../../domain/planner/cell-event.ts'
import type { Why } from '../../projections/explain/why.ts'
import { run } from '../services/cli/terminal.ts'
import { eventsIn, simulated } from '../support/simulated.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-file.ts'

const ofType = <T extends CellEvent['type']>(events: ReadonlyArray<CellEvent>, type: T) =>
  events.filter((event): event is Extract<CellEvent, { type: T }> => event.type === type)

const whyAt = async (folder: string, workload: string, at: number): Promise<Why> => {
  const { code, stdout, stderr } = await run([...['why', workload, '--at', String(at), '--data', folder, '-o', 'json']])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Why
}

describe('a table of anyone, in milliseconds, with estimates', () => {
  const map = 'submit=start,duration=run_ms,gpus=n,class=qos,estimate=limit'
  const flags = [
    ...['--format', 'csv', '--map', map, '--time-unit', 'ms'],
    ...['--nodes', '1', '--gpus-per-node', '2', '--ordering', 'fifo'],
  ]
  /** The first runs more than three times as long as it may; the second waits for it; the third can never fit. */
  const table = [
    'start,run_ms,n,qos,limit,remark',
    '500,130000,2,gold,40000,overruns twice',
    '10000,5000,1,std,7000,waits',
    '20000,5000,3,std,5000,too large',
    '20000,1500,0.5,std,,nobody knows how long',
  ].join('\n')

  it('should be run as it says, with what no fleet could hold refused', async () => {
    const ran = await simulated([temporaryFile(table, 'jobs.csv'), ...flags])
    expect(ran).toMatchObject({
      ...{ jobs: 4, refused: 1, waiting: 2, sumWaitS: 231, meanWaitS: 77, p50WaitS: 110.5, maxWaitS: 120.5 },
      meanWaitByClass: { gold: 0, std: 115.5 },
      meanWaitByGpus: { 1: 115.5, 2: 0 },
      ...{ firstSubmitS: 0.5, lastEndS: 135.5, queueNonEmptyS: 120.5, meanFreeMilliWhileQueued: 0 },
      meanJctS: (130 + 125.5 + 112) / 3,
    })
    expect(ran.util).toBeCloseTo((2 * 130 + 5 + 0.5 * 1.5) / (2 * 135), 8)
  })

  it('should move the projections when a job overruns its estimate, and say so in the log', async () => {
    const folder = temporaryFolder()
    await simulated([temporaryFile(table, 'jobs.csv'), ...flags], folder)
    const events = await eventsIn(folder)
    // Doubled, and at least a minute more each time.
    expect(ofType(events, 'EstimateOverran').map(({ at, data }) => [at, data])).toEqual([
      [40_500, { attempt: 1, expectedEndAt: 100_500, workload: 'row-1' }],
      [100_500, { attempt: 1, expectedEndAt: 200_500, workload: 'row-1' }],
    ])
    expect(ofType(events, 'WorkloadHeld').find(({ data }) => data.workload === 'row-2')).toMatchObject({
      at: 10_000,
      data: { code: 'WaitingForCapacity', freeMilli: 0, needMilli: 1_000, projectedStartAt: 40_500 },
    })
    const starts = []
    for (const at of [10_000, 40_499, 40_500, 100_500]) starts.push(await whyAt(folder, 'row-2', at))
    expect(starts).toMatchObject([40_500, 40_500, 100_500, 200_500].map((projectedStartAt) => ({ projectedStartAt })))
    expect(await whyAt(folder, 'row-2', 130_500)).toMatchObject({ state: 'running', expectedEndAt: 137_500 })
    expect(await run(['replay', 'verify', '--data', folder])).toMatchObject({ code: 0 })
  })

  it('should let a job that can never fit stand in nobody’s way, in no ordering', async () => {
    const file = temporaryFile('submit,duration,gpus\n0,10,1\n0,10,3\n0,10,1\n5,10,2\n', 'jobs.csv')
    for (const ordering of ['fifo', 'greedy', 'reserve']) {
      const folder = temporaryFolder()
      const fleet = ['--nodes', '1', '--gpus-per-node', '2', '--ordering', ordering]
      const ran = await simulated([file, ...fleet], folder)
      expect(ran).toMatchObject({ jobs: 4, refused: 1, waiting: 1, sumWaitS: 5, maxWaitS: 5, lastEndS: 20 })
      expect(ofType(await eventsIn(folder), 'WorkloadRefused').map(({ at, data }) => ({ at, ...data }))).toEqual([
        {
          ...{ at: 0, code: 'ExceedsFleet', largestMilli: 2_000, needDevices: 3, needMilli: 3_000 },
          ...{ rule: 'fleet', workload: 'row-2' },
        },
      ])
      const { code, stdout } = await run(['why', 'row-2', '--data', folder])
      expect(code).toBe(0)
      expect(stdout).toMatch(/^row-2 refused day 0 00:00:00: ExceedsFleet/)
      const filled = await simulated([file, ...fleet, '--static-fill'])
      expect(filled).toMatchObject({ jobs: 4, refused: 1, placed: 2, unplaced: 2, unplacedMilli: 5_000 })
      expect(filled.firstUnplaced).toBe('row-2')
    }
  })
})

describe('a workload in the standard format', () => {
  // Job, submitted, waited, ran, allocated, -, -, requested, requested time, -, status, user, group, -, queue ...
  const swf = [
    '; Version: 2.2',
    '; MaxProcs: 8',
    '1   0  5 100  8 -1 -1  8  150 -1 1 11 7 -1 1 -1 -1 -1',
    '2  10 -1  60 -1 -1 -1  8   60 -1 1 11 7 -1 2 -1 -1 -1',
    '3  20 -1  30  2 -1 -1 -1   -1 -1 1 12 7 -1 2 -1 -1 -1',
    '4  20 -1  -1 -1 -1 -1  4   60 -1 5 12 7 -1 2 -1 -1 -1',
    '5  -1 -1  10  1 -1 -1  1   10 -1 1 12 7 -1 2 -1 -1 -1',
    '6  30 -1  10 -1 -1 -1 -1   10 -1 1 12 7 -1 2 -1 -1 -1',
    '7  40 -1   0  1 -1 -1  1   10 -1 0 12 7 -1 2 -1 -1 -1',
  ].join('\n')
  const fleet = ['--nodes', '1', '--ordering', 'reserve']

  it('should be run with what is known of it', async () => {
    const folder = temporaryFolder()
    const ran = await simulated([temporaryFile(swf, 'log.swf'), ...fleet], folder)
    // 4, 5 and 6 are no jobs to run: without run time, submit time or processors.
    expect(ran).toMatchObject({ jobs: 4, refused: 0, waiting: 3, firstSubmitS: 0, lastEndS: 190 })
    expect(ran.meanWaitByGpus).toEqual({ 1: 120, 2: 140, 8: 45 })
    const events = await eventsIn(folder)
    expect(
      ofType(events, 'WorkloadSubmitted').map(({ data }) => [data.workload, data.request.devices, data.estimateMs]),
    ).toEqual([
      ['1', 8, 150_000],
      ['2', 8, 60_000],
      ['3', 2, null],
      ['7', 1, 10_000],
    ])
    // By the requested time of the first, which it does not use up.
    expect(await whyAt(folder, '2', 10_000)).toMatchObject({ state: 'waiting', projectedStartAt: 150_000 })
    expect(ofType(events, 'WorkloadAdmitted').map(({ at, data }) => [data.workload, at])).toEqual([
      ['1', 0],
      ['2', 100_000],
      ['3', 160_000],
      ['7', 160_000],
    ])
  })

  it('should be read by the names of its fields', async () => {
    const folder = temporaryFolder()
    const map = ['--format', 'swf', '--map', 'queue=queue,class=user,team=group']
    const ran = await simulated([temporaryFile(swf, 'anything'), ...map, ...fleet], folder)
    expect(Object.keys(ran.meanWaitByClass!)).toEqual(['11', '12'])
    const [policy] = ofType(await eventsIn(folder), 'PolicyActivated')
    expect(policy!.data.document.queues).toEqual([
      { name: '1', ordering: 'reserve' },
      { name: '2', ordering: 'reserve' },
    ])
  })
})

describe('what simulate prints as JSON', () => {
  const timedOnly = [
    ...['waiting', 'sumWaitS', 'meanWaitS', 'p50WaitS', 'p90WaitS', 'p99WaitS', 'maxWaitS', 'meanWaitByClass'],
    ...['neverStarted', 'maxWaitJob', 'maxWaitFromS', 'meanWaitByQueue'],
    ...['meanWaitByGpus', 'meanJctS', 'queueNonEmptyS', 'meanFreeMilliWhileQueued', 'firstSubmitS', 'lastEndS', 'util'],
  ]
  const filledOnly = [
    ...['placed', 'unplaced', 'unplacedMilli', 'allocatedMilli', 'share', 'freeGpus', 'partialGpus'],
    ...['partialFreeMilli', 'free8GpuNodes', 'firstUnplaced'],
  ]
  const both = ['jobs', 'refused', 'decisions', 'events', 'wallMs', 'logDigest']
  const jobs = 'submit,duration,gpus\n0,10,8\n0,10,4\n1,1,0.25\n'
  const nullsOf = (printed: object) => Object.entries(printed).flatMap(([key, value]) => (value === null ? [key] : []))

  it('should have every field, null where it has no meaning', async () => {
    const file = temporaryFile(jobs, 'jobs.csv')
    const ran = await simulated([file, '--nodes', '2'])
    const filled = await simulated([file, '--nodes', '2', '--static-fill'])
    for (const printed of [ran, filled])
      expect(Object.keys(printed)).toEqual(expect.arrayContaining([...both, ...timedOnly, ...filledOnly]))
    expect(nullsOf(ran).sort()).toEqual(
      [...filledOnly, 'maxWaitFromS', 'maxWaitJob', 'meanFreeMilliWhileQueued'].sort(),
    )
    expect(nullsOf(filled).sort()).toEqual([...timedOnly, 'firstUnplaced'].sort())
    expect(filled).toMatchObject({ placed: 3, freeGpus: 3, partialGpus: 1, partialFreeMilli: 750, free8GpuNodes: 0 })
    const nothingPlaced = await simulated([file, '--nodes', '1', '--gpus-per-node', '0'])
    expect(nothingPlaced).toMatchObject({ jobs: 3, refused: 3, meanWaitS: null, meanJctS: null, util: null })
  })

  it('should be followed by who never started, which no figure shows', async () => {
    const folder = temporaryFolder()
    const file = temporaryFile('submit,duration,gpus,queue\n0,10,8,a\n0,10,4,b\n1,10,4,b\n', 'jobs.csv')
    writeFileSync(join(folder, 'policy.yaml'), 'spec: { queues: [{ name: a }] }\n')
    const words = ['simulate', file, '--nodes', '2', '-o', 'json']
    const { code, stdout, stderr } = await run([...words, '--policy', join(folder, 'policy.yaml')])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ jobs: 3, refused: 0, waiting: 0 })
    expect(stderr).toBe('2 jobs never started and are in no figure of waits: Misconfigured 2.\n')
    expect((await run(words)).stderr).toBe('')
  })

  it('should count the decisions and events of the log', async () => {
    const folder = temporaryFolder()
    const ran = await simulated([temporaryFile(jobs, 'jobs.csv'), '--nodes', '2'], folder)
    const events = await eventsIn(folder)
    expect(events).toHaveLength(ran.events)
    const decided = new Set(['WorkloadAdmitted', 'WorkloadHeld', 'WorkloadRefused', 'EstimateOverran'])
    expect(events.filter(({ type }) => decided.has(type))).toHaveLength(ran.decisions)
  })
})

describe('what wins', () => {
  const jobs = 'submit,duration,gpus,queue\n0,10,8,a\n0,10,4,b\n'
  const policy = [
    'apiVersion: capacity.leasehold.dev/v1',
    'kind: AllocationPolicy',
    'spec:',
    '  placement: { strategy: spread, seed: 7 }',
    '  queues: [{ name: a, ordering: reserve }, { name: b, ordering: greedy }]',
  ].join('\n')
  const decidedBy = async (words: ReadonlyArray<string>, environment: { readonly [name: string]: string } = {}) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'leasehold.yaml'), 'ordering: fifo\nplacement: best-fit\n')
    writeFileSync(join(folder, 'policy.yaml'), policy)
    writeFileSync(join(folder, 'short.yaml'), 'spec: { queues: [{ name: a }, { name: b }] }\n')
    const data = join(folder, 'data')
    const file = temporaryFile(jobs, 'jobs.csv')
    const named = words.map((word) => (word.endsWith('.yaml') ? join(folder, word) : word))
    await simulated([file, '--nodes', '2', ...named], data, { workingDirectory: folder, environment })
    const [activated] = ofType(await eventsIn(data), 'PolicyActivated')
    const { placement, queues } = activated!.data.document
    return [queues.map(({ ordering }) => ordering).join(' '), placement.strategy, placement.seed]
  }

  it('should be the flag, then the policy, then the configuration', async () => {
    expect(await decidedBy([])).toEqual(['fifo fifo', 'best-fit', 0])
    expect(await decidedBy([], { LEASEHOLD_ORDERING: 'reserve' })).toEqual(['reserve reserve', 'best-fit', 0])
    expect(await decidedBy(['--policy', 'policy.yaml'])).toEqual(['reserve greedy', 'spread', 7])
    const environment = { LEASEHOLD_ORDERING: 'fifo', LEASEHOLD_PLACEMENT: 'random' }
    expect(await decidedBy(['--policy', 'policy.yaml'], environment)).toEqual(['reserve greedy', 'spread', 7])
    // A document means the same whatever the configuration is: what it leaves out has its own default.
    expect(await decidedBy(['--policy', 'short.yaml'], environment)).toEqual(['greedy greedy', 'first-fit', 0])
    const flags = ['--ordering', 'fifo', '--placement', 'random', '--seed', '9']
    expect(await decidedBy(['--policy', 'policy.yaml', ...flags], environment)).toEqual(['fifo fifo', 'random', 9])
    expect(await decidedBy(flags)).toEqual(['fifo fifo', 'random', 9])
  })

  it('should be for the folder: the flag, then the environment', async () => {
    const folder = temporaryFolder()
    const [named, set] = [join(folder, 'named'), join(folder, 'set')]
    for (const each of [named, set]) mkdirSync(each)
    const words = [temporaryFile(jobs, 'jobs.csv'), '--nodes', '2']
    const around = { environment: { LEASEHOLD_DATA: set } }
    const first = await simulated(words, undefined, around)
    expect(await eventsIn(set)).toHaveLength(first.events)
    const second = await simulated([...words, '--ordering', 'fifo'], named, around)
    expect(await eventsIn(named)).toHaveLength(second.events)
    expect(await eventsIn(set)).toHaveLength(first.events)
  })
})
