import { either as E } from 'fp-ts'
import type { LogUnavailable } from '../../domain/ports/event-log.ts'

/** Folds of the past at one time, each as large as the cell; and those that wait for one to end. */
const foldsMax = 2
const waitingMax = 16

/** So many folds at a time, so many more in line, and whoever comes then is asked to come back. */
export class FoldTurns {
  private taken = 0
  private readonly waiting: Array<() => void> = []

  async take<A>(work: () => Promise<E.Either<LogUnavailable, A>>): Promise<E.Either<LogUnavailable, A>> {
    if (this.taken >= foldsMax) {
      if (this.waiting.length >= waitingMax) return E.left(busy)
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    } else this.taken++
    try {
      return await work()
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.taken--
      else next()
    }
  }
}

const busy: LogUnavailable = {
  type: 'LogUnavailable',
  kind: 'busy',
  reason: `${foldsMax + waitingMax} questions about the past are being answered`,
  mend: 'ask again in a moment',
}
