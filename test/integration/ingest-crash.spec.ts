import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { digestOf } from '../../infra/chain/log-digest.ts'
import { verify } from '../../infra/chain/verify.ts'
import { openLog, type LogKind } from '../../infra/host/open-log.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import type { Answer } from '../../services/ingest/answer.ts'
import { DeadLetters, deadLetterStream } from '../../services/ingest/dead-letters.ts'
import { factLines } from '../../services/ingest/fact-lines.ts'
import { ingest } from '../../services/ingest/ingest.ts'
import { right } from '../support/events.ts'
import { factScript, lineOf, numbersFrom } from '../support/fact-script.ts'
import { run } from '../services/cli/terminal.ts'

/*
 * This process is the outside client: it sends facts to a process that it kills again and again, and believes what is
 * answered and nothing else.
 */

const child = 'dist/test/support/ingest-child.js'
const stream = 'cell-default'
const kills = 54

/** Facts, and between them what buses bring: repeated facts, facts that no cell takes, lines that are no facts. */
const scriptLines = async (seed: number): Promise<ReadonlyArray<string>> => {
  const below = numbersFrom(seed)
  const lines: string[] = []
  for (const [id, input] of await factScript(seed, 1_000)) {
    lines.push(lineOf(id, input))
    const n = lines.length
    const strange = [
      () => lines[below(n)]!,
      () => `{"id":"torn-${n}","type":"Ticked`,
      () => `{"id":"stranger-${n}","type":"Ticked","at":1,"data":{"colour":"red"}}`,
      () =>
        lineOf(`unknown-${n}`, {
          type: 'AttemptEnded',
          at: input.at,
          data: { attempt: 1, outcome: 'failed', workload: 'nobody' },
        }),
      () => lineOf(`early-${n}`, { type: 'Ticked', at: (input.at - 1) as EpochMs, data: {} }),
    ]
    if (input.at > 0 && below(20) === 0) lines.push(strange[below(strange.length)]!())
  }
  return lines
}

/** Runs the lines through the same path in this process, undisturbed. */
const undisturbed = async (lines: ReadonlyArray<string>) => {
  const log = memoryEventLog()
  const writer = { source: 'test', actor: 'test' }
  const clock = { now: () => Date.now() as EpochMs }
  const answers: Answer[] = []
  const path = {
    log,
    stream,
    writer: await right(() => CellWriter.open(log, { stream, ...writer, recordTime: clock.now })),
    deadLetters: await right(() => DeadLetters.open(log, writer)),
    clock,
    answer: (given: ReadonlyArray<Answer>) => Promise.resolve(void answers.push(...given)),
  }
  const bytes = (async function* () {
    yield await Promise.resolve(Buffer.from(lines.join('\n')))
  })()
  await right(() => ingest(factLines(bytes), path))
  const heads = await right(log.heads())
  const events = heads.reduce((sum, { size }) => sum + size, 0)
  return { answers, events, digest: await right(digestOf(log)) }
}

type Ingest = ChildProcessByStdio<Writable, Readable, null>

/** Resolves when the process can take facts. */
const started = async (folder: string, kind: LogKind, answered: (answer: Answer) => void): Promise<Ingest> => {
  const process_ = spawn(process.execPath, [child, folder, kind], { stdio: ['pipe', 'pipe', 'inherit'] })
  process_.stdin.on('error', () => undefined)
  await new Promise<void>((resolve, reject) => {
    process_.once('exit', (code) => {
      reject(new Error(`it ended before it was ready: ${code}`))
    })
    createInterface(process_.stdout).on('line', (line) => {
      if (line === 'ready') resolve()
      else if (line.endsWith('}')) answered(JSON.parse(line) as Answer)
    })
  })
  return process_
}

const ended = (process_: Ingest) =>
  new Promise<number | null>((resolve) => {
    process_.once('close', resolve)
  })

/** What the log holds: read by this process, not told by the other. */
const stored = async (folder: string) => {
  const { log } = await right(openLog(folder, { readOnly: true }))
  const events: { id: string; stream: string }[] = []
  for (let page = 0; page === 0 || events.length === page * 5_000; page++)
    events.push(...(await right(log.readAll(page * 5_000, 5_000))))
  await log.close()
  return events
}

