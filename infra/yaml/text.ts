import { Composer, Lexer, LineCounter, Parser, type CST, type Document, type YAMLError } from 'yaml'
import { either as E } from 'fp-ts'
import { depthMax, faultsMax } from '../../domain/kernel/document.ts'
import { shown } from '../../domain/kernel/wording.ts'
import type { Fault } from '../../domain/kernel/fault.ts'

export const textBytesMax = 1_048_576
/** Most words and signs in a text: what keeps the parser's time bounded where the bytes alone do not. */
export const tokensMax = 200_000

/** A text that is YAML, its documents as trees, and where each of its characters lies. */
export interface ParsedText {
  readonly documents: ReadonlyArray<Document.Parsed>
  readonly place: (offset: number) => { readonly line: number; readonly column: number }
}

/**
 * Bytes or text into trees. Everything that makes the parser slow, or ends the process, is refused before the parser
 * sees it: size, depth, and the number of tokens.
 */
export const parseText = (given: string | Uint8Array): E.Either<ReadonlyArray<Fault>, ParsedText> => {
  const bytes = typeof given === 'string' ? Buffer.byteLength(given) : given.byteLength
  if (bytes > textBytesMax) return refused(`has more than ${textBytesMax} bytes`, 'make it shorter, or split it')
  const text = typeof given === 'string' ? given : decoded(given)
  if (text === null) return E.left([notUtf8(given as Uint8Array)])

  const lines = new LineCounter()
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const control = controlCharacter.exec(text)
  if (control !== null) {
    for (let i = -1; i < control.index; i = lineEnd(text, i + 1)) lines.addNewLine(i + 1)
    return E.left([
      {
        path: '$',
        reason: `has a control character, ${shown(control[0])}`,
        mend: 'remove it, or write it as an escape in a text with double quotes',
        ...place(control.index),
      },
    ])
  }

  const tokens: CST.Token[] = []
  const parser = new Parser(lines.addNewLine)
  lines.addNewLine(0)
  let count = 0
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token)
    count++
    // Every level of nesting is an entry of the parser's stack; the exact depth is checked on the tree.
    if (parser.stack.length > depthMax + 8)
      return refused(
        `nests deeper than ${depthMax} levels`,
        'remove the levels that are too many',
        place(parser.offset),
      )
    if (count > tokensMax)
      return refused(`has more than ${tokensMax} words and signs`, 'make it shorter, or split it', place(parser.offset))
  }
  for (const token of parser.end()) tokens.push(token)

  // Unique keys are checked on the tree: the parser's own check takes quadratic time. Only JSON's types are resolved.
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, stringKeys: true, resolveKnownTags: false })
  const documents = [...composer.compose(tokens, true, text.length)]
  const faults = documents.flatMap((document) => [
    ...(document.directives.yaml.version === '1.1' ? [oldVersion] : []),
    ...[...document.errors, ...document.warnings].map((error) => yamlFault(error, place)),
  ])
  return faults.length === 0 ? E.right({ documents, place }) : E.left(inOrder(faults))
}

/** By place in the text, cut to what anybody reads; what has no place comes last. */
export const inOrder = (faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> => {
  const sorted = faults.toSorted(
    (a, b) => (a.line ?? Infinity) - (b.line ?? Infinity) || (a.column ?? 0) - (b.column ?? 0) || 0,
  )
  if (sorted.length <= faultsMax + 1) return sorted
  const rest = `${sorted.length - faultsMax} more faults`
  return [...sorted.slice(0, faultsMax), { path: '$', reason: rest, mend: 'mend those listed first, then check again' }]
}

// eslint-disable-next-line no-control-regex -- to refuse them
const controlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

const lineEnd = (text: string, from: number): number => {
  const at = text.indexOf('\n', from)
  return at === -1 ? text.length : at
}

const decoded = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

const notUtf8 = (bytes: Uint8Array): Fault => {
  const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
  if (wide) return { path: '$', reason: 'is UTF-16', mend: 'save it as UTF-8' }
  const before = new TextDecoder('utf-8').decode(bytes).split('\ufffd', 1)[0]!
  const line = before.split('\n')
  const place = { line: line.length, column: line.at(-1)!.length + 1 }
  return { path: '$', reason: 'is not UTF-8', mend: 'save it as UTF-8', ...place }
}

const oldVersion: Fault = {
  path: '$',
  reason: 'is YAML 1.1, where yes, on and 012 mean other things',
  mend: 'remove the %YAML line',
  line: 1,
  column: 1,
}

const mends: { readonly [code: string]: string } = {
  BAD_INDENT: 'line it up with what it belongs to',
  BLOCK_IN_FLOW: 'inside [ ] and { } use [ ] and { } only',
  IMPOSSIBLE: 'write it differently',
  MISSING_CHAR: 'add the missing sign',
  MULTIPLE_ANCHORS: 'keep one',
  MULTIPLE_TAGS: 'remove the tags',
  NON_STRING_KEY: 'use a plain name as the key',
  TAB_AS_INDENT: 'indent with spaces',
  TAG_RESOLVE_FAILED: 'remove the tag',
  UNEXPECTED_TOKEN: 'remove it, or put the text in quotes',
}

/** The parser's messages repeat what they are about. */
const messageMax = 200

const yamlFault = (error: YAMLError, place: ParsedText['place']): Fault => ({
  path: '$',
  reason: `is not YAML: ${shown(error.message, messageMax).slice(1, -1).replaceAll('\\"', '"')}`,
  mend: mends[error.code] ?? 'mend it here; a text with : or # in it needs quotes',
  ...place(error.pos[0]),
})

const refused = (reason: string, mend: string, place: { line?: number; column?: number } = {}) =>
  E.left([{ path: '$', reason, mend, ...place }])
