import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeFault } from '../../../domain/kernel/fault.ts'
import { parseColumnMap } from '../../../infra/traces/column-map.ts'
import { faultsToldMax } from '../../../infra/traces/fault-list.ts'
import { readNodeList } from '../../../infra/traces/node-list.ts'
import { readTrace, traceFormats, type TraceOptions } from '../../../infra/traces/trace.ts'
import { temporaryFile, temporaryFolder } from '../../support/temporary-file.ts'

/** What the reader says of a file it refuses, one text per fault. */
const refusal = async (content: string | Uint8Array, options: TraceOptions): Promise<ReadonlyArray<string>> => {
  const trace = await readTrace(temporaryFile(content), options)
  if (E.isRight(trace)) return ['it was read']
  if (trace.left.type === 'FileUnreadable') return [trace.left.code]
  expect(trace.left.count).toBeGreaterThanOrEqual(trace.left.faults.length)
  return trace.left.faults.map((fault) => describeFault(fault, 'F'))
}
const itpRows = (...rows: ReadonlyArray<string>): string =>
  ['job_id,submission_time,duration,num_gpu', ...rows].join('\n')
const swfRow = (job: string, run: string): string => `${job} 0 -1 ${run} 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1`

describe('a hostile cell', () => {
  it.each([
    ['a,-1,600,1', 'F:2:3: submission_time: "-1" is below 0; write a number from 0 on'],
    ['a,0,-600,1', 'F:2:5: duration: "-600" is below 0; write a number from 0 on'],
    ['a,0,600,-8', 'F:2:9: num_gpu: "-8" is below 0; write a number from 0 on'],
    ['a,NaN,600,1', 'F:2:3: submission_time: "NaN" is not a number; write a decimal number'],
    ['a,Infinity,600,1', 'F:2:3: submission_time: "Infinity" is not a number; write a decimal number'],
    ['a,1e999,600,1', 'F:2:3: submission_time: "1e999" is too large; the most is 253402300799.999'],
    ['a,0,1e300,1', 'F:2:5: duration: "1e300" is too large; the most is 315360000'],
    ['a,0,600,99999999999999999999', 'F:2:9: num_gpu: "99999999999999999999" is too large; the most is 1000000'],
    ['a,0,600,0x10', 'F:2:9: num_gpu: "0x10" is not a number; write a decimal number'],
    ['a,0,600,1.5', 'F:2:9: num_gpu: "1.5" is not a whole number; several GPUs are whole ones'],
    ['a,,600,1', 'F:2:3: submission_time: is empty; fill it in, or leave the row out'],
    ['a,0,600,', 'F:2:9: num_gpu: is empty; write 0 for a job without GPUs'],
    [',0,600,1', 'F:2:1: job_id: is empty; give every job an id of its own'],
    ['a,0,600', 'F:2:1: $: has 3 cells, the header has 4; write one cell per column; put a text with commas in quotes'],
    [
      'a,0,600,1,9',
      'F:2:1: $: has 5 cells, the header has 4; write one cell per column; put a text with commas in quotes',
    ],
    ['__proto__,0,600,1', 'F:2:1: job_id: "__proto__" is a reserved word; write another name, or leave the column out'],
    [
      'constructor,0,600,1',
      'F:2:1: job_id: "constructor" is a reserved word; write another name, or leave the column out',
    ],
    ['\u001b[31m,0,600,1', /^F:2:1: job_id: "\\u001b\[31m" has an unprintable character in it \(U\+001B\)/],
    ['"a""b,0,600,1', 'F:2:1: $: opens a quote that is never closed; close it; nothing after it was read'],
    ['a"b",0,600,1', /^F:2:1: \$: is not comma-separated values: misplaced quote/],
    ['a\u0000,0,600,1', 'F:2:2: $: holds a NUL byte; give a text file'],
  ])('should be told: %j', async (row, told) => {
    const faults = await refusal(itpRows(row), { format: 'itp' })
    expect(faults).toHaveLength(1)
    if (typeof told === 'string') expect(faults[0]).toBe(told)
    else expect(faults[0]).toMatch(told)
  })

  it('should not become a negative zero', async () => {
    const trace = await readTrace(temporaryFile(itpRows('a,-0,-0,-0')), { format: 'itp' })
    if (E.isLeft(trace)) throw new Error(JSON.stringify(trace.left))
    expect(trace.right.jobs[0]).toMatchObject({ submitAt: 0, runMs: 0, request: { devices: 0 } })
  })

  it('should be told in every format', async () => {
    const map = parseColumnMap('gpus=__proto__')
    if (E.isLeft(map)) throw new Error('the map was not read')
    expect(await refusal('__proto__,constructor\nx,1\n', { format: 'csv', map: map.right })).toEqual([
      'F:2:1: __proto__: "x" is not a number; write a decimal number',
    ])
    expect(await refusal('{"gpus":1e999}\n', { format: 'ndjson' })).toEqual([
      'F:1:1: gpus: "Infinity" is not a number; write a decimal number',
    ])
    expect(await refusal('{"gpus":true}\n', { format: 'ndjson' })).toEqual([
      'F:1:1: gpus: is boolean; write a text or a number; only models may be a list of texts',
    ])
    expect(await refusal(swfRow('1', '-7'), { format: 'swf' })).toEqual([
      'F:1:1: run: "-7" is below 0; write a number from 0 on',
    ])
    expect(await refusal('1 0 -1', { format: 'swf' })).toEqual([
      'F:1:1: $: has 3 fields, not 18; write all fields of a job in one line, -1 where unknown',
    ])
  })
})

