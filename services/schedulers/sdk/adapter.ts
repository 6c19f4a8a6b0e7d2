import { setTimeout as pause } from 'node:timers/promises'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { CellFact } from '../../../domain/planner/cell-event.codec.ts'
import type { SourcedFact } from '../../../domain/planner/cloud-event.ts'
import type { Command } from '../../../domain/planner/command.ts'
import type { BusDelivery } from '../../../domain/ports/bus-delivery.ts'
import type { BusUnavailable } from '../../../domain/ports/bus-unavailable.ts'
import type { Clock } from '../../../domain/ports/clock.ts'
import type { CommandHandled, CommandSource } from '../../../domain/ports/command-source.ts'
import type { ConcludedCommands } from '../../../domain/ports/concluded-commands.ts'
import type { OutcomeSink } from '../../../domain/ports/outcome-sink.ts'
import type { AdapterBook } from './adapter-book.ts'
import { attemptName, type Attempt, type RunningAttempt } from './attempt.ts'
import { FactOutbox } from './fact-outbox.ts'
import { handlerOf, isStart, refused, type Handlers } from './handlers.ts'

export interface AdapterParts {
  readonly cell: string
  /** Of the adapter. */
  readonly name: string
  readonly book: AdapterBook
  readonly clock: Clock
  readonly source: (concluded: ConcludedCommands) => CommandSource
  readonly sink: OutcomeSink
  readonly handlers: Handlers
  /** Told, in a sentence, what went wrong and is tried again or was put aside. */
  readonly troubled: (reason: string) => void
  /** Lets go of the bus, when everything has been said. */
  readonly close: () => Promise<void>
}

type Concluded = Extract<SourcedFact, { readonly type: 'CommandConcluded' }>

interface Ended {
  readonly attempt: Attempt
  readonly outcome: 'succeeded' | 'failed'
  readonly at: EpochMs
}

/** Progress that is seen sooner after the last that was told says nothing new. */
const progressEveryMs = 10_000
const stopWaitMs = 5_000
const lookEveryMs = 20
/** While the bus is away nothing else can be told either. */
const settleMaxMs = 1_000

/**
 * Gives the author's handlers their commands and tells the cell what they and the author's eyes see. Deadlines, repeats, retries
 * and restarts are its business.
 */
export class Adapter {
  private readonly parts: AdapterParts
  private readonly outbox: FactOutbox
  private readonly delivery: BusDelivery
  /** Attempts that a handler is at work on; by name. */
  private readonly inHand = new Set<string>()
  /** Ended meanwhile: whether by themselves is known when the handler has ended. */
  private readonly endedMeanwhile = new Map<string, Ended>()
  private readonly progressAt = new Map<string, { readonly of: string; readonly at: EpochMs }>()
  private giveUp: () => void = () => undefined
  /** Rejects when what is in hand is not waited for any longer. */
  private readonly givenUp: Promise<never>

  constructor(parts: AdapterParts) {
    const { book, cell, name: adapter, sink, source, troubled } = parts
    this.parts = parts
    this.givenUp = new Promise((_, reject) => {
      this.giveUp = () => {
        reject(new Error('the adapter is stopping'))
      }
    })
    this.givenUp.catch(() => undefined)
    this.outbox = new FactOutbox({ book, sink, cell, adapter, troubled })
    const concluded: ConcludedCommands = {
      find: (key) => book.find(key),
      keep: async (key, told) => {
        if (told.type === 'CommandConcluded') await this.conclude(key, told)
      },
    }
    this.delivery = source(concluded).subscribe(cell, adapter, (command) => this.handle(command))
  }

  /** Why nothing comes or goes just now; null: it does. */
  get fault(): BusUnavailable | null {
    return this.delivery.fault
  }

  /** Attempts that were started and have neither ended nor been stopped, as far as anybody has said; by `workload/attempt`. */
  get running(): ReadonlyMap<string, RunningAttempt> {
    return this.parts.book.running
  }

