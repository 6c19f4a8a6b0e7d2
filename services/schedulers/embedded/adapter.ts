import { either as E, type taskEither as TE } from 'fp-ts'
import { Heap } from '../../../domain/kernel/heap.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { Command } from '../../../domain/planner/command.ts'
import type { CommandSink, SinkDown } from '../../../domain/ports/command-sink.ts'
import type { AppendFault } from '../../../domain/ports/event-log.ts'
import type { JournalLine, KeptJournal, OpenJournal } from './journal.ts'
import { PretendedJobs, type Report } from './pretended-jobs.ts'
import type { Script } from './script.ts'

export interface Pretending {
  /** Nobody else may use it. */
  readonly openJournal: OpenJournal
  readonly script: Script
  readonly now: () => EpochMs
  /** Records what happened; a `Left` means that it is to be told again later. */
  readonly report: (facts: ReadonlyArray<Report>) => Promise<E.Either<AppendFault, unknown>>
}

const reportsMax = 256
const backOffMinMs = 100
const backOffMaxMs = 10_000
/** Longest sleep: a clock that is set forward is noticed then. */
const sleepMaxMs = 5_000

interface Due {
  readonly at: number
  readonly id: string
}

/**
 * Pretends to run jobs on the fleet, by a script. Each command is written to its journal before anything of it is
 * done, so that it has its effect once, whatever is repeated or killed; jobs go on while no process runs.
 */
export class EmbeddedAdapter implements CommandSink {
  private readonly pretending: Pretending
  private readonly jobs: PretendedJobs
  private readonly journal: KeptJournal
  private readonly due = new Heap<Due>(({ at }) => at)
  /** By job: commands about one job are taken one after the other. */
  private readonly inHand = new Map<string, Promise<unknown>>()
  private timer: NodeJS.Timeout | null = null
  private telling: Promise<void> | null = null
  private backOffMs = 0
  private closed = false

  private constructor(pretending: Pretending, jobs: PretendedJobs, journal: KeptJournal) {
    this.pretending = pretending
    this.jobs = jobs
    this.journal = journal
  }

  /** @throws why its journal cannot be had, with the mend */
  static async open(pretending: Pretending): Promise<EmbeddedAdapter> {
    let jobs = new PretendedJobs()
    let adapter: EmbeddedAdapter | null = null
    const follow = (line: JournalLine) => {
      if ('picture' in line) jobs = new PretendedJobs(line.picture)
      else if ('told' in line) jobs.told(line.told)
      else {
        jobs.follow(line.deed)
        for (const { at, id } of line.deed.reports) adapter?.expect({ at, id })
      }
    }
    const journal = await pretending.openJournal(follow, () => jobs.picture)
    adapter = new EmbeddedAdapter(pretending, jobs, journal)
    for (const { at, id } of jobs.reports.values()) adapter.expect({ at, id })
    return adapter
  }

  /** Jobs that start or run. */
  get running(): number {
    return this.jobs.running
  }

  send(command: Command): TE.TaskEither<SinkDown, 'sent' | 'duplicate'> {
    return async () => {
      const job = `${command.workload}/${command.attempt}`
      const before = this.inHand.get(job)
      const taken = (before ?? Promise.resolve()).then(() => this.take(command))
      this.inHand.set(job, taken)
      try {
        return E.right(await taken)
      } catch (cause) {
        return E.left({ type: 'SinkDown', reason: cause instanceof Error ? cause.message : String(cause) })
      } finally {
        if (this.inHand.get(job) === taken) this.inHand.delete(job)
      }
    }
  }

  /** Tells nothing more; what is due then is told after the next start. */
  async close(): Promise<void> {
    this.closed = true
    if (this.timer !== null) clearTimeout(this.timer)
    await this.telling
    await Promise.allSettled(this.inHand.values())
    await this.journal.close()
  }

  private async take(command: Command): Promise<'sent' | 'duplicate'> {
    if (this.closed) throw new Error('the embedded adapter is stopping')
    if (this.jobs.has(command)) return 'duplicate'
    const deed = this.jobs.deedOf(command, this.pretending.now(), this.pretending.script)
    await this.journal.append({ deed })
    return 'sent'
  }

  private expect(due: Due): void {
    const isFirst = this.due.least === undefined || due.at < this.due.least.at
    this.due.push(due)
    if (isFirst && this.telling === null) this.sleep()
  }

  private sleep(): void {
    if (this.timer !== null) clearTimeout(this.timer)
    this.timer = null
    const next = this.due.least
    if (next === undefined || this.closed) return
    const waitMs = Math.max(this.backOffMs, next.at - this.pretending.now(), 0)
    this.timer = setTimeout(
      () => {
        this.telling ??= this.tell().finally(() => {
          this.telling = null
          this.sleep()
        })
      },
      Math.min(waitMs, sleepMaxMs),
    )
  }

  /** Tells what has happened by now, in the order in which it did. */
  private async tell(): Promise<void> {
    while (!this.closed) {
      const { due, jobs, pretending } = this
      const batch: Report[] = []
      while (batch.length < reportsMax && due.least !== undefined && due.least.at <= pretending.now()) {
        const { at, id } = due.pop()!
        const report = jobs.reports.get(id)
        // It is void by now, or has been put off.
        if (report?.at === at) batch.push(report)
      }
      if (batch.length === 0) return
      const told = await pretending.report(batch)
      if (E.isLeft(told)) {
        for (const { at, id } of batch) due.push({ at, id })
        this.backOffMs = Math.min(Math.max(this.backOffMs * 2, backOffMinMs), backOffMaxMs)
        return
      }
      this.backOffMs = 0
      // Not kept after a kill, it is told again, and the log knows it by its id.
      await Promise.allSettled(batch.map(({ id }) => this.journal.append({ told: id })))
      for (const { id } of batch) jobs.told(id)
    }
  }
}
