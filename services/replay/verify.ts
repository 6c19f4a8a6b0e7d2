import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import { Cell, evolve } from '../../domain/planner/cell.ts'
import { isInput, type CellDecision, type CellEvent } from '../../domain/planner/cell-event.ts'
import { decide } from '../../domain/planner/decide.ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'

const pageMax = 2_000

/** Where a stream parts from what its own inputs lead to. */
export interface ReplayFinding {
  readonly stream: string
  readonly revision: number
  /** What the log holds there; null: nothing, where a decision should follow. */
  readonly stored: Json
  /** What is decided there; null: nothing, where the log holds a decision. */
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

/** Decides every input of a stream again, from nothing, and compares each decision field by field with what is stored. */
export const verifyReplay = async (
  log: EventLog,
  stream: string,
  seen: (events: number) => void = () => undefined,
): Promise<E.Either<LogUnavailable, ReplayVerdict>> => {
  const replay = new Replay(stream)
  for (let revision = 0; ;) {
    const page = await log.readMessages(stream, revision, pageMax)()
    if (E.isLeft(page)) return page
    for (const message of page.right as unknown as ReadonlyArray<CellEvent>)
      if (!replay.takes(message, revision++)) return E.right(replay.verdict)
    seen(revision)
    if (page.right.length < pageMax) {
      replay.ends(revision)
      return E.right(replay.verdict)
    }
  }
}

class Replay {
  private readonly stream: string
  private readonly cell: Cell
  private expected: ReadonlyArray<CellDecision> = []
  private next = 0
  private inputs = 0
  private decisions = 0
  private finding: ReplayFinding | null = null

  constructor(stream: string) {
    this.stream = stream
    this.cell = new Cell(stream)
  }

  get verdict(): ReplayVerdict {
    const { stream, inputs, decisions, finding } = this
    return { ok: finding === null, stream, inputs, decisions, finding }
  }

  /** Takes the next stored event; false: it does not follow. What no cell can take does not follow either. */
  takes(stored: CellEvent, revision: number): boolean {
    try {
      return this.follows(stored, revision)
    } catch (cause) {
      return this.differs(revision, stored, null, String(cause))
    }
  }

  private follows(stored: CellEvent, revision: number): boolean {
    const expected = this.expected[this.next]
    if (!isInput(stored)) {
      if (expected === undefined) return this.differs(revision, stored, null, 'nothing decides this')
      if (!same(stored, expected))
        return this.differs(revision, stored, expected, `${differingPath(stored, expected)} differs`)
      this.next++
      this.decisions++
      evolve(this.cell, expected)
      return true
    }
    if (expected !== undefined) return this.differs(revision, stored, expected, 'a decision is missing before this')
    const decided = decide(stored, this.cell)
    if (E.isLeft(decided))
      return this.differs(revision, stored, null, `this input is not taken here: ${decided.left.type}`)
    if (stored.type === 'Ticked' && decided.right.length === 0)
      return this.differs(revision, stored, null, 'a tick that decides nothing is not recorded')
    evolve(this.cell, stored)
    this.expected = decided.right
    this.next = 0
    this.inputs++
    return true
  }

  ends(size: number): void {
    const expected = this.expected[this.next]
    if (expected !== undefined) this.differs(size, null, expected, 'a decision is missing at the end')
  }

  private differs(revision: number, stored: CellEvent | null, decided: CellEvent | null, reason: string): false {
    this.finding = { stream: this.stream, revision, stored: json(stored), decided: json(decided), reason }
    return false
  }
}

const json = (event: CellEvent | null): Json => event as unknown as Json

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
