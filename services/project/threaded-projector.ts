import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { either as E, type taskEither as TE } from 'fp-ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { RebuiltTable } from '../../domain/ports/views.ts'
import type { LentViews } from '../../infra/clickhouse/views.ts'
import type { LogPlace } from '../../infra/host/open-log.ts'
import { within } from '../../infra/host/within.ts'
import { busy, statusAt, type ProjectorStatus, type Standing } from './project.ts'
import type { ProjectFault } from './projected-log.ts'
import type { FromThread, ThreadData, ToThread } from './thread-message.ts'

type Built = E.Either<ProjectFault, ReadonlyArray<RebuiltTable>>

const backOffMinMs = 200
const backOffMaxMs = 30_000
/** What is left to write when it stops is written within this; the rest is at the next start. */
const drainMaxMs = 3_000

/** Node runs what is built; the sources stand beside it. */
const threadFile = (): string => {
  const here = fileURLToPath(import.meta.url)
  if (!here.endsWith('.ts')) return join(dirname(here), 'projection-thread.js')
  return join(dirname(here), '..', '..', 'dist', 'services', 'project', 'projection-thread.js')
}

/**
 * A projector in a thread of its own, so that what people look at takes no time of what is recorded. Where the thread
 * ends by itself, it is started again, ever more rarely, and goes on where the views are.
 */
export class ThreadedProjector {
  private readonly logPlace: LogPlace
  private readonly lent: LentViews
  private readonly clock: Clock
  private standing: Standing
  private worker: Worker | null = null
  private ended: Promise<void> = Promise.resolve()
  private stopping = false
  private backOffMs = backOffMinMs
  private timer: NodeJS.Timeout | undefined
  private asked: ((built: Built) => void) | null = null

  /** @param logPlace of the log, which is opened to be read */
  constructor(logPlace: LogPlace, lent: LentViews, clock: Clock) {
    this.logPlace = logPlace
    this.lent = lent
    this.clock = clock
    this.standing = { projected: -1, told: -1, since: clock.now(), fault: null }
    this.start()
  }

  status(): ProjectorStatus {
    return statusAt(this.standing, this.clock.now())
  }

  /** As `Projector.rebuild`. */
  rebuild(): TE.TaskEither<ProjectFault, ReadonlyArray<RebuiltTable>> {
    return () => {
      if (this.worker === null || this.stopping) return Promise.resolve(E.left(this.standing.fault ?? busy))
      if (this.asked !== null) return Promise.resolve(E.left(busy))
      return new Promise((resolve) => {
        this.asked = resolve
        this.say({ type: 'rebuild' })
      })
    }
  }

  /** Writes what has been read, if the views take it, and ends. */
  async stop(): Promise<void> {
    this.stopping = true
    clearTimeout(this.timer)
    this.say({ type: 'stop' })
    await within(drainMaxMs, this.ended)
    await this.worker?.terminate()
  }

  private start(): void {
    const data: ThreadData = { logPlace: this.logPlace, described: this.lent.described }
    const worker = new Worker(threadFile(), { name: 'project', workerData: data })
    this.worker = worker
    let cause: unknown = null
    worker.on('message', (message: FromThread) => {
      this.take(message)
    })
    worker.on('error', (thrown) => {
      cause = thrown
    })
    this.ended = new Promise((resolve) => {
      worker.on('exit', (code) => {
        this.worker = null
        resolve()
        this.end(cause, code)
      })
    })
  }

  private take(message: FromThread): void {
    const { lender } = this.lent
    switch (message.type) {
      case 'stands':
        if (message.standing.projected > this.standing.projected) this.backOffMs = backOffMinMs
        this.standing = message.standing
        return
      case 'built':
        this.asked?.(message.built)
        this.asked = null
        return
      case 'answered':
        lender.answered()
        return
      case 'address':
        this.answer(message.ask, lender.address())
        return
      case 'failed':
        this.answer(message.ask, lender.failed(message.pid))
    }
  }

  private answer(ask: number, answer: Promise<unknown>): void {
    void answer.then((given) => {
      this.say({ type: 'answer', ask, answer: given })
    })
  }

  private say(message: ToThread): void {
    this.worker?.postMessage(message)
  }

  private end(cause: unknown, code: number): void {
    const why = cause instanceof Error ? cause.message : `with ${code}`
    const told = cause === null ? this.standing.fault : null
    const fault = told ?? {
      type: 'LogUnavailable',
      kind: 'input-output',
      reason: `what brings the log into the views has ended: ${why}`,
      mend: 'it is started again by itself; if that does not help, start `leasehold up` anew',
    }
    this.standing = { ...this.standing, since: this.standing.since ?? this.clock.now(), fault }
    this.asked?.(E.left(fault))
    this.asked = null
    if (this.stopping) return
    this.timer = setTimeout(() => {
      this.start()
    }, this.backOffMs)
    this.backOffMs = Math.min(backOffMaxMs, 2 * this.backOffMs)
  }
}
