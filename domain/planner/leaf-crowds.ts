/** How many wait below each leaf, by kind of work and by person: side by side, so that few places in memory are read. */
export class LeafCrowds {
  private readonly byLeaf = new Map<number, Map<string, Map<number, number>>>()

  /** So many more, or fewer, of each of these kinds. */
  count(leaf: number, person: number, kinds: ReadonlyArray<string>, by: number): void {
    let byKind = this.byLeaf.get(leaf)
    if (byKind === undefined) this.byLeaf.set(leaf, (byKind = new Map<string, Map<number, number>>()))
    for (const kind of kinds) {
      let byPerson = byKind.get(kind)
      if (byPerson === undefined) byKind.set(kind, (byPerson = new Map<number, number>()))
      const count = (byPerson.get(person) ?? 0) + by
      if (count > 0) byPerson.set(person, count)
      else byPerson.delete(person)
      if (byPerson.size === 0) byKind.delete(kind)
    }
  }

  /** Of that kind and of other persons than this one, counting no more than `most` of each. */
  beside(leaf: number, person: number, kind: string, most: number): number {
    let sum = 0
    for (const [other, count] of this.byLeaf.get(leaf)?.get(kind) ?? [])
      if (other !== person) sum += Math.min(most, count)
    return sum
  }
}
