import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { startSystem } from '../../../services/main.ts'
import { intent, nodes } from '../../support/api-server.ts'
import { lineOf } from '../../support/fact-script.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folderOf = tempFolder()

it('should ask the views in SQL, refuse what is none of theirs, and build them anew as they were', async () => {
  const folder = folderOf()
  const started = await startSystem({
    ...{ folder, cell: 'cell-default', version: 'x', host: '127.0.0.1', port: 0, hosts: [], clock: 'events' },
    ...{ adapter: null, views: { folder: join(folder, 'views') }, policy: { ...defaultPolicy, name: 'test' } },
  })
  if (E.isLeft(started)) throw new Error(JSON.stringify(started.left))
  const { address, stop } = started.right
  const post = (path: string, body: string, type: string, accept = '*/*') =>
    fetch(address + path, { method: 'POST', body, headers: { 'content-type': type, accept } })
  const sql = (query: string, more: object = {}) =>
    post('/v1/sql', JSON.stringify({ query, ...more }), 'application/json')
  try {
    const facts = nodes(1).map(([id, fact]) => lineOf(id, fact))
    await post('/v1/facts', facts.join('\n'), 'application/x-ndjson')
    await post('/v1/workloads', intent('=cmd', 2), 'application/yaml')

    expect(await (await sql("SELECT toUInt8(7) AS seven, 'a' AS a")).json()).toEqual({
      columns: [
        { name: 'seven', type: 'UInt8' },
        { name: 'a', type: 'String' },
      ],
      rows: [[7, 'a']],
    })
    const csv = await post('/v1/sql', "SELECT 'a,\"b' AS x, '=cmd' AS y, -1 AS z", 'text/plain', 'text/csv')
    expect([csv.headers.get('content-type'), await csv.text()]).toEqual([
      expect.stringContaining('text/csv'),
      'x,y,z\r\n"a,""b",\'=cmd,-1\r\n',
    ])
    for (const [query, more, status, code] of [
      ['SELECT seven FROM nowhere', {}, 400, 'query-invalid'],
      ['SELEKT 1', {}, 400, 'query-invalid'],
      ['DROP TABLE workload', {}, 400, 'query-read-only'],
      ['SELECT number FROM numbers(100)', { rowsMax: 10 }, 422, 'query-too-many-rows'],
      ['SELECT count() FROM numbers(1e13)', { timeMaxMs: 200 }, 422, 'query-too-long'],
    ] as const) {
      const answer = await sql(query, more)
      expect([query, answer.status, await answer.json()]).toMatchObject([query, status, { error: { code } }])
    }
    const rebuilt = (await (await post('/v1/rebuild', '', 'application/json')).json()) as ReadonlyArray<{
      readonly table: string
      readonly hashBefore: string
      readonly hashAfter: string
    }>
    expect(rebuilt.length).toBeGreaterThan(3)
    for (const { hashAfter, hashBefore, table } of rebuilt) expect([table, hashAfter]).toEqual([table, hashBefore])
    expect(await (await fetch(`${address}/metrics`)).text()).toContain('leasehold_views_up 1')
  } finally {
    await stop()
  }
})
