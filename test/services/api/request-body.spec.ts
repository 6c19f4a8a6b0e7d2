import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { bodyChunks, wholeBody } from '../../../services/api/request-body.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** A request whose body the test sends, and the message that a server gets of it. */
const exchange = async () => {
  let got: (message: IncomingMessage) => void = () => undefined
  const received = new Promise<IncomingMessage>((resolve) => (got = resolve))
  const server = createServer((message) => {
    got(message)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sent = request({ port, host: '127.0.0.1', method: 'POST' })
  sent.on('error', () => undefined)
  sent.flushHeaders()
  ends.push(() => {
    sent.destroy()
    server.closeAllConnections()
    server.close()
  })
  return { sent, message: await received }
}

const textOf = ({ value }: IteratorResult<Buffer, unknown>): string => (Buffer.isBuffer(value) ? value.toString() : '')
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a body as it comes', () => {
  it('should not be read further than a bound while nobody takes it', async () => {
    const { sent, message } = await exchange()
    const chunks = bodyChunks(message, 5_000)
    sent.write('first')
    expect(textOf(await chunks.next())).toBe('first')
    for (let i = 0; i < 64; i++) sent.write(Buffer.alloc(1_048_576))
    await pause(300)
    expect(message.socket.bytesRead).toBeLessThan(3 * 1_048_576)
    sent.end()
    let bytes = 0
    for await (const chunk of chunks) bytes += chunk.length
    expect(bytes).toBe(64 * 1_048_576)
  })

  it('should give at once what came while its reader was busy', async () => {
    const { sent, message } = await exchange()
    const chunks = bodyChunks(message, 5_000)
    sent.write('0')
    await chunks.next()
    for (let i = 1; i <= 5; i++) {
      sent.write(String(i))
      await pause(20)
    }
    sent.end()
    await pause(50)
    expect(textOf(await chunks.next())).toBe('12345')
    expect((await chunks.next()).done).toBe(true)
  })

  it('should be told apart from one that breaks off', async () => {
    const { sent, message } = await exchange()
    const body = wholeBody(message, 100, 5_000)
    sent.write('half of it')
    await pause(50)
    sent.destroy()
    await expect(body).rejects.toMatchObject({ status: 400, code: 'broken-off' })
  })

  it('should not count its reader as silent', async () => {
    const { sent, message } = await exchange()
    const chunks = bodyChunks(message, 100)
    sent.write('a')
    await chunks.next()
    await pause(250)
    sent.write('b')
    expect(textOf(await chunks.next())).toBe('b')
    await expect(chunks.next()).rejects.toMatchObject({ status: 408, code: 'slow' })
  })
})
