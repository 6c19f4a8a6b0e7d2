import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import { parseColumnMap, type ColumnMap } from '../../../infra/traces/column-map.ts'
import { readNodeList } from '../../../infra/traces/node-list.ts'
import { readTrace, type Trace, type TraceOptions } from '../../../infra/traces/trace.ts'
import { temporaryFile } from '../../support/temporary-file.ts'

const read = async (text: string, options: TraceOptions): Promise<Trace> => {
  const trace = await readTrace(temporaryFile(text), options)
  if (E.isLeft(trace)) throw new Error(JSON.stringify(trace.left))
  return trace.right
}
const mapOf = (text: string): ColumnMap => {
  const map = parseColumnMap(text)
  if (E.isLeft(map)) throw new Error(JSON.stringify(map.left))
  return map.right
}

describe('openb', () => {
  const header =
    'name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time'

  it('should read a pod', async () => {
    const { jobs, recorded } = await read(`${header}\np,8000,30517,1,460,T4|A10|T4,LS,Running,10,70,12\n`, {
      format: 'openb',
    })
    expect(jobs).toEqual([
      {
        id: 'p',
        submitAt: 10_000,
        runMs: 60_000,
        estimateMs: null,
        class: 'LS',
        queue: 'default',
        team: 'default',
        request: {
          cpuMilli: 8000,
          devices: 1,
          hostMemoryMib: 30_517,
          memoryMib: 0,
          milli: 460,
          models: ['A10', 'T4'],
          span: 'node',
        },
      },
    ])
    expect(recorded).toEqual([{ models: 'T4|A10|T4', phase: 'Running', scheduledAt: 12_000 }])
  })

  it('should take whole GPUs for several, and none of a GPU for CPU-only pods', async () => {
    const { jobs } = await read(`${header}\na,1,1,4,500,,BE,Failed,0,0,\nb,1,1,0,1000,,BE,Pending,0,1,\n`, {
      format: 'openb',
    })
    expect(jobs.map(({ request }) => [request.devices, request.milli, request.models])).toEqual([
      [4, 1000, null],
      [0, 0, null],
    ])
  })

  it('should read the short list, which has no times', async () => {
    const { jobs, recorded } = await read('name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,2,1,1000\n', {
      format: 'openb',
    })
    expect(jobs[0]).toMatchObject({ submitAt: null, runMs: null, class: 'default' })
    expect(recorded).toBeNull()
  })

  it('should read a node list', async () => {
    const nodes = await readNodeList(
      temporaryFile('sn,cpu_milli,memory_mib,gpu,model\nn0,32000,262144,0,\nn1,96000,,8,G2\n'),
    )
    const common = { deviceMemoryMib: null, domain: null }
    expect(nodes).toEqual(
      E.right([
        { ...common, cpuMilli: 32_000, devices: 0, hostMemoryMib: 262_144, model: null, node: 'n0' },
        { ...common, cpuMilli: 96_000, devices: 8, hostMemoryMib: null, model: 'G2', node: 'n1' },
      ]),
    )
  })
})

describe('itp', () => {
  it('should read a job, which may lie anywhere', async () => {
    const { jobs } = await read('job_id,submission_time,duration,num_gpu\nj,5,600,16\n', { format: 'itp' })
    expect(jobs[0]).toMatchObject({ id: 'j', submitAt: 5000, runMs: 600_000, class: 'default' })
    expect(jobs[0]!.request).toMatchObject({ devices: 16, milli: 1000, span: 'anywhere' })
  })
})

describe('swf', () => {
  const text = [
    '; Version: 2.2',
    '; MaxProcs: 128',
    ';   Note: a comment without a name is left aside',
    '',
    '  1   0  5  100  4  -1 -1  8  3600 -1  1  12 3 -1 2 -1 -1 -1',
    '  2  10 -1   60  4  -1 -1 -1    -1 -1  0  12 3 -1 2 -1 -1 -1',
    '  3  20 -1   -1 -1  -1 -1  4   600 -1  5  12 3 -1 2 -1 -1 -1',
    '  1   0  5   50  4  -1 -1  8  3600 -1  2  12 3 -1 2 -1 -1 -1',
    '  4  30 -1   10 -1  -1 -1 -1   600 -1  1  12 3 -1 2 -1 -1 -1',
  ].join('\n')

  it('should take requested processors, else allocated, and leave out what never ran', async () => {
    const { jobs, swf } = await read(text, { format: 'swf' })
    expect(jobs.map((job) => [job.id, job.submitAt, job.runMs, job.estimateMs, job.request.devices])).toEqual([
      ['1', 0, 100_000, 3_600_000, 8],
      ['2', 10_000, 60_000, null, 4],
    ])
    expect(swf!.skipped).toEqual({
      partialExecution: 1,
      unknownProcessors: 1,
      unknownRunTime: 1,
      unknownSubmitTime: 0,
    })
    expect(swf!.header.get('MaxProcs')).toBe('128')
  })

  it('should read fields by name', async () => {
    const { jobs } = await read(text, { format: 'swf', map: mapOf('gpus=allocated,queue=queue,team=group') })
    expect(jobs.map((job) => [job.request.devices, job.queue, job.team])).toEqual([
      [4, '2', '3'],
      [4, '2', '3'],
    ])
  })
})

