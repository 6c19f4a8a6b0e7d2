import { randomUUID } from 'node:crypto'
import { either as E } from 'fp-ts'
import { afterAll } from 'vitest'
import { eventStoreLog } from '../../infra/eventstore/event-log.ts'
import { parseEventStoreUrl } from '../../infra/eventstore/place.ts'
import { right } from '../support/events.ts'
import { startStandIn } from '../support/eventstore/stand-in.ts'
import { eventLogContract } from './event-log.contract.ts'

let places = 0

const placeOn = (server: string) => () => {
  const url = `${server}${server.includes('?') ? '&' : '?'}stream=test-${randomUUID().slice(0, 8)}-${places++}`
  const place = parseEventStoreUrl(url)
  if (E.isLeft(place)) throw new Error(place.left)
  return { open: () => right(eventStoreLog(place.right)) }
}

const standIn = await startStandIn()
afterAll(() => {
  standIn.stop()
})
const address = `127.0.0.1:${standIn.port}?tls=false`

eventLogContract('EventStoreDB client over the wire to a stand-in, BatchAppend', placeOn(`esdb://${address}`))
eventLogContract('EventStoreDB client over the wire to a stand-in, Append', placeOn(`esdb://admin:changeit@${address}`))

const server = process.env['LEASEHOLD_TEST_EVENTSTORE_URL']
// Ready for whoever has a server; there is none to be installed where this is developed, so it is said and not skipped.
if (server === undefined)
  console.info('not run: the same contract on an EventStoreDB server, which LEASEHOLD_TEST_EVENTSTORE_URL would name')
else eventLogContract('a real EventStoreDB server', placeOn(server))
