import { either as E } from 'fp-ts'
import { assert } from '../../domain/kernel/decider.ts'
import type { Configuration } from '../../infra/host/configuration.ts'
import { parseKafkaUrl, type KafkaPlace } from '../../infra/kafka/place.ts'
import { parseNatsUrl, type NatsPlace } from '../../infra/nats/place.ts'

/** The servers that carry commands; null: none do. */
export const natsPlace = ({ nats }: Configuration): NatsPlace | null => placeIn(nats, parseNatsUrl)

/** The brokers that bring facts; null: none do. */
export const kafkaPlace = ({ kafka }: Configuration): KafkaPlace | null => placeIn(kafka, parseKafkaUrl)

const placeIn = <P>(value: string, parse: (url: string) => E.Either<string, P>): P | null => {
  if (value === 'none') return null
  const place = parse(value)
  assert(E.isRight(place), 'the configuration has been checked')
  return place.right
}
