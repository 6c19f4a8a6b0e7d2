import { either as E } from 'fp-ts'
import { expect } from 'vitest'
import type { Fault } from '../../domain/kernel/fault.ts'

type Faulty<A> = E.Either<ReadonlyArray<Fault>, A>

export const rightOf = <A>(decoded: Faulty<A>): A => {
  if (E.isRight(decoded)) return decoded.right
  throw new Error(`refused: ${JSON.stringify(decoded.left)}`)
}

export const faultsOf = (decoded: Faulty<unknown>): ReadonlyArray<Fault> => {
  expect(E.isLeft(decoded), 'it should be refused').toBe(true)
  return E.isLeft(decoded) ? decoded.left : []
}

/** `path: reason` of each. */
export const reasonsOf = (decoded: Faulty<unknown>): ReadonlyArray<string> =>
  faultsOf(decoded).map(({ path, reason }) => `${path}: ${reason}`)

/** What every fault owes to who reads it, on a terminal or anywhere else. */
export const expectReadable = (faults: ReadonlyArray<Fault>): void => {
  expect(faults.length).toBeGreaterThan(0)
  expect(faults.length).toBeLessThanOrEqual(101)
  for (const { path, reason, mend } of faults) {
    expect(path).not.toBe('')
    expect(reason).not.toBe('')
    expect(mend).not.toBe('')
    expect(path + reason + mend).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
    expect(reason.length + mend.length).toBeLessThan(1000)
  }
}
