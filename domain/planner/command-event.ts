import { either as E } from 'fp-ts'
import {
  built,
  decoding,
  identifier,
  listOf,
  name,
  needed,
  nullable,
  oneOf,
  optional,
  record,
  wholeNumber,
  type Decode,
  type Reader,
} from '../kernel/document.ts'
import type { Fault } from '../kernel/fault.ts'
import type { JsonSchema } from '../kernel/json-schema.ts'
import { durationMax, instant, instantMax } from '../kernel/quantity.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import { nodeDevicesMax } from './cell-event.codec.ts'
import type { CommandConcluded, LeasePart } from './cell-event.ts'
import { isMap } from '../kernel/wording.ts'
import { commandCauses, commandVerbs, type Command, type CommandOutcome } from './command.ts'

export const commandIssuedType = 'dev.leasehold.command.issued.v1'

/** A command as it travels to its adapter. */
export interface SentCommand {
  readonly command: Command
  /** It is not to be begun after this; counted from when it was sent, because what was not sent cannot be late. */
  readonly until: EpochMs
}

/** Commands are named after workloads, and a name may be used again: when it was issued tells two of one name apart. */
export const commandKey = ({ command, issuedAt }: Command): string => `${command}@${issuedAt}`

/** When the command of this key was issued. */
export const issuedAtOf = (key: string): EpochMs => Number(key.slice(key.lastIndexOf('@') + 1)) as EpochMs

/** The instant until which a command that is sent at `now` may be begun. */
export const beginsUntil = ({ deadlineAt, issuedAt }: Command, now: EpochMs): EpochMs =>
  Math.max(deadlineAt, now + (deadlineAt - issuedAt)) as EpochMs

/** What became of a command, and when. One that expired is one fact, whoever notices it first. */
export const conclusionOf = (
  command: Command,
  at: EpochMs,
  outcome: CommandOutcome,
  reason: string | null,
): CommandConcluded & { readonly id: string } => ({
  id: `${commandKey(command)}/${outcome === 'expired' ? 'expired' : 'concluded'}`,
  type: 'CommandConcluded',
  at,
  data: {
    attempt: command.attempt,
    command: command.command,
    outcome,
    reason,
    verb: command.verb,
    workload: command.workload,
  },
})

// ---- On the wire: a CloudEvent 1.0 in structured JSON

const attemptsMax = 1_000_000
const partsMax = 100_000
const milliseconds = wholeNumber<EpochMs>(0, instantMax)
const span = wholeNumber<DurationMs>(0, durationMax)

const part: Reader<LeasePart> = record({
  devices: needed(listOf(wholeNumber(0, nodeDevicesMax - 1), 0, nodeDevicesMax)),
  memoryMib: needed(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  milli: needed(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
  node: needed(name),
})

const command: Reader<Command> = record({
  command: needed(identifier),
  verb: needed(oneOf(commandVerbs)),
  cell: needed(name),
  workload: needed(name),
  attempt: needed(wholeNumber(0, attemptsMax)),
  because: needed(oneOf(commandCauses)),
  issuedAt: needed(milliseconds),
  deadlineAt: needed(milliseconds),
  graceMs: needed(span),
  lease: needed(listOf(part, 0, partsMax)),
  team: needed(name),
  class: needed(name),
  estimateMs: needed(nullable(span)),
})

const members = {
  specversion: needed(oneOf(['1.0'])),
  id: needed(identifier),
  source: needed(name),
  type: needed(oneOf([commandIssuedType])),
  time: needed(instant),
  datacontenttype: optional(oneOf(['application/json']), 'application/json'),
  until: needed(instant),
  data: needed(command),
}
const commandEvent = built(record(members), ({ data, until }): SentCommand => ({ command: data, until }))

/** Of a command's event. */
export const commandEventSchema: JsonSchema = commandEvent.schema

const decodeEvent: Decode<SentCommand> = decoding(commandEvent)

/** What a newer cell adds to a command, or to its event, stops no adapter. */
export const decodeCommand = (text: string): E.Either<ReadonlyArray<Fault>, SentCommand> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return E.left([{ path: '$', reason: 'is not JSON', mend: 'send one JSON object' }])
  }
  const event = known(value, Object.keys(members))
  return decodeEvent(isMap(event) ? { ...event, data: known(event['data'], command.fields) } : event)
}

const known = (value: unknown, names: ReadonlyArray<string>): unknown =>
  isMap(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name))) : value

export const encodeCommand = ({ command: data, until }: SentCommand): string =>
  JSON.stringify({
    specversion: '1.0',
    id: commandKey(data),
    source: data.cell,
    type: commandIssuedType,
    time: new Date(data.issuedAt).toISOString(),
    until: new Date(until).toISOString(),
    data,
  })
