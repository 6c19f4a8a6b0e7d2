import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import { describePlace, parseEventStoreUrl } from '../../../infra/eventstore/place.ts'
import { wholeNumber } from '../../../infra/eventstore/recorded.ts'

const one = {
  hosts: [{ address: 'db', port: 2_113 }],
  discover: false,
  tls: true,
  caFile: null,
  user: null,
  password: null,
  passwordFile: null,
  stream: 'leasehold',
  deadlineMs: 5_000,
}

describe('the URL of an EventStoreDB', () => {
  it.each([
    ['esdb://db', one],
    ['esdb://db:2113/', one],
    ['esdb://db?tls=false', { ...one, tls: false }],
    ['esdb://db?TLS=true&tlsCAFile=/etc/ca%20x.pem', { ...one, caFile: '/etc/ca x.pem' }],
    ['esdb+discover://db?stream=leasehold-eu', { ...one, discover: true, stream: 'leasehold-eu' }],
    ['esdb://a:1,b:2', { ...one, hosts: ['a', 'b'].map((address, i) => ({ address, port: i + 1 })) }],
    ['esdb://u:p%40%2F@db?defaultDeadline=250', { ...one, user: 'u', password: 'p@/', deadlineMs: 250 }],
    ['esdb://u@db?passwordFile=/run/secret', { ...one, user: 'u', passwordFile: '/run/secret' }],
  ])('should be understood: %s', (url, place) => {
    expect(parseEventStoreUrl(url)).toEqual(E.right(place))
  })

  it.each([
    ['http://db', 'not of the form'],
    ['esdb://', 'not of the form'],
    ['esdb://u:hush@hush@db', 'not of the form'],
    ['esdb://u:hush/hush@db', 'not of the form'],
    ['esdb://u:hush%zz@db', '% that escapes nothing'],
    ['esdb://u@db', 'names a user and no password'],
    ['esdb://db?passwordFile=hush', 'names none'],
    ['esdb://u:hush@db?passwordFile=hush', 'both'],
    ['esdb://db:99999', 'a host is'],
    ['esdb://db,', 'a host is'],
    ['esdb+discover://a,b', 'takes one name'],
    ['esdb://db?hush=1', 'its options are'],
    ['esdb://db?tls=hush', 'tls is true or false'],
    ['esdb://db?tls=false&tlsCAFile=ca.pem', 'of no use'],
    ['esdb://db?stream=$all', 'stream is a name'],
    ['esdb://db?stream=', 'stream has no value'],
    ['esdb://db?defaultDeadline=-1', 'defaultDeadline'],
  ])('should be refused without being repeated: %s', (url, why) => {
    const read = parseEventStoreUrl(url)
    expect(read).toMatchObject(E.left(expect.stringContaining(why)))
    expect(JSON.stringify(read)).not.toContain('hush')
  })

  it('should be shown without user and password', () => {
    const read = parseEventStoreUrl('esdb://admin:hush@a:1,b?tls=false')
    if (E.isLeft(read)) throw new Error(read.left)
    expect(describePlace(read.right)).toBe('esdb://a:1,b:2113 (stream leasehold)')
  })
})

it('should decode a number whatever type it comes as, and trust nothing else', () => {
  expect([7n, 7, '7'].map(wholeNumber)).toEqual([7, 7, 7])
  for (const bad of [undefined, null, '', '-', 'x7', 0.5, Number.NaN, 2 ** 53, 18_446_744_073_709_551_615n, {}])
    expect(() => wholeNumber(bad)).toThrow('no whole number')
})
