import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import { describePlace, parseKafkaUrl } from '../../../infra/kafka/place.ts'

it('should read brokers, and who we are to them', () => {
  expect(parseKafkaUrl('kafka://127.0.0.1:9092')).toEqual(
    E.right({ brokers: ['127.0.0.1:9092'], tls: false, tlsCaFile: null, sasl: null, gatherMaxMs: null }),
  )
  const place = parseKafkaUrl(
    'kafka://an%40a:s%3Ae@one:9092,[::1]:9093/?tls=true&tlsCAFile=ca.pem&mechanism=plain&gather=90',
  )
  expect(place).toEqual(
    E.right({
      brokers: ['one:9092', '[::1]:9093'],
      tls: true,
      tlsCaFile: 'ca.pem',
      sasl: { mechanism: 'plain', user: 'an@a', password: 's:e', passwordFile: null },
      gatherMaxMs: 90,
    }),
  )
  expect(E.isRight(place) && describePlace(place.right)).toBe('kafka://one:9092,[::1]:9093')
})

it.each([
  ['http://secret@one:9092', 'it is no kafka://host:port'],
  ['kafka://one', 'a broker is not of the form host:port'],
  ['kafka://one:9092?ssl=true', 'it has no option ssl: there are tls, tlsCAFile, mechanism, passwordFile, gather'],
  ['kafka://one:9092?tls=yes', 'tls is neither true nor false'],
  ['kafka://one:9092?tlsCAFile=ca.pem', 'tlsCAFile is of no use without tls=true'],
  ['kafka://u:secret@one:9092?mechanism=none', 'mechanism is none of plain, scram-sha-256, scram-sha-512'],
  ['kafka://one:9092?mechanism=plain', 'mechanism is of no use without a user'],
  ['kafka://one:9092?gather=-1', 'gather is a whole number of milliseconds up to 999999'],
  ['kafka://one:9092?passwordFile=f', 'passwordFile is the password of a user, and it names none'],
  ['kafka://u:secret@one:9092?passwordFile=f', 'a user has either a password or a passwordFile'],
  ['kafka://u@one:9092', 'a user has either a password or a passwordFile'],
  ['kafka://u:%secret@one:9092', 'its user or password has a % that is not followed by two hexadecimal digits'],
])('should say what is wrong with %s, and never the password', (url, reason) => {
  expect(parseKafkaUrl(url)).toEqual(E.left(reason))
  expect(reason).not.toContain('secret')
})
