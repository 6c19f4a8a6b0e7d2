import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MemoryRequests } from '../../infra/memory/requests.ts'
import { natsRequester, natsResponder } from '../../infra/nats/requests.ts'
import { right } from '../support/events.ts'
import { linkTo, natsKinds, newPrefix, startNatsServer, type NatsServer } from '../support/nats-server.ts'
import { requestsContract } from './requests.contract.ts'

requestsContract('memory', () => {
  const requests = new MemoryRequests()
  return Promise.resolve({ requester: requests, responders: [requests, requests], close: () => Promise.resolve() })
})

for (const { name, program } of natsKinds)
  describe.skipIf(program === null)(name, () => {
    let server: NatsServer
    beforeAll(async () => {
      server = await startNatsServer(program!, { configuration: 'max_payload: 4096' })
    })
    afterAll(() => server.end())
    const place = async () => {
      const url = `${server.url}?prefix=${newPrefix()}`
      const [asking, one, other] = [await linkTo(url), await linkTo(url), await linkTo(url)]
      return {
        requester: natsRequester(asking),
        responders: [natsResponder(one), natsResponder(other)] as const,
        close: async () => {
          for (const link of [asking, one, other]) await link.close()
        },
      }
    }
    requestsContract('request and reply', place)

    it('should say that an answer is too large, that too much is in hand, and a fault of its own', async () => {
      const { close, requester, responders } = await place()
      let release: () => void = () => undefined
      const held = new Promise<void>((resolve) => (release = resolve))
      responders[0].answer('why', async (question) => {
        if (question === 'held') await held
        if (question === 'broken') throw new Error('broken')
        return 'x'.repeat(5_000)
      })
      await new Promise((resolve) => setTimeout(resolve, 100))
      const code = async (question: string) =>
        (JSON.parse(await right(requester.ask('why', question, 5_000))) as { error: { code: string } }).error.code
      expect(await code('large')).toBe('too-large')
      expect(await code('broken')).toBe('internal')
      const waiting = Array.from({ length: 64 }, () => requester.ask('why', 'held', 20_000)())
      expect(await code('one more')).toBe('busy')
      release()
      await Promise.all(waiting)
      await close()
    })
  })
