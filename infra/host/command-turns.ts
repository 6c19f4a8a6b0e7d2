import { either as E } from 'fp-ts'
import { describeFault } from '../../domain/kernel/fault.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { SourcedFact } from '../../domain/planner/cloud-event.ts'
import { commandKey, conclusionOf, decodeCommand, type SentCommand } from '../../domain/planner/command-event.ts'
import type { Command } from '../../domain/planner/command.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CommandHandled } from '../../domain/ports/command-source.ts'
import type { ConcludedCommands } from '../../domain/ports/concluded-commands.ts'

/** What is to be done with a command that was delivered: tell this fact; deliver it again; or never again. */
export type Verdict =
  | { readonly type: 'told'; readonly fact: SourcedFact }
  | { readonly type: 'again'; readonly reason: string }
  | { readonly type: 'dead'; readonly reason: string }

export interface Turns {
  readonly adapter: string
  readonly clock: Clock
  readonly concluded: ConcludedCommands
  /** Of one command, before it goes to the dead letters. */
  readonly deliveriesMax: number
  readonly handle: (command: Command) => Promise<CommandHandled>
}

/** Of a reason that a handler gives, as far as a fact may have one. */
const reasonMax = 500

/** Gives an adapter its commands, each once, and those about one workload one after the other. */
export class CommandTurns {
  private readonly turns: Turns
  private readonly inHand = new Map<string, Promise<unknown>>()

  constructor(turns: Turns) {
    this.turns = turns
  }

  /** @param deliveries how often it has been delivered, this time included */
  async take(text: string, deliveries: number): Promise<Verdict> {
    const decoded = decodeCommand(text)
    if (E.isLeft(decoded)) return { type: 'dead', reason: decoded.left.map((fault) => describeFault(fault)).join('; ') }
    const { workload } = decoded.right.command
    const before = this.inHand.get(workload) ?? Promise.resolve()
    const taken = before.then(() => this.turn(decoded.right, deliveries))
    this.inHand.set(workload, taken)
    try {
      return await taken
    } finally {
      if (this.inHand.get(workload) === taken) this.inHand.delete(workload)
    }
  }

  private async turn({ command, until }: SentCommand, deliveries: number): Promise<Verdict> {
    const { adapter, clock, concluded, deliveriesMax, handle } = this.turns
    const key = commandKey(command)
    const told = concluded.find(key)
    if (told !== null) return { type: 'told', fact: told }
    const now = clock.now()
    if (now > until)
      return { type: 'told', fact: { source: adapter, ...conclusionOf(command, now, 'expired', expiredText(until)) } }
    // Its handler was begun that often, and each time its process ended before it did.
    if (deliveries > deliveriesMax) return { type: 'dead', reason: `${deliveriesMax} deliveries were not answered` }
    try {
      const { outcome, reason } = await handle(command)
      const said = reason === null ? null : proseOf(reason)
      const fact = { source: adapter, ...conclusionOf(command, clock.now(), outcome, said) }
      await concluded.keep(key, fact)
      return { type: 'told', fact }
    } catch (cause) {
      const reason = proseOf(cause instanceof Error ? cause.message : String(cause))
      return deliveries < deliveriesMax
        ? { type: 'again', reason }
        : { type: 'dead', reason: `${deliveries} deliveries, and the last one failed: ${reason}` }
    }
  }
}

const expiredText = (until: EpochMs): string => `it was to be begun by ${new Date(until).toISOString()}`

/** What a fact may say: one line that can be printed. */
const proseOf = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, reasonMax) || 'no reason was given'
