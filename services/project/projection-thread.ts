import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { either as E } from 'fp-ts'
import { borrowViews, type LentViews } from '../../infra/clickhouse/views.ts'
import { systemClock } from '../../infra/host/clock.ts'
import { openLog } from '../../infra/host/open-log.ts'
import { Projector } from './project.ts'
import type { FromThread, ThreadData, ToThread } from './thread-message.ts'

/*
 * A thread of its own that brings the log into the views. It reads the log by itself, as another process would, and asks
 * the main thread for nothing but where the engine answers.
 */

/** Where processors are short, what is recorded goes before what is looked at. */
const niceness = 10

const { described, logPlace } = workerData as ThreadData
const port = parentPort!
const say = (message: FromThread): void => {
  port.postMessage(message)
}

const asked = new Map<number, (answer: never) => void>()
let questions = 0
const ask = <A>(question: (ask: number) => FromThread): Promise<A> =>
  new Promise((resolve) => {
    asked.set(questions, resolve)
    say(question(questions++))
  })

const lender: LentViews['lender'] = {
  address: () => ask((number) => ({ type: 'address', ask: number })),
  failed: (pid) => ask((number) => ({ type: 'failed', ask: number, pid })),
  answered: () => {
    say({ type: 'answered' })
  },
}

// On Linux a thread has a priority of its own; elsewhere this would be that of the whole process.
if (process.platform === 'linux') setPriority(niceness)

const opened = await openLog(logPlace, { readOnly: true, awaited: true })()
if (E.isLeft(opened)) {
  say({ type: 'stands', standing: { projected: -1, told: -1, since: systemClock.now(), fault: opened.left } })
  process.exit(1)
}
const { log } = opened.right
const views = borrowViews({ lender, described })
const projector: Projector = new Projector(log, views, systemClock, {
  moved: () => {
    say({ type: 'stands', standing: projector.standing() })
  },
})

port.on('message', (message: ToThread) => {
  switch (message.type) {
    case 'answer':
      asked.get(message.ask)?.(message.answer as never)
      asked.delete(message.ask)
      return
    case 'rebuild':
      void projector
        .rebuild()()
        .then((built) => {
          say({ type: 'built', built })
        })
      return
    case 'stop':
      void projector
        .stop()
        .then(() => views.close())
        .then(() => log.close())
        .then(() => process.exit(0))
  }
})
