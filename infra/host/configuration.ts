import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import * as t from 'io-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { orderings, strategies, type Ordering, type Strategy } from '../../domain/policy/allocation-policy.ts'
import { deadLetterPrefix } from '../../domain/ports/event-log.ts'
import { parseClickHouseUrl } from '../clickhouse/place.ts'
import { parseEventStoreUrl } from '../eventstore/place.ts'
import { parseKafkaUrl } from '../kafka/place.ts'
import { parseNatsUrl } from '../nats/place.ts'
import { readMapping } from '../yaml/mapping.ts'
import { textBytesMax } from '../yaml/text.ts'
import { fileUnreadable, type FileUnreadable } from './file-unreadable.ts'

export const outputs = ['table', 'json', 'yaml', 'csv'] as const
export type Output = (typeof outputs)[number]

/** What a verb runs with: from the file, over that the environment, over that the flags. URLs may hold a password. */
export interface Configuration {
  /** The folder that holds the log, unless a server does, and what belongs to it. */
  readonly data: string
  /** What holds the log: `embedded` (the data folder), or the URL of an EventStoreDB. */
  readonly log: string
  readonly output: Output
  /** Where neither a flag nor a policy document is given. */
  readonly ordering: Ordering
  readonly placement: Strategy
  /** The cell's stream in the log. */
  readonly cell: string
  /** Where `up` listens; port 0: any that is free. */
  readonly host: string
  readonly port: number
  /** What holds the views: `embedded` (chDB, in the data folder), `none`, or the URL of a ClickHouse server. */
  readonly views: string
  /** What carries commands, outcomes and questions, and keeps leases: `none`, or the URL of a NATS server. */
  readonly nats: string
  /** What brings facts and takes decisions: `none`, or the URL of Kafka brokers. */
  readonly kafka: string
}
export type Member = keyof Configuration

export const defaultConfiguration: Configuration = {
  data: '.leasehold',
  log: 'embedded',
  output: 'table',
  ordering: 'greedy',
  placement: 'first-fit',
  cell: 'cell-default',
  host: '127.0.0.1',
  port: 8410,
  views: 'embedded',
  nats: 'none',
  kafka: 'none',
}
export const defaultFile = 'leasehold.yaml'

export interface EffectiveConfiguration {
  readonly values: Configuration
  /** Where each value comes from: `default`, the file's name, `LEASEHOLD_DATA`, `--data`. */
  readonly origins: { readonly [M in Member]: string }
}

export interface ConfigurationSources {
  readonly workingDirectory: string
  readonly environment: { readonly [name: string]: string | undefined }
  readonly flags: { readonly [M in Member | 'config']?: unknown }
}

/** The file is not there or cannot be read; or it and the other sources were read, and these are the faults in them. */
export type ConfigurationFault =
  FileUnreadable | { readonly type: 'Invalid'; readonly file: string | null; readonly faults: ReadonlyArray<Fault> }

const oneOf = <T extends string>(name: string, values: ReadonlyArray<T>): t.Type<T, T> => {
  const is = (value: unknown): value is T => typeof value === 'string' && values.some((known) => known === value)
  return new t.Type<T, T>(name, is, (u, c) => (is(u) ? t.success(u) : t.failure(u, c)), t.identity)
}
const matching = (name: string, pattern: RegExp): t.Type<string, string> => {
  const is = (value: unknown): value is string => typeof value === 'string' && pattern.test(value)
  return new t.Type<string, string>(name, is, (u, c) => (is(u) ? t.success(u) : t.failure(u, c)), t.identity)
}

/** A file has a number; a flag or a variable has the same as text. */
const port: t.Type<number> = (() => {
  const is = (value: unknown): value is number =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535
  return new t.Type<number>(
    'Port',
    is,
    (value, context) => {
      const number: unknown = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value
      return is(number) ? t.success(number) : t.failure(value, context)
    },
    t.identity,
  )
})()

/** One of these words, or a URL. */
const place = (name: string, words: ReadonlyArray<string>, parse: (url: string) => E.Either<string, unknown>) => {
  const why = (value: unknown): string | null => {
    if (words.some((word) => word === value)) return null
    const parsed = typeof value === 'string' ? parse(value) : E.left('it is no text')
    return E.isLeft(parsed) ? parsed.left : null
  }
  return new t.Type<string, unknown, unknown>(
    name,
    (value): value is string => why(value) === null,
    // Why, and never what: any of it may be the password.
    (value, context) => {
      const reason = why(value)
      return reason === null ? t.success(value as string) : t.failure(value, context, reason)
    },
    (value) => value,
  )
}
const logCodec = place('Log', ['embedded'], parseEventStoreUrl)
const viewsCodec = place('Views', ['embedded', 'none'], parseClickHouseUrl)
const natsCodec = place('Nats', ['none'], parseNatsUrl)
const kafkaCodec = place('Kafka', ['none'], parseKafkaUrl)

