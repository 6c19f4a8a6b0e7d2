import { isInput, type CellEvent } from '../../domain/planner/cell-event.ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { JsonSchema } from '../../domain/kernel/json-schema.ts'
import { deadLetterPrefix, type StoredEvent } from '../../domain/ports/event-log.ts'

/** A decision as others are told of it: a CloudEvent 1.0 in structured JSON. The same id of the same source is the same decision. */
export interface DecisionMessage {
  readonly specversion: '1.0'
  readonly id: string
  /** The cell that has decided. */
  readonly source: string
  readonly type: string
  readonly time: string
  readonly datacontenttype: 'application/json'
  /** The workload that it is about, if it is about one. */
  readonly subject?: string
  /** Its place among the events of its cell, so that a reader sees what it has missed or had. */
  readonly sequence: string
  /** The input that it follows from. */
  readonly causationid?: string
  readonly policyhash?: string
  readonly data: { readonly [key: string]: Json }
}

/** `WorkloadAdmitted`, version 1: `dev.leasehold.workload.admitted.v1`. */
export const decisionTypeOnWire = (type: string, version: number): string => {
  const [noun = '', ...rest] = type.split(/(?=[A-Z])/).map((word) => word.toLowerCase())
  return `dev.leasehold.${noun}.${rest.join('-')}.v${version}`
}

/** @param types of decisions, as they travel */
export const decisionMessageSchema = (types: ReadonlyArray<string>): JsonSchema => {
  const text: JsonSchema = { type: 'string' }
  const needed: { readonly [name: string]: JsonSchema } = {
    specversion: { type: 'string', enum: ['1.0'] },
    id: text,
    source: { type: 'string', pattern: '^leasehold/' },
    type: { type: 'string', enum: types },
    time: { type: 'string', format: 'date-time' },
    datacontenttype: { type: 'string', enum: ['application/json'] },
    sequence: { type: 'string', pattern: '^[0-9]+$' },
    data: { type: 'object', additionalProperties: true },
  }
  return {
    type: 'object',
    properties: { ...needed, subject: text, causationid: text, policyhash: text },
    required: Object.keys(needed),
    additionalProperties: false,
  }
}

/** Null: it is an input, which its source knows, or a dead letter. */
export const decisionMessage = (event: StoredEvent): DecisionMessage | null => {
  const { causation, id, message, policy, revision, stream, version } = event
  if (stream.startsWith(deadLetterPrefix) || isInput(message as unknown as CellEvent)) return null
  const { workload } = message.data
  return {
    specversion: '1.0',
    id,
    source: `leasehold/${stream}`,
    type: decisionTypeOnWire(message.type, version),
    time: new Date(message.at).toISOString(),
    datacontenttype: 'application/json',
    ...(typeof workload === 'string' && { subject: workload }),
    sequence: String(revision),
    ...(causation !== null && { causationid: causation }),
    ...(policy !== null && { policyhash: policy }),
    data: message.data,
  }
}
