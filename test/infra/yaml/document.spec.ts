import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { describeFault } from '../../../domain/kernel/fault.ts'
import { decodePolicy, defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { decodeIntent, encodeIntent } from '../../../domain/workload/intent.codec.ts'
import { readDocument, readDocumentFile } from '../../../infra/yaml/document.ts'
import { readIntents, readIntentsFile } from '../../../infra/yaml/intents.ts'
import { faultsOf, rightOf } from '../../support/faults.ts'

const told = (text: string | Uint8Array) =>
  faultsOf(readDocument(text, decodeIntent)).map((fault) => describeFault(fault, 'i.yaml'))
/** Path, line and column of each fault. */
const placed = (text: string) =>
  faultsOf(readDocument(text, decodeIntent)).map(({ path, line, column }) => `${path} ${line}:${column}`)

describe('places', () => {
  it('should be those of every fault, in the order of the text', () => {
    const text = `kind: WorkloadIntent
metadata:
  teem: ranking
spec:
  preferred:
    count: 0.5
    memory:
      60Gi
  topology: { gangScheduled: no, minInterconnect: nvlink }
  substitutable:
    - { accelerator: h100 }
    - 7
    - count: 4
      accelerator: [a, a]
  preemption:
    tolerated: maybe
  class:
`
    expect(placed(text)).toEqual([
      'metadata.teem 3:9',
      'spec.preferred.count 6:12',
      'spec.topology.gangScheduled 9:30',
      'spec.topology.minInterconnect 9:51',
      'spec.substitutable[0].count 11:7',
      'spec.substitutable[1] 12:7',
      'spec.substitutable[2].accelerator[1] 14:24',
      'spec.preemption.tolerated 16:16',
      'spec.class 17:3',
    ])
  })
  it('should make the line that a person reads', () => {
    expect(told('spec:\n  preferred:\n    count: -4\n')).toEqual([
      'i.yaml:3:12: spec.preferred.count: -4 is below 0; give a whole number from 0 to 1000000',
    ])
  })
  it('should hold in JSON, with tabs, with CRLF, after a byte order mark, and through an alias', () => {
    expect(placed('{\n\t"spec": {\n\t\t"preferred": { "count": "1" }\n\t}\n}')).toEqual(['spec.preferred.count 3:27'])
    expect(placed('spec:\r\n  preferred:\r\n    count: x\r\n')).toEqual(['spec.preferred.count 3:12'])
    expect(placed('\ufeffspec:\n  preferred: 1\n')).toEqual(['spec.preferred 2:14'])
    expect(placed('spec:\n  preferred: { count: 1, memory: &m 1 }\n  resources: { memory: *m }\n')).toEqual([
      'spec.preferred.memory 2:37',
      'spec.resources.memory 3:16',
    ])
  })
  it('should hold for keys that are quoted, and for several documents', () => {
    expect(placed('spec: { preferred: { count: 1 }, "a.b": 1, "[0]": 1 }')).toEqual([
      'spec["a.b"] 1:41',
      'spec["[0]"] 1:51',
    ])
    const second = faultsOf(
      readIntents(
        `metadata: { name: a }\nspec: { preferred: { count: 1 } }\n---\nmetadata: { name: b }\nspec: { preferred: { count: x } }\n`,
      ),
    )
    expect(second.map(({ path, line, column }) => [path, line, column])).toEqual([['spec.preferred.count', 5, 29]])
  })
  it('should be given for every fault of the YAML itself', () => {
    expect(told('a: [1\nb: "\\q"\nc: !foo 1\n').map((each) => each.slice(0, 30))).toEqual([
      expect.stringMatching(/^i.yaml:2:1: \$: is not YAML: /),
      expect.stringMatching(/^i.yaml:2:\d+: \$: is not YAML: /),
      expect.stringMatching(/^i.yaml:3:\d+: \$: is not YAML: /),
    ])
  })
})

describe('what YAML would read as something else', () => {
  const count = (written: string) => told(`spec: { preferred: { count: ${written} } }`)
  it.each([
    ['012', 'write 12, or "012" with quotes if it is a text'],
    ['1e3', 'write 1000, or "1e3" with quotes if it is a text'],
    ['0x10', 'write 16, or "0x10" with quotes if it is a text'],
    ['0o17', 'write 15, or "0o17" with quotes if it is a text'],
    ['+5', 'write 5, or "+5" with quotes if it is a text'],
    ['.nan', 'NaN is not a number that can be counted with'],
    ['.inf', 'Infinity is not a number that can be counted with'],
    ['-.inf', '-Infinity is not a number that can be counted with'],
    ['1e999', 'Infinity is not a number that can be counted with'],
    ['1_000', 'found the text "1_000"'],
    ['yes', 'found the text "yes"'],
    ['~', 'found nothing'],
    ['2026-08-14', 'found the text "2026-08-14"'],
    ['99999999999999999999', 'is above 1000000'],
  ])('should be refused as a count: %s', (written, said) => {
    expect(count(written)).toHaveLength(1)
    expect(count(written)[0]).toContain(said)
  })
  it('should ask for the quotes of a name that is a number', () => {
    expect(told('metadata: { name: 2026 }\nspec: { preferred: { count: 1 } }')).toEqual([
      'i.yaml:1:19: metadata.name: found 2026; put it in quotes if it is a name',
    ])
  })
  it('should be a text where a text is wanted: yes, dates and instants without quotes', () => {
    const read = readDocument(
      'metadata: { name: yes, team: 2026-08-14 }\nspec: { preferred: { count: 1 }, deadline: 2026-08-14T00:00:00Z }',
      decodeIntent,
    )
    expect(rightOf(read)).toMatchObject({ name: 'yes', team: '2026-08-14', deadline: Date.UTC(2026, 7, 14) })
  })
})

describe('documents', () => {
  const one = 'spec: { preferred: { count: 1 } }'
  it('should be one where one is wanted', () => {
    expect(told(`${one}\n---\n${one}`)).toEqual([
      'i.yaml:3:1: $: holds 2 documents; keep one; the others begin after ---',
    ])
    expect(rightOf(readDocument(`---\n${one}\n...\n---\n`, decodeIntent)).request.devices).toBe(1)
  })
  it.each(['', ' \n', '# nothing yet\n', '---\n---\n'])('should not be empty: %j', (text) => {
    expect(told(text)).toEqual(['i.yaml:1:1: $: there is nothing in it; write a document'])
  })
  it('should be several intents, after --- or as a list, none of one name with another', () => {
    const named = (name: string) => `metadata: { name: ${name} }\n${one}\n`
    const list = '[{"metadata":{"name":"a"},"spec":{"preferred":{"count":1}}},{"spec":{"preferred":{"count":2}}}]'
    expect(rightOf(readIntents(`${named('a')}---\n${named('b')}`)).map(({ name }) => name)).toEqual(['a', 'b'])
    expect(rightOf(readIntents(list.replace('{"spec"', '{"metadata":{"name":"c"},"spec"'))).length).toBe(2)
    expect(faultsOf(readIntents(`${named('a')}---\n${named('a')}`))).toEqual([
      {
        path: 'metadata.name',
        reason: 'repeats the name of document 1, a',
        mend: 'give each document a name of its own',
        line: 4,
        column: 19,
      },
    ])
    const faults = faultsOf(readIntents(list.replace('"count":2', '"count":"2"')))
    expect(faults.map(({ line, path, reason }) => [path, line, reason])).toEqual([
      ['[1].metadata.name', 1, 'is missing'],
      ['[1].spec.preferred.count', 1, expect.stringContaining('found the text') as string],
    ])
    expect(faultsOf(readIntents('[]'))).toMatchObject([{ path: '$', reason: 'there is nothing in the list' }])
  })
  it('should read the same from YAML and from JSON', () => {
    const members = fc.record({ count: fc.integer({ min: 1, max: 99 }), share: fc.integer({ min: 1, max: 1000 }) })
    fc.assert(
      fc.property(members, fc.string({ minLength: 1, maxLength: 9 }), (preferred, team) => {
        const read = decodeIntent({ metadata: { team }, spec: { preferred } })
        fc.pre(E.isRight(read))
        const document = encodeIntent(rightOf(read))
        expect(readDocument(stringify(document), decodeIntent)).toEqual(read)
        expect(readDocument(JSON.stringify(document), decodeIntent)).toEqual(read)
        expect(readDocument(JSON.stringify(document, null, '\t'), decodeIntent)).toEqual(read)
      }),
    )
  })
})

describe('files', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
  })
  afterAll(() => {
    rmSync(folder, { recursive: true })
  })
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  it('should be read, and name an intent that has no name', async () => {
    const policy = file('policy.yaml', 'kind: AllocationPolicy\n')
    expect(await readDocumentFile(policy, decodePolicy)()).toEqual(E.right(defaultPolicy))
    const intents = await readIntentsFile(file('sweep-7.yaml', 'spec: { preferred: { count: 1 } }'))()
    expect(E.isRight(intents) && intents.right[0]?.name).toBe('sweep-7')
  })
  it('should tell what is wrong in a file from a file that cannot be read', async () => {
    const bad = file('bad.yaml', 'spec: 1')
    expect(await readDocumentFile(bad, decodePolicy)()).toMatchObject(
      E.left({ type: 'DocumentRefused', file: bad, faults: [{ path: 'spec', line: 1, column: 7 }] }),
    )
    const missing = join(folder, 'missing.yaml')
    expect(await readDocumentFile(missing, decodePolicy)()).toEqual(
      E.left({
        type: 'FileUnreadable',
        file: missing,
        code: 'ENOENT',
        reason: 'there is no such file',
        mend: 'check the path',
      }),
    )
    for (const [path, code] of [
      [folder, 'EISDIR'],
      [join(bad, 'below'), 'ENOTDIR'],
      ['a\0b', 'ERR_INVALID_ARG_VALUE'],
    ] as const)
      expect(await readDocumentFile(path, decodePolicy)()).toMatchObject(E.left({ type: 'FileUnreadable', code }))
  })
  it('should be read no further than their bound', async () => {
    const large = file('large.yaml', '#\n'.repeat(3_000_000))
    for (const each of [large, '/dev/zero'])
      expect(await readDocumentFile(each, decodePolicy)()).toMatchObject(
        E.left({ type: 'DocumentRefused', faults: [{ path: '$' }] }),
      )
  })
})
