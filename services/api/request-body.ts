import type { IncomingMessage } from 'node:http'
import { HttpError } from './http-error.ts'

/** Bytes that have come and wait for whoever reads; then the client waits. */
const bufferedBytesMax = 1_048_576
/** Of a body that nobody reads: so much, so long, and the connection ends. */
const drainBytesMax = 8 * 1_048_576
const drainTimeMaxMs = 1_000

/**
 * The body as it comes: whatever has come while the reader was busy is given at once. Throws an `HttpError` when the
 * client falls silent or goes away; a body that breaks off is never taken for a whole one.
 * @param silenceMaxMs without a byte, while one is waited for
 */
export async function* bodyChunks(message: IncomingMessage, silenceMaxMs: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let bytes = 0
  let ended = false
  let failed: HttpError | null = null
  let wake: () => void = () => undefined
  const fail = (error: HttpError) => {
    failed ??= error
    wake()
  }
  const onData = (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= bufferedBytesMax) message.pause()
    wake()
  }
  const onEnd = () => {
    ended = true
    wake()
  }
  const onGone = () => {
    if (!message.complete) fail(brokenOff())
  }
  message.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  if (message.destroyed && !message.complete) fail(brokenOff())
  try {
    for (;;) {
      if (bytes > 0) {
        const got = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes)
        chunks = []
        bytes = 0
        message.resume()
        yield got
        continue
      }
      throwIf(failed)
      if (isEnded(ended)) return
      const timer = setTimeout(() => {
        fail(silent(silenceMaxMs))
      }, silenceMaxMs)
      await new Promise<void>((resolve) => (wake = resolve))
      clearTimeout(timer)
    }
  } finally {
    message.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
    // An error after nobody listens any more would end the process.
    message.on('error', () => undefined)
  }
}

/** Callbacks change both between two looks. */
const throwIf = (failed: HttpError | null): void => {
  if (failed !== null) throw failed
}
const isEnded = (ended: boolean): boolean => ended

const brokenOff = (): HttpError =>
  new HttpError(400, 'broken-off', 'the connection was lost before the body was whole', 'send it again')
const silent = (silenceMaxMs: number): HttpError =>
  new HttpError(408, 'slow', `no byte of the body came within ${silenceMaxMs} ms`, 'send it without long pauses')

/** All of it, up to a size. */
export const wholeBody = async (message: IncomingMessage, bytesMax: number, silenceMaxMs: number): Promise<Buffer> => {
  const tooLarge = (): HttpError =>
    new HttpError(413, 'too-large', `the body has more than ${bytesMax} bytes`, 'make it shorter, or split it')
  if (Number(message.headers['content-length'] ?? 0) > bytesMax) throw tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of bodyChunks(message, silenceMaxMs)) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLarge()
  }
  return Buffer.concat(chunks, bytes)
}

/** Whether the body was read to its end: a client that still sends sees no answer before it is through. */
export const drained = (message: IncomingMessage): Promise<boolean> => {
  if (message.complete && message.readableEnded) return Promise.resolve(true)
  if (message.destroyed) return Promise.resolve(message.complete)
  return new Promise((resolve) => {
    let bytes = 0
    const settle = () => {
      clearTimeout(timer)
      message.off('data', onData).off('end', settle).off('close', settle).off('error', settle)
      message.on('error', () => undefined)
      resolve(message.complete)
    }
    const onData = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > drainBytesMax) settle()
    }
    const timer = setTimeout(settle, drainTimeMaxMs)
    message.on('data', onData).on('end', settle).on('close', settle).on('error', settle)
    message.resume()
  })
}
