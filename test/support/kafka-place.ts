import type { KafkaPlace } from '../../infra/kafka/place.ts'

/** A broker that speaks in the clear and asks nobody who it is. */
export const kafkaPlaceOf = (broker: string): KafkaPlace => ({
  brokers: [broker],
  tls: false,
  tlsCaFile: null,
  sasl: null,
  gatherMaxMs: null,
})
