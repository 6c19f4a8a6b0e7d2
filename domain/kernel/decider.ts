import type { either as E } from 'fp-ts'
import type { EpochMs } from './units.ts'

/** What is recorded: a kind, the instant it happened, and the facts of that kind. `data` has its keys in canonical order. */
export interface Message<Type extends string, Data> {
  readonly type: Type
  readonly at: EpochMs
  readonly data: Data
}

/**
 * `decide` may refuse, and leaves what it reads as it found it. `evolve` may not refuse: what the log holds has
 * happened. It may update in place a state that it owns, and returns the state that holds afterwards.
 */
export interface Decider<Input, State, Event, Rejection> {
  readonly initial: () => State
  readonly decide: (input: Input, state: State) => E.Either<Rejection, ReadonlyArray<Event>>
  readonly evolve: (state: State, event: Event) => State
}

/** For what our own code must never do. What a user may get wrong is a rejection or a fault. */
export function assert(holds: boolean, invariant: string): asserts holds {
  if (!holds) throw new Error(`broken invariant: ${invariant}`)
}
