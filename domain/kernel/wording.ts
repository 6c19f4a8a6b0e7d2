/** How faults speak of what somebody wrote. */

/** Most of a text that a fault repeats. */
const shownMax = 60

/** A text in quotes for a message, cut to a bearable length, with whatever a terminal would obey written as an escape. */
export const shown = (text: string, lengthMax = shownMax): string => {
  const quoted = JSON.stringify(text.length > lengthMax ? `${text.slice(0, lengthMax)}...` : text)
  return quoted.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

/** What a value is, for "found ...". */
export const found = (value: unknown): string => {
  if (value === null || value === undefined) return 'nothing'
  if (typeof value === 'string') return value === '' ? 'an empty text' : `the text ${shown(value)}`
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`
  if (typeof value !== 'object') return `a ${typeof value}`
  return Array.isArray(value) ? 'a list' : isMap(value) ? 'a map' : 'a value that is not plain data'
}

/** Plain data with keys: what JSON, YAML or a literal gives. */
export const isMap = (value: unknown): value is { readonly [key: string]: unknown } => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** The word that was probably meant: the same but for case, dashes and underscores, or at most a third misspelt. */
export const nearest = (text: string, words: ReadonlyArray<string>): string | null => {
  if (text.length > 40) return null
  const bare = (word: string) => word.replace(/[-_ ]/g, '').toLowerCase()
  const given = bare(text)
  let best: string | null = null
  let least = Infinity
  for (const word of words) {
    const edits = editDistance(given, bare(word))
    if (edits < least && edits * 3 <= Math.max(given.length, 3)) {
      best = word
      least = edits
    }
  }
  return best
}

/** Letters to insert, drop or replace, and neighbours to swap, to turn one word into the other. */
const editDistance = (from: string, to: string): number => {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, j) => j)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = last[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, replaced)
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        least = Math.min(least, before[j - 2]! + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return last[to.length]!
}
