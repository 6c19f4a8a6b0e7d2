import { either as E } from 'fp-ts'
import type { SourcedFact } from '../../../domain/planner/cloud-event.ts'
import type { OutcomeSink } from '../../../domain/ports/outcome-sink.ts'
import { Rest } from '../../../infra/host/rest.ts'
import { within } from '../../../infra/host/within.ts'
import type { AdapterBook } from './adapter-book.ts'

const batchMax = 256
const backOffMinMs = 100
const backOffMaxMs = 10_000

interface Telling {
  readonly book: AdapterBook
  readonly sink: OutcomeSink
  readonly cell: string
  readonly adapter: string
  /** Told why facts have to wait, once for each reason. */
  readonly troubled: (reason: string) => void
}

/** Tells a cell what its adapter sees: in order, each until it is kept for the cell, also after a restart. */
export class FactOutbox {
  private readonly telling: Telling
  private readonly rest = new Rest()
  private running: Promise<void> | null = null
  private stopped = false
  private said: string | null = null

  constructor(telling: Telling) {
    this.telling = telling
    this.go()
  }

  /** Resolves when they are kept here; then they are told, whatever happens. */
  async tell(facts: ReadonlyArray<SourcedFact>): Promise<void> {
    await this.telling.book.wait(facts)
    this.go()
  }

  /** Resolves when everything has been told, or after so long. */
  async settled(waitMaxMs: number): Promise<void> {
    if (this.running !== null) await within(waitMaxMs, this.running)
  }

  /** Tells no more when everything has been told, or after so long; what has not is told after the next start. */
  async stop(waitMaxMs: number): Promise<void> {
    await this.settled(waitMaxMs)
    this.stopped = true
    this.rest.end()
    await this.running
  }

  private go(): void {
    if (this.telling.book.waiting.size > 0 && !this.stopped) this.running ??= this.run()
  }

  private async run(): Promise<void> {
    const { adapter, book, cell, sink } = this.telling
    for (let waitMs = backOffMinMs; book.waiting.size > 0 && !this.stopped;) {
      const batch = [...book.waiting.values()].slice(0, batchMax)
      const told = await sink.tell(cell, adapter, batch)()
      if (E.isRight(told)) {
        this.say(null)
        waitMs = backOffMinMs
        // What cannot be noted as told is told again, and the cell knows it by its id.
        await book.told(batch.map(({ id }) => id)).catch(() => this.rest.for(backOffMaxMs))
        continue
      }
      this.say(told.left.reason)
      await this.rest.for(waitMs)
      waitMs = Math.min(2 * waitMs, backOffMaxMs)
    }
    this.running = null
  }

  private say(reason: string | null): void {
    if (reason !== null && reason !== this.said) this.telling.troubled(reason)
    this.said = reason
  }
}
