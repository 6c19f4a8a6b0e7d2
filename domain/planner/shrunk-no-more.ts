import type { Placement } from '../fleet/fleet.ts'
import type { Books } from './books.ts'
import { shrunkBy } from './victim-option.ts'
import { comeBack, leave, type Trial, type VictimSet } from './victim-search.ts'

/** Whoever shrinks gives back no more than is needed. */
export const shrunkNoMore = (
  books: Books,
  { victims, placement }: VictimSet,
  trial: Trial,
  place: () => Placement | null,
): VictimSet => {
  const kept = [...victims]
  let found = placement
  victims.forEach((victim, i) => {
    if (victim.keeps === null) return
    const { elasticity } = victim.workload.terms
    const each = victim.workload.shape.request.devices / elasticity!.maxReplicas
    const most = victim.frees.reduce((sum, { devices }) => sum + devices.length, 0)
    for (let count = each; count < most; count += each) {
      const less = shrunkBy(books, victim.workload, count)
      const set = kept.with(i, less)
      leave(trial, set)
      const fits = trial.allows() ? place() : null
      comeBack(trial, set)
      if (fits === null) continue
      kept[i] = less
      found = fits
      return
    }
  })
  return { victims: kept, placement: found }
}
