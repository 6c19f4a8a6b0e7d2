import type { Command, CommandVerb } from '../../../domain/planner/command.ts'
import type { CommandHandled } from '../../../domain/ports/command-source.ts'

/**
 * Does what a command asks, and says what became of it. What it throws is taken for a fault that may pass: the command comes
 * again, after 1 s and ever later, until it is too late for it or five deliveries have failed.
 */
export type Handle = (command: Command) => Promise<CommandHandled>

/**
 * All that an adapter's author writes. Commands about one workload come one after the other, others beside them. One
 * that has been concluded never comes again; one in the middle of which the process was killed does, so each begins by looking
 * what is there.
 */
export interface Handlers {
  /** Runs an attempt on its lease. */
  readonly start: Handle
  /** The same, from its last checkpoint; left out: as `start`, for jobs that look for their checkpoint by themselves. */
  readonly resume?: Handle
  /** Has it make a checkpoint, and go on. Left out: refused. */
  readonly checkpoint?: Handle
  /** Has it go on with the devices of `lease` alone. Left out: refused. */
  readonly shrink?: Handle
  /** For `evict` and `cancel`: asks it to stop, and ends it by force after `graceMs`. What does not run is `done`. */
  readonly stop: Handle
}

export const done: CommandHandled = { outcome: 'done', reason: null }
/** It was tried, and is not so. */
export const failed = (reason: string): CommandHandled => ({ outcome: 'failed', reason })
/** It will not be tried. */
export const refused = (reason: string): CommandHandled => ({ outcome: 'refused', reason })

export const isStart = (verb: CommandVerb): boolean => verb === 'start' || verb === 'resume'
export const isStop = (verb: CommandVerb): boolean => verb === 'evict' || verb === 'cancel'

export const handlerOf = (handlers: Handlers, verb: CommandVerb): Handle => {
  switch (verb) {
    case 'start':
      return handlers.start
    case 'resume':
      return handlers.resume ?? handlers.start
    case 'evict':
    case 'cancel':
      return handlers.stop
    case 'checkpoint':
    case 'shrink':
      return handlers[verb] ?? (() => Promise.resolve(refused(`this adapter does not ${words[verb]}`)))
  }
}

const words = { checkpoint: 'make checkpoints', shrink: 'shrink what runs' } as const
