import type { JsonSchema } from '../../domain/kernel/json-schema.ts'
import { adapterFacts } from '../../domain/planner/adapter-fact.ts'
import { cellEventVersions } from '../../domain/planner/cell-event.ts'
import { cloudEventSchemas, cloudEventTypes } from '../../domain/planner/cloud-event.ts'
import { commandEventSchema, commandIssuedType } from '../../domain/planner/command-event.ts'
import { commandVerbs } from '../../domain/planner/command.ts'
import { requestVerbs, type RequestVerb } from '../../domain/ports/requests.ts'
import { decisionMessageSchema, decisionTypeOnWire } from '../../projections/decisions/decision-message.ts'
import { decisionTypes } from '../api/decision-types.ts'
import { routeOf } from '../api/rpc.ts'
import { jsonType } from '../api/routes/route.ts'
import { workloadRoutes } from '../api/routes/workloads.ts'
import { errorSchema } from '../api/schemas.ts'
import { deadLetterTopic, factTopics } from '../ingest/bus-ingest.ts'
import { decisionsTopic } from '../publish/decision-outbox.ts'

const eventType = 'application/cloudevents+json'

/** Schema of each event that travels, by its type; those of decisions share one. */
export const wireSchemas: ReadonlyMap<string, JsonSchema> = new Map([
  ...cloudEventSchemas,
  [commandIssuedType, commandEventSchema],
  ['decision', decisionMessageSchema(decisionTypes.map((type) => decisionTypeOnWire(type, cellEventVersions[type])))],
])

/** Where the schema of a type is published, beside the document. */
export const schemaFile = (type: string): string => `schemas/${type}.json`

type Document = { readonly [name: string]: unknown }
type Messages = { readonly [name: string]: Document }

/**
 * What travels over Kafka and NATS, as an AsyncAPI 3.0 document, from the side of Leasehold: it sends what it says that it
 * sends. Schemas are files beside it.
 * @param version of Leasehold
 */
export const asyncApi = (version: string): Document => {
  const channels = [...kafkaChannels(), ...natsChannels()]
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Leasehold',
      version,
      description: 'Facts and decisions over Kafka, commands, outcomes and questions over NATS. See docs/bus.md.',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: eventType,
    servers: {
      kafka: { host: '127.0.0.1:9092', protocol: 'kafka', description: 'named by the configuration, kafka' },
      nats: { host: '127.0.0.1:4222', protocol: 'nats', description: 'named by the configuration, nats' },
    },
    channels: Object.fromEntries(channels.map(({ name, channel }) => [name, channel])),
    operations: Object.fromEntries(channels.map(({ name, operation }) => [name, operation])),
    components: {
      messages: {
        ...Object.fromEntries([...wireSchemas.keys()].map((type) => [type, message(type)])),
        letter: { description: 'As it came; the reason is in its headers.', payload: {} },
      },
    },
  }
}

const message = (type: string): Document => ({
  name: type,
  contentType: eventType,
  payload: { $ref: `./${schemaFile(type)}` },
})

interface Channel {
  readonly name: string
  readonly channel: Document
  readonly operation: Document
}

const channelOf = (
  name: string,
  server: 'kafka' | 'nats',
  action: 'send' | 'receive',
  address: string,
  description: string,
  messages: Messages,
  more: { readonly channel?: Document; readonly operation?: Document } = {},
): Channel => ({
  name,
  channel: { address, description, servers: [{ $ref: `#/servers/${server}` }], messages, ...more.channel },
  operation: {
    action,
    channel: { $ref: `#/channels/${name}` },
    messages: Object.keys(messages).map((each) => ({ $ref: `#/channels/${name}/messages/${each}` })),
    ...more.operation,
  },
})

const referring = (types: ReadonlyArray<string>): Messages =>
  Object.fromEntries(types.map((type) => [type, { $ref: `#/components/messages/${type}` }]))

