import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { run } from '../services/cli/terminal.ts'
import { forge, type ForgedEvent } from '../support/forger.ts'
import { describeOnData } from '../support/shared-data.ts'
import { openbOn, simulated, type Simulated } from '../support/simulated.ts'

const root = mkdtempSync(join(tmpdir(), 'leasehold-'))
afterAll(() => {
  rmSync(root, { recursive: true, force: true })
})

/** The log of openb at 48 GPUs, written once; tests that damage it work on copies. */
const original = join(root, 'original')
const words = openbOn(48, 'greedy')
let ran: Simulated
let copies = 0
const copied = (): string => {
  const folder = join(root, `copy-${++copies}`)
  cpSync(original, folder, { recursive: true })
  return folder
}

const verb = (folder: string, ...more: ReadonlyArray<string>) => run([...more, '--data', folder])
const headOf = async (folder: string) => (await verb(folder, 'audit', 'head')).stdout.trim()

interface Verdict {
  readonly ok: boolean
  readonly inputs: number
  readonly decisions: number
  readonly finding: { readonly revision: number; readonly reason: string; readonly stored: unknown } | null
}
const replayed = async (folder: string) => {
  const { code, stdout } = await verb(folder, 'replay', 'verify', '-o', 'json')
  return { code, verdict: JSON.parse(stdout) as Verdict }
}

