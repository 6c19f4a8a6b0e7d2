import type { Cell } from '../../domain/planner/cell.ts'

/** What the policy lets the pool do, behind `the pool is`. */
export const standingText = (standing: Cell['standing']): string =>
  ({
    observe: 'observed only',
    advise: 'advised only',
    automate: 'automated',
    frozen: 'frozen',
    'no-policy': 'without a policy',
  })[standing]

/** What follows from that for all that waits and runs there; null: nothing that is out of the ordinary. */
export const standingNote = (standing: Cell['standing']): string | null =>
  ({
    observe: 'The pool is observed only: nothing is decided, and nothing starts.',
    advise: 'The pool is advised only: what would be done is recorded, and no command is sent.',
    automate: null,
    frozen: 'The pool is frozen: nothing starts and no command is sent before `leasehold freeze --lift`.',
    'no-policy': 'There is no policy: nothing starts before `leasehold policy activate FILE`.',
  })[standing]
