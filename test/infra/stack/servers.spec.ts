import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { kafkaAnswers } from '../../../infra/stack/kafka.ts'
import { natsServerName } from '../../../infra/stack/nats.ts'
import { right } from '../../support/events.ts'
import { describeOnKafka, describeOnNats } from '../../support/servers.ts'

const portOf = (url: string | undefined): number => Number(/:(\d+)$/.exec(url ?? '')?.[1])

await describeOnKafka('a Kafka of our own', (start) => {
  it('should answer once it is started, not when it is killed or stands still, and again after that', async () => {
    const kafka = await start()
    const port = portOf(kafka.launch.urls['kafka'])
    expect(await kafkaAnswers(port)).toBe(true)

    const { pid } = kafka.identity
    await kafka.kill()
    expect(await kafkaAnswers(port)).toBe(false)
    await right(kafka.restart())
    expect(kafka.identity.pid).not.toBe(pid)
    expect(await kafkaAnswers(port)).toBe(true)

    kafka.suspend()
    expect(await kafkaAnswers(port)).toBe(false)
    kafka.resume()
    expect(await kafkaAnswers(port)).toBe(true)
  })

  it('should tell why it does not start', async () => {
    await expect(start({ properties: { 'node.id': 'one' } })).rejects.toThrow(
      /^kafka: its storage was not formatted:.*Invalid value one/,
    )
  })
})

for (const release of ['packaged', 'current'] as const)
  await describeOnNats(release, `nats-server, ${release}`, (start) => {
    it('should answer by its own name, and in the same place when it is started again', async () => {
      const nats = await start()
      const port = portOf(nats.launch.urls['nats'])
      const name = await natsServerName(port)
      expect(name).toMatch(/^leasehold-/)
      await nats.kill()
      expect(await natsServerName(port)).toBeNull()
      await right(nats.restart())
      expect(await natsServerName(port)).toBe(name)
    })

    it('should tell why it does not start', async () => {
      await expect(start({ configuration: 'no_such_setting: 1' })).rejects.toThrow(
        /^nats.*: it ended while it was started:.*no_such_setting/,
      )
    })
  })

it('should take no port for a broker where nobody listens', async () => {
  const port = await new Promise<number>((resolve) => {
    const socket = connect(1, '127.0.0.1')
    socket.on('error', () => {
      resolve(1)
    })
  })
  expect(await kafkaAnswers(port)).toBe(false)
  expect(await natsServerName(port)).toBeNull()
})
