import type { Cell } from './cell.ts'

/** What follows from the cell in the envelope of its events: a recorder writes it, and a replay expects it. */
export interface CellEnvelope {
  readonly id: string
  /** Id of the input that was decided about; null for an input itself. */
  readonly causation: string | null
  /** Hash of the policy in force when the input was taken, or when the decision was made; null before there is one. */
  readonly policy: string | null
}

/** Of an input that the cell is about to take. */
export const inputEnvelope = (id: string, { policyHash }: Cell): CellEnvelope => ({
  id,
  causation: null,
  policy: policyHash,
})

/** Of the tick that is recorded before the input of this id, where that one is told late. */
export const lookId = (input: string): string => `${input}/look`

/**
 * Of the decision number `i`, from 0, about an input that the cell has taken. No input has such an id, since names have
 * no blanks: what a source calls its inputs cannot take the id of a decision.
 */
export const decisionEnvelope = (input: string, i: number, { policyHash }: Cell): CellEnvelope => ({
  id: `${input} ${i}`,
  causation: input,
  policy: policyHash,
})