describe('ids that repeat', () => {
  it('should be told in every format', async () => {
    const why = 'is there twice; give every job an id of its own'
    expect(await refusal(itpRows('a,0,1,1', 'b,0,1,1', 'a,5,1,1'), { format: 'itp' })).toEqual([
      `F:4:1: job_id: "a" ${why}`,
    ])
    expect(await refusal('{"id":"a","gpus":1}\n{"id":"a","gpus":1}', { format: 'ndjson' })).toEqual([
      `F:2:1: id: "a" ${why}`,
    ])
    expect(await refusal([swfRow('7', '1'), swfRow('7', '1')].join('\n'), { format: 'swf' })).toEqual([
      `F:2:1: job: "7" ${why}`,
    ])
    const nodes = await readNodeList(temporaryFile('sn,cpu_milli,memory_mib,gpu,model\nn,1,1,1,\nn,1,1,1,\n'))
    expect(nodes).toMatchObject(E.left({ type: 'FaultyFile', count: 1, faults: [{ line: 3, path: 'sn' }] }))
  })
})

describe('a hostile header', () => {
  it('should name every column that is missing, and what was probably meant', async () => {
    expect(await refusal('job_id,submit_time,num_gpus\na,0,1\n', { format: 'itp' })).toEqual([
      'F:1:1: submission_time: there is no such column; the header has job_id, submit_time, num_gpus',
      'F:1:1: duration: there is no such column; the header has job_id, submit_time, num_gpus',
      'F:1:1: num_gpu: there is no such column, but "num_gpus"; did you mean it? Rename the column, or map it',
    ])
  })

  it('should not take a misspelt column for one that is not there', async () => {
    expect(await refusal('gpus,estmate\n1,5\n', { format: 'csv' })).toEqual([
      'F:1:1: estimate: there is no such column, but "estmate"; did you mean it? Rename the column, or map it',
    ])
    expect(await refusal('{"gpus":1,"estmate":5}\n', { format: 'ndjson' })).toEqual([
      'F:1:1: "estmate": is no member of a job; did you mean estimate?',
    ])
  })

  it('should know a table with other separators', async () => {
    const told = await refusal('job_id;submission_time;duration;num_gpu\na;0;1;1\n', { format: 'itp' })
    expect(told).toHaveLength(4)
    expect(told[1]).toContain('the header has no comma, but ";": save it with commas')
  })

  it('should refuse two columns of one name', async () => {
    expect(await refusal('gpus,gpus\n1,2\n', { format: 'csv' })).toEqual([
      'F:1:1: gpus: is the name of two columns; rename one of them',
    ])
  })

  it('should refuse options that the format has no use for', async () => {
    const map = parseColumnMap('gpus=n')
    if (E.isLeft(map)) throw new Error('the map was not read')
    expect(await refusal('', { format: 'openb', map: map.right, timeUnit: 'ms' })).toEqual([
      'F: --map: openb has fixed columns; leave it out, or use csv',
      'F: --time-unit: openb has times in seconds; leave it out',
    ])
    const other = parseColumnMap('queue=queu')
    if (E.isLeft(other)) throw new Error('the map was not read')
    expect(await refusal('', { format: 'swf', map: other.right })).toEqual([
      'F: --map queue: there is no field "queu" in this format; did you mean queue?',
    ])
  })
})

