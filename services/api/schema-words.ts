import type { JsonSchema } from '../../domain/kernel/json-schema.ts'
import { nullableSchema } from '../../domain/kernel/json-schema.ts'

/* What schemas of answers are made of. */

export const text: JsonSchema = { type: 'string' }
export const whole: JsonSchema = { type: 'integer' }
export const number: JsonSchema = { type: 'number' }
export const flag: JsonSchema = { type: 'boolean' }
export const instant: JsonSchema = { type: 'integer', description: 'milliseconds since 1970' }
export const nullable = nullableSchema
export const word = (...words: ReadonlyArray<string>): JsonSchema => ({ type: 'string', enum: words })
export const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
/** Anything that JSON can say. */
export const anything: JsonSchema = {}
export const data: JsonSchema = { type: 'object', additionalProperties: true }

export type Members = { readonly [name: string]: JsonSchema }
export const object = (members: Members, optional: Members = {}): JsonSchema => ({
  type: 'object',
  properties: { ...members, ...optional },
  ...(Object.keys(members).length === 0 ? {} : { required: Object.keys(members) }),
  additionalProperties: false,
})
export const variants = (...cases: ReadonlyArray<JsonSchema>): JsonSchema => ({ anyOf: cases })
