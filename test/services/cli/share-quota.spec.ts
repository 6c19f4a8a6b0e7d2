import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { policyHash } from '../../../infra/host/policy-hash.ts'
import { readDocument } from '../../../infra/yaml/document.ts'
import { CellLife } from '../../support/cell-life.ts'
import { lineOf } from '../../support/fact-script.ts'
import { rightOf } from '../../support/faults.ts'
import { run } from './terminal.ts'

const folder = mkdtempSync(join(tmpdir(), 'share-quota-'))
const begin = Date.UTC(2026, 7, 4)
const ask = (...words: ReadonlyArray<string>) => run([...words, '--data', join(folder, 'data')])

const document = rightOf(
  readDocument(
    `
metadata: { name: two-queues }
spec:
  mode: advise
  sharing: kueue
  kueue: { fairSharing: [lessThanOrEqualToFinalShare] }
  cohorts: [{ name: all }]
  queues:
    - { name: research, ordering: greedy, cohort: all, quotas: [{ accelerator: gpu, devices: { nominal: 2, borrowing: 4 } }] }
    - { name: platform, ordering: greedy, cohort: all, quotas: [{ accelerator: gpu, devices: { nominal: 6, lending: 5 } }] }
`,
    decodePolicy,
  ),
)

beforeAll(async () => {
  const life = new CellLife(begin)
  life.tell({ type: 'PolicyActivated', at: begin as never, data: { document, hash: policyHash(document) } })
  life.nodes(1, 8).submit('large', 5, { queue: 'research' }).submit('more', 4, { queue: 'research' }).tick()
  const facts = join(folder, 'facts.ndjson')
  writeFileSync(facts, life.told.map(({ input }, i) => `${lineOf(`f${i}`, input)}\n`).join(''))
  expect(await ask('facts', facts)).toMatchObject({ code: 0 })
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

it('should print who borrows from whom', async () => {
  const { code, stdout } = await ask('share')
  expect(code).toBe(0)
  expect(stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
    ['NODE', 'OF', 'USES', 'BORROWS', 'FROM', 'LENDS', 'MORE', 'RUNS', 'WAITS', 'SHARE'],
    ['all', 'gpu', '5 of 7', '0', '-', '0', '2', '-', '-', '0'],
    ['research', 'gpu', '5 of 2', '3', 'platform', '0', '1', '1', '1', '429'],
    ['platform', 'gpu', '0 of 6', '0', '-', '3', '3', '0', '0', '0'],
    [''],
  ])
})

it('should tell one in words, and all in formats for programs', async () => {
  expect((await ask('share', 'research')).stdout).toContain('borrows    3 GPUs of at most 4 GPUs: 3 GPUs of platform')
  expect(JSON.parse((await ask('share', '-o', 'json')).stdout)).toMatchObject({
    sharing: 'kueue',
    quotas: [{ node: 'all' }, { node: 'research' }, { node: 'platform', quotas: [{ lent: 3000 }] }],
  })
  expect((await ask('share', '-o', 'csv')).stdout.split('\r\n')[2]).toBe(
    'research,queue,all,gpu,devices,2000,2000,5000,3000,0,4000,,1000,6000,1000,1,1,429',
  )
  expect(await ask('share', 'reserch')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('research') as string,
  })
})
