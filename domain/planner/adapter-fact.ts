import { either as E } from 'fp-ts'
import { describeFault } from '../kernel/fault.ts'
import type { CellInput } from './cell-event.ts'
import { decodeFactLine } from './cloud-event.ts'

/** What an adapter may tell: what it sees of nodes and jobs. Orders and policies come from people, in other ways. */
export const adapterFacts: ReadonlyArray<CellInput['type']> = [
  'AttemptEnded',
  'CheckpointCommitted',
  'CommandConcluded',
  'DrillConcluded',
  'NodeHealthChanged',
  'NodeRegistered',
  'ProgressObserved',
]
const told: ReadonlySet<CellInput['type']> = new Set(adapterFacts)

/** Why this line is not what an adapter may tell; null: it is. */
export const adapterFactObjection = (line: string): string | null => {
  const decoded = decodeFactLine(line)
  if (E.isLeft(decoded)) return decoded.left.map((fault) => describeFault(fault)).join('; ')
  return told.has(decoded.right.type) ? null : `an adapter may not tell ${decoded.right.type}`
}
