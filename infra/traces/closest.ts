const nameLengthMax = 64

/** The candidate that `name` is probably a misspelling of; undefined when none is near. */
export const closest = (name: string, candidates: Iterable<string>): string | undefined => {
  if (name.length > nameLengthMax) return undefined
  const written = bare(name)
  let best: string | undefined
  let bestEdits = Math.floor(written.length / 4) + 1
  for (const candidate of candidates) {
    const edits = editDistance(written, bare(candidate))
    if (edits < bestEdits) [best, bestEdits] = [candidate, edits]
  }
  return best
}

/** `; did you mean X?` where there is something to mean. */
export const didYouMean = (name: string, candidates: Iterable<string>): string => {
  const meant = closest(name, candidates)
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

/** Case and separators are what people most often write differently. */
const bare = (name: string): string => name.toLowerCase().replaceAll(/[_\- ]/g, '')

/** Letters to insert, delete or change to come from `a` to `b`. */
const editDistance = (a: string, b: string): number => {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(change, above[j]! + 1, row[j - 1]! + 1))
    }
    above = row
  }
  return above[b.length]!
}
