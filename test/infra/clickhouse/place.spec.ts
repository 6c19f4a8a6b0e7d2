import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import { parseClickHouseUrl } from '../../../infra/clickhouse/place.ts'

it('should read who asks which server for which database, and what it is believed by', () => {
  expect(parseClickHouseUrl('https://ops:p%40ss%2F@db.example:9443/?database=fleet&tlsCAFile=%2Fetc%2Fca.pem')).toEqual(
    E.right({
      ...{ url: 'https://db.example:9443', user: 'ops', password: 'p@ss/', passwordFile: null },
      ...{ caFile: '/etc/ca.pem', database: 'fleet' },
    }),
  )
  expect(parseClickHouseUrl('http://[::1]')).toEqual(
    E.right({
      ...{ url: 'http://[::1]:8123', user: 'default', password: null, passwordFile: null },
      ...{ caFile: null, database: 'leasehold' },
    }),
  )
  expect(parseClickHouseUrl('https://u@db?passwordFile=secret')).toMatchObject({
    right: { url: 'https://db:8443', user: 'u', password: null, passwordFile: 'secret' },
  })
})

it.each([
  ['http://', 'it is not of the form'],
  ['http://u:hush@db/path', 'it is not of the form'],
  ['http://db:0', 'its port is none'],
  ['http://db:65536', 'its port is none'],
  ['https://u:%hush@db', 'a % that escapes nothing'],
  ['https://u:hush@db?passwordFile=p', 'both a password and a passwordFile'],
  ['http://db?tlsCAFile=ca.pem', 'of no use with http://'],
  ['http://db?database=1', 'database is a name'],
  ['http://db?database=', 'database has no value'],
  ['http://db?colour=hush', 'its options are database, passwordFile, tlsCAFile'],
])('should say what is wrong with %s, and no password', (url, reason) => {
  const refused = parseClickHouseUrl(url)
  expect(refused).toMatchObject({ left: expect.stringContaining(reason) as unknown })
  expect(JSON.stringify(refused)).not.toContain('hush')
})