describe.concurrent.each<LogKind>(['sqlite', 'file'])('ingest into a %s log, killed again and again', (kind) => {
  it(
    'should keep all that it has acknowledged, and nothing twice',
    { timeout: 240_000 },
    async ({ onTestFinished }) => {
      const seed = kind === 'sqlite' ? 20_260_730 : 20_260_731
      const below = numbersFrom(seed)
      const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
      const lines = await scriptLines(seed)
      const whole = await undisturbed(lines)
      const recorded = new Set<string>()
      const duplicate = new Set<string>()
      /** Lines before this one have been answered, and those up to `sent` have been sent. */
      let answered = 0
      let sent = 0
      let killed = 0
      let landed = 0
      let unanswered = 0
      const windowMax = Math.floor((2 * lines.length) / (kills + 6))
      onTestFinished(() => {
        rmSync(folder, { recursive: true, force: true })
        console.info(
          `${kind}: ${killed} kills, ${landed} with 0 < stored < ${whole.events}, ${unanswered} with stored events that had not been answered`,
        )
      })
      while (answered < lines.length) {
        // Some that have been answered already come again before all that have not.
        const again = Array.from({ length: below(4) }, () => lines[below(Math.max(answered, 1))]!)
        const last = killed < kills ? Math.min(lines.length, Math.max(sent, answered + below(windowMax))) : lines.length
        let repeated = answered === 0 ? 0 : again.length
        // A seeded instant: so many answers have come, or none for a while, and then so many milliseconds.
        let until = below(last - answered + 1)
        let due: () => void = () => undefined
        const isDue = new Promise<void>((resolve) => (due = resolve))
        /** What is answered once it has been killed does not reach us, as from a machine that is gone. */
        const heard = { gone: false }
        const process_ = await started(folder, kind, ({ id, outcome }) => {
          if (heard.gone) return
          if (outcome === 'recorded') recorded.add(id)
          if (outcome === 'duplicate') duplicate.add(id)
          if (repeated > 0) repeated -= 1
          else {
            answered += 1
            until -= 1
          }
          if (until <= 0) due()
        })
        const end = ended(process_)
        const parts = [...(answered === 0 ? [] : again), ...lines.slice(answered, last)]
        sent = last
        // In pieces, as a bus would: some in one flush, some in several.
        const piece = 1 + below(40)
        const instant = below(2) * below(12)
        const kill =
          killed < kills
            ? Promise.race([isDue, wait(until === 0 ? 0 : 400)])
                .then(() => wait(instant))
                .then(() => {
                  process_.kill('SIGKILL')
                  heard.gone = true
                })
            : null
        for (let from = 0; from < parts.length && !heard.gone; from += piece) {
          process_.stdin.write(
            parts
              .slice(from, from + piece)
              .map((line) => `${line}\n`)
              .join(''),
          )
          await wait(below(3))
        }
        if (kill === null) {
          process_.stdin.end()
          expect(await end).toBe(0)
          continue
        }
        await kill
        await end
        killed += 1
        const events = await stored(folder)
        if (events.length > 0 && events.length < whole.events) landed += 1
        const ids = new Set(events.map((event) => event.id))
        if (
          events.some(
            ({ id }) => id.startsWith('fact-') && !id.includes(' ') && !recorded.has(id) && !duplicate.has(id),
          )
        )
          unanswered += 1
        expect([...recorded].filter((id) => !ids.has(id))).toEqual([])
      }
      expect(killed).toBeGreaterThanOrEqual(50)
      expect(landed).toBeGreaterThanOrEqual(40)

      const events = await stored(folder)
      expect(events).toHaveLength(whole.events)
      expect(new Set(events.map((event) => `${event.stream} ${event.id}`)).size).toBe(events.length)
      expect(events.filter((event) => event.stream === deadLetterStream).length).toBeGreaterThan(10)
      const { log } = await right(openLog(folder, { readOnly: true }))
      expect(await verify(log)).toMatchObject({ ok: true, events: whole.events, findings: [] })
      expect(await right(digestOf(log))).toBe(whole.digest)
      await log.close()
      for (const words of [
        ['audit', 'verify'],
        ['replay', 'verify'],
      ])
        expect(await run([...words, '--data', folder])).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^ok: /) as unknown,
        })
    },
  )
})

it('should answer every line of the script in its order', async () => {
  const lines = await scriptLines(1)
  const { answers } = await undisturbed(lines)
  expect(answers).toHaveLength(lines.length)
  expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(
    new Set(['recorded', 'duplicate', 'refused', 'undecodable', 'unneeded']),
  )
  for (const [i, line] of lines.entries())
    if (answers[i]!.outcome !== 'undecodable' && !answers[i]!.id.startsWith('sha256:'))
      expect(line.startsWith(`{"specversion":"1.0","id":"${answers[i]!.id}"`)).toBe(true)
})
