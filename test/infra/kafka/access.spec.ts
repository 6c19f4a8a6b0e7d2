import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from 'kafkajs'
import { beforeAll, expect, it, vi } from 'vitest'
import { kafkaClient } from '../../../infra/kafka/client.ts'
import { kafkaMessageBus } from '../../../infra/kafka/message-bus.ts'
import type { KafkaPlace } from '../../../infra/kafka/place.ts'
import type { ServerProcess } from '../../../infra/stack/server-process.ts'
import { messageOf, textOf } from '../../contract/message-bus.contract.ts'
import { ownCertificate } from '../../support/certificate.ts'
import { left, right } from '../../support/events.ts'
import { kafkaPlaceOf } from '../../support/kafka-place.ts'
import { describeOnKafka } from '../../support/servers.ts'

const users = [
  { name: 'reader', password: 'a-word' },
  { name: 'stranger', password: 'another-word' },
]
const allowed = async (place: KafkaPlace, topic: string, group: string): Promise<void> => {
  const admin = kafkaClient(place).admin()
  await admin.connect()
  const rule = (resourceType: AclResourceTypes, resourceName: string, user: string) => ({
    resourceType,
    resourceName,
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: `User:${user}`,
    host: '*',
    operation: AclOperationTypes.ALL,
    permissionType: AclPermissionTypes.ALLOW,
  })
  await admin.createAcls({
    acl: [
      rule(AclResourceTypes.TOPIC, topic, 'reader'),
      rule(AclResourceTypes.GROUP, group, 'reader'),
      // The stranger may read the topic, and be of no group.
      rule(AclResourceTypes.TOPIC, `${topic}-open`, 'stranger'),
    ],
  })
  await admin.disconnect()
}
const bounds = { publishMaxMs: 3_000 }

for (const overTls of [false, true])
  await describeOnKafka(`a Kafka that asks who we are${overTls ? ', over TLS' : ''}`, (start) => {
    const certificate = overTls ? ownCertificate() : null
    const topic = `topic-${randomUUID()}`
    const group = `group-${randomUUID()}`
    let server: ServerProcess
    let open: KafkaPlace
    let secure = (user: string, password: string, mechanism: 'plain' | 'scram-sha-256'): KafkaPlace => ({
      ...open,
      sasl: { user, password, mechanism, passwordFile: null },
      gatherMaxMs: null,
    })
    let caFile: string | null = null
    beforeAll(async () => {
      server = await start({ security: { users, certificate, restricted: true } })
      if (certificate !== null) {
        caFile = join(server.launch.folder, 'ca.pem')
        writeFileSync(caFile, certificate.certificate)
      }
      open = kafkaPlaceOf(server.launch.urls['kafka']!)
      secure = (user, password, mechanism) => ({
        brokers: [server.launch.urls['secure']!],
        tls: overTls,
        tlsCaFile: caFile,
        sasl: { user, password, mechanism, passwordFile: null },
        gatherMaxMs: null,
      })
      const bus = kafkaMessageBus(open)
      await right(bus.ensure([topic, `${topic}-open`].map((name) => ({ topic: name, partitions: 1 }))))
      await bus.close()
      await allowed(open, topic, group)
    }, 120_000)

    it.each(['plain', 'scram-sha-256'] as const)(
      'should serve whoever is known and allowed, by %s',
      async (mechanism) => {
        const bus = kafkaMessageBus(secure('reader', 'a-word', mechanism), { publishMaxMs: 20_000 })
        await right(bus.publish(topic, [messageOf('k', mechanism)]))
        const read: string[] = []
        const { stop } = bus.subscribe({
          group,
          topics: [topic],
          handle: ({ messages }) => {
            read.push(...messages.map(textOf))
            return Promise.resolve(messages.length)
          },
        })
        await vi.waitFor(
          () => {
            expect(read).toEqual([mechanism])
          },
          { timeout: 40_000 },
        )
        await stop()
        await bus.close()
      },
      120_000,
    )

    it('should say that the password is wrong', async () => {
      const bus = kafkaMessageBus(secure('reader', 'no-word', 'scram-sha-256'), bounds)
      const fault = await left(bus.publish(topic, [messageOf('k', '1')]))
      expect(fault).toMatchObject({ kind: 'unauthenticated', mend: 'name the user and the password' })
      expect(JSON.stringify(fault)).not.toContain('no-word')
      await bus.close()
    }, 60_000)

    it('should say that the topic or the group is denied, and end', async () => {
      const bus = kafkaMessageBus(secure('stranger', 'another-word', 'plain'), bounds)
      expect((await left(bus.publish(topic, [messageOf('k', '1')]))).kind).toBe('denied')
      const { ended } = bus.subscribe({ group, topics: [`${topic}-open`], handle: () => Promise.resolve(0) })
      await expect(ended).rejects.toMatchObject({
        kind: 'denied',
        reason: expect.stringContaining('the group may not be used') as string,
      })
      await bus.close()
    }, 120_000)

    it('should say what to name at a port that asks for a user, or for TLS', async () => {
      const place = { ...secure('', '', 'plain'), sasl: null }
      const nameless = kafkaMessageBus(place, bounds)
      const fault = await left(nameless.publish(topic, [messageOf('k', '1')]))
      expect(fault).toMatchObject({
        kind: 'unreachable',
        mend: expect.stringContaining('name the user or set tls') as string,
      })
      await nameless.close()
      if (!overTls) return
      const untrusting = kafkaMessageBus({ ...secure('reader', 'a-word', 'plain'), tlsCaFile: null }, bounds)
      const untrusted = await left(untrusting.publish(topic, [messageOf('k', '1')]))
      expect(untrusted).toMatchObject({ kind: 'unreachable', mend: expect.stringContaining('tlsCAFile') as string })
      await untrusting.close()
    }, 120_000)
  })