describe('a hostile node list', () => {
  it.each([
    ['n,-1,1,8,T4', 'cpu_milli: "-1" is not a whole number from 0 to 1000000000; write one'],
    ['n,1,1e999,8,T4', 'memory_mib: "1e999" is not a whole number from 0 to 1073741824; write one'],
    ['n,1,1,99999999,T4', 'gpu: "99999999" is not a whole number from 0 to 65536; write one'],
    ['n,1,1,0.5,T4', 'gpu: "0.5" is not a whole number from 0 to 65536; write one'],
    ['n,1,1,,T4', 'gpu: is empty; write 0 for a node without GPUs'],
    [',1,1,8,T4', 'sn: is empty; give every node a name of its own'],
    ['__proto__,1,1,8,T4', 'sn: "__proto__" is a reserved word; write another name'],
    ['n,1,1,8', '$: has 4 cells, the header has 5; write one cell per column; put a text with commas in quotes'],
  ])('should be told: %j', async (row, told) => {
    const nodes = await readNodeList(temporaryFile(`sn,cpu_milli,memory_mib,gpu,model\n${row}\n`))
    if (E.isRight(nodes) || nodes.left.type !== 'FaultyFile') throw new Error('it was read')
    expect(nodes.left.faults.map((fault) => describeFault(fault).replace(/^line 2:\d+: /, ''))).toEqual([told])
  })

  it('should be one fault when it has no node', async () => {
    const nodes = await readNodeList(temporaryFile('sn,cpu_milli,memory_mib,gpu,model\n'))
    expect(nodes).toMatchObject(E.left({ count: 1, faults: [{ path: '$', reason: 'holds no node' }] }))
  })
})

