import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import {
  defaultConfiguration,
  readConfiguration,
  type ConfigurationSources,
} from '../../../infra/host/configuration.ts'

const folderWith = (text?: string, name = 'leasehold.yaml'): string => {
  const folder = mkdtempSync(join(tmpdir(), 'configuration-'))
  if (text !== undefined) writeFileSync(join(folder, name), text)
  return folder
}
const read = (text: string | undefined, more: Partial<ConfigurationSources> = {}) =>
  readConfiguration({ workingDirectory: folderWith(text), environment: {}, flags: {}, ...more })

it('should be the defaults where nothing else is said', () => {
  expect(read(undefined)).toMatchObject({ right: { values: defaultConfiguration, origins: { data: 'default' } } })
  expect(read('')).toMatchObject({ right: { values: defaultConfiguration } })
  expect(read(undefined, { environment: { LEASEHOLD_DATA: '' } })).toMatchObject({
    right: { values: defaultConfiguration },
  })
})

it('should take the file, over it the environment, over that the flags', () => {
  const layered = read('data: from-file\nordering: reserve\nplacement: fgd\n', {
    environment: { LEASEHOLD_DATA: 'from-environment', LEASEHOLD_ORDERING: 'greedy' },
    flags: { data: 'from-flag' },
  })
  expect(layered).toEqual(
    E.right({
      values: { ...defaultConfiguration, data: 'from-flag', ordering: 'greedy', placement: 'fgd' },
      origins: {
        data: '--data',
        output: 'default',
        ordering: 'LEASEHOLD_ORDERING',
        placement: 'leasehold.yaml',
        cell: 'default',
        host: 'default',
        port: 'default',
        views: 'default',
        nats: 'default',
        kafka: 'default',
        log: 'default',
      },
    }),
  )
})

it('should read another file where one is named, and miss it where it is not there', () => {
  const other = join(folderWith('cell: from-other', 'other.yaml'), 'other.yaml')
  const named = { right: { values: { cell: 'from-other' } } }
  expect(read('cell: from-file', { environment: { LEASEHOLD_CONFIG: other } })).toMatchObject(named)
  expect(read('cell: from-file', { flags: { config: other } })).toMatchObject(named)
  expect(read(undefined, { flags: { config: '/none.yaml' } })).toEqual(
    E.left({
      type: 'FileUnreadable',
      file: '/none.yaml',
      code: 'ENOENT',
      reason: 'there is no such file',
      mend: 'check the path',
    }),
  )
  expect(read(undefined, { flags: { config: tmpdir() } })).toMatchObject({ left: { type: 'FileUnreadable' } })
})

it('should give every fault of every source at once, with its place and its mend', () => {
  const invalid = read('ordering: fastest\n"__proto__": 1\ncell: [a]\n', {
    environment: { LEASEHOLD_PLACEMENT: 'anywhere' },
    flags: { output: 'xml', data: '' },
  })
  expect(invalid).toMatchObject({
    left: {
      type: 'Invalid',
      file: 'leasehold.yaml',
      faults: [
        { path: '__proto__', line: 2, column: 1 },
        { path: '--data', mend: 'give the name of a folder' },
        { path: '--output', reason: '"xml" is not valid', mend: 'give one of table, json, yaml, csv' },
        { path: 'ordering', reason: '"fastest" is not valid', line: 1, column: 1 },
        { path: 'LEASEHOLD_PLACEMENT', reason: '"anywhere" is not valid' },
        { path: 'cell', line: 3, column: 1 },
      ],
    },
  })
})

const aliasBomb = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...'bcdef'.split('').map((name, i) => `${name}: &${name} [${Array(9).fill(`*${'abcdef'[i]!}`).join(',')}]`),
].join('\n')

it.each([
  ['no YAML', 'data: [', /./],
  ['a list', '- data', /not a mapping/],
  ['a member twice', 'data: a\ndata: b', /given twice/],
  ['two documents', 'data: a\n---\ndata: b', /several documents/],
  ['a text too long', `# ${'x'.repeat(1_100_000)}`, /more than 1048576 bytes/],
  ['too deep', `data: ${'['.repeat(100_000)}`, /deeper than 64 levels/],
  ['a bomb of aliases', aliasBomb, /aliases repeat/],
])('should refuse a file that is %s', (_, text, reason) => {
  const refused = read(text)
  expect(refused).toMatchObject({ left: { type: 'Invalid' } })
  if (E.isLeft(refused) && refused.left.type === 'Invalid') expect(refused.left.faults[0]?.reason).toMatch(reason)
})

