import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { lineOf, nodeFact } from '../../support/fact-script.ts'
import { apiServer, intent, nodes, type ApiServer } from '../../support/api-server.ts'

const server = apiServer()

interface Told {
  readonly error: {
    readonly code: string
    readonly reason: string
    readonly mend: string
    readonly faults?: ReadonlyArray<{ readonly path: string; readonly reason: string; readonly mend: string }>
  }
}
const told = (json: unknown): Told['error'] => {
  const { error } = json as Told
  for (const word of [error.code, error.reason, error.mend]) expect(word).toMatch(/^\S[^\n]*$/)
  expect(JSON.stringify(json)).not.toMatch(/\bat \S+ ?\(|\.[jt]s:\d|node_modules/)
  return error
}

/** What comes back on a bare connection for these bytes, until it ends or says nothing for a while. */
const raw = async (api: ApiServer, write: (socket: Socket) => unknown, silenceMs = 3_000): Promise<string> => {
  const socket = connect(api.port, '127.0.0.1')
  let text = ''
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, silenceMs)
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (/\r\n\r\n.*[}\]]$/s.test(text)) end()
    })
    socket.on('end', end).on('close', end).on('error', end)
    socket.on('connect', () => void write(socket))
  })
  socket.destroy()
  return text
}
const errorIn = (text: string): { readonly status: number } & Told['error'] => ({
  status: Number(text.split(' ')[1]),
  ...told(JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))),
})
const head = (method: string, path: string, ...headers: ReadonlyArray<string>): string =>
  [`${method} ${path} HTTP/1.1`, 'host: localhost', ...headers, '', ''].join('\r\n')

/** What was asked had no effect, and others are answered as before. */
const isUnharmed = async (api: ApiServer, nodeCount = 0): Promise<void> => {
  expect((await api.get('/healthz')).status).toBe(200)
  expect((await api.get('/v1/fleet')).json).toMatchObject({ total: { nodes: nodeCount } })
}

