import { either as E } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { openLog, type LogKind } from '../../infra/host/open-log.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import type { Answer } from '../../services/ingest/answer.ts'
import { DeadLetters } from '../../services/ingest/dead-letters.ts'
import { factLines } from '../../services/ingest/fact-lines.ts'
import { ingest } from '../../services/ingest/ingest.ts'

/*
 * Wires a bus that is the standard input to a log, as a process of its own that a test may kill. `ready` comes first,
 * then an answer for each line, and at the end, on stderr and on request, the most memory that it has had, in KiB.
 */

const ingestStream = 'cell-default'

const [folder = '', kind, report] = process.argv.slice(2) as [string?, LogKind?, 'report'?]

const say = (text: string): Promise<void> =>
  new Promise((resolve) =>
    process.stdout.write(text, () => {
      resolve()
    }),
  )

const fail = (what: string): never => {
  process.stderr.write(`error: ${what}\n`)
  process.exit(1)
}

const orFail = <A>(read: E.Either<LogUnavailable, A>): A =>
  E.isRight(read) ? read.right : fail(`the log cannot be used: ${read.left.reason}; ${read.left.mend}`)

const writer = { source: 'ingest', actor: 'ingest' }
const opened = await openLog(folder, kind === 'file' ? { load: () => Promise.resolve(E.left('not wanted')) } : {})()
const { log } = orFail(opened)
const recording = { stream: ingestStream, ...writer, recordTime: systemClock.now }
const cell = orFail(await CellWriter.open(log, recording))
const deadLetters = orFail(await DeadLetters.open(log, writer))
await say('ready\n')
const ended = await ingest(factLines(process.stdin), {
  log,
  stream: ingestStream,
  writer: cell,
  deadLetters,
  clock: systemClock,
  answer: (answers: ReadonlyArray<Answer>) => say(answers.map((answer) => `${JSON.stringify(answer)}\n`).join('')),
})
await log.close()
if (E.isLeft(ended))
  fail(
    ended.left.type === 'LogUnavailable'
      ? `the log cannot be used: ${ended.left.reason}; ${ended.left.mend}`
      : 'another process writes to this log; stop it',
  )
if (report !== undefined) process.stderr.write(`${process.resourceUsage().maxRSS}\n`)
