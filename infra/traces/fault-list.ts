import type { Fault } from '../../domain/kernel/fault.ts'

/** How many faults of one file are told in full; the rest are only counted. */
export const faultsToldMax = 20
/** A file with more is not read to its end, which a device may not even have. */
export const faultsCountedMax = 100_000

/** Collects what is wrong with one file. It stays small however much is wrong. */
export interface FaultList {
  readonly add: (fault: Fault) => void
  readonly told: ReadonlyArray<Fault>
  readonly count: () => number
}

export const faultList = (): FaultList => {
  const told: Array<Fault> = []
  let count = 0
  return {
    told,
    count: () => count,
    add: (fault) => {
      count += 1
      if (told.length < faultsToldMax) told.push(fault)
    },
  }
}
