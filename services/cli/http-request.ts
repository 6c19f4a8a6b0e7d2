import { request, type IncomingMessage } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { either as E } from 'fp-ts'

export interface HttpQuestion {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With its query, if it has one. */
  readonly path: string
  readonly body?: { readonly type: string; readonly bytes: string | AsyncIterable<Uint8Array> }
  /** Longest silence of the other side; for a body that is sent as it comes, from its end on. */
  readonly silenceMaxMs: number
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

/** What is read of an answer: more than any of ours has. */
const answerBytesMax = 1 << 30

/**
 * Asks once; `Left` says in words why there is no answer. Not by `fetch`, which gives up after five minutes of work on
 * the other side, however long one is ready to wait, and loses an answer that comes before the body is through.
 */
export const askHttp = (
  address: string,
  { body, method, path, silenceMaxMs }: HttpQuestion,
): Promise<E.Either<string, HttpAnswer>> =>
  new Promise((resolve) => {
    const streamed = body !== undefined && typeof body.bytes !== 'string'
    const text = body === undefined || typeof body.bytes !== 'string' ? undefined : Buffer.from(body.bytes)
    const asked = request(new URL(path, address), {
      method,
      agent: false,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': body.type }),
        ...(text !== undefined && { 'content-length': text.length }),
      },
    })
    const silent = () => asked.destroy(new Error(`no answer within ${silenceMaxMs / 1000} s`))
    const listen = () => asked.setTimeout(silenceMaxMs, silent)
    let answered = false
    asked.on('response', (response) => {
      answered = true
      void textOf(response).then(
        (read) => {
          resolve(E.right({ status: response.statusCode ?? 0, text: read }))
          asked.destroy()
        },
        (cause: unknown) => {
          resolve(E.left(wordsOf(cause)))
        },
      )
    })
    asked.on('error', (cause) => {
      if (!answered) resolve(E.left(wordsOf(cause)))
    })
    if (!streamed) {
      listen()
      asked.end(text)
      return
    }
    asked.on('finish', listen)
    pipeline(Readable.from(body.bytes), asked, () => undefined)
  })

const textOf = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > answerBytesMax) throw new Error(`the answer has more than ${answerBytesMax} bytes`)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const wordsOf = (cause: unknown): string => {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'ECONNREFUSED') return 'nobody listens there'
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'it broke off'
  return message === '' ? String(code) : message
}