it.each([
  ['8411', 8411],
  ['0', 0],
])('should take a port as text where there is only text: %s', (text, port) => {
  expect(read(undefined, { flags: { port: text } })).toMatchObject({ right: { values: { port } } })
  expect(read(`port: ${text}`)).toMatchObject({ right: { values: { port } } })
})

it.each([
  ['port', '65536'],
  ['port', '-1'],
  ['port', '0x50'],
  ['port', '8410.5'],
  ['host', 'http://x'],
  ['host', 'a b'],
  ['views', 'chdb'],
  ['views', 'http://'],
  ['views', 'ftp://x'],
])('should refuse %s: %s', (member, value) => {
  expect(read(`${member}: "${value}"`)).toMatchObject({ left: { type: 'Invalid', faults: [{ path: member }] } })
})

it.each(['none', 'http://127.0.0.1:8123', 'https://clickhouse.example.com/?database=fleet'])(
  'should take views: %s',
  (views) => {
    expect(read(undefined, { environment: { LEASEHOLD_VIEWS: views } })).toMatchObject({ right: { values: { views } } })
  },
)

it('should take the URL of a server that holds the log, and repeat no password', () => {
  for (const log of ['embedded', 'esdb://db', 'esdb://u:hush@db?tlsCAFile=ca.pem'])
    expect(read(undefined, { environment: { LEASEHOLD_LOG: log } })).toMatchObject({ right: { values: { log } } })
  expect(read('log: esdb://u:hush@db\n')).toMatchObject({ right: { values: { log: 'esdb://u:hush@db' } } })
  expect(read(undefined, { flags: { log: 'esdb://u@db?passwordFile=p' } })).toMatchObject({ right: {} })
  for (const log of ['hush', 'http://u:hush@db', 'esdb://u:hush', 'esdb://u:hush@hush@db', 'esdb://u:hush@db?x=hush'])
    for (const sources of [{ environment: { LEASEHOLD_LOG: log } }, { flags: { log } }]) {
      const refused = read(undefined, sources)
      expect(refused).toMatchObject({ left: { type: 'Invalid', faults: [{}] } })
      expect(JSON.stringify(refused)).not.toContain('hush')
    }
  expect(read(undefined, { flags: { log: 'esdb://u:hush@db' } })).toEqual(
    E.left({
      type: 'Invalid',
      file: null,
      faults: [
        {
          path: '--log',
          reason: 'everybody on this machine reads a password in a flag',
          mend: 'set LEASEHOLD_LOG, or log in a file that only you may read; or name a passwordFile',
        },
      ],
    }),
  )
})

it('should take the URL of a server that holds the views, and repeat no password', () => {
  const url = 'https://u:hush@db:8443/?database=fleet&tlsCAFile=ca.pem'
  expect(read(`views: ${url}\n`)).toMatchObject({ right: { values: { views: url } } })
  expect(read(undefined, { flags: { views: 'https://u@db?passwordFile=p' } })).toMatchObject({ right: {} })
  for (const views of [
    'hush',
    'ftp://u:hush@db',
    'http://u:hush',
    'https://u:hush@hush@db',
    'https://u:hush@db?x=hush',
  ])
    for (const sources of [{ environment: { LEASEHOLD_VIEWS: views } }, { flags: { views } }]) {
      const refused = read(undefined, sources)
      expect(refused).toMatchObject({ left: { type: 'Invalid', faults: [{}] } })
      expect(JSON.stringify(refused)).not.toContain('hush')
    }
  expect(read(undefined, { flags: { views: 'https://u:hush@db' } })).toMatchObject({
    left: {
      faults: [
        {
          path: '--views',
          mend: 'set LEASEHOLD_VIEWS, or views in a file that only you may read; or name a passwordFile',
        },
      ],
    },
  })
})