describe('a path', () => {
  it('should be told apart from those that there are, with the nearest', async () => {
    const api = await server()
    const answer = await api.get('/v1/fleets')
    expect(answer.status).toBe(404)
    expect(told(answer.json)).toMatchObject({ code: 'unknown-path', mend: 'did you mean /v1/fleet?' })
    expect((await api.get('/v1/fleet/')).status).toBe(404)
    expect((await api.get('//v1/fleet')).status).toBe(404)
    expect(told((await api.get('/')).json).mend).toContain('/openapi.json')
  })

  it('should say which methods it answers', async () => {
    const api = await server()
    const answer = await api.get('/v1/facts')
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('POST')
    expect(told(answer.json)).toMatchObject({ code: 'wrong-method', mend: 'use POST' })
    const deleted = await fetch(`${api.address}/v1/workloads/x/why`, { method: 'DELETE' })
    expect([deleted.status, deleted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect((await fetch(`${api.address}/healthz`, { method: 'HEAD' })).status).toBe(200)
  })

  it.each(['/v1/workloads/%zz', '/v1/workloads/%', '/v1/workloads/%c3%28/why', '/v1/workloads/%00'])(
    'should be refused as %s',
    async (path) => {
      const api = await server()
      const { code, status } = errorIn(await raw(api, (socket) => socket.write(head('GET', path))))
      expect([400, 404]).toContain(status)
      expect(['invalid', 'not-found']).toContain(code)
      await isUnharmed(api)
    },
  )

  it('should bear names with every character that a name may have', async () => {
    const api = await server()
    await api.sendFacts(...nodes(1))
    for (const name of ['a/b', 'ü', 'a%2Fb', 'a?b#c', '..', 'x'.repeat(253)]) {
      expect(
        (await api.post('/v1/workloads', JSON.stringify([{ metadata: { name }, spec: { preferred: { count: 1 } } }])))
          .status,
      ).toBe(202)
      if (name !== '..')
        expect((await api.get(`/v1/workloads/${encodeURIComponent(name)}`)).json).toMatchObject({ workload: name })
    }
  })
})

describe('a query', () => {
  it.each([
    ['/v1/queue?limt=3', 'limt', 'did you mean limit?'],
    ['/v1/queue?limit=3&limit=4', 'limit', 'give it once'],
    ['/v1/queue?limit=-1', 'limit', 'whole number from 0'],
    ['/v1/queue?limit=1e3', 'limit', 'whole number from 0'],
    ['/v1/queue?limit', '$', 'NAME=VALUE'],
    ['/v1/queue?queue=%zz', '$', 'hexadecimal'],
    ['/v1/queue?__proto__=1', '__proto__', 'remove it'],
    ['/v1/fleet?at=yesterday', 'at', 'an instant such as'],
    ['/v1/fleet?at=2026-02-30T00:00:00Z', 'at', 'an instant such as'],
    ['/v1/decisions?type=helt', 'type', 'did you mean'],
    ['/v1/events?from=x', 'from', 'whole number'],
    ['/healthz?x=1', 'x', 'nothing belongs here'],
  ])('should be told what is wrong with %s', async (path, at, mend) => {
    const api = await server()
    const answer = await api.get(path)
    expect(answer.status).toBe(400)
    const { code, faults } = told(answer.json)
    expect(code).toBe('invalid')
    expect(faults?.[0]?.path).toBe(at)
    expect(faults?.[0]?.mend).toContain(mend)
  })
})

describe('a body', () => {
  it.each([
    ['a form', 'application/x-www-form-urlencoded'],
    ['a multipart form', 'multipart/form-data; boundary=x'],
    ['plain text', 'text/plain'],
    ['rubbish', ';;;'],
    ['a charset that is not UTF-8', 'application/json; charset=utf-16'],
  ])('should not be taken as %s', async (_, type) => {
    const api = await server()
    for (const path of [
      '/v1/workloads',
      '/v1/facts',
      '/v1/workloads/x/cancel',
      '/v1/freeze',
      '/v1/policy',
      '/v1/rebuild',
    ]) {
      const answer = await api.post(path, '{}', { 'content-type': type })
      expect([path, answer.status]).toEqual([path, 415])
      expect(told(answer.json).code).toBe('wrong-type')
    }
    await isUnharmed(api)
  })

  it('should say what it is, even where it may be empty', async () => {
    const api = await server()
    const answer = errorIn(await raw(api, (socket) => socket.write(head('POST', '/v1/rebuild', 'content-length: 0'))))
    expect(answer).toMatchObject({
      status: 415,
      code: 'wrong-type',
      mend: expect.stringContaining('application/json') as string,
    })
  })

  it('should not be encoded', async () => {
    const api = await server()
    const answer = await api.post('/v1/workloads', intent('a'), { 'content-encoding': 'gzip' })
    expect([answer.status, told(answer.json).reason]).toEqual([415, 'the body is encoded as "gzip"'])
  })

  it('should not come with a question', async () => {
    const api = await server()
    const text = await raw(api, (socket) => socket.write(`${head('GET', '/v1/fleet', 'content-length: 5')}12345`))
    expect(errorIn(text)).toMatchObject({ status: 400, reason: 'no body belongs here' })
  })

  it('should be refused above 1 MiB, with the answer, whether or not it says its size', async () => {
    const api = await server()
    const large = 'x'.repeat(1_100_000)
    const stated = await api.post('/v1/workloads', large)
    expect([stated.status, told(stated.json).code]).toEqual([413, 'too-large'])
    const chunked = await raw(api, (socket) => {
      socket.write(head('POST', '/v1/policy', 'content-type: application/yaml', 'transfer-encoding: chunked'))
      for (let i = 0; i < 40; i++) socket.write(`8000\r\n${'x'.repeat(0x8000)}\r\n`)
      socket.write('0\r\n\r\n')
    })
    expect(errorIn(chunked)).toMatchObject({ status: 413, code: 'too-large' })
    await isUnharmed(api)
  })

  it.each([
    ['no JSON', '{"health": ', 'is not JSON'],
    ['YAML where JSON was said', 'health: ready', 'is not JSON'],
    ['a member twice', '{"health": "ready", "health": "failed"}', 'twice'],
    ['a member that is unknown', '{"health": "ready", "devise": 1}', 'is not known here'],
    ['another value', '{"health": "raedy"}', 'raedy'],
    ['a list', '[]', 'found a list'],
    ['a device that is none', '{"health": "ready", "device": -1}', '-1 is below 0'],
    ['nothing', '', 'is missing'],
    ['a prototype', '{"health": "ready", "__proto__": {"x": 1}}', 'no document may use'],
    ['too deep a nest', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, 'deeper'],
    ['a control character', '{"health": "re\u0001ady"}', ''],
  ])('should tell its faults: %s', async (_, body, reason) => {
    const api = await server()
    await api.sendFacts(...nodes(1))
    const answer = await api.post('/v1/nodes/node-0/health', body, { 'content-type': 'application/json' })
    expect(answer.status).toBe(400)
    expect(JSON.stringify(told(answer.json).faults)).toContain(reason)
    expect((await api.get('/v1/fleet')).json).toMatchObject({ nodes: [{ health: 'ready' }] })
  })

  it('should be UTF-8', async () => {
    const api = await server()
    const text = await raw(api, (socket) => {
      socket.write(head('POST', '/v1/policy', 'content-type: application/json', 'content-length: 5'))
      socket.write(Buffer.from([0x22, 0xff, 0xfe, 0xc3, 0x22]))
    })
    expect(errorIn(text)).toMatchObject({ status: 400, reason: expect.stringContaining('UTF-8') as string })
  })

  it('should be answered with 408 when it falls silent, and with nothing done', async () => {
    const api = await server({ bodySilenceMaxMs: 150 })
    const whole = intent('slow')
    const text = await raw(api, (socket) => {
      socket.write(head('POST', '/v1/workloads', 'content-type: application/yaml', `content-length: ${whole.length}`))
      socket.write(whole.slice(0, 20))
    })
    expect(errorIn(text)).toMatchObject({ status: 408, code: 'slow' })
    await isUnharmed(api)
  })

  it('should be taken in as many pieces as it comes, as long as it comes', async () => {
    const api = await server({ bodySilenceMaxMs: 400 })
    await api.sendFacts(...nodes(1))
    const whole = intent('drip')
    const text = await raw(api, async (socket) => {
      socket.write(head('POST', '/v1/workloads', 'content-type: application/yaml', `content-length: ${whole.length}`))
      for (const letter of whole) {
        socket.write(letter)
        await new Promise((resolve) => setTimeout(resolve, 8))
      }
    })
    expect(text).toMatch(/^HTTP\/1.1 202 /)
  })
})

describe('a head', () => {
  it('should come in time', async () => {
    const api = await server({ headerTimeMaxMs: 200 })
    const text = await raw(api, (socket) => socket.write('GET /healthz HTTP/1.1\r\nhost: loc'))
    expect(errorIn(text)).toMatchObject({ status: 408, code: 'slow' })
    await isUnharmed(api)
  })

  it('should not be huge', async () => {
    const api = await server()
    const large = await raw(api, (socket) => socket.write(head('GET', '/healthz', `x: ${'y'.repeat(40_000)}`)))
    expect(errorIn(large)).toMatchObject({ status: 431, code: 'too-large' })
    const many = Array.from({ length: 4_000 }, (_, i) => `x-${i}: y`)
    expect(errorIn(await raw(api, (socket) => socket.write(head('GET', '/healthz', ...many))))).toMatchObject({
      status: 431,
    })
    await isUnharmed(api)
  })

  it.each(['content-type: application/json', 'host: evil.example', 'content-length: 2', 'origin: http://localhost'])(
    'should not say twice: %s',
    async (line) => {
      const api = await server()
      const lines = ['content-type: application/yaml', 'content-length: 2', 'origin: http://localhost', line]
      const text = await raw(api, (socket) => socket.write(`${head('POST', '/v1/policy', ...lines)}{}`))
      expect(errorIn(text)).toMatchObject({ status: 400, code: 'invalid' })
      expect((await api.get('/v1/decisions')).status).toBe(200)
    },
  )

  it.each([
    'no HTTP at all\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    '\u0016\u0003\u0001\u0002\u0000\u0001',
    'GET /\u0000 HTTP/1.1\r\n\r\n',
  ])('should be HTTP, not %j', async (bytes) => {
    const api = await server()
    expect(errorIn(await raw(api, (socket) => socket.write(bytes)))).toMatchObject({ status: 400, code: 'invalid' })
    await isUnharmed(api)
  })
})

describe('a page in a browser', () => {
  const order = (api: ApiServer, ...headers: ReadonlyArray<string>) =>
    raw(api, (socket) => {
      const lines = ['content-type: application/json', 'content-length: 16', ...headers]
      socket.write(`${['POST /v1/freeze HTTP/1.1', ...lines, '', ''].join('\r\n')}{"frozen": true}`)
    })

  it.each([
    ['a name that was pointed here', ['host: evil.example']],
    ['a name that begins like ours', ['host: localhost.evil.example']],
    ['a name with ours before an @', ['host: localhost@evil.example']],
    ['another site', ['host: localhost', 'origin: https://evil.example']],
    ['a page without an origin', ['host: localhost', 'origin: null']],
    ['a link from another site', ['host: localhost', 'sec-fetch-site: cross-site']],
  ])('should not order anything: %s', async (_, headers) => {
    const api = await server()
    expect(errorIn(await order(api, ...headers))).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await api.get('/v1/status')).json).toMatchObject({ mode: 'automate' })
  })

  it.each([
    ['the loopback', ['host: 127.0.0.1:1']],
    ['its IPv6', ['host: [::1]:8410']],
    ['a page of the loopback', ['host: localhost', 'origin: http://localhost:3000']],
    ['a host that was configured', ['host: Fleet.Example.com', 'origin: https://fleet.example.com']],
  ])('may order from %s', async (_, headers) => {
    const api = await server()
    expect(await order(api, ...headers)).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('facts', () => {
  const upload = (
    api: ApiServer,
    pieces: ReadonlyArray<string>,
    end: (socket: Socket) => unknown,
    silenceMs?: number,
  ) =>
    raw(
      api,
      async (socket) => {
        socket.write(head('POST', '/v1/facts', 'content-type: application/x-ndjson', 'transfer-encoding: chunked'))
        for (const piece of pieces) {
          socket.write(`${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`)
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
        end(socket)
      },
      silenceMs,
    )
  const line = (i: number) => `${lineOf(`node-${i}`, nodeFact(`node-${i}`))}\n`

  it('should stay when the upload is broken off, but for the line that was not whole', async () => {
    const api = await server()
    await upload(api, [line(0) + line(1), line(2).slice(0, 60)], (socket) => socket.destroy())
    await isUnharmed(api, 2)
    expect((await api.get('/v1/dlq')).json).toEqual([])
    expect((await api.sendFacts(...nodes(3))).json).toMatchObject({ recorded: 1, duplicate: 2 })
  })

  it('should stay when the upload falls silent', async () => {
    const api = await server({ bodySilenceMaxMs: 150 })
    const text = await upload(api, [line(0), line(1).slice(0, 60)], () => undefined)
    expect(errorIn(text)).toMatchObject({ status: 408, code: 'slow' })
    await isUnharmed(api, 1)
    expect((await api.get('/v1/dlq')).json).toEqual([])
  })

  it('should go on behind lines that are none, which are kept with their reason', async () => {
    const api = await server()
    const bad = ['rubbish', '{}', '[1]', '"\\ud800"', `{"id": "${'x'.repeat(70_000)}"}`, 'x'.repeat(1_200_000)]
    const body = `${line(0)}${bad.join('\n')}\n\n\r\n${line(1)}`
    const answer = await api.post('/v1/facts', body, { 'content-type': 'application/x-ndjson' })
    expect(answer.json).toMatchObject({ recorded: 2, undecodable: bad.length })
    await isUnharmed(api, 2)
    const letters = (await api.get('/v1/dlq')).json as ReadonlyArray<{
      readonly reason: string
      readonly state: string
    }>
    expect(letters.map(({ state }) => state)).toEqual(['waiting', 'waiting', 'waiting', 'waiting', 'cut', 'cut'])
    for (const { reason } of letters) expect(reason).not.toBe('')
  })

  it('should go on behind a line of any length', async () => {
    const api = await server()
    const body = Buffer.concat([Buffer.alloc(20_000_000, 'x'), Buffer.from(`\n${line(0)}`)])
    const headers = { 'content-type': 'application/x-ndjson' }
    const answer = await fetch(`${api.address}/v1/facts`, { method: 'POST', body, headers })
    expect(await answer.json()).toMatchObject({ recorded: 1, undecodable: 1 })
    expect((await api.get('/v1/dlq')).json).toMatchObject([{ bytes: 20_000_000, state: 'cut' }])
  })

  it('should tell the first objections and count the others', async () => {
    const api = await server()
    const facts = Array.from({ length: 50 }, (_, i) =>
      lineOf(`end-${i}`, {
        type: 'AttemptEnded',
        at: 0 as never,
        data: { attempt: 1, outcome: 'failed', workload: `w-${i}` },
      }),
    )
    const answer = await api.post('/v1/facts', facts.join('\n'), { 'content-type': 'application/x-ndjson' })
    expect(answer.json).toMatchObject({ refused: 50 })
    expect((answer.json as { objections: ReadonlyArray<unknown> }).objections).toHaveLength(20)
  })
})
