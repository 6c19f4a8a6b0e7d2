import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { CellEvent, CellInput } from '../../domain/planner/cell-event.ts'
import { conclusionOf } from '../../domain/planner/command-event.ts'
import type { Command } from '../../domain/planner/command.ts'
import type { OpenCommands } from '../../domain/planner/open-commands.ts'
import type { CommandSink, SinkDown } from '../../domain/ports/command-sink.ts'
import type { AppendFault, EventLog, LogUnavailable, StoredEvent, Subscription } from '../../domain/ports/event-log.ts'
import { logFaultOf } from '../../infra/chain/subscription.ts'

/** The cell's events up to `position` of the log, folded by the caller; dispatch owns the fold from then on. */
export interface Followed {
  readonly commands: OpenCommands
  readonly position: number
}

export interface Dispatching {
  readonly log: EventLog
  readonly sink: CommandSink
  /** Records that an outcome did not come in time; a `Left` means that it is to be tried again. */
  readonly record: (fact: CellInput & { readonly id: string }) => Promise<E.Either<AppendFault, unknown>>
  readonly now: () => EpochMs
  /** Told when the sink is down, and with null when it takes commands again. */
  readonly sinkDown: (down: SinkDown | null) => void
}

/** Commands on their way to the sink at once. */
const sendingMax = 64
const backOffMinMs = 100
const backOffMaxMs = 10_000
/** How late an outcome that did not come is noticed. */
const lookEveryMs = 500

interface Sent {
  readonly at: EpochMs
  readonly command: Command
  expired: boolean
}

/**
 * Follows the log and sends every open command to the sink, again after a restart, in the order in which they were
 * issued. What is open is all it remembers. While the cell is frozen, or does not automate, nothing is sent.
 */
export class Dispatch {
  private readonly dispatching: Dispatching
  private readonly followed: OpenCommands
  private position: number
  private readonly sent = new Map<string, Sent>()
  private subscription!: Subscription
  private failing: LogUnavailable | null = null
  private stopped = false
  private wake: () => void = () => undefined
  private woken = false
  private backOffMs = 0
  private readonly running: Promise<void>

  constructor(dispatching: Dispatching, { commands, position }: Followed) {
    this.dispatching = dispatching
    this.followed = commands
    this.position = position
    this.subscribe(backOffMinMs)
    this.running = this.run()
  }

  /** Issued and not concluded, sent or not. */
  get open(): ReadonlyMap<string, Command> {
    return this.followed.open
  }

  /** Commands that it remembers to have sent. */
  get remembered(): number {
    return this.sent.size
  }

  /** Position of the last event that has been followed. */
  get followedTo(): number {
    return this.position
  }

  /** Why it does not follow the log just now; null: it does. */
  get fault(): LogUnavailable | null {
    return this.failing
  }

  async close(): Promise<void> {
    this.stopped = true
    this.rouse()
    await this.subscription.stop()
    await this.running
  }

  private subscribe(waitMs: number): void {
    if (this.stopped) return
    const checkpoint = { load: () => Promise.resolve(this.position), save: () => Promise.resolve() }
    this.subscription = this.dispatching.log.subscribe(checkpoint, (batch) => {
      this.failing = null
      return this.follow(batch)
    })
    this.subscription.ended.catch((cause: unknown) => {
      this.failing = faultOf(cause)
      // What does not follow from what came before it never will.
      if (this.failing.kind === 'damaged' || this.failing.kind === 'closed') return
      setTimeout(() => {
        this.subscribe(Math.min(waitMs * 2, backOffMaxMs))
      }, waitMs).unref()
    })
  }

  private follow(batch: ReadonlyArray<StoredEvent>): Promise<void> {
    for (const { stream, message } of batch)
      if (stream === this.followed.cell.name) this.followed.follow(message as unknown as CellEvent)
    this.position = batch.at(-1)?.position ?? this.position
    this.rouse()
    return Promise.resolve()
  }

  private rouse(): void {
    this.woken = true
    this.wake()
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      this.forgetConcluded()
      const due = this.due()
      if (due.length > 0) await this.send(due)
      await this.expire()
      if (this.backOffMs > 0) await this.rest(this.backOffMs, false)
      else if (this.due().length === 0) await this.rest(lookEveryMs, true)
    }
  }

  private forgetConcluded(): void {
    for (const [id, { command }] of this.sent)
      // Another life of the same name has commands of the same name.
      if (this.open.get(id)?.issuedAt !== command.issuedAt) this.sent.delete(id)
  }

  private due(): ReadonlyArray<Command> {
    if (this.followed.cell.standing !== 'automate') return []
    const due: Command[] = []
    for (const command of this.open.values()) {
      if (this.sent.has(command.command)) continue
      due.push(command)
      if (due.length === sendingMax) break
    }
    return due
  }

  private async send(due: ReadonlyArray<Command>): Promise<void> {
    const { sink, now, sinkDown } = this.dispatching
    const outcomes = await Promise.all(due.map((command) => sink.send(command)()))
    const down: SinkDown[] = []
    outcomes.forEach((outcome, i) => {
      const command = due[i]!
      if (E.isLeft(outcome)) down.push(outcome.left)
      else this.sent.set(command.command, { at: now(), command, expired: false })
    })
    const wasDown = this.backOffMs > 0
    this.backOffMs = down.length === 0 ? 0 : Math.min(Math.max(this.backOffMs * 2, backOffMinMs), backOffMaxMs)
    if (down.length > 0 || wasDown) sinkDown(down[0] ?? null)
  }

  /** A command that nobody got has not expired: nobody was late. While nothing is decided, silence decides nothing. */
  private async expire(): Promise<void> {
    if (this.followed.cell.standing !== 'automate') return
    for (const sent of this.sent.values()) {
      if (this.stopped) return
      if (sent.expired || dueAt(sent) >= this.dispatching.now()) continue
      // Its outcome may have come while others were recorded.
      if (this.open.get(sent.command.command)?.issuedAt !== sent.command.issuedAt) continue
      const recorded = await this.dispatching.record(
        conclusionOf(sent.command, this.dispatching.now(), 'expired', null),
      )
      if (E.isLeft(recorded)) return
      sent.expired = true
    }
  }

  private async rest(ms: number, interruptible: boolean): Promise<void> {
    if (this.stopped || (interruptible && this.woken)) {
      this.woken = false
      return
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      const end = () => {
        clearTimeout(timer)
        resolve()
      }
      this.wake = () => {
        if (interruptible || this.stopped) end()
      }
    })
    this.wake = () => undefined
    this.woken = false
  }
}

const faultOf = (cause: unknown): LogUnavailable => {
  const mend = 'run `leasehold audit verify`, and restore the log from a copy that passes'
  const reason = `the log cannot be followed: ${String(cause)}`
  return logFaultOf(cause) ?? { type: 'LogUnavailable', kind: 'damaged', reason, mend }
}

/** It has its whole span from when it was sent, however late that was. */
const dueAt = ({ at, command: { deadlineAt, issuedAt } }: Sent): number =>
  Math.max(deadlineAt, at + (deadlineAt - issuedAt))
