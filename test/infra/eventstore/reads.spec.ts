import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, it } from 'vitest'
import { EventStoreClient } from '../../../infra/eventstore/client.ts'
import { drained } from '../../../infra/eventstore/delivery.ts'
import { Link } from '../../../infra/eventstore/link.ts'
import { newEvents, right } from '../../support/events.ts'
import { openScene, stream } from '../../support/eventstore/scene.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const scene = await openScene()
afterAll(() => scene.close())
const log = await scene.open()
await right(log.append('cell', -1, newEvents('a', 200)))
await log.close()

const settled = async (holds: () => boolean): Promise<void> => {
  for (let waited = 0; !holds() && waited < 20_000; waited += 10)
    await new Promise((resolve) => setTimeout(resolve, 10))
}
const heapMib = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

it('should end the call of a read that nobody drains, and the client alone should not', async () => {
  const client = new EventStoreClient(scene.place)
  for (let i = 0; i < 5; i++)
    for await (const { event } of client.readStream(stream)) {
      expect(event?.streamId).toBe(stream)
      break
    }
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(scene.server().open()).toBe(5)
  await client.end()
  await settled(() => scene.server().open() === 0)
  expect(scene.server().open()).toBe(0)
})

it('should not let the heap grow over 10,000 reads of which one event was taken', async () => {
  const link = new Link(scene.place)
  const readOne = async (client: EventStoreClient): Promise<void> => {
    for await (const { revision } of drained(client, () => client.readStream(stream, client.call))) {
      expect(revision).toBe(0)
      break
    }
  }
  /** Now and then the server ends a connection over which so many calls were cut short: the link finds another. */
  const readMany = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i += 20) await Promise.all(Array.from({ length: 20 }, () => link.read(readOne)))
    await settled(() => scene.server().open() === 0)
  }
  await readMany(1_000)
  const before = heapMib()
  await readMany(10_000)
  expect(scene.server().open()).toBe(0)
  const grownMib = heapMib() - before
  console.info(`the heap grew by ${grownMib.toFixed(1)} MiB`)
  expect(grownMib).toBeLessThan(16)
  await link.close()
}, 240_000)
