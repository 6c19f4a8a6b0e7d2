import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lineOf, nodeFact } from '../../support/fact-script.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { run } from './terminal.ts'

const folderFor = tempFolder()

interface Line {
  readonly meta: { readonly actor: string; readonly reason?: string }
  readonly message: { readonly type: string }
}

it('should be recorded with the reason that was given, and with none where none was', async () => {
  const folder = folderFor()
  const ask = (...words: ReadonlyArray<string>) => run([...words, '--data', join(folder, 'data')])
  const [facts, policy] = [join(folder, 'facts.ndjson'), join(folder, 'policy.yaml')]
  writeFileSync(facts, `${lineOf('n0', nodeFact('node-0'))}\n`)
  writeFileSync(policy, 'metadata: { name: shared }\n')
  await ask('facts', facts)
  const orders = [
    ['policy', 'activate', policy, '--reason', 'so "it" was agreed'],
    ['freeze', '--reason', 'a switch is replaced'],
    ['freeze', '--lift'],
    ['node', 'cordon', 'node-0', '--reason', 'a fan'],
    ['drill', 'pass', '--team', 'vision', '--reason', 'restored in 90 s'],
  ]
  for (const order of orders)
    expect(await ask(...order)).toMatchObject({ code: 0, stderr: expect.any(String) as string })
  const lines = (await ask('log', 'export')).stdout.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line) as Line).map(({ meta, message }) => [message.type, meta.reason])).toEqual(
    [
      ['NodeRegistered', undefined],
      ['PolicyActivated', 'so "it" was agreed'],
      ['PolicyActivated', 'a switch is replaced'],
      ['PolicyActivated', undefined],
      ['NodeHealthChanged', 'a fan'],
      ['DrillConcluded', 'restored in 90 s'],
    ],
  )
  for (const verb of ['audit', 'replay']) expect((await ask(verb, 'verify')).code).toBe(0)
})