  /**
   * The attempt is over by itself. Told once, however often it is said; of one that is being stopped it is not told, because its
   * stop is. Resolves when it is kept, and then it reaches the cell.
   */
  async ended(attempt: Attempt, outcome: 'succeeded' | 'failed', at = this.now): Promise<void> {
    const name = attemptName(attempt)
    if (this.inHand.has(name)) this.endedMeanwhile.set(name, { attempt, outcome, at })
    else await this.tellEnd({ attempt, outcome, at })
  }

  /** A sign of life: a step, a request served. Say it as often as you like. */
  async progressed(attempt: Attempt, at = this.now): Promise<void> {
    const name = attemptName(attempt)
    const run = this.running.get(name)
    const last = this.progressAt.get(name)
    if (run === undefined || (last?.of === run.startedBy && at - last.at < progressEveryMs)) return
    this.progressAt.set(name, { of: run.startedBy, at })
    await this.tell([
      { id: `${run.startedBy}/progress/${at}`, type: 'ProgressObserved', at, data: { ...identity(attempt) } },
    ])
  }

  /** What the attempt did until then is durable. */
  async checkpointed(attempt: Attempt, at = this.now): Promise<void> {
    const run = this.running.get(attemptName(attempt))
    if (run === undefined) return
    const id = `${run.startedBy}/checkpoint/${at}`
    await this.tell([{ id, type: 'CheckpointCommitted', at, data: { ...identity(attempt) } }])
  }

  /** Nodes, their health, drills: the same `id` again is the same fact again. Resolves when it is kept. */
  async tell(facts: ReadonlyArray<CellFact>): Promise<void> {
    await this.outbox.tell(facts.map((fact): SourcedFact => ({ ...fact, source: this.parts.name })))
  }

  /**
   * Takes no more commands, lets those in hand end if they do so soon, and tells what is to be told. What has not been done comes
   * again after the next start.
   */
  async stop(waitMs = stopWaitMs): Promise<void> {
    const until = Date.now() + waitMs
    await this.delivery.stop()
    while (this.inHand.size > 0 && Date.now() < until) await pause(lookEveryMs)
    this.giveUp()
    while (this.inHand.size > 0) await pause(lookEveryMs)
    await this.outbox.stop(Math.max(0, until - Date.now()))
    await this.parts.book.close()
    await this.parts.close()
  }

  private get now(): EpochMs {
    return this.parts.clock.now()
  }

  private async handle(command: Command): Promise<CommandHandled> {
    const { book, handlers } = this.parts
    // Its devices may be somebody else's by now.
    if (isStart(command.verb) && (book.stoppedBy(command) ?? -1) >= command.issuedAt)
      return refused('it was asked to stop before this came')
    this.inHand.add(attemptName(command))
    try {
      const handled = await Promise.race([handlerOf(handlers, command.verb)(command), this.givenUp])
      // What was seen of an attempt until it stopped is told before its stop: afterwards nobody wants to hear it.
      await this.outbox.settled(settleMaxMs)
      return handled
    } catch (cause) {
      await this.release(command)
      throw new Error(`${command.command}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    }
  }

  private async conclude(key: string, told: Concluded): Promise<void> {
    try {
      await this.parts.book.keep(key, told)
    } catch (cause) {
      // It comes again, and an end that was seen meanwhile is seen again.
      this.endedMeanwhile.delete(attemptName(told.data))
      this.inHand.delete(attemptName(told.data))
      throw cause
    }
    await this.release(told.data)
  }

  /** A handler has ended, and what it led to is kept. */
  private async release(attempt: Attempt): Promise<void> {
    const name = attemptName(attempt)
    const ended = this.endedMeanwhile.get(name)
    this.inHand.delete(name)
    this.endedMeanwhile.delete(name)
    if (ended !== undefined) await this.tellEnd(ended)
    if (!this.running.has(name)) this.progressAt.delete(name)
  }

  private async tellEnd({ attempt, outcome, at }: Ended): Promise<void> {
    const run = this.running.get(attemptName(attempt))
    if (run === undefined) return
    this.progressAt.delete(attemptName(attempt))
    const data = { attempt: attempt.attempt, outcome, workload: attempt.workload }
    await this.tell([{ id: `${run.startedBy}/ended`, type: 'AttemptEnded', at, data }])
  }
}

const identity = ({ attempt, workload }: Attempt): Attempt => ({ attempt, workload })
