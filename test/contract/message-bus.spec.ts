import { beforeAll } from 'vitest'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { kafkaMessageBus } from '../../infra/kafka/message-bus.ts'
import { memoryMessageBus } from '../../infra/memory/message-bus.ts'
import { kafkaPlaceOf } from '../support/kafka-place.ts'
import { describeOnKafka } from '../support/servers.ts'
import { messageBusContract } from './message-bus.contract.ts'

messageBusContract('in this process', () => memoryMessageBus(() => Date.now() as EpochMs))

await describeOnKafka('on a real broker', (start) => {
  let place = kafkaPlaceOf('127.0.0.1:1')
  beforeAll(async () => {
    place = kafkaPlaceOf((await start()).launch.urls['kafka']!)
  }, 120_000)
  messageBusContract('Kafka', () => kafkaMessageBus(place))
})
