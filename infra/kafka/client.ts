import { readFileSync } from 'node:fs'
import { Kafka, logLevel, type LogEntry, type SASLOptions } from 'kafkajs'
import type { KafkaPlace, KafkaUser } from './place.ts'

const connectMaxMs = 3_000
const requestMaxMs = 10_000

/** Few and quick: whoever called decides how long it goes on, and by which cause. */
export const retry = { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4 }

/**
 * A client that writes no log of its own: what it has to say comes as errors.
 * @param heard  told of all it would log, for the causes that it drops
 * @throws what the file system says of the authority's file or the password's
 */
export const kafkaClient = (place: KafkaPlace, heard?: (entry: LogEntry) => void): Kafka =>
  new Kafka({
    clientId: 'leasehold',
    brokers: [...place.brokers],
    ssl: place.tls && (place.tlsCaFile === null ? true : { ca: readFileSync(place.tlsCaFile, 'utf8') }),
    ...(place.sasl !== null && { sasl: saslOf(place.sasl) }),
    connectionTimeout: connectMaxMs,
    authenticationTimeout: connectMaxMs,
    requestTimeout: requestMaxMs,
    retry,
    logLevel: heard === undefined ? logLevel.NOTHING : logLevel.DEBUG,
    logCreator: () => (entry) => heard?.(entry),
  })

const saslOf = ({ mechanism, password, passwordFile, user }: KafkaUser): SASLOptions => ({
  mechanism,
  username: user,
  password: passwordFile === null ? password : readFileSync(passwordFile, 'utf8').trim(),
})

/**
 * What the broker has answered to who coordinates a group. The client drops it for an error that would be the same if the broker
 * were down, and says it to its log alone.
 */
export const coordinatorAnswer = async (place: KafkaPlace, group: string): Promise<string | null> => {
  let answer: string | null = null
  const client = kafkaClient(place, ({ log }) => {
    const { error } = log as { readonly error?: { readonly type?: unknown } }
    if (log.message === 'Tried to find group coordinator' && typeof error?.type === 'string') answer = error.type
  })
  const admin = client.admin({ retry: { ...retry, retries: 0 } })
  try {
    await admin.connect()
    await admin.describeGroups([group])
  } catch {
    // The answer that was heard, if any, is the cause.
  } finally {
    await admin.disconnect().catch(() => undefined)
  }
  return answer
}
