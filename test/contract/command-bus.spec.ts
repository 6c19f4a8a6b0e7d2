import { afterAll, beforeAll, describe } from 'vitest'
import { MemoryCommandBus } from '../../infra/memory/command-bus.ts'
import { natsBus } from '../support/nats-bus.ts'
import { linkTo, natsKinds, newPrefix, startNatsServer, type NatsServer } from '../support/nats-server.ts'
import { commandBusContract, triedBus } from './command-bus.contract.ts'

commandBusContract('memory', (clock) => {
  const bus = new MemoryCommandBus({ clock, ...triedBus })
  return Promise.resolve({
    sink: (adapter) => bus.sink(adapter),
    source: (concluded) => bus.source(concluded),
    outcomeSink: bus,
    outcomeSource: bus,
    inject: (...given) => {
      bus.inject(...given)
      return Promise.resolve()
    },
    deadLetters: () => Promise.resolve(bus.deadLetters),
    close: () => Promise.resolve(),
  })
})

for (const { name, program } of natsKinds)
  describe.skipIf(program === null)(name, () => {
    let server: NatsServer
    beforeAll(async () => {
      server = await startNatsServer(program!)
    })
    afterAll(() => server.end())
    commandBusContract('commands and outcomes', async (clock) =>
      natsBus(await linkTo(`${server.url}?prefix=${newPrefix()}`, { duplicateMs: triedBus.duplicateMs }), clock),
    )
  })
