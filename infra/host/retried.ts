import { either as E, type taskEither as TE } from 'fp-ts'
import { Rest } from './rest.ts'

const backOffMinMs = 500
const backOffMaxMs = 30_000

/** Something that the system goes without while it cannot be had: it is tried for again, ever more rarely, until it can. */
export class Retried<Fault, A> {
  private readonly open: TE.TaskEither<Fault, A>
  private state: E.Either<Fault, A>
  private stopped = false
  private readonly rest = new Rest()
  private readonly trying: Promise<void>
  /** Resolves when the first attempt has ended, either way. */
  readonly tried: Promise<void>

  /** @param meanwhile what is told before the first attempt has ended */
  constructor(open: TE.TaskEither<Fault, A>, meanwhile: Fault) {
    this.open = open
    this.state = E.left(meanwhile)
    let firstEnded: () => void = () => undefined
    this.tried = new Promise((resolve) => (firstEnded = resolve))
    this.trying = this.run(firstEnded)
  }

  get current(): E.Either<Fault, A> {
    return this.state
  }

  /** No more attempts; what it came to in the end. */
  async stop(): Promise<E.Either<Fault, A>> {
    this.stopped = true
    this.rest.end()
    await this.trying
    return this.state
  }

  private async run(firstEnded: () => void): Promise<void> {
    for (let waitMs = backOffMinMs; !this.stopped; waitMs = Math.min(waitMs * 2, backOffMaxMs)) {
      this.state = await this.open()
      firstEnded()
      if (E.isRight(this.state)) return
      await this.rest.for(waitMs)
    }
    firstEnded()
  }
}
