import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run, unfolded } from '../services/cli/terminal.ts'
import { goodLog } from '../support/good-log.ts'
import { smallTrace } from '../support/small-trace.ts'
import { eventsIn, expectIntact, expectOneError } from '../support/told.ts'

/* What a person sees who gives the verbs something bad. What is stored stays as it was. */

const binary = resolve('dist/services/cli/main.js')
const { copyOf, folder, good, inFolder, leasehold, trace } = goodLog()
const isRoot = process.getuid?.() === 0

const intent = (spec: string, name = 'x'): string =>
  `apiVersion: capacity.leasehold.dev/v1\nkind: WorkloadIntent\nmetadata: { name: ${name}, team: t }\nspec: ${spec}\n`
const policy = (spec: string): string =>
  `apiVersion: capacity.leasehold.dev/v1\nkind: AllocationPolicy\nmetadata: { name: p, owner: o }\nspec: ${spec}\n`
const bomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...'bcdefgh'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdefg'[i]!}`).join(',')}]`),
].join('\n')

describe('a document', () => {
  const everywhere: ReadonlyArray<readonly [what: string, text: string, reason: RegExp]> = [
    ['that is no YAML', 'spec: [\n', /2:1: .*is not YAML/],
    ['that is empty', '', /there is nothing in it; write a document/],
    ['with a bracket for each of 100,000 levels', `spec: ${'['.repeat(100_000)}`, /deeper than 64 levels; remove/],
    ['that is a bomb of aliases', bomb, /aliases repeat more than 10000 values; write/],
    [
      'that reaches for a prototype',
      '__proto__: { spec: 1 }\nconstructor: 1\n',
      /__proto__: is a key that no document may use; remove it/,
    ],
    ['with an escape in it', 'metadata: { name: "\u001b[2J" }', /control character, "\\u001b"; remove/],
    ['with an escaped escape in it', 'metadata: { name: "a\\e[31mb" }', /unprintable character/],
    ['that is not UTF-8 but NUL', 'spec: \u0000', /control character/],
  ]
  it.each<readonly [what: string, text: string, reason: RegExp]>([
    ...everywhere,
    ['with a member that is none', intent('{ preferred: { count: 1, colour: red } }'), /colour: .*; /],
    [
      'with a negative count',
      intent('{ preferred: { count: -8 } }'),
      /spec\.preferred\.count: .*-8.*; give a whole number/,
    ],
    ['with no number', intent('{ preferred: { count: .nan } }'), /spec\.preferred\.count: .*; /],
    ['with no end', intent('{ preferred: { count: .inf } }'), /spec\.preferred\.count: .*; /],
    [
      'with a number above all bounds',
      intent('{ preferred: { count: 99999999999999999999999 } }'),
      /spec\.preferred\.count: .*; /,
    ],
    ['with 1e3', intent('{ preferred: { count: 1e3 } }'), /can be read in more than one way; write 1000/],
    ['with a member twice', intent('{ preferred: { count: 1, count: 2 } }'), /given twice; keep one/],
    [
      'whose names repeat',
      `${intent('{ preferred: { count: 1 } }')}---\n${intent('{ preferred: { count: 2 } }')}`,
      /repeats the name of document 1, x/,
    ],
  ])('of intents %s should be refused with its place and its mend', async (_, text, reason) => {
    const file = inFolder('intent.yaml', text)
    const ran = await leasehold('plan', file, '--data', good)
    expect(ran.code).toBe(2)
    expectOneError(ran)
    expect(ran.stderr).toContain(`error: ${file} is not valid\n  ${file}:`)
    expect(ran.stderr).toMatch(reason)
  })

  it.each<readonly [what: string, text: string, reason: RegExp]>([
    ...everywhere,
    ['with a member that is none', policy('{ queus: [] }'), /queus: .*queues/],
    ['with a queue twice', policy('{ queues: [{ name: q }, { name: q }] }'), /spec\.queues.*; /],
    ['with a negative seed', policy('{ placement: { seed: -1 } }'), /spec\.placement\.seed: .*-1.*; /],
  ])('of policy %s should be refused with its place and its mend', async (_, text, reason) => {
    const file = inFolder('policy.yaml', text)
    const data = join(folder, 'none')
    const ran = await leasehold('simulate', trace, '--nodes', '1', '--policy', file, '--data', data)
    expect(ran.code).toBe(2)
    expectOneError(ran)
    expect(ran.stderr).toContain(`error: ${file} is not valid\n  ${file}:`)
    expect(ran.stderr).toMatch(reason)
    expect(existsSync(data)).toBe(false)
  })

  it.each([
    ['deep', `data: ${'{a: '.repeat(50_000)}`, /deeper than 64 levels; remove/],
    ['a bomb', bomb, /aliases repeat more than 10000 values; write/],
    ['no mapping', '[a]', /not a mapping; write/],
    ['of a member that is none', '__proto__: 1', /no document may use|not a member/],
  ])('of configuration that is %s should be refused with its place and its mend', async (_, text, reason) => {
    const ran = await leasehold('doctor', '--config', inFolder('configuration.yaml', text))
    expect(ran.code).toBe(2)
    expectOneError(ran)
    expect(ran.stderr).toMatch(reason)
  })
})