describe('csv', () => {
  it('should read what a job declares, where there is a column for it', async () => {
    const text =
      'gpus,submitter,budget,preemptible,checkpoint,minRuntime\n1,ann,lab/vision,yes,30,60\n1,,,No,,\n1,,,,,\n'
    const { jobs } = await read(text, { format: 'csv', timeUnit: 'm' })
    const none = { budget: null, checkpointIntervalMs: null, minRuntimeMs: null, preemptible: null, submitter: null }
    expect(jobs.map(({ stated }) => stated)).toEqual([
      {
        budget: 'lab/vision',
        checkpointIntervalMs: 1_800_000,
        minRuntimeMs: 3_600_000,
        preemptible: true,
        submitter: 'ann',
      },
      { ...none, preemptible: false },
      none,
    ])
    expect((await read('gpus\n1\n', { format: 'csv' })).jobs[0]).not.toHaveProperty('stated')
    const refused = readTrace(temporaryFile('gpus,preemptible,checkpoint\n1,maybe,0\n'), { format: 'csv' })
    expect(await refused).toMatchObject({
      left: {
        faults: [
          { path: 'checkpoint', line: 2, reason: 'is 0' },
          { path: 'preemptible', line: 2, reason: '"maybe" is neither yes nor no' },
        ],
      },
    })
  })

  it('should read any table through a map', async () => {
    const { jobs } = await read('start,n,run_ms,qos,limit,id\n1500,2,250,gold,1000,x\n2000,0.25,1,,,x\n', {
      format: 'csv',
      map: mapOf('submit=start,duration=run_ms,gpus=n,class=qos,estimate=limit'),
      timeUnit: 'ms',
    })
    expect(jobs.map((job) => [job.id, job.submitAt, job.runMs, job.estimateMs, job.class])).toEqual([
      ['row-1', 1500, 250, 1000, 'gold'],
      ['row-2', 2000, 1, null, 'default'],
    ])
    expect(jobs.map(({ request }) => [request.devices, request.milli])).toEqual([
      [2, 1000],
      [1, 250],
    ])
  })

  it('should read the names of the fields without a map, in hours as in seconds', async () => {
    const { jobs } = await read(
      'id,submit,end,gpus,milli,cpu,memory,deviceMemory,models,class,queue,team\na,1,1.5,1,0,100,200,300,B|A,c,q,t\n',
      { format: 'csv', timeUnit: 'h' },
    )
    expect(jobs).toEqual([
      {
        id: 'a',
        submitAt: 3_600_000,
        runMs: 1_800_000,
        estimateMs: null,
        class: 'c',
        queue: 'q',
        team: 't',
        request: {
          cpuMilli: 100,
          devices: 1,
          hostMemoryMib: 200,
          memoryMib: 300,
          milli: 0,
          models: ['A', 'B'],
          span: 'anywhere',
        },
      },
    ])
  })

  it('should take a byte order mark, CRLF, quotes and blank lines', async () => {
    const { jobs } = await read('\uFEFFid,"gpus",note\r\n\r\n"a",1,"says ""no"",\r\nand goes"\r\nb,2,\r\n', {
      format: 'csv',
    })
    expect(jobs.map(({ id, request }) => [id, request.devices])).toEqual([
      ['a', 1],
      ['b', 2],
    ])
  })

  it('should round a part of a GPU up', async () => {
    const { jobs } = await read('gpus\n0.3333\n0.07\n0.29\n0.0001\n', { format: 'csv' })
    expect(jobs.map(({ request }) => request.milli)).toEqual([334, 70, 290, 1])
  })
})

describe('ndjson', () => {
  it('should read objects that leave members out', async () => {
    const lines = [
      { gpus: 1, submit: 2, duration: 3, class: 'a', extra: { deep: [1] } },
      { gpus: 0.5, submit: '4', end: 9.25, models: ['T4', 'A10', 'T4'], id: 'named', class: null },
      { gpus: 0 },
    ]
    const { jobs } = await read(lines.map((line) => JSON.stringify(line)).join('\n'), { format: 'ndjson' })
    expect(jobs.map((job) => [job.id, job.submitAt, job.runMs, job.class])).toEqual([
      ['row-1', 2000, 3000, 'a'],
      ['named', 4000, 5250, 'default'],
      ['row-3', null, null, 'default'],
    ])
    expect(jobs[1]!.request).toMatchObject({ devices: 1, milli: 500, models: ['A10', 'T4'] })
  })

  it('should read other members through a map', async () => {
    const { jobs } = await read('{"n":2,"t":7,"gpus":"not read"}\n', {
      format: 'ndjson',
      map: mapOf('gpus=n,submit=t'),
    })
    expect(jobs[0]).toMatchObject({ submitAt: 7000, request: { devices: 2 } })
  })
})

describe('a column map', () => {
  it.each([
    ['submit', /"submit" is not FIELD=COLUMN/],
    ['submit=', /is not FIELD=COLUMN/],
    ['submitt=a', /did you mean submit\?/],
    ['__proto__=a', /there is no field "__proto__"/],
    ['gpus=a,gpus=b', /gpus is given twice/],
    ['duration=a,end=b', /duration and end are both given/],
  ])('should refuse %s', (text, why) => {
    const map = parseColumnMap(text)
    expect(E.isLeft(map)).toBe(true)
    if (E.isLeft(map)) {
      expect(map.left).toHaveLength(1)
      expect(`${map.left[0]!.reason}; ${map.left[0]!.mend}`).toMatch(why)
    }
  })
})