describeOnData('the log of openb at 48 GPUs', () => {
  beforeAll(async () => {
    ran = await simulated(words, original)
  })

  it('should be decided again, field by field, for every ordering', async () => {
    for (const ordering of ['greedy', 'fifo', 'reserve']) {
      const folder = ordering === 'greedy' ? original : join(root, ordering)
      const { events, decisions } = ordering === 'greedy' ? ran : await simulated(openbOn(48, ordering), folder)
      const { code, verdict } = await replayed(folder)
      expect({ code, ...verdict }).toEqual({
        ...{ code: 0, ok: true, stream: 'cell-default', finding: null },
        ...{ inputs: events - decisions, decisions },
      })
      expect((await verb(folder, 'audit', 'verify')).stdout).toMatch(new RegExp(`^ok: ${events} events, head `))
    }
  })

  it('should be the same to the byte when it is run again', async () => {
    const again = join(root, 'again')
    const figures = await simulated(words, again)
    const { wallMs } = figures
    expect(wallMs).toBeGreaterThan(0)
    expect(JSON.stringify(figures)).toBe(JSON.stringify({ ...ran, wallMs }))
    const exported = async (folder: string) => {
      const out = join(folder, 'out.ndjson')
      expect((await verb(folder, 'log', 'export', '--out', out)).code).toBe(0)
      return readFileSync(out)
    }
    expect((await exported(again)).equals(await exported(original))).toBe(true)
    expect(await headOf(again)).toBe(await headOf(original))
    // Kept or not, it is the same run.
    expect((await simulated(words)).logDigest).toBe(ran.logDigest)
    expect((await simulated(openbOn(48, 'fifo'))).logDigest).not.toBe(ran.logDigest)
  })

  it('should be exported as the second verifier accepts it, and not when it was tampered with', async () => {
    const script = join(import.meta.dirname, '../support/verify-export.mjs')
    const out = join(root, 'out.ndjson')
    expect((await verb(original, 'log', 'export', '--out', out)).code).toBe(0)
    expect(execFileSync(process.execPath, [script, out], { encoding: 'utf8' }).trim()).toBe(await headOf(original))
    const text = readFileSync(out, 'utf8')
    const lines = text.split('\n')
    const at = lines.findIndex((line) => line.includes('"type":"WorkloadAdmitted"')) + 1_000
    const tampered: ReadonlyArray<readonly [line: number, text: string]> = [
      [at + 1, lines.with(at, lines[at]!.replace(/"workload":"([^"]*)"/, '"workload":"$1x"')).join('\n')],
      [at + 1, lines.toSpliced(at, 1).join('\n')],
      [
        at + 1,
        lines
          .with(at, lines[at + 1]!)
          .with(at + 1, lines[at]!)
          .join('\n'),
      ],
    ]
    for (const [line, content] of tampered) {
      expect(content).not.toBe(text)
      writeFileSync(out, content)
      const { status, stderr } = spawnSync(process.execPath, [script, out], { encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringMatching(`^line ${line}: `) as unknown })
    }
  })

  type Data = Record<string, unknown>
  const changed = (event: ForgedEvent, change: (data: Data) => void): ForgedEvent => {
    const data = JSON.parse(event.data) as Data
    change(data)
    return { ...event, data: JSON.stringify(data) }
  }
  const lastOf = (events: ReadonlyArray<ForgedEvent>, type: string, holds?: (data: Data) => boolean): number =>
    events.findLastIndex(
      (event) => event.type === type && (holds === undefined || holds(JSON.parse(event.data) as Data)),
    )
  interface Forgery {
    readonly what: string
    readonly type: string
    readonly change: (data: Data) => void
    /** The member that differs then. */
    readonly path: string
    /** Of which event it is done. */
    readonly holds?: (data: Data) => boolean
  }
  const forgery = (what: string, type: string, path: string, value: (data: Data) => unknown): Forgery => ({
    ...{ what, type, path: `data.${path}` },
    change: (data) => (data[path] = value(data)),
  })
  const forgeries: ReadonlyArray<Forgery> = [
    forgery('another device', 'WorkloadAdmitted', 'lease', ({ lease }) => moved(lease)),
    forgery('another wait', 'WorkloadAdmitted', 'waitedMs', ({ waitedMs }) => Number(waitedMs) + 1),
    forgery('another rule', 'WorkloadAdmitted', 'rule', () => 'spec.queues[1].ordering'),
    forgery('another workload', 'WorkloadAdmitted', 'workload', () => 'openb-pod-0000'),
    forgery('more that was free', 'WorkloadHeld', 'freeMilli', ({ freeMilli }) => Number(freeMilli) + 10),
    forgery('another reason', 'WorkloadHeld', 'code', () => 'ExceedsFleet'),
    {
      ...forgery('another one ahead', 'WorkloadHeld', 'behind', () => 'openb-pod-0000'),
      holds: ({ behind }) => behind !== null,
    },
    forgery('a member more', 'WorkloadHeld', 'why', () => 'because'),
  ]
  const moved = (lease: unknown): unknown =>
    (lease as ReadonlyArray<{ devices: number[] }>).map((part) => ({ ...part, devices: [(part.devices[0]! + 1) % 8] }))

  it.each(forgeries)('should give away a forged decision, its chain made to fit: $what', async (one) => {
    const { type, change, path, holds } = one
    const folder = copied()
    let at = -1
    forge(folder, (events) => {
      at = lastOf(events, type, holds)
      return events.with(at, changed(events[at]!, change))
    })
    expect(await verb(folder, 'audit', 'verify')).toMatchObject({ code: 0 })
    const { code, verdict } = await replayed(folder)
    expect(code).toBe(4)
    expect(verdict).toMatchObject({ ok: false, finding: { revision: at } })
    expect(verdict.finding!.reason).toContain(path)
    // Only who has noted the head sees it by the chain.
    expect(await verb(folder, 'audit', 'verify', '--head', await headOf(original))).toMatchObject({ code: 4 })
    rmSync(folder, { recursive: true })
  })

  it('should give away a forged decision in a log that is one file, and name it to a person', async () => {
    const folder = join(root, 'file')
    mkdirSync(folder)
    const { stdout: lines } = await verb(original, 'log', 'export')
    writeFileSync(join(folder, 'log.ndjson'), `${lines}\n`)
    expect(await verb(folder, 'replay', 'verify')).toMatchObject({ code: 0 })
    expect(await headOf(folder)).toBe(await headOf(original))
    let at = -1
    forge(folder, (events) => {
      at = lastOf(events, 'WorkloadHeld')
      return events.with(
        at,
        changed(events[at]!, (data) => (data['largestMilli'] = 8_000)),
      )
    })
    expect(await verb(folder, 'audit', 'verify')).toMatchObject({ code: 0 })
    const { code, stdout } = await verb(folder, 'replay', 'verify')
    expect(code).toBe(4)
    expect(stdout).toMatch(
      new RegExp(
        `^event ${at} of cell-default does not follow from what came before it: data.largestMilli differs\n` +
          ' +stored +.*"largestMilli":8000.*\n +decided +.*"largestMilli":[0-7]',
      ),
    )
  })

  it('should give away a decision left out, put in or put off, and a forged input', async () => {
    const forged = async (change: (events: ReadonlyArray<ForgedEvent>, at: number) => ReadonlyArray<ForgedEvent>) => {
      const folder = copied()
      let at = -1
      forge(folder, (events) => {
        at = lastOf(events, 'WorkloadAdmitted', (data) => data['waitedMs'] !== 0)
        return change(events, at)
      })
      expect(await verb(folder, 'audit', 'verify')).toMatchObject({ code: 0 })
      const { code, verdict } = await replayed(folder)
      rmSync(folder, { recursive: true })
      expect({ code, ok: verdict.ok }).toEqual({ code: 4, ok: false })
      return { at, finding: verdict.finding! }
    }
    const leftOut = await forged((events, at) => events.toSpliced(at, 1))
    expect(leftOut.finding.revision).toBe(leftOut.at)
    const putIn = await forged((events, at) => {
      const meta = events[at]!.meta.replace(/"id":"[^"]*"/, '"id":"made up"')
      return events.toSpliced(at + 1, 0, { ...events[at]!, meta })
    })
    expect(putIn.finding.revision).toBe(putIn.at + 1)
    const putOff = await forged((events, at) => events.toSpliced(at, 1).toSpliced(at + 1, 0, events[at]!))
    expect(putOff.finding.revision).toBe(putOff.at)
    // What it asks for is an input, and not decided: but what follows from it then is not what is stored.
    let submission = -1
    const input = await forged((events, at) => {
      const { workload } = JSON.parse(events[at]!.data) as { workload: string }
      submission = lastOf(events, 'WorkloadSubmitted', (data) => data['workload'] === workload)
      return events.with(
        submission,
        changed(events[submission]!, (data) => (data['estimateMs'] = Number(data['estimateMs']) + 1)),
      )
    })
    expect(input.finding.revision).toBe(input.at)
    expect(input.finding.reason).toContain('expectedEndAt')
  })

  const columns = [
    ...['position', 'stream', 'revision', 'version', 'id', 'meta', 'message'],
    ...['previous_hash', 'hash'],
  ]
  it.each(columns)('should give away a flipped bit in the column %s, and where', async (column) => {
    const folder = copied()
    const db = new Sqlite(join(folder, 'log.sqlite'))
    const state = xoroshiro128plus(columns.indexOf(column))
    const position = uniformInt(state, 1_000, ran.events - 1_000)
    const value = db.prepare(`SELECT ${column} FROM event WHERE position = ?`).pluck().get(position) as
      number | string | Buffer
    const isNumber = typeof value === 'number'
    const bytes = isNumber ? Buffer.alloc(8) : Buffer.from(value as string)
    // High enough that no other event is in the place that the number then names.
    if (isNumber) bytes.writeBigInt64LE(BigInt(value))
    const bit = isNumber ? uniformInt(state, 20, 40) : uniformInt(state, 0, bytes.length * 8 - 1)
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    const cast = typeof value === 'string' ? 'CAST(? AS TEXT)' : '?'
    db.prepare(`UPDATE event SET ${column} = ${cast} WHERE position = ?`).run(
      isNumber ? bytes.readBigInt64LE() : bytes,
      position,
    )
    db.close()
    const { code, stdout } = await verb(folder, 'audit', 'verify', '-o', 'json')
    const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: ReadonlyArray<{ position: number | null }> }
    expect({ code, ok }).toEqual({ code: 4, ok: false })
    expect(findings.map((finding) => finding.position)).toContain(position)
    rmSync(folder, { recursive: true })
  })

  it('should give away a tail cut off and a log written anew, by its head', async () => {
    const head = await headOf(original)
    const folder = copied()
    const db = new Sqlite(join(folder, 'log.sqlite'))
    db.prepare('DELETE FROM event WHERE position >= ?').run(ran.events - 10)
    db.close()
    expect(await verb(folder, 'audit', 'verify')).toMatchObject({ code: 0 })
    const cut = await verb(folder, 'audit', 'verify', '--head', head)
    expect(cut.code).toBe(4)
    expect(cut.stdout).toContain(`it holds ${ran.events - 10} events, ${ran.events} were expected`)

    // Another run, as good in itself.
    const other = join(root, 'other')
    await simulated(openbOn(48, 'greedy', 'best-fit'), other)
    expect(await verb(other, 'audit', 'verify')).toMatchObject({ code: 0 })
    expect(await verb(other, 'replay', 'verify')).toMatchObject({ code: 0 })
    expect(await verb(other, 'audit', 'verify', '--head', head)).toMatchObject({ code: 4 })

    expect(await verb(original, 'audit', 'verify', '--head', head)).toMatchObject({ code: 0 })
  })
})