describe('a trace', () => {
  it.each([
    ['a negative time', '{"id":"a","submit":-1,"duration":5,"gpus":1}', /:1:1: submit: "-1" is below 0; write/],
    ['no number', '{"id":"a","submit":NaN,"duration":5,"gpus":1}', /:1:1: .*is not JSON.*; write/],
    ['a number without end', '{"id":"a","submit":1e999,"duration":5,"gpus":1}', /submit: .*; write/],
    [
      'a huge number',
      '{"id":"a","submit":0,"duration":99999999999999999999,"gpus":1}',
      /duration: .*too large; the most is/,
    ],
    [
      'an id twice',
      '{"id":"a","submit":0,"duration":5,"gpus":1}\n{"id":"a","submit":1,"duration":5,"gpus":1}',
      /:2:1: id: "a" is there twice; give/,
    ],
    ['an escape in a name', '{"id":"\\u001b[2Ja","submit":0,"duration":5,"gpus":1}', /unprintable character.*; write/],
    ['a prototype', '{"id":"__proto__","submit":0,"duration":5,"gpus":1}', /reserved word.*; write/],
    ['deep nesting', `{"id":${'['.repeat(100_000)}`, /:1:1: .*; /],
  ])('with %s should be refused with its place and its mend', async (_, text, reason) => {
    const ran = await leasehold('simulate', inFolder('bad.ndjson', `${text}\n`), '--nodes', '1')
    expect(ran.code).toBe(2)
    expectOneError(ran)
    expect(ran.stderr).toMatch(reason)
  })

  it.each(['-1', '0', 'NaN', 'Infinity', '1e9', '99999999999999999999', '1.5', ''])(
    'should not run on %j nodes',
    async (nodes) => {
      const ran = await leasehold('simulate', trace, `--nodes=${nodes}`)
      expect(ran.code).toBe(2)
      expectOneError(ran)
      expect(ran.stderr).toContain('give a whole number from 1 to 100000')
    },
  )

  it('should run jobs whose names could be taken for those of decisions', async () => {
    const named = inFolder('named.csv', smallTrace.replace('d,3', 'gang/0,3').replace('b,1', 'gang/1,1'))
    expect(await leasehold('simulate', named, '--nodes', '1')).toMatchObject({ code: 0 })
  })

  it("should have a gang that is larger than the fleet refused, in nobody's way", async () => {
    const { code, stdout } = await leasehold('simulate', trace, '--nodes', '1', '--ordering', 'fifo', '-o', 'json')
    expect(code).toBe(0)
    const without = inFolder('without.csv', smallTrace.replace('gang,2,50,900\n', ''))
    const other = await leasehold('simulate', without, '--nodes', '1', '--ordering', 'fifo', '-o', 'json')
    const [report, reportWithout] = [stdout, other.stdout].map(
      (text) => JSON.parse(text) as { [name: string]: unknown },
    )
    expect(report).toMatchObject({ jobs: 4, refused: 1 })
    expect(report!['sumWaitS']).toBe(reportWithout!['sumWaitS'])
    const planned = await leasehold(
      'plan',
      inFolder('gang.yaml', intent('{ queue: default, preferred: { count: 900 } }')),
      '--data',
      good,
    )
    expect(planned).toMatchObject({ code: 3, stderr: '' })
    expect(planned.stdout).toContain(
      'x would be refused: ExceedsFleet.\n  it needs 900 GPUs; the empty fleet has 8 GPUs',
    )
  })

  it.each([
    ['simulate', ['simulate', '--nodes', '1']],
    ['import', ['import']],
  ])('with a line of 100 MB should be refused by %s in less than 300 MB', async (_, words) => {
    const path = join(folder, 'long.ndjson')
    writeFileSync(path, '{"id":"')
    for (let i = 0; i < 100; i++) writeFileSync(path, Buffer.alloc(1_000_000, 'x'), { flag: 'a' })
    const { code, stdout, stderr, peakMib } = await measured(process.execPath, [
      binary,
      words[0]!,
      path,
      ...words.slice(1),
    ])
    rmSync(path)
    expect(code).toBe(2)
    expectOneError({ stdout, stderr })
    expect(stderr).toContain(
      `error: ${path} is not valid\n  ${path}:1:1: $: is a line of more than 1048576 bytes; give`,
    )
    console.info(`${words[0]!} of a line of 100 MB: ${peakMib} MiB`)
    expect(peakMib).toBeLessThan(300)
  })
})

