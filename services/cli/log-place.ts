import { either as E } from 'fp-ts'
import { assert } from '../../domain/kernel/decider.ts'
import { parseEventStoreUrl, type EventStorePlace } from '../../infra/eventstore/place.ts'
import type { Configuration } from '../../infra/host/configuration.ts'
import type { LogPlace } from '../../infra/host/open-log.ts'

/** The server that keeps the log; null: it is in the data folder. */
export const logServer = ({ log }: Configuration): EventStorePlace | null => {
  if (log === 'embedded') return null
  const place = parseEventStoreUrl(log)
  assert(E.isRight(place), 'the configuration has been checked')
  return place.right
}

export const logPlace = (configuration: Configuration): LogPlace => logServer(configuration) ?? configuration.data
