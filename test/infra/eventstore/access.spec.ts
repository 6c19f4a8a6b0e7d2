import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterEach, describe, expect, it } from 'vitest'
import { eventStoreLog } from '../../../infra/eventstore/event-log.ts'
import { ownCertificate } from '../../support/certificate.ts'
import { left, newEvents, right } from '../../support/events.ts'
import { KeptStreams } from '../../support/eventstore/kept-streams.ts'
import { openScene, placeOf, type Scene, type SceneOptions } from '../../support/eventstore/scene.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
const scenes: Scene[] = []
afterEach(async () => {
  for (const scene of scenes.splice(0)) await scene.close()
})
const scene = async (options: SceneOptions): Promise<Scene> => {
  const opened = await openScene(options)
  scenes.push(opened)
  return opened
}
const fileOf = (text: string): string => {
  const file = join(folder(), 'file')
  writeFileSync(file, text)
  return file
}

describe('EventStoreDB client over TLS to a stand-in', () => {
  const tls = ownCertificate()
  const user = { name: 'ops', password: 'hush/@:' }

  it.each([
    ['in the URL', (): SceneOptions => ({ credentials: 'ops:hush%2F%40%3A' }), ''],
    ['in a file', (): SceneOptions => ({ credentials: 'ops' }), 'hush/@:\n'],
  ])('should write and read with a password %s', async (_, options, secret) => {
    const password = secret === '' ? '' : `&passwordFile=${encodeURIComponent(fileOf(secret))}`
    const query = `tlsCAFile=${encodeURIComponent(fileOf(tls.certificate))}${password}`
    const { open, server } = await scene({ tls, user, ...options(), query })
    const log = await open()
    expect(await right(log.append('cell', -1, newEvents('a', 2)))).toEqual({ revision: 1, position: 1 })
    expect(await right(log.readAll(0, 10))).toHaveLength(2)
    expect(server().calls).toContain('append no_stream')
  })

  it.each([
    ['ops:wrong-hush', 'read-only', 'access was denied'],
    [undefined, 'read-only', 'access was denied'],
  ])('should say that access is denied to %s, and no password', async (credentials, kind, why) => {
    const query = `tlsCAFile=${encodeURIComponent(fileOf(tls.certificate))}`
    const { tryToOpen } = await scene({ tls, user, query, ...(credentials !== undefined && { credentials }) })
    const told = await tryToOpen()
    expect(told).toMatchObject(E.left({ kind, reason: expect.stringContaining(why) as string }))
    expect(JSON.stringify(told)).not.toContain('hush')
  })

  it('should say what mends a server whose authority is unknown, and one without TLS', async () => {
    const deadlineMs = 300
    for (const options of [{ tls, query: 'tls=true' }, { query: 'tls=true' }]) {
      const { tryToOpen } = await scene({ ...options, deadlineMs })
      const told = await tryToOpen()
      expect(told).toMatchObject(E.left({ kind: 'input-output', mend: expect.stringContaining('tls=false') as string }))
    }
  })

  it('should name a file that cannot be read', async () => {
    for (const query of ['tlsCAFile=/none/ca.pem', 'passwordFile=/none/ca.pem']) {
      const told = await left(
        eventStoreLog(placeOf(`esdb://ops${query.startsWith('tls') ? ':x' : ''}@127.0.0.1:1?${query}`)),
      )
      expect(told).toMatchObject({ reason: expect.stringContaining('/none/ca.pem cannot be read') as string })
    }
  })
})

it('should append one by one where the server, over the wire a stand-in, has no BatchAppend', async () => {
  const { open, server } = await scene({ batchAppend: false })
  await right((await open()).append('cell', -1, newEvents('a', 1)))
  expect(server().calls).toContain('append no_stream')
})

describe('EventStoreDB client over the wire to stand-ins for a cluster', () => {
  it('should find the leader by asking the members, and be led to it by one', async () => {
    const kept = new KeptStreams()
    const leader = await scene({ kept })
    const follower = await scene({ kept, leaderPort: () => leader.wire.port })
    const own = `127.0.0.1:${follower.wire.port}`
    for (const url of [`esdb+discover://${own}`, `esdb://${own},127.0.0.1:1`, `esdb://${own}`]) {
      const log = await right(eventStoreLog(placeOf(`${url}?tls=false`)))
      const { length } = await right(log.readAll(0, 100))
      await right(log.append('cell', length - 1, newEvents(`n-${length}`, 1)))
      await log.close()
    }
    expect(kept.events('leasehold')).toHaveLength(3)
    expect(follower.server().calls.filter((call) => call === 'gossip').length).toBeGreaterThan(1)
    expect(follower.server().calls.some((call) => call.includes('append'))).toBe(false)
  })

  it.each(['stalls', 'dies'])('should leave a leader that %s for the next one', async (what) => {
    const kept = new KeptStreams()
    let isDown = false
    const first = await scene({ kept, leaderPort: () => undefined })
    const second = await scene({ kept, leaderPort: () => (isDown ? undefined : first.wire.port) })
    const url = `esdb://127.0.0.1:${first.wire.port},127.0.0.1:${second.wire.port}?tls=false&defaultDeadline=3000`
    const log = await right(eventStoreLog(placeOf(url)))
    await right(log.append('cell', -1, newEvents('a', 1)))
    expect(second.server().calls.some((call) => call.includes('ppend'))).toBe(false)
    isDown = true
    if (what === 'stalls') first.wire.stall()
    else first.stop()
    expect(await right(log.append('cell', 0, newEvents('b', 1)))).toEqual({ revision: 1, position: 1 })
    expect(second.server().calls.some((call) => call.includes('ppend'))).toBe(true)
    expect(kept.events('leasehold')).toHaveLength(2)
    await log.close()
  })
})
