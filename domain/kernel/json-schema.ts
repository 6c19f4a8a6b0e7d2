import type { Json } from './canonical-json.ts'

/** A schema in the 2020-12 draft of JSON Schema, which OpenAPI 3.1 takes as it is. */
export interface JsonSchema {
  readonly type?: string | ReadonlyArray<string>
  readonly description?: string
  readonly default?: Json
  readonly enum?: ReadonlyArray<Json>
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: boolean | JsonSchema
  readonly maxProperties?: number
  readonly anyOf?: ReadonlyArray<JsonSchema>
}

interface Member {
  readonly reader: { readonly schema: JsonSchema }
  readonly absent: { readonly value: unknown } | null
}

export const recordSchema = (members: ReadonlyMap<string, Member>): JsonSchema => {
  const entries = [...members]
  const required = entries.filter(([, { absent }]) => absent === null).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, member]) => [name, memberSchema(member)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

/** A default is given where it is written as it is read: that of a duration, in milliseconds, is not. */
const memberSchema = ({ reader, absent }: Member): JsonSchema => {
  const value = absent?.value
  const isWritten =
    (typeof value === 'string' && reader.schema.type === 'string') ||
    (typeof value === 'boolean' && reader.schema.type === 'boolean') ||
    (typeof value === 'number' && reader.schema.type === 'integer')
  return isWritten ? { ...reader.schema, default: value } : reader.schema
}

export const listSchema = (items: JsonSchema, minItems: number, maxItems: number): JsonSchema => ({
  type: 'array',
  items,
  minItems,
  maxItems,
})

export const mapSchema = (item: JsonSchema, maxProperties: number): JsonSchema => ({
  type: 'object',
  additionalProperties: item,
  maxProperties,
})

export const nullableSchema = (schema: JsonSchema): JsonSchema =>
  typeof schema.type === 'string' && schema.enum === undefined
    ? { ...schema, type: [schema.type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] }
