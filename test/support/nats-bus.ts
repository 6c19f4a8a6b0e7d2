import type { Clock } from '../../domain/ports/clock.ts'
import { natsCommandSink } from '../../infra/nats/command-sink.ts'
import { natsCommandSource } from '../../infra/nats/command-source.ts'
import type { NatsLink } from '../../infra/nats/link.ts'
import { natsOutcomeSink } from '../../infra/nats/outcome-sink.ts'
import { natsOutcomeSource } from '../../infra/nats/outcome-source.ts'
import { streamName } from '../../infra/nats/streams.ts'
import { triedBus, type TriedBus } from '../contract/command-bus.contract.ts'

export const natsBus = (link: NatsLink, clock: Clock, { ackWaitMs = 2_000 } = {}): TriedBus => ({
  sink: (adapter) => natsCommandSink(link, adapter, clock),
  source: (concluded) => natsCommandSource(link, { clock, concluded, ackWaitMs, ...triedBus }),
  outcomeSink: natsOutcomeSink(link),
  outcomeSource: natsOutcomeSource(link, { ackWaitMs }),
  inject: async (kind, cell, adapter, body) => {
    await link.ensure(kind)
    const names = kind === 'cmd' ? [cell, adapter, 'start'] : [cell, adapter]
    await link.jetStream.publish(link.subject(kind, ...names), body)
  },
  deadLetters: () => deadLettersOf(link),
  close: () => link.close(),
})

const deadLettersOf = async (link: NatsLink): ReturnType<TriedBus['deadLetters']> => {
  await link.ensure('dlq')
  const name = streamName(link.place, 'dlq')
  const { first_seq: first, last_seq: last } = (await link.manager.streams.info(name)).state
  const letters = []
  for (let seq = Math.max(first, 1); seq <= last; seq++) {
    const { data, header, subject } = await link.manager.streams.getMessage(name, { seq })
    letters.push({
      origin: subject.split('.')[2]!,
      body: new TextDecoder().decode(data),
      reason: header.get('Leasehold-Reason'),
    })
  }
  return letters
}
