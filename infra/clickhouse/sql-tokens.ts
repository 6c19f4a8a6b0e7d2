import { either as E } from 'fp-ts'

export interface SqlToken {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'sign'
  /** A word as it stands, what is between the quotes of a quoted name, one character of a sign. */
  readonly text: string
  readonly at: number
}

/**
 * Text as ClickHouse's own lexer divides it; space and comments are left out. `Left` is what has no meaning, and what
 * one release reads otherwise than another: comments behind # and // and within each other, heredocs, curly quotes.
 */
export const tokensOf = (sql: string): E.Either<string, ReadonlyArray<SqlToken>> => {
  const tokens: SqlToken[] = []
  let at = 0
  while (at < sql.length) {
    part.lastIndex = at
    const found = part.exec(sql)
    if (found === null) return E.left(`${placeOf(sql, at)}: ${unreadable(sql.slice(at))}`)
    const { word, quoted, string, number, sign } = found.groups!
    if (quoted?.includes('\\') === true) return E.left(`${placeOf(sql, at)}: a quoted name may not hold a backslash`)
    if (word !== undefined) tokens.push({ kind: 'word', text: word, at })
    else if (quoted !== undefined) tokens.push({ kind: 'quoted', text: quoted.slice(1, -1), at })
    else if (string !== undefined) tokens.push({ kind: 'string', text: string, at })
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, at })
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, at })
    at = part.lastIndex
  }
  return E.right(tokens)
}

// Names and strings: a quote within is doubled, or stands behind a backslash.
const part = new RegExp(
  [
    String.raw`(?<space>[\s\u00a0\u200b\ufeff]+)`,
    String.raw`(?<comment>--[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*\*/)`,
    String.raw`(?<quoted>\`(?:[^\`\\]|\\[^]|\`\`)*\`|"(?:[^"\\]|\\[^]|"")*")`,
    String.raw`(?<string>'(?:[^'\\]|\\[^]|'')*')`,
    String.raw`(?<word>[A-Za-z_][A-Za-z0-9_]*)`,
    String.raw`(?<number>(?:0[xXbB][0-9A-Fa-f]+|\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)`,
    String.raw`(?<sign>/(?![/*])|[-+*%<>=!,.:;?|@^&(){}[\]~])`,
  ].join('|'),
  'y',
)

const unreadable = (rest: string): string => {
  if (rest.startsWith("'")) return 'a string does not end'
  if (rest.startsWith('`') || rest.startsWith('"')) return 'a quoted name does not end'
  if (rest.startsWith('/*')) return 'a comment does not end, or holds another'
  if (rest.startsWith('#') || rest.startsWith('//')) return 'say -- for a comment'
  return `${JSON.stringify(String.fromCodePoint(rest.codePointAt(0)!))} has no meaning here`
}

export const placeOf = (sql: string, at: number): string => {
  const lines = sql.slice(0, at).split('\n')
  return `line ${lines.length}, column ${lines.at(-1)!.length + 1}`
}
