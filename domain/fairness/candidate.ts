/** What waits, as far as its place among others of equal claim goes. */
export interface Candidate {
  readonly id: string
  readonly priority: number
  /** In any one unit; -Infinity: before any stated time. */
  readonly createdAt: number
}

/** Higher priority first, then what is older, then by id. */
export const bySeniority = (a: Candidate, b: Candidate): number => {
  if (a.priority !== b.priority) return b.priority - a.priority
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
