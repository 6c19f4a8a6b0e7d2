import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { nodeCheck } from '../../../services/cli/doctor.ts'
import { writeSampleLog } from '../../support/sample-log.ts'
import { run, saying } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'verbs-'))
const data = join(folder, 'data')
const none = join(folder, 'none')

beforeAll(() => writeSampleLog(data))

const anyText: unknown = expect.any(String)

const runIn = (words: ReadonlyArray<string>, where = data) =>
  run([...words, '--data', where], { workingDirectory: folder })

describe('audit', () => {
  it('should print the head, and hold the log against it', async () => {
    const { code, stdout } = await runIn(['audit', 'head'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^10:[0-9a-f]{64}\n$/)
    const json = JSON.parse((await runIn(['audit', 'head', '-o', 'json'])).stdout) as { head: string; size: number }
    expect(json).toMatchObject({ size: 10, head: stdout.trim() })
    const verified = await runIn(['audit', 'verify', '--head', stdout.trim()])
    expect(verified).toEqual({ code: 0, stdout: `ok: 10 events, head ${stdout}`, stderr: '' })
  })

  it('should print the digest of the log, as docs/log.md defines it', async () => {
    const hash = (text: string) => createHash('sha256').update(text).digest('hex')
    const lines = (await runIn(['log', 'export'])).stdout.trimEnd().split('\n')
    const messages = lines.map((line) => /"message":(.*),"previousHash":/.exec(line)![1]!)
    const digest = hash(`cell-default ${lines.length} ${hash(messages.map((text) => `${text}\n`).join(''))}\n`)
    expect(await runIn(['audit', 'digest'])).toEqual({ code: 0, stdout: `${digest}\n`, stderr: '' })
    expect(JSON.parse((await runIn(['audit', 'digest', '-o', 'json'])).stdout)).toEqual({ digest })
  })

  it('should say what it found, and where, with exit code 4', async () => {
    const later = `11:${'a'.repeat(64)}`
    const { code, stderr, stdout } = await runIn(['audit', 'verify', '--head', later])
    expect(code).toBe(4)
    expect(stdout).toContain('10 events, 11 were expected')
    expect(stderr).toContain('the log is not what it was: 1 found')
    const other = `10:${'a'.repeat(64)}`
    const json = await runIn(['audit', 'verify', '--head', other, '-o', 'json'])
    expect(json.code).toBe(4)
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, events: 10, findings: [{ reason: anyText }] })
  })

  it('should locate a flipped byte', async () => {
    const damaged = join(folder, 'damaged')
    mkdirSync(damaged)
    const { stdout } = await runIn(['log', 'export'])
    writeFileSync(join(damaged, 'log.ndjson'), `${stdout.replace('"sweep-5"', '"sweep-6"')}\n`)
    const { code, stderr, stdout: found } = await runIn(['audit', 'verify', '-o', 'csv'], damaged)
    expect(code).toBe(4)
    expect(found).toMatch(/^position,stream,revision,reason\r\n5,/)
    expect(stderr).toBe('the log is not what it was: 1 found after 5 events; the rest was not read\n')
    const { stdout: json } = await runIn(['audit', 'verify', '-o', 'json'], damaged)
    expect(JSON.parse(json)).toMatchObject({ ok: false, events: 5, head: null })
  })

  it('should call a head that is none a usage error', async () => {
    const { code, stderr } = await runIn(['audit', 'verify', '--head', '10'])
    expect(code).toBe(2)
    expect(stderr).toContain('--head: "10" is not SIZE:HASH; give what `audit head` printed')
  })

  it.each([
    [['audit', 'head']],
    [['audit', 'verify']],
    [['log', 'export']],
    [['submit', resolve('docs/examples/finetune.yaml')]],
    [['queue']],
    [['fleet']],
    [['ladder']],
    [['why', 'x']],
    [['cancel', 'x']],
    [['sql', 'SELECT 1']],
    [['rebuild']],
  ])('should miss a log that is not there, and not make one: %j', async (words) => {
    const { code, stderr, stdout } = await runIn(words, none)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /^error: the log cannot be used: .* holds no log; start `leasehold up`, or name /,
    )
    expect(existsSync(none)).toBe(false)
  })
})