describe('what a name may do to a terminal', () => {
  it('should be nothing, wherever it is said again', async () => {
    const evil = '\u001b[2J\u009b31m\u202ex\u0007'
    for (const words of [
      ['why', evil],
      ['log', evil],
      ['queue', '--queue', evil],
      ['decisions', '--type', evil],
      ['plan', evil],
      ['simulate', evil, '--nodes', '1', '--format', 'csv'],
      ['audit', 'verify', '--head', evil],
      ['simulate', trace, '--nodes', evil],
      [evil],
      ['why', 'a', `--${evil}`],
      ['why', 'a', '--at', evil],
    ]) {
      const ran = await leasehold(...words, '--data', good)
      expect([1, 2]).toContain(ran.code)
      expect(ran.stdout).toBe('')
      expect(ran.stderr).toMatch(/^error: /)
      expect(ran.stderr).not.toMatch(/[^\P{Cc}\n]|\u202e/u)
    }
  })
})

describe('a file or folder', () => {
  it.each([
    ['that is not there', (words: string) => join(folder, `no-${words}`), /there is no such file; check the path/],
    ['that is a folder', () => folder, /is a folder; name a file in it/],
  ])('%s should be an error of the environment', async (_, path, reason) => {
    for (const words of [
      ['plan', path('plan'), '--data', good],
      ['simulate', path('trace'), '--format', 'csv', '--nodes', '1'],
      ['import', path('trace'), '--format', 'openb'],
      ['simulate', trace, '--node-list', path('list')],
      ['simulate', trace, '--nodes', '1', '--policy', path('policy')],
      ['doctor', '--config', path('configuration')],
    ]) {
      const ran = await leasehold(...words)
      expect(ran.code).toBe(1)
      expectOneError(ran)
      expect(ran.stderr).toMatch(reason)
    }
  })

  it('that this user may not read should be an error of the environment', ({ skip }) => {
    if (!isRoot) skip('only root can become somebody else')
    const secret = inFolder('secret.csv', smallTrace)
    const closed = copyOf('closed')
    execFileSync('chmod', ['600', secret])
    execFileSync('chmod', ['755', folder])
    execFileSync('chmod', ['700', closed])
    for (const [words, reason] of [
      [['simulate', secret, '--nodes', '1'], /reading it is not permitted; give this user the right/],
      [['queue', '--data', closed], /cannot be looked into; give this user the right/],
      [['simulate', trace, '--nodes', '1', '--data', closed], /cannot be written: EACCES; name a folder that can/],
    ] as const) {
      const { status, stdout, ...told } = spawnSync(process.execPath, [binary, ...words], {
        encoding: 'utf8',
        uid: 65534,
        gid: 65534,
      })
      const stderr = unfolded(told.stderr)
      expect(status).toBe(1)
      expectOneError({ stdout, stderr })
      expect(stderr).toMatch(reason)
    }
  })

  it('that is a file where the log should have a folder should be an error of the environment', async () => {
    const file = inFolder('file', 'text')
    for (const words of [
      ['simulate', trace, '--nodes', '1'],
      ['queue'],
      ['audit', 'verify'],
      ['log', 'export'],
      ['replay', 'verify'],
    ]) {
      const ran = await leasehold(...words, '--data', file)
      expect(ran.code).toBe(1)
      expectOneError(ran)
    }
    expect(readFileSync(file, 'utf8')).toBe('text')
    mkdirSync(join(folder, 'holds-folder', 'log.sqlite'), { recursive: true })
    const ran = await leasehold('queue', '--data', join(folder, 'holds-folder'))
    expect(ran.code).toBe(1)
    expect(ran.stderr).toMatch(/log\.sqlite is a folder; move it away/)
  })

  it('that holds no such cell should be told from one where nothing happens', async () => {
    for (const words of [['queue'], ['why', 'a'], ['log', 'a'], ['decisions'], ['replay', 'verify']]) {
      const ran = await run([...words, '--data', good], { environment: { LEASEHOLD_CELL: 'cell-2' } })
      expect(ran).toEqual({
        code: 1,
        stdout: '',
        stderr: 'error: the log holds no cell cell-2; set LEASEHOLD_CELL to one that it holds: cell-default\n',
      })
    }
  })
})

