import { WrongExpectedVersionError } from '@eventstore/db-client'
import { either as E } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import type { AppendOutcome, Flush, PendingAppend } from '../chain/append-queue.ts'
import type { Stage } from '../chain/log-index.ts'
import { lineOf } from '../chain/stored-event.ts'
import { Damaged } from './damaged.ts'
import { isRefusal, NoAnswer } from './fault.ts'
import type { KeptStream } from './kept-stream.ts'
import type { Link } from './link.ts'
import { parcelsOf, type Parcel, type Part } from './parcel.ts'
import { wholeNumber } from './recorded.ts'

/** How often another writer may be quicker, while one batch waits, before it is asked to come back. */
const overtakenMax = 100
/** Deadlines that pass before it is told that nobody knows whether something was stored. */
const deadlinesMax = 3

type Sent = 'stored' | 'overtaken'

/**
 * Appends at the revision that was read last, so that the server refuses whatever does not follow from what this process has
 * seen. An error that leaves open what was stored is not believed: the stream is read until it shows it.
 */
export class Writer {
  private readonly kept: KeptStream
  private readonly toFault: (cause: unknown) => LogUnavailable
  private unsure = false

  constructor(kept: KeptStream, toFault: (cause: unknown) => LogUnavailable) {
    this.kept = kept
    this.toFault = toFault
  }

  /** Something was sent of which it was never heard whether it was stored: who reads now has to look. */
  get isUnsure(): boolean {
    return this.unsure
  }

  async settle(): Promise<void> {
    await this.kept.catchUp()
    this.unsure = false
  }

  readonly flush: Flush = async (batch) => {
    const outcomes: AppendOutcome[] = []
    try {
      if (this.kept.damaged !== null) throw this.kept.damaged
      if (this.unsure) await this.settle()
      for (let overtaken = 0; outcomes.length < batch.length; overtaken++) {
        if (overtaken > overtakenMax) throw new Overtaken()
        await this.store(batch.slice(outcomes.length), outcomes)
      }
    } catch (cause) {
      const fault = cause instanceof Overtaken ? overtakenFault : this.toFault(cause)
      while (outcomes.length < batch.length) outcomes.push(E.left(fault))
    }
    return outcomes
  }

  /** Adds the outcomes of those that were settled: all, or those before another writer was quicker. */
  private async store(appends: ReadonlyArray<PendingAppend>, outcomes: AppendOutcome[]): Promise<void> {
    for (const parcel of parcelsOf(appends, await this.stage(appends))) {
      if ((await this.send(parcel)) === 'overtaken') return
      outcomes.push(...parcel.outcomes)
    }
  }

  /** What others have stored and was not heard of yet may be what an append expects: nobody is refused before a look. */
  private async stage(appends: ReadonlyArray<PendingAppend>): Promise<Stage> {
    const { index } = this.kept.soFar
    const stage = index.stage(appends)
    const isStale = stage.outcomes.some((outcome) => E.isLeft(outcome) && outcome.left.type === 'WrongExpectedRevision')
    if (!isStale) return stage
    const size = index.size()
    await this.kept.catchUp()
    return index.size() === size ? stage : index.stage(appends)
  }

  private async send({ parts }: Parcel): Promise<Sent> {
    for (const part of parts) if ((await this.sendPart(part)) === 'overtaken') return 'overtaken'
    return 'stored'
  }

  private async sendPart(part: Part): Promise<Sent> {
    const { link, soFar } = this.kept
    const seen = soFar.lastRevision
    const until = performance.now() + deadlinesMax * link.place.deadlineMs
    const backOff = link.backOff()
    soFar.watch(seen + 1)
    for (;;) {
      const told = await this.attempt(part, seen)
      if (told === 'stored') {
        this.takeOwn(part, seen + 1)
        return 'stored'
      }
      try {
        await this.kept.catchUp()
        if (soFar.lastRevision > seen) return soFar.watchedHash === part.events[0]!.hash ? 'stored' : 'overtaken'
        if (told instanceof WrongExpectedVersionError)
          throw new Damaged(soFar.index.size() - 1, 'it, and maybe more before it, is gone from its stream')
      } catch (cause) {
        if (cause instanceof Damaged || link.closed || performance.now() > until) throw this.unknown(cause)
      }
      if (link.closed || performance.now() > until) throw this.unknown(told)
      await backOff.rest()
    }
  }

  /** `stored`, or why it is not known to be. @throws what says for certain that it is not */
  private async attempt({ proposed }: Part, seen: number): Promise<'stored' | Error> {
    try {
      const next = await appended(this.kept.link, seen, proposed)
      // A repeat is answered with a success too; where it is not this one, the stream has the last word.
      return next === seen + proposed.length ? 'stored' : new NoAnswer(`the stream is said to end at ${next}`)
    } catch (cause) {
      if (isRefusal(cause)) throw cause
      return cause instanceof Error ? cause : new NoAnswer(String(cause))
    }
  }

  private takeOwn({ events, goesOn }: Part, from: number): void {
    for (const [i, event] of events.entries()) this.kept.take({ revision: from + i, line: lineOf(event), goesOn })
  }

  private unknown(cause: unknown): unknown {
    this.unsure = true
    return cause
  }
}

/** Returns the revision of the last event. No revision of -1 goes to the server: where nothing is, it is told so. */
const appended = async (link: Link, seen: number, proposed: Part['proposed']): Promise<number> => {
  const result = await link.ask((client) =>
    client.appendToStream(link.place.stream, [...proposed], {
      ...client.call,
      expectedRevision: seen < 0 ? 'no_stream' : BigInt(seen),
    }),
  )
  return wholeNumber(result.nextExpectedRevision)
}

class Overtaken extends Error {}

const overtakenFault: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'busy',
  reason: `other writers to this log were quicker ${overtakenMax} times`,
  mend: 'append again',
}
