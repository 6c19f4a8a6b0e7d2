import type { Json } from '../../domain/kernel/canonical-json.ts'

const stringOrInteger = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+])-?\d{16,}(?![\d.eE])/g

/** Reads JSON; whole numbers beyond 2^53, which a number cannot hold, come as text. */
export const parseExact = (text: string): Json =>
  JSON.parse(
    text.replace(stringOrInteger, (token) =>
      token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`,
    ),
  ) as Json
