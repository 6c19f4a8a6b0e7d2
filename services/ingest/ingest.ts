import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CellDecision, CellInput } from '../../domain/planner/cell-event.ts'
import type { CellFact } from '../../domain/planner/cell-event.codec.ts'
import { decodeFactLine, type SourcedFact } from '../../domain/planner/cloud-event.ts'
import type { CellRejection } from '../../domain/planner/decide.ts'
import type { AppendFault, EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import { policyHash } from '../../infra/host/policy-hash.ts'
import { refusalText, type Answer } from './answer.ts'
import {
  bodyBytesMax,
  deadLetterId,
  deadLetterStream,
  reasonOf,
  type DeadLetter,
  type DeadLetters,
} from './dead-letters.ts'
import { excerptOf, type FactLine } from './fact-lines.ts'

/** The cell that facts are for, and what decides about them. */
export interface FactWriter {
  readonly isFull: boolean
  readonly take: (input: CellInput, id: string, origin?: Origin) => E.Either<CellRejection, ReadonlyArray<CellDecision>>
  readonly flush: () => Promise<E.Either<AppendFault, void>>
}

export interface IngestPath {
  readonly log: EventLog
  readonly stream: string
  readonly writer: FactWriter
  readonly deadLetters: DeadLetters
  readonly clock: Clock
  /** Takes answers in the order of their lines; resolves when it can take more. */
  readonly answer: (answers: ReadonlyArray<Answer>) => Promise<void>
}

/** A cell's time never goes back: a fact from further ahead of our clock would stop it until then. */
const aheadMaxMs = 60_000

/**
 * Takes facts as they come. What comes together is decided in its order, made durable together, and answered then; so
 * whoever sends again what was not answered, in the same order, loses nothing and doubles nothing. Ends with the first
 * fault of the log: what was not answered by then may or may not be recorded.
 */
export const ingest = async (
  batches: AsyncIterable<ReadonlyArray<FactLine>>,
  path: IngestPath,
): Promise<E.Either<AppendFault, void>> => {
  for await (const lines of batches) {
    const taken = await takeBatch(lines.map(decodedLine), path)
    if (E.isLeft(taken)) return taken
  }
  return E.right(undefined)
}

/** What a line is: a fact, or what nothing could be made of. */
export type Decoded = { readonly fact: SourcedFact } | { readonly letter: DeadLetter }

export const decodedLine = (line: FactLine): Decoded => {
  if ('fault' in line) return { letter: { faults: [line.fault], excerpt: line.excerpt, body: null } }
  const fact = decodeFactLine(line.text)
  return E.isRight(fact) ? { fact: fact.right } : { letter: letterOf(line.text, fact.left) }
}

/** A text that is no fact. */
export const letterOf = (text: string, faults: ReadonlyArray<Fault>): DeadLetter => {
  const excerpt = excerptOf(text)
  return { faults, excerpt, body: excerpt.bytes <= bodyBytesMax ? text : null }
}

/** Decided about in their order, made durable together, and answered then. */
export const takeBatch = async (
  batch: ReadonlyArray<Decoded>,
  { log, stream, writer, deadLetters, clock, answer }: IngestPath,
): Promise<E.Either<AppendFault, void>> => {
  const factIds = batch.flatMap((one) => ('fact' in one ? [one.fact.id] : []))
  const letterIds = batch.flatMap((one) => ('letter' in one ? [deadLetterId(one.letter)] : []))
  const knownFacts = await knownIn(log, stream, factIds)
  if (E.isLeft(knownFacts)) return knownFacts
  const knownLetters = await knownIn(log, deadLetterStream, letterIds)
  if (E.isLeft(knownLetters)) return knownLetters

  let answers: Answer[] = []
  const flush = async (): Promise<E.Either<AppendFault, void>> => {
    // Asked for in one turn, they share one flush to the disk.
    for (const flushed of await Promise.all([writer.flush(), deadLetters.flush()]))
      if (E.isLeft(flushed)) return flushed
    const due = answers
    answers = []
    await answer(due)
    return E.right(undefined)
  }
  for (const one of batch) {
    if ('fact' in one) answers.push(takeSourced(one.fact, writer, clock, knownFacts.right))
    else answers.push(takeLetter(one.letter, deadLetters, clock, knownLetters.right))
    if (!writer.isFull && !deadLetters.isFull) continue
    const flushed = await flush()
    if (E.isLeft(flushed)) return flushed
  }
  return flush()
}

const takeSourced = ({ source, ...fact }: SourcedFact, writer: FactWriter, clock: Clock, known: Set<string>): Answer =>
  takeFact(fact, { source }, writer, clock, known)

export const knownIn = async (
  log: EventLog,
  stream: string,
  ids: ReadonlyArray<string>,
): Promise<E.Either<LogUnavailable, Set<string>>> => {
  if (ids.length === 0) return E.right(new Set())
  const known = await log.known(stream, ids)()
  return E.isLeft(known) ? known : E.right(new Set(known.right))
}

/** Whose word a fact is, where its writer does not say it for all. */
export interface Origin {
  readonly source?: string
  readonly actor?: string
  readonly reason?: string | null
}

/** @param known ids in the log; that of what is taken is added */
export const takeFact = (
  { id, ...input }: CellFact,
  origin: Origin,
  writer: FactWriter,
  clock: Clock,
  known: Set<string>,
): Answer => {
  if (known.has(id)) return { id, outcome: 'duplicate' }
  const objection = objectionTo(input, clock)
  if (objection !== null) return { id, outcome: 'refused', reason: objection }
  const taken = writer.take(input, id, origin)
  if (E.isLeft(taken)) {
    const outcome = taken.left.type === 'Repeated' ? 'duplicate' : 'refused'
    return { id, outcome, reason: refusalText(taken.left) }
  }
  if (input.type === 'Ticked' && taken.right.length === 0) return { id, outcome: 'unneeded', reason: 'nothing was due' }
  known.add(id)
  return { id, outcome: 'recorded' }
}

/** What the cell itself cannot see: it has no clock, and computes no hash. */
const objectionTo = (fact: CellInput, clock: Clock): string | null => {
  const ahead = fact.at - clock.now()
  if (ahead > aheadMaxMs) return `it is ${ahead} ms ahead of the clock here, above ${aheadMaxMs}`
  if (fact.type === 'PolicyActivated' && fact.data.hash !== policyHash(fact.data.document))
    return 'its hash is not that of its document'
  return null
}

const takeLetter = (letter: DeadLetter, deadLetters: DeadLetters, clock: Clock, known: Set<string>): Answer => {
  const id = deadLetterId(letter)
  if (known.has(id)) return { id, outcome: 'duplicate', reason: reasonOf(letter) }
  known.add(id)
  deadLetters.add(letter, clock.now())
  return { id, outcome: 'undecodable', reason: reasonOf(letter) }
}
