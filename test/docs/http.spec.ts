import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { JsonSchema } from '../../domain/kernel/json-schema.ts'
import { hintSchema } from '../../services/api/budget-schemas.ts'
import { whySchema } from '../../services/api/schemas.ts'
import { apiServer } from '../support/api-server.ts'

const server = apiServer()
const page = readFileSync('docs/http.md', 'utf8')

interface Section {
  readonly method: string
  readonly path: string
  readonly text: string
  readonly example: string
  readonly answers: ReadonlyArray<number>
}
const sections: ReadonlyArray<Section> = page
  .split(/^### /m)
  .slice(1)
  .map((text) => {
    const [, method = '', path = ''] = /^`(\w+) (\S+)`/.exec(text) ?? []
    const [, example = '', answers = ''] = /```sh\n(.*?)```\n\n(Answers .*)/s.exec(text) ?? []
    return { method, path, text, example, answers: Array.from(answers.matchAll(/\b\d{3}\b/g), Number) }
  })

/** The words of a command in a shell, whose quotes are all single ones. */
const wordsOf = (command: string): ReadonlyArray<string> =>
  Array.from(command.matchAll(/'([^']*)'|[^\s']+/g), ([word, quoted]) => quoted ?? word)

interface Curl {
  readonly url: string
  readonly method: string
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly body: string | undefined
}
const curlOf = (command: string): Curl => {
  const [name, ...words] = wordsOf(command)
  expect(name).toBe('curl')
  const headers: [string, string][] = []
  let method = 'GET'
  let url = ''
  let body: string | undefined
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (word === '-X') method = words[++i]!
    else if (word === '-H') headers.push(words[++i]!.split(': ') as [string, string])
    else if (word === '-d' || word === '--data-binary') body = words[++i]!
    else if (word !== '-N') url = word
  }
  return { url, method, headers, body }
}

it('should have every example answered as it says', async () => {
  const api = await server()
  for (const { answers, example, method, path } of sections) {
    const curl = curlOf(example)
    expect(`${curl.method} ${curl.url}`).toContain(`${method} http://127.0.0.1:8410${path.split(':')[0]!}`)
    const url = curl.url.replace('http://127.0.0.1:8410', api.address)
    const leave = new AbortController()
    const init = { method, headers: curl.headers as [string, string][], signal: leave.signal }
    const answer = await fetch(url, curl.body === undefined ? init : { ...init, body: curl.body })
    expect([path, answer.status, answers]).toEqual([path, answer.status, expect.arrayContaining([answer.status])])
    if (path === '/v1/facts') expect(await answer.json()).toMatchObject({ recorded: 1, undecodable: 1, refused: 0 })
    else if (path === '/v1/workloads') expect(answer.status).toBe(202)
    leave.abort()
  }
})

it('should tell of every route, with its parameters and its errors', async () => {
  const api = await server()
  const { paths } = (await api.get('/openapi.json')).json as {
    readonly paths: {
      readonly [path: string]: {
        readonly [method: string]: {
          readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
          readonly responses: object
        }
      }
    }
  }
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, told]) => ({
      path: path.replace(/\{(\w+)\}/g, ':$1'),
      method: method.toUpperCase(),
      told,
    })),
  )
  expect(sections.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
    routes.map(({ method, path }) => `${method} ${path}`).sort(),
  )
  for (const { method, path, told } of routes) {
    const section = sections.find((each) => each.method === method && each.path === path)!
    const queried = (told.parameters ?? []).filter((parameter) => parameter.in === 'query')
    for (const { name } of queried) expect(section.text, `${method} ${path}`).toContain(`\`${name}\``)
    for (const status of Object.keys(told.responses)) {
      const isError = Number(status) >= 400
      if (isError) expect(page).toMatch(new RegExp(`^\\| (\\d+, )*${status}[ ,].*\\|$`, 'm'))
      else expect(section.answers, `${method} ${path}`).toContain(Number(status))
    }
  }
})

it('should tell of every metric', async () => {
  const api = await server()
  const { text } = await api.get('/metrics')
  const own = Array.from(text.matchAll(/^# TYPE (leasehold_\w+)/gm), ([, name]) => name!).filter(
    (name) => !/^leasehold_(process|nodejs)_/.test(name),
  )
  expect(own.length).toBeGreaterThan(10)
  for (const name of own) expect(page).toContain(`\`${name}\``)
})

const membersOf = (schema: JsonSchema): ReadonlyArray<string> =>
  'anyOf' in schema
    ? schema.anyOf.flatMap(membersOf)
    : Object.keys((schema as { readonly properties: object }).properties)

/** Names in code of one column of the tables of a section. */
const namesIn = (text: string, column: number): ReadonlyArray<string> =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => Array.from((line.split(' | ')[column] ?? '').matchAll(/`([\w-]+)`/g), ([, name]) => name!))

it('should say of why what every member is, and of no other', () => {
  const { text } = sections.find(({ path }) => path === '/v1/workloads/:id/why')!
  const [members, afterwards] = text.split('A hint says')
  const [hints, running] = afterwards!.split('Of one that runs:')
  const named = [...namesIn(members!, 0), ...namesIn(running!, 0)]
  expect(named.toSorted()).toEqual([...new Set(membersOf(whySchema))].sort())
  expect(['change', 'nodes', ...namesIn(hints!, 1)].sort()).toEqual(membersOf(hintSchema).toSorted())
  const { change } = (
    hintSchema as { readonly properties: { readonly change: { readonly enum: ReadonlyArray<string> } } }
  ).properties
  expect(namesIn(hints!, 0).filter((name) => name !== 'change')).toEqual(change.enum)
})