describe('a hostile file', () => {
  it.each(traceFormats)('should be one fault when it is empty: %s', async (format) => {
    expect(await refusal('', { format })).toEqual(['F:1:1: $: is empty; give a file with at least one job'])
    expect(await refusal('\uFEFF', { format })).toEqual(['F:1:1: $: is empty; give a file with at least one job'])
    expect(await refusal('\r\n\r\n', { format })).toEqual(['F: $: holds no job; give a file with at least one job'])
  })

  it('should be one fault when it has a header only', async () => {
    expect(await refusal(itpRows(), { format: 'itp' })).toEqual([
      'F: $: holds no job; give a file with at least one job',
    ])
    expect(await refusal('; MaxProcs: 4\n', { format: 'swf' })).toEqual([
      'F: $: holds no job; give a file with at least one job',
    ])
  })

  it.each([
    ['gzip', Uint8Array.of(0x1f, 0x8b, 8, 0), /is compressed with gzip; unpack it first/],
    ['zip', Uint8Array.of(0x50, 0x4b, 3, 4), /is a zip archive or a spreadsheet/],
    ['UTF-16', Uint8Array.of(0xff, 0xfe, 0x61, 0), /is UTF-16; save the file as UTF-8/],
    ['not UTF-8', Uint8Array.of(0x61, 0xe9, 0x62), /^F:1:1: \$: is not UTF-8/],
  ])('should be one fault when it is %s', async (_, content, why) => {
    const faults = await refusal(content, { format: 'csv' })
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(why)
  })

  it('should be of the environment when it cannot be read', async () => {
    const folder = temporaryFolder()
    const absent = await readTrace(join(folder, 'none.csv'), { format: 'csv' })
    expect(absent).toMatchObject(E.left({ type: 'FileUnreadable', code: 'ENOENT', reason: 'there is no such file' }))
    const directory = await readTrace(folder, { format: 'csv' })
    expect(directory).toMatchObject(E.left({ type: 'FileUnreadable', code: 'EISDIR', reason: 'is a folder' }))
    const impossible = await readNodeList('a\u0000b')
    expect(impossible).toMatchObject(E.left({ type: 'FileUnreadable', reason: 'is no file name' }))
    if (process.getuid?.() === 0) return // Root may read everything.
    const secret = temporaryFile('gpus\n1\n')
    chmodSync(secret, 0)
    expect(await readTrace(secret, { format: 'csv' })).toMatchObject(E.left({ code: 'EACCES' }))
  })

  it('should have all its faults counted, and the first ones told', async () => {
    const trace = await readTrace(temporaryFile(itpRows(...Array.from({ length: 1000 }, (_, i) => `j${i},x,1,1`))), {
      format: 'itp',
    })
    if (E.isRight(trace) || trace.left.type !== 'FaultyFile') throw new Error('it was read')
    expect(trace.left.count).toBe(1000)
    expect(trace.left.faults).toHaveLength(faultsToldMax)
    expect(trace.left.faults.at(-1)).toMatchObject({ line: faultsToldMax + 1, path: 'submission_time' })
  })

  it('should not nest deeper than a parser can bear', async () => {
    const deep = (depth: number) => `{"gpus":1,"note":${'['.repeat(depth)}${']'.repeat(depth)}}`
    expect(await refusal(deep(63), { format: 'ndjson' })).toEqual(['it was read'])
    expect(await refusal(deep(64), { format: 'ndjson' })).toEqual([
      'F:1:1: $: nests more than 64 deep; write one JSON object per line',
    ])
    expect(await refusal('['.repeat(500_000), { format: 'ndjson' })).toHaveLength(1)
    expect(await refusal(`{"gpus":1,"note":"${'['.repeat(1000)}"}`, { format: 'ndjson' })).toEqual(['it was read'])
  })

  it('should be refused where a line is no object', async () => {
    expect(await refusal('[1]\nnull\n{"gpus":\n', { format: 'ndjson' })).toEqual([
      'F:1:1: $: is "[1]", not an object; write one JSON object per line',
      'F:2:1: $: is "null", not an object; write one JSON object per line',
      'F:3:1: $: is not JSON: "{\\"gpus\\":"; write one JSON object per line',
    ])
  })

  it('should not reach a prototype', async () => {
    const file = temporaryFile('{"gpus":1,"__proto__":{"class":"evil","toString":1},"constructor":{"prototype":1}}\n')
    const trace = await readTrace(file, { format: 'ndjson' })
    if (E.isLeft(trace)) throw new Error(JSON.stringify(trace.left))
    expect(trace.right.jobs[0]!.class).toBe('default')
    expect(({} as Record<string, unknown>)['class']).toBeUndefined()
  })

  it('should never make a reader throw', async () => {
    const pieces = fc.constantFrom(
      ...['job_id,submission_time,duration,num_gpu', 'gpus', ',', '"', '\n', '\r\n', '\u0000', '-1', '1e999', '{', '}'],
      ...['{"gpus":1}', '__proto__', ';', ' ', '\uFEFF', 'é', '1 0 -1 5 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1', '[]'],
    )
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 30 }), fc.constantFrom(...traceFormats), async (parts, format) => {
        const trace = await readTrace(temporaryFile(parts.join('')), { format })
        if (E.isLeft(trace) && trace.left.type === 'FaultyFile') expect(trace.left.count).toBeGreaterThan(0)
      }),
      { numRuns: 300 },
    )
  })
})