describe('log export', () => {
  it('should write every event as a line, with its hash', async () => {
    const lines = (await runIn(['log', 'export'])).stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(10)
    const first = JSON.parse(lines[0]!) as Record<string, unknown>
    expect(first).toMatchObject({ position: 0, stream: 'cell-default', revision: 0, message: { type: 'Ticked' } })
    expect(Object.keys(first).at(-1)).toBe('hash')
  })

  it('should leave out what was decided, on request', async () => {
    const lines = (await runIn(['log', 'export', '--inputs'])).stdout.trimEnd().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(
      Array(5).fill('dev.leasehold.clock.ticked.v1'),
    )
  })

  it('should write the same into a file, whole or not at all', async () => {
    const out = join(folder, 'out.ndjson')
    expect(await runIn(['log', 'export', '--out', out])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(readFileSync(out, 'utf8')).toBe((await runIn(['log', 'export'])).stdout)
    expect(existsSync(`${out}.partial`)).toBe(false)
    const { code, stderr } = await runIn(['log', 'export', '--out', join(none, 'out.ndjson')])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: cannot write .*ENOENT/)
  })
})

describe('doctor', () => {
  const checksOf = async (where: string, environment: { readonly [name: string]: string } = {}) => {
    const { code, stdout } = await run(['doctor', '-o', 'json', '--data', where], {
      workingDirectory: folder,
      environment,
    })
    return { code, checks: JSON.parse(stdout) as ReadonlyArray<{ check: string; status: string; detail: string }> }
  }
  const named = (checks: ReadonlyArray<{ check: string }>, name: string) => checks.find(({ check }) => check === name)

  it('should say which log is used and why, how durable it is, and what is in effect from where', async () => {
    const { code, checks } = await checksOf(data)
    expect(code).toBe(0)
    expect(named(checks, 'log')).toMatchObject({
      status: 'ok',
      detail: saying('because the folder holds'),
    })
    expect(named(checks, 'log')).toMatchObject({ detail: saying('10 events') })
    expect(named(checks, 'durability')).toMatchObject({ detail: saying('acknowledged after') })
    expect(named(checks, 'disk')).toMatchObject({ detail: saying(' free') })
    expect(named(checks, 'setting data')).toMatchObject({ detail: `${data}   (--data)` })
  })

  it('should change nothing where there is no log yet', async () => {
    const { code, checks } = await checksOf(none)
    expect(code).toBe(0)
    expect(named(checks, 'log')).toMatchObject({ status: 'ok', detail: saying('none yet') })
    expect(existsSync(none)).toBe(false)
  })

  it('should find a variable that nothing reads', async () => {
    const { code, checks } = await checksOf(data, { LEASEHOLD_DTAA: 'x' })
    expect(code).toBe(0)
    expect(named(checks, 'environment')).toMatchObject({ status: 'degraded' })
  })

  it('should exit with 1 when something is broken, and say what mends it', async () => {
    const two = join(folder, 'two')
    mkdirSync(two)
    for (const name of ['log.sqlite', 'log.ndjson']) writeFileSync(join(two, name), '')
    const { code, stdout } = await runIn(['doctor'], two)
    expect(code).toBe(1)
    expect(stdout).toMatch(/log +broken +.*holds two logs/)
    expect(stdout).toMatch(/^log: keep log.sqlite or log.ndjson/m)
    const file = join(folder, 'file')
    writeFileSync(file, '')
    expect((await checksOf(file)).code).toBe(1)
  })

  /** Root may write anywhere: it looks as somebody else, where that one may read the build. */
  const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const asNobody = (...words: ReadonlyArray<string>) =>
    spawnSync(process.execPath, [resolve('dist/services/cli/main.js'), ...words], {
      ...nobody,
      cwd: '/',
      encoding: 'utf8',
      env: { LEASEHOLD_VIEWS: 'none' },
    })
  it('should call a folder that cannot be written broken', ({ skip }) => {
    if (asNobody('--version').status !== 0) skip('nobody but root may read the build here')
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    chmodSync(folder, 0o755)
    chmodSync(closed, 0o555)
    const { status, stdout } = asNobody('doctor', '--data', closed)
    expect(status).toBe(1)
    expect(stdout).toMatch(/^data folder +broken +.*closed can be read, not written$/m)
    expect(stdout).toMatch(/^data folder: give yourself the right to write there, or name another folder/m)
  })

  it('should know which versions of Node are fit', () => {
    expect(nodeCheck('20.18.3').status).toBe('broken')
    expect(nodeCheck('18.20.0').status).toBe('broken')
    expect(nodeCheck('20.19.0').status).toBe('ok')
    expect(nodeCheck('24.1.0').status).toBe('ok')
  })
})