// eslint-disable-next-line no-control-regex -- a file name may hold anything but these
const folderName = /^[^\u0000-\u001f\u007f]+$/
const members: {
  readonly [M in Member]: { readonly codec: t.Type<Configuration[M], unknown>; readonly mend: string }
} = {
  data: { codec: matching('Folder', folderName), mend: 'give the name of a folder' },
  log: { codec: logCodec, mend: 'give embedded, or a URL such as esdb://user:password@db:2113?tlsCAFile=ca.pem' },
  output: { codec: oneOf('Output', outputs), mend: `give one of ${outputs.join(', ')}` },
  ordering: { codec: oneOf('Ordering', orderings), mend: `give one of ${orderings.join(', ')}` },
  placement: { codec: oneOf('Strategy', strategies), mend: `give one of ${strategies.join(', ')}` },
  cell: {
    codec: matching('Cell', new RegExp(`^(?!${deadLetterPrefix})[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)),
    mend: `give up to 63 letters, digits, - and _, the first a letter or digit, not beginning with ${deadLetterPrefix}`,
  },
  host: {
    codec: matching('Host', /^[A-Za-z0-9:][A-Za-z0-9.:_-]{0,254}$/),
    mend: 'give a name or an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them',
  },
  port: { codec: port, mend: 'give a whole number from 0 to 65535; 0 for any that is free' },
  views: {
    codec: viewsCodec,
    mend: 'give embedded, none, or a URL such as https://user:password@db:8443?tlsCAFile=ca.pem',
  },
  nats: { codec: natsCodec, mend: 'give none, or a URL such as tls://user:password@nats:4222?tlsCAFile=ca.pem' },
  kafka: { codec: kafkaCodec, mend: 'give none, or a URL such as kafka://user:password@kafka:9092?tls=true' },
}
const memberNames = Object.keys(members) as ReadonlyArray<Member>

export const environmentName = (member: Member | 'config'): string => `LEASEHOLD_${member.toUpperCase()}`

/** All faults of all sources at once. */
export const readConfiguration = (
  sources: ConfigurationSources,
): E.Either<ConfigurationFault, EffectiveConfiguration> => {
  const { environment, flags, workingDirectory } = sources
  // An empty variable is one that is not set, as it is for a shell's ${NAME:-default}.
  const variable = (member: Member | 'config') => environment[environmentName(member)] || undefined
  const flag = (member: Member | 'config') => (typeof flags[member] === 'string' ? flags[member] : undefined)
  const named = flag('config') ?? variable('config')
  const file = readFile(join(workingDirectory, defaultFile), named)
  if (E.isLeft(file)) return file
  const faults: Fault[] = [...file.right.faults]
  const values: { -readonly [M in Member]: unknown } = { ...defaultConfiguration }
  const origins = Object.fromEntries(memberNames.map((member) => [member, 'default'])) as Record<Member, string>
  const take = (member: Member, value: unknown, origin: string, place: Partial<Fault>) => {
    const { codec, mend } = members[member]
    const decoded: E.Either<t.Errors, unknown> = codec.decode(value)
    if (origin.startsWith('--') && holdsPassword(value))
      faults.push({
        path: origin,
        reason: 'everybody on this machine reads a password in a flag',
        mend: flagMend(member),
      })
    else if (E.isRight(decoded)) {
      values[member] = decoded.right
      origins[member] = origin
    } else {
      const why = decoded.left[0]?.message
      const reason = why === undefined ? `${shown(value)} is not valid` : `its value is not valid: ${why}`
      faults.push({ path: origin, ...place, reason, mend })
    }
  }
  for (const member of memberNames) {
    const { read } = file.right
    const found = read.get(member)
    if (found !== undefined) take(member, found.value, file.right.name, { path: member, ...found.place })
    const set = variable(member)
    if (set !== undefined) take(member, set, environmentName(member), {})
    const given = flag(member)
    if (given !== undefined) take(member, given, `--${member}`, {})
  }
  if (faults.length > 0) return E.left({ type: 'Invalid', file: file.right.name || null, faults })
  return E.right({ values: values as Configuration, origins })
}

const holdsPassword = (value: unknown): boolean => typeof value === 'string' && /:\/\/.*:.*@/s.test(value)
const flagMend = (member: Member): string =>
  `set ${environmentName(member)}, or ${member} in a file that only you may read; or name a passwordFile`

interface ConfigurationFile {
  /** Empty when there is none. */
  readonly name: string
  readonly read: ReadonlyMap<string, { readonly value: unknown; readonly place: Partial<Fault> }>
  readonly faults: ReadonlyArray<Fault>
}

/** @param named a file somebody asked for, which must be there; without it the default one may be missing */
const readFile = (fallback: string, named: string | undefined): E.Either<ConfigurationFault, ConfigurationFile> => {
  const file = named ?? fallback
  let bytes: Uint8Array
  try {
    bytes = beginningOf(file)
  } catch (cause) {
    const fault = fileUnreadable(file, cause)
    if (named === undefined && fault.code === 'ENOENT') return E.right({ name: '', read: new Map(), faults: [] })
    return E.left(fault)
  }
  return E.right({ name: named ?? defaultFile, ...parseConfiguration(bytes) })
}

/** A byte more than a document may have, and no more, whatever kind of file it is. */
const beginningOf = (file: string): Uint8Array => {
  const descriptor = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(textBytesMax + 1)
    let size = 0
    for (let read = -1; read !== 0; size += read) read = readSync(descriptor, bytes, size, bytes.length - size, null)
    return bytes.subarray(0, size)
  } finally {
    closeSync(descriptor)
  }
}

const parseConfiguration = (text: Uint8Array): Omit<ConfigurationFile, 'name'> => {
  const mapping = readMapping(text)
  const read = new Map<string, { value: unknown; place: Partial<Fault> }>()
  const faults: Fault[] = [...mapping.faults]
  for (const { name, value, ...place } of mapping.members)
    if (memberNames.some((member) => member === name)) read.set(name, { value, place })
    else
      faults.push({
        path: name,
        reason: 'it is not a member of the configuration',
        mend: `the members are ${memberNames.join(', ')}`,
        ...place,
      })
  return { read, faults }
}

const shown = (value: unknown): string => {
  const bare = typeof value === 'string' ? value.replace(/:\/\/.*@/s, '://***@') : value
  const text = typeof bare === 'object' && bare !== null ? 'a list or mapping' : JSON.stringify(bare)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
