import type { FlavorFungibility } from '../policy/quota-policy.ts'

/** How a request gets onto a flavor, worst first: `noCandidates` needs evictions, and finds nobody to evict. */
export const flavorModes = ['noFit', 'noCandidates', 'preempt', 'reclaim', 'fit'] as const
export type FlavorMode = (typeof flavorModes)[number]

/** How good a flavor is for a request. */
export interface FlavorFitness {
  readonly mode: FlavorMode
  /** 0: without borrowing; else the height of the cohort that it borrows in. */
  readonly borrowLevel: number
}

export const bestFitness: FlavorFitness = { mode: 'fit', borrowLevel: 0 }
export const worstFitness: FlavorFitness = { mode: 'noFit', borrowLevel: Number.MAX_SAFE_INTEGER }

/** Whether `a` is strictly better than `b`. */
export const isPreferred = (
  a: FlavorFitness,
  b: FlavorFitness,
  preference: FlavorFungibility['preference'],
): boolean => {
  if (a.mode === 'noFit' || b.mode === 'noFit') return a.mode !== 'noFit'
  if (a.mode !== b.mode && (a.mode === 'noCandidates' || b.mode === 'noCandidates')) return b.mode === 'noCandidates'
  const byMode = flavorModes.indexOf(a.mode) - flavorModes.indexOf(b.mode)
  const byBorrowing = b.borrowLevel - a.borrowLevel
  return (preference === 'preemptionOverBorrowing' ? byBorrowing || byMode : byMode || byBorrowing) > 0
}

/** Whether the search may end at a flavor that is as good as this. */
export const endsSearch = ({ mode, borrowLevel }: FlavorFitness, fungibility: FlavorFungibility): boolean => {
  if (mode === 'noFit' || mode === 'noCandidates') return false
  if (mode !== 'fit' && fungibility.whenCanPreempt === 'tryNextFlavor') return false
  return borrowLevel === 0 || fungibility.whenCanBorrow === 'mayStopSearch'
}
