import { either as E } from 'fp-ts'
import { beginsUntil, commandKey, encodeCommand } from '../../domain/planner/command-event.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CommandSink } from '../../domain/ports/command-sink.ts'
import type { NatsLink } from './link.ts'

/** @param clock that adapters go by */
export const natsCommandSink = (link: NatsLink, adapter: string, clock: Clock): CommandSink => ({
  send: (command) => async () => {
    const subject = link.subject('cmd', command.cell, adapter, command.verb)
    const body = encodeCommand({ command, until: beginsUntil(command, clock.now()) })
    const sent = await link.publish('cmd', subject, commandKey(command), body)
    return E.mapLeft(({ mend, reason }: { reason: string; mend: string }) => ({
      type: 'SinkDown' as const,
      reason,
      mend,
    }))(sent)
  },
})