/** Runs a program and asks the system for the most memory that it had. */
const measured = async (program: string, words: ReadonlyArray<string>) => {
  const path = join(folder, 'peak')
  const preload = join(folder, 'peak.cjs')
  writeFileSync(
    preload,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(path)}, String(process.resourceUsage().maxRSS)))`,
  )
  const process_ = spawn(program, ['--require', preload, ...words])
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    process_[name].on('data', (chunk: Buffer) => (texts[name] += chunk.toString()))
  const [code] = (await once(process_, 'close')) as [number | null]
  return { code, ...texts, peakMib: Math.round(Number(readFileSync(path, 'utf8')) / 1_024) }
}

describe('who runs the binary', () => {
  const sh = (script: string, data = good) =>
    spawnSync('sh', ['-c', script, process.execPath, binary, trace], {
      encoding: 'utf8',
      cwd: folder,
      env: { ...process.env, LEASEHOLD_DATA: data },
    })

  it.each(['log export', 'decisions -o csv --limit 0', '--help'])('may read no more than a line of it: %s', (words) => {
    const { stdout, stderr } = sh(`{ "$0" "$1" ${words}; echo $? >status; } | head -1`)
    expect(stdout.split('\n')).toHaveLength(2)
    expect({ stderr, status: readFileSync(join(folder, 'status'), 'utf8') }).toEqual({ stderr: '', status: '0\n' })
  })

  it('may close its standard input', () => {
    const { status, stderr } = sh('"$0" "$1" plan - <&-')
    expect(status).toBe(2)
    expect(stderr).toMatch(/^error: - is not valid\n {2}-:1:1: \$: there is nothing in it; write a document\n$/)
    expect(sh('"$0" "$1" queue <&-')).toMatchObject({ status: 0 })
  })

  it('may close its standard output and error', async () => {
    expect(sh('"$0" "$1" queue >&- 2>&-').status).not.toBeNull()
    await expectIntact(good, await eventsIn(good))
  })

  it('may interrupt it, which a shell reports as 130, and go on', async () => {
    const data = join(folder, 'interrupted')
    const long = inFolder(
      'endless.csv',
      `id,submit,duration,gpus\n${Array.from({ length: 60_000 }, (_, i) => `job-${i},${i},300,1\n`).join('')}`,
    )
    const script = `sh -c 'echo $$ >pid; exec "$0" "$1" simulate ${long} --nodes 2' "$0" "$1" & while [ ! -s interrupted/log.sqlite-wal ]; do sleep 0.05; done; sleep 0.3; kill -INT $(cat pid); wait $!; echo $?`
    // A shell lets what it starts in the background ignore interrupts, unless it has job control.
    const { stdout } = sh(`set -m; ${script}`, data)
    expect(stdout.trim().split('\n').at(-1)).toBe('130')
    await expectIntact(data, await eventsIn(data))
  })
})
