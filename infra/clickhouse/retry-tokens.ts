import { randomUUID } from 'node:crypto'

/** Which insert it is: of what was handed over whole, the part that begins there. */
export interface Part {
  readonly whole: object
  readonly from: number
}

/**
 * Tokens by which an engine knows an insert that it has had, and adds nothing when it comes again. What is handed over again
 * has its old token as long as nobody knows whether it got in. Where it is known that it did not, the token is forgotten:
 * the engine notes a token before it keeps the rows, and would pass over rows that it does not have.
 */
export class RetryTokens {
  #parts = new WeakMap<object, Map<number, string>>()

  of({ whole, from }: Part): string {
    const ofWhole = this.#parts.get(whole) ?? new Map<number, string>()
    this.#parts.set(whole, ofWhole)
    const token = ofWhole.get(from) ?? randomUUID()
    ofWhole.set(from, token)
    return token
  }

  forget({ whole, from }: Part): void {
    this.#parts.get(whole)?.delete(from)
  }

  forgetAll(): void {
    this.#parts = new WeakMap()
  }
}