const kafkaChannels = (): ReadonlyArray<Channel> => {
  const [runs = '', nodes = ''] = factTopics
  const types = Object.values(cloudEventTypes)
  const isOfNodes = (type: string): boolean => type.startsWith('dev.leasehold.node.')
  return [
    channelOf('runFacts', 'kafka', 'receive', runs, 'Facts about jobs and what is ordered.', {
      ...referring(types.filter((type) => !isOfNodes(type))),
    }),
    channelOf('nodeFacts', 'kafka', 'receive', nodes, 'Facts about nodes.', referring(types.filter(isOfNodes))),
    ...factTopics.map((topic, i) =>
      channelOf(
        ['runLetters', 'nodeLetters'][i]!,
        'kafka',
        'send',
        deadLetterTopic(topic),
        'What nothing could be made of, or was refused.',
        referring(['letter']),
      ),
    ),
    channelOf(
      'decisions',
      'kafka',
      'send',
      decisionsTopic,
      'What is decided, keyed by the cell.',
      referring(['decision']),
    ),
  ]
}

const token = (description: string): Document => ({ description })

const natsChannels = (): ReadonlyArray<Channel> => {
  const [cell, adapter] = [token('Name of the cell.'), token('Name of the adapter.')]
  return [
    channelOf(
      'commands',
      'nats',
      'send',
      'leasehold.cmd.{cell}.{adapter}.{verb}',
      'What an adapter is to do: a JetStream work queue.',
      referring([commandIssuedType]),
      { channel: { parameters: { cell, adapter, verb: { enum: commandVerbs } } } },
    ),
    channelOf(
      'outcomes',
      'nats',
      'receive',
      'leasehold.outcome.{cell}.{adapter}',
      'What an adapter tells: a JetStream work queue.',
      referring(adapterFacts.map((type) => cloudEventTypes[type])),
      { channel: { parameters: { cell, adapter } } },
    ),
    channelOf(
      'letters',
      'nats',
      'send',
      'leasehold.dlq.{origin}',
      'What nothing could be made of.',
      referring(['letter']),
      {
        channel: { parameters: { origin: { enum: ['cmd', 'outcome'] } } },
      },
    ),
    ...requestVerbs.map(questionChannel),
  ]
}

const questionSchemas: { readonly [V in RequestVerb]: (intents: JsonSchema) => JsonSchema } = {
  submit: (intents) => question({ intents }, { actor: text, reason: text }),
  plan: (intents) => question({ intents }, { at: text }),
  why: () => question({ workload: text }, { at: text }),
}
const text: JsonSchema = { type: 'string' }
const question = (needed: { readonly [name: string]: JsonSchema }, more: { readonly [name: string]: JsonSchema }) => ({
  type: 'object',
  properties: { ...needed, ...more },
  required: Object.keys(needed),
  additionalProperties: false,
})

const questionChannel = (verb: RequestVerb): Channel => {
  const route = workloadRoutes.find(({ method, path }) => `${method} ${path}` === routeOf[verb])!
  const answers = new Set(Object.keys(route.answers).map((status) => route.answers[Number(status)]!.content[jsonType]!))
  const messages = {
    question: { contentType: jsonType, payload: questionSchemas[verb](route.body?.types[jsonType] ?? {}) },
    answer: { contentType: jsonType, payload: { anyOf: [...answers, errorSchema] } },
  }
  const { channel, name, operation } = channelOf(
    verb,
    'nats',
    'receive',
    `leasehold.rpc.${verb}`,
    `${route.summary}. Request and reply.`,
    messages,
  )
  return {
    name,
    channel,
    operation: {
      ...operation,
      messages: [{ $ref: `#/channels/${verb}/messages/question` }],
      reply: {
        address: { location: '$message.header#/reply', description: 'The inbox that NATS gives.' },
        channel: { $ref: `#/channels/${verb}` },
        messages: [{ $ref: `#/channels/${verb}/messages/answer` }],
      },
    },
  }
}
