import {
  AccessDeniedError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'
import { Damaged } from './damaged.ts'

/** Thrown and caught inside this folder: a call has taken longer than its deadline. Whether it was done is not known. */
export class NoAnswer extends Error {}

/** The server has said what it thinks of the call: another connection would hear the same. */
export const isAnswer = (cause: unknown): boolean =>
  isRefusal(cause) ||
  cause instanceof WrongExpectedVersionError ||
  cause instanceof StreamNotFoundError ||
  cause instanceof Damaged ||
  fileOf(cause) !== null

/** It was not done, and will not be however often it is asked for. */
export const isRefusal = (cause: unknown): boolean =>
  cause instanceof AccessDeniedError ||
  cause instanceof MaxAppendSizeExceededError ||
  cause instanceof StreamDeletedError

const damagedMend = 'run `leasehold audit verify` to see what is damaged, and restore a backup of the server'
const unreachableMend = 'see to the server and the network; what is sent again is not stored twice'
const tlsMend = 'set tls=false for a server without TLS, or tlsCAFile to the certificate of its authority'
const tlsWords = /certificate|\bSSL\b|\bTLS\b|wrong version number/i

/** The client's errors and our own, in the words of the port. No message of either holds a password. */
export const faultOf =
  (place: string) =>
  (cause: unknown): LogUnavailable => {
    const words = wordsOf(cause)
    const fault = (kind: LogUnavailable['kind'], why: string, mend: string): LogUnavailable => ({
      type: 'LogUnavailable',
      kind,
      reason: `${place}: ${why}`,
      mend,
    })
    if (cause instanceof Damaged)
      return {
        ...fault('damaged', `position ${cause.position}: ${cause.message}`, damagedMend),
        position: cause.position,
      }
    if (cause instanceof SyntaxError) return fault('damaged', words, damagedMend)
    if (cause instanceof StreamDeletedError) return fault('damaged', 'its stream has been deleted', damagedMend)
    if (cause instanceof AccessDeniedError)
      return fault(
        'read-only',
        'access was denied',
        'give the user and the password of one who may read and write the stream',
      )
    if (cause instanceof MaxAppendSizeExceededError)
      return fault(
        'full',
        `an event is larger than what the server takes at once (${cause.maxAppendSize} bytes)`,
        'raise MaxAppendSize of the server',
      )
    if (cause instanceof NotLeaderError)
      return fault('input-output', 'it is not the leader of its cluster', 'name all members of the cluster')
    const file = fileOf(cause)
    if (file !== null) return fault('input-output', `${file} cannot be read`, 'name a file that can be read')
    if (tlsWords.test(words)) return fault('input-output', `no secure connection: ${words}`, tlsMend)
    return fault('input-output', `it does not answer: ${words}`, unreachableMend)
  }

/** Of the authority's certificate, or the password. */
const fileOf = (cause: unknown): string | null =>
  cause instanceof Error && 'syscall' in cause && 'path' in cause ? String(cause.path) : null

const wordsMax = 300

const wordsOf = (cause: unknown): string => {
  const words = (cause instanceof Error ? cause.message : String(cause))
    .replace(/\s+/g, ' ')
    .replace(/^\d+ [A-Z_]+: /, '')
    .replace(/\.? ?Resolution note:.*/, '')
    .trim()
  return words.length > wordsMax ? `${words.slice(0, wordsMax)} ...` : words
}
