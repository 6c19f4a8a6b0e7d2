import type { Placement } from '../fleet/fleet.ts'
import { drillKey, type Drilled } from './drill-book.ts'
import type { Workload } from './workload.ts'

/** Thousandths of devices that a placement holds. */
export const heldMilli = (parts: Placement['parts']): number =>
  parts.reduce((sum, { devices, milli }) => sum + devices.length * milli, 0)

/** Device-milli that each team, person and class holds, or is about to: what caps and reserves are held against. */
export class Tallies {
  private readonly byTeam = new Map<string, number>()
  private readonly byPerson = new Map<string, number>()
  private readonly byClass = new Map<string, number>()
  /** By number of a node of the budget tree. */
  private readonly byNode = new Map<number, number>()
  /** Held by what does not tolerate being evicted. */
  private intolerant = 0
  /** Held by what does, by team and model family: what was drilled passes and lapses while it runs. */
  private readonly tolerant = new Map<string, { readonly of: Drilled; readonly milli: number }>()

  team(name: string): number {
    return this.byTeam.get(name) ?? 0
  }
  person(name: string): number {
    return this.byPerson.get(name) ?? 0
  }
  ofClass(name: string): number {
    return this.byClass.get(name) ?? 0
  }
  node(node: number): number {
    return this.byNode.get(node) ?? 0
  }

  /** @param nodes the budget nodes from the person's up to the cell's */
  add(workload: Workload, milli: number, nodes: Iterable<number>): void {
    grow(this.byTeam, workload.team, milli)
    grow(this.byPerson, workload.terms.submitter, milli)
    grow(this.byClass, workload.class, milli)
    for (const node of nodes) grow(this.byNode, node, milli)
    const { modelFamily, preemption } = workload.terms
    if (!preemption.tolerated) {
      this.intolerant += milli
      return
    }
    const key = drillKey(workload.team, modelFamily)
    const held = (this.tolerant.get(key)?.milli ?? 0) + milli
    if (held === 0) this.tolerant.delete(key)
    else this.tolerant.set(key, { of: { team: workload.team, terms: { modelFamily } }, milli: held })
  }

  /** Held by what may not be evicted. O(teams and model families that hold anything). */
  firmMilli(isDrilled: (of: Drilled) => boolean): number {
    let firm = this.intolerant
    for (const { of, milli } of this.tolerant.values()) if (!isDrilled(of)) firm += milli
    return firm
  }
}

const grow = <K>(map: Map<K, number>, key: K, by: number): void => {
  const sum = (map.get(key) ?? 0) + by
  if (sum === 0) map.delete(key)
  else map.set(key, sum)
}
