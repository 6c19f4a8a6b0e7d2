import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import { Cell } from '../../domain/planner/cell.ts'
import { evolve } from '../../domain/planner/evolve.ts'
import { decisionEnvelope, inputEnvelope, lookId, type CellEnvelope } from '../../domain/planner/cell-envelope.ts'
import { isInput, type CellDecision, type CellEvent, type CellInput } from '../../domain/planner/cell-event.ts'
import { decide } from '../../domain/planner/decide.ts'
import type { Envelope, EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import { policyHash } from '../../infra/host/policy-hash.ts'

const pageMax = 2_000

/** Where a stream parts from what its own inputs lead to. */
export interface ReplayFinding {
  readonly stream: string
  readonly revision: number
  /** The message that the log holds there, or its envelope; null: nothing, where a decision should follow. */
  readonly stored: Json
  /** The same as it is decided; null: nothing, where the log holds a decision. */
  readonly decided: Json
  readonly reason: string
}

export interface ReplayVerdict {
  readonly ok: boolean
  readonly stream: string
  readonly inputs: number
  readonly decisions: number
  /** The first difference: behind it nothing can be compared. */
  readonly finding: ReplayFinding | null
}

/**
 * Decides every input of a stream again, from nothing, and compares each decision field by field with what is stored,
 * and of every envelope what follows from the cell: id, causation and policy. Source, actor and record time are what
 * whoever recorded it says.
 */
export const verifyReplay = async (
  log: EventLog,
  stream: string,
  seen: (events: number) => void = () => undefined,
): Promise<E.Either<LogUnavailable, ReplayVerdict>> => {
  const replay = new Replay(stream)
  for (let revision = 0; ;) {
    const messages = await log.readMessages(stream, revision, pageMax)()
    if (E.isLeft(messages)) return messages
    const count = messages.right.length
    // As many as there are messages: the log may have grown meanwhile.
    const envelopes = await log.readEnvelopes(stream, revision, count)()
    if (E.isLeft(envelopes)) return envelopes
    for (let i = 0; i < count; i++)
      if (!replay.takes(revision++, messages.right[i] as unknown as CellEvent, envelopes.right[i]!))
        return E.right(replay.verdict)
    seen(revision)
    if (count < pageMax) {
      replay.ends(revision)
      return E.right(replay.verdict)
    }
  }
}

class Replay {
  private readonly stream: string
  private readonly cell: Cell
  /** Decisions about the last input. */
  private expected: ReadonlyArray<CellDecision> = []
  private next = 0
  /** Id of the input that they are about. */
  private input = ''
  private inputs = 0
  private decisions = 0
  private finding: ReplayFinding | null = null
  /** A tick that decided nothing, just now: it is recorded for an input that is told late, and for nothing else. */
  private look: { readonly revision: number; readonly tick: CellInput; readonly id: string } | null = null

  constructor(stream: string) {
    this.stream = stream
    this.cell = new Cell(stream)
  }

  get verdict(): ReplayVerdict {
    const { stream, inputs, decisions, finding } = this
    return { ok: finding === null, stream, inputs, decisions, finding }
  }

  /** Takes the next stored event; false: it does not follow. What no cell can take does not follow either. */
  takes(revision: number, stored: CellEvent, envelope: Envelope): boolean {
    try {
      return isInput(stored)
        ? this.takesInput(revision, stored, envelope)
        : this.takesDecision(revision, stored, envelope)
    } catch (cause) {
      return this.differs(revision, stored, null, String(cause))
    }
  }

  private takesInput(revision: number, stored: CellInput, envelope: Envelope): boolean {
    const { id } = envelope
    const missing = this.expected[this.next]
    if (missing !== undefined) return this.differs(revision, stored, missing, 'a decision is missing before this')
    if (this.look !== null && !this.isLookFor(stored, id)) return false
    const decided = decide(stored, this.cell)
    if (E.isLeft(decided))
      return this.differs(revision, stored, null, `this input is not taken here: ${decided.left.type}`)
    const isLook = stored.type === 'Ticked' && decided.right.length === 0
    this.look = isLook ? { revision, tick: stored, id } : null
    if (stored.type === 'PolicyActivated' && stored.data.hash !== policyHash(stored.data.document))
      return this.differs(revision, stored, null, 'its hash is not that of its document')
    if (!this.isEnveloped(revision, envelope, inputEnvelope(id, this.cell))) return false
    evolve(this.cell, stored)
    this.input = id
    this.expected = decided.right
    this.next = 0
    this.inputs++
    return true
  }

  /** Books were brought to the instant of the look before something earlier was told. */
  private isLookFor({ at }: CellInput, id: string): boolean {
    const look = this.look!
    if (this.cell.books !== null && look.id === lookId(id) && at < look.tick.at) return true
    return this.differs(look.revision, look.tick, null, 'a tick that decides nothing is not recorded')
  }

  private takesDecision(revision: number, stored: CellEvent, envelope: Envelope): boolean {
    const expected = this.expected[this.next]
    if (expected === undefined) return this.differs(revision, stored, null, 'nothing decides this')
    if (!same(stored, expected))
      return this.differs(revision, stored, expected, `${differingPath(stored, expected)} differs`)
    if (!this.isEnveloped(revision, envelope, decisionEnvelope(this.input, this.next, this.cell))) return false
    this.next++
    this.decisions++
    evolve(this.cell, expected)
    return true
  }

  /** Whether the event is recorded under the id, the cause and the policy that a recorder would have given it. */
  private isEnveloped(revision: number, { id, causation, policy }: Envelope, expected: CellEnvelope): boolean {
    if (id === expected.id && causation === expected.causation && policy === expected.policy) return true
    const stored = { id, causation, policy }
    return this.differs(revision, stored, expected, `${differingPath(stored, expected)} differs in the envelope`)
  }

  ends(size: number): void {
    const expected = this.expected[this.next]
    if (expected !== undefined) this.differs(size, null, expected, 'a decision is missing at the end')
    else if (this.look !== null)
      this.differs(this.look.revision, this.look.tick, null, 'a tick that decides nothing is not recorded')
  }

  private differs(revision: number, stored: Compared, decided: Compared, reason: string): false {
    this.finding = { stream: this.stream, revision, stored: json(stored), decided: json(decided), reason }
    return false
  }
}

type Compared = CellEvent | CellEnvelope | null
const json = (compared: Compared): Json => compared as unknown as Json

const same = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => sameMember(a, b, key))
}

/** Own members only: `__proto__` in a stored text is one, and in what is decided it is not. */
const sameMember = (a: object, b: object, key: string): boolean =>
  Object.hasOwn(a, key) && Object.hasOwn(b, key) && same(member(a, key), member(b, key))

const member = (value: object, key: string): unknown => (value as Record<string, unknown>)[key]

/** The first member, by name, in which two values differ. */
const differingPath = (a: unknown, b: unknown, path = ''): string => {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return path
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
  const differing = keys.find((key) => !sameMember(a, b, key))
  if (differing === undefined) return path
  return differingPath(member(a, differing), member(b, differing), path === '' ? differing : `${path}.${differing}`)
}
