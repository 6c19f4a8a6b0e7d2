import { writeSync } from 'node:fs'
import { either as E } from 'fp-ts'
import type { NewEvent } from '../../domain/ports/event-log.ts'
import { fileEventLog } from '../../infra/file/event-log.ts'
import { loadSqlite, sqliteEventLog } from '../../infra/sqlite/event-log.ts'

/*
 * `append-for-ever.js KIND PATH`: a process to be killed. It appends batches of 1 to 5 events, several at a time, and
 * writes the number of each that was acknowledged to its output, at once.
 */
const [kind, path] = process.argv.slice(2)
const taken = <A>(either: E.Either<unknown, A>): A => {
  if (E.isRight(either)) return either.right
  throw new Error(JSON.stringify(either.left))
}
const log = taken(await (kind === 'sqlite' ? sqliteEventLog(taken(await loadSqlite()), path!) : fileEventLog(path!))())
const [head] = taken(await log.heads()())
let revision = head === undefined ? -1 : head.size - 1
let batch = head === undefined ? 0 : Number(taken(await log.readMessages('cell', revision, 1)())[0]!.data['batch']) + 1

const batchOf = (number: number): ReadonlyArray<NewEvent> => {
  const of = 1 + (number % 5)
  return Array.from({ length: of }, (_, i) => ({
    id: `${number}/${i}`,
    message: {
      type: 'Ticked',
      at: 0 as NewEvent['message']['at'],
      data: { batch: number, i, of, pad: 'x'.repeat(300) },
    },
    version: 1,
    source: 'test',
    actor: 'test',
    recordTime: 0 as NewEvent['recordTime'],
    causation: null,
    correlation: null,
    policy: null,
  }))
}

for (;;) {
  const together = Array.from({ length: 1 + (batch % 7) }, async () => {
    const number = batch++
    const events = batchOf(number)
    const expected = revision
    revision += events.length
    taken(await log.append('cell', expected, events)())
    writeSync(1, `${number}\n`)
  })
  await Promise.all(together)
}
