import type { BusFault } from '../../domain/ports/message-bus.ts'

/** An error of the client and those that caused it, the outermost first. */
export const causesOf = (error: unknown): ReadonlyArray<unknown> => {
  const causes: unknown[] = []
  for (let each = error; each !== undefined && each !== null && causes.length < causesMax;) {
    causes.push(each)
    each = each instanceof Error ? each.cause : undefined
  }
  return causes
}
const causesMax = 10

const memberOf = (cause: unknown, member: string): string => {
  const value: unknown = typeof cause === 'object' && cause !== null ? (cause as Record<string, unknown>)[member] : ''
  return typeof value === 'string' ? value : ''
}

/** What the broker has answered, in its own word for it; null: none of the causes is an answer. */
export const answerIn = (error: unknown): string | null =>
  causesOf(error)
    .map((cause) => memberOf(cause, 'type'))
    .find((type) => /^[A-Z][A-Z_]+$/.test(type)) ?? null

/** The broker has lost what it knew of the producer's numbers, or has them from another: only a new producer goes on. */
export const wantsNewProducer = (error: unknown): boolean =>
  [
    'OUT_OF_ORDER_SEQUENCE_NUMBER',
    'UNKNOWN_PRODUCER_ID',
    'INVALID_PRODUCER_EPOCH',
    'INVALID_PRODUCER_ID_MAPPING',
  ].includes(answerIn(error) ?? '')

type Words = readonly [kind: BusFault['kind'], reason: string, mend: string]

const aclMend = 'let the user do it (access control lists of the broker), or name another user'
const answers: Readonly<Record<string, Words>> = {
  UNKNOWN_TOPIC_OR_PARTITION: [
    'unknown-topic',
    'there is no such topic',
    'make the topic first: brokers are not to make it',
  ],
  MESSAGE_TOO_LARGE: [
    'too-large',
    'a message is larger than the broker takes',
    'send less, or raise message.max.bytes',
  ],
  RECORD_LIST_TOO_LARGE: ['too-large', 'a batch is larger than the broker takes', 'send less, or raise its limit'],
  TOPIC_AUTHORIZATION_FAILED: ['denied', 'the topic may not be used', aclMend],
  GROUP_AUTHORIZATION_FAILED: ['denied', 'the group may not be used', aclMend],
  CLUSTER_AUTHORIZATION_FAILED: ['denied', 'it may not be done', aclMend],
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: ['denied', 'it may not be done', aclMend],
  SASL_AUTHENTICATION_FAILED: [
    'unauthenticated',
    'the user or the password is wrong',
    'name the user and the password',
  ],
  UNSUPPORTED_SASL_MECHANISM: ['unauthenticated', 'it does not know this mechanism', 'name another mechanism'],
  ILLEGAL_SASL_STATE: ['unauthenticated', 'it wants to know nobody here', 'name no user for this port'],
  INVALID_TOPIC_EXCEPTION: [
    'unknown-topic',
    'there can be no topic of that name',
    'name it by letters, digits, . _ and -',
  ],
  POLICY_VIOLATION: ['refused', 'a policy of the broker forbids it', 'see the policy'],
}

const tlsWords = /certificate|\bSSL\b|\bTLS\b|wrong version number|packet length too long|self-signed/i
const networkCodes = /^E(CONNREFUSED|CONNRESET|PIPE|HOSTUNREACH|NETUNREACH|TIMEDOUT|NOTFOUND|AI_AGAIN)$/

/**
 * The client's error as a fault of the port. Its own word on whether to try again is not asked: it says no where a broker is merely
 * down. What it says in the end is often no more than that it has tried: the cause says why.
 * @param doing  what was tried, for people: `publish to orders`
 */
export const faultOf = (place: string, doing: string, error: unknown): BusFault => {
  const fault = ([kind, reason, mend]: Words): BusFault => ({
    type: 'BusFault',
    kind,
    reason: `${place}: ${doing}: ${reason}`,
    mend,
  })
  const answer = answerIn(error)
  const known = answer === null ? undefined : answers[answer]
  if (known !== undefined) return fault(known)
  const causes = causesOf(error)
  const names = causes.map((cause) => memberOf(cause, 'name'))
  const words = causes.map((cause) => memberOf(cause, 'message')).join(': ')
  if (names.includes('KafkaJSSASLAuthenticationError'))
    return fault(['unauthenticated', 'the user or the password is wrong', 'name the user and the password'])
  if (names.includes('KafkaJSGroupCoordinatorNotFound'))
    return fault([
      'denied',
      'it names no coordinator of the group: the user may not use it, or the broker cannot keep groups',
      `${aclMend}; on a single broker set offsets.topic.replication.factor=1`,
    ])
  if (tlsWords.test(words))
    return fault([
      'unreachable',
      `no secure connection: ${short(words)}`,
      'set tls, and tlsCAFile to the certificate of its authority',
    ])
  // A port that wants TLS or a user hangs up on whoever does not begin with that.
  if (names.includes('KafkaJSConnectionClosedError') || /Closed connection/i.test(words))
    return fault([
      'unreachable',
      'the broker hangs up on us',
      'see that it runs; where the port asks for a user or for TLS, name the user or set tls',
    ])
  const code = causes.map((cause) => memberOf(cause, 'code')).find((each) => networkCodes.test(each))
  const isSilent = code !== undefined || answer !== null || names.some((name) => silent.includes(name))
  if (isSilent)
    return fault([
      'unreachable',
      `it does not answer: ${code ?? answer ?? short(words)}`,
      'see to the brokers and the network',
    ])
  return fault(['refused', short(words), 'see the log of the broker'])
}

/** Errors of the client that say no more than that nothing came back, or not from whom it was asked. */
const silent = [
  'KafkaJSConnectionError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSMetadataNotLoaded',
  'KafkaJSTopicMetadataNotLoaded',
  'KafkaJSLockTimeout',
  'KafkaJSConnectionClosedError',
]

/** Trying again may mend it. */
export const isPassing = ({ kind }: BusFault): boolean => kind === 'unreachable' || kind === 'busy'

const wordsMax = 200
const short = (words: string): string => (words.length > wordsMax ? `${words.slice(0, wordsMax)} ...` : words)
