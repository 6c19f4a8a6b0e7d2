/** Longest name of a workload, node, queue, pool, team, model ..., in UTF-16 units; that of a Kubernetes object. */
export const nameLengthMax = 253

/** Keys that reach an object's prototype when somebody copies a document carelessly. No document may use them. */
export const prototypeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Control and format characters (an escape, a right-to-left override), halves of pairs, private use, and blanks. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}]/u

/** Longest id of a fact or a command, which is made of names. */
export const idLengthMax = 600

/** Why `text` cannot name a thing, or null when it can: a name has to survive a terminal, a log line and a subject. */
export const nameObjection = (text: string): string | null => textObjection(text, nameLengthMax)

/** The same for an id, which no subject is made of. */
export const idObjection = (text: string): string | null => textObjection(text, idLengthMax)

const textObjection = (text: string, lengthMax: number): string | null => {
  if (text.length === 0) return 'is empty'
  if (text.length > lengthMax) return `has ${text.length} characters, above ${lengthMax}`
  if (prototypeKeys.has(text)) return 'is a reserved word'
  const character = unprintable.exec(text)?.[0]
  if (character === undefined) return null
  const code = `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
  return /\p{Z}|[\t\r\n]/u.test(character)
    ? `has a blank in it (${code})`
    : `has an unprintable character in it (${code})`
}

/**
 * The same for a key of a map that is stored: JavaScript moves keys such as `10` before all others, and what is
 * stored has to keep the order of canonical JSON.
 */
export const keyObjection = (text: string): string | null =>
  nameObjection(text) ?? (/^\d+$/.test(text) ? 'has digits only' : null)
