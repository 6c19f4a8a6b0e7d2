import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { openLog } from '../../../infra/host/open-log.ts'
import { openHttpDoor } from '../../support/clickhouse/http-door.ts'
import { newEvent, right } from '../../support/events.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { run } from './terminal.ts'

const folder = tempFolder()
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

it.each([
  ['https://ops:hush@db.example?database=fleet', 'ok', 'fleet at https://db.example:8443, as ops, over TLS'],
  ['http://ops:hush@127.0.0.1', 'ok', 'leasehold at http://127.0.0.1:8123, as ops, on this machine'],
  ['http://db.example', 'degraded', 'leasehold at http://db.example:8123, as default, without TLS'],
])('should say of %s which server has the views, and no password', async (url, status, detail) => {
  const { stdout } = await run(['doctor', '-o', 'json', '--data', folder()], { environment: { LEASEHOLD_VIEWS: url } })
  expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ check: 'views server', status, detail }))
  expect(stdout).not.toContain('hush')
})

it('should ask views that are on a server with a certificate of its own', { timeout: 120_000 }, async () => {
  const data = folder()
  const door = await openHttpDoor(join(data, 'engine'), { tls: true })
  closing.push(door.close)
  const ca = join(data, 'ca.pem')
  writeFileSync(ca, door.certificate!)
  const { log } = await right(openLog(data))
  const node = { cpuMilli: null, deviceMemoryMib: null, devices: 8, domain: null, hostMemoryMib: null, model: null }
  await right(log.append('cell-default', -1, [newEvent('n', { ...node, node: 'n1' }, { type: 'NodeRegistered' })]))
  await log.close()
  const ask = (url: string) =>
    run(['sql', 'SELECT sum(devices) FROM node_rows FINAL', '-o', 'csv', '--data', data], {
      environment: { LEASEHOLD_VIEWS: url },
    })
  const asked = await ask(`${door.url}?tlsCAFile=${encodeURIComponent(ca)}`)
  expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining('8') as unknown })
  const unbelieved = await ask(door.url)
  expect(unbelieved).toMatchObject({ code: 1, stdout: '' })
  expect(unbelieved.stderr).toContain('tlsCAFile')
  expect(unbelieved.stderr).not.toContain(encodeURIComponent(door.password))
})
