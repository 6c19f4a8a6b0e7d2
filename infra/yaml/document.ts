import { createReadStream } from 'node:fs'
import { either as E, taskEither as TE } from 'fp-ts'
import type { Document } from 'yaml'
import { pathOf, stepsOf, type Decode, type Step } from '../../domain/kernel/document.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { fileUnreadable, type FileUnreadable } from '../host/file-unreadable.ts'
import { inOrder, parseText, textBytesMax, type ParsedText } from './text.ts'
import { offsetOf, plainOf } from './tree.ts'

/** The file was read, and does not say what it should. */
interface DocumentRefused {
  readonly type: 'DocumentRefused'
  readonly file: string
  readonly faults: ReadonlyArray<Fault>
}
export type FileFault = FileUnreadable | DocumentRefused

type Faulty<A> = E.Either<ReadonlyArray<Fault>, A>

/** One document of a text, or one entry of the list that a text is. */
interface Part {
  readonly document: Document.Parsed
  readonly steps: ReadonlyArray<Step>
  readonly value: unknown
}

/** What one document says, in YAML 1.2 or JSON; every fault at once, each with its line and column. */
export const readDocument = <A>(text: string | Uint8Array, decode: Decode<A>): Faulty<A> => {
  const read = readParts(text, decode, (parsed) =>
    parsed.length < 2
      ? null
      : { path: '$', reason: `holds ${parsed.length} documents`, mend: 'keep one; the others begin after ---' },
  )
  return E.map(([one]: ReadonlyArray<A>) => one!)(read)
}

/**
 * What every document of a text says, in order: documents follow one another after `---`, or are the entries of one
 * list, which is the form that JSON has for it.
 * @param named what must not repeat, and the member that gives it
 */
export const readDocuments = <A>(
  text: string | Uint8Array,
  decode: Decode<A>,
  named?: { readonly of: (read: A) => string; readonly path: string },
): Faulty<ReadonlyArray<A>> => readParts(text, decode, () => null, { listed: true, named })

export const readDocumentFile = <A>(file: string, decode: Decode<A>): TE.TaskEither<FileFault, A> =>
  readFile(file, (text) => readDocument(text, decode))

export const readDocumentsFile = <A>(
  file: string,
  decode: Decode<A>,
  named?: { readonly of: (read: A) => string; readonly path: string },
): TE.TaskEither<FileFault, ReadonlyArray<A>> => readFile(file, (text) => readDocuments(text, decode, named))

const readParts = <A>(
  text: string | Uint8Array,
  decode: Decode<A>,
  objection: (documents: ReadonlyArray<Document.Parsed>) => Fault | null,
  {
    listed = false,
    named,
  }: {
    readonly listed?: boolean
    readonly named?: { readonly of: (read: A) => string; readonly path: string } | undefined
  } = {},
): Faulty<ReadonlyArray<A>> => {
  const parsed = parseText(text)
  if (E.isLeft(parsed)) return parsed
  const { place } = parsed.right
  // `---` at the very end opens a document that nobody wrote.
  const documents = parsed.right.documents.filter(({ contents }) => !isNothing(contents))
  if (documents.length === 0)
    return E.left([{ path: '$', reason: 'there is nothing in it', mend: 'write a document', line: 1, column: 1 }])
  const refused = objection(documents)
  if (refused !== null) return E.left([{ ...refused, ...place(documents[1]?.contents?.range[0] ?? 0) }])

  const faults: Fault[] = []
  const got: A[] = []
  const seen = new Map<string, number>()
  for (const document of documents) {
    const plain = plainOf(document, place)
    faults.push(...plain.faults)
    if (!plain.whole) continue
    for (const part of partsOf(document, plain.value, listed)) {
      const read = decode(part.value)
      if (E.isLeft(read)) {
        for (const fault of read.left) faults.push(placedIn(part, fault, place))
        continue
      }
      got.push(read.right)
      if (named === undefined) continue
      const name = named.of(read.right)
      const first = seen.get(name)
      if (first === undefined) seen.set(name, got.length)
      else {
        const reason = `repeats the name of document ${first}, ${name}`
        faults.push(placedIn(part, { path: named.path, reason, mend: 'give each document a name of its own' }, place))
      }
    }
  }
  return faults.length === 0 ? E.right(got) : E.left(inOrder(faults))
}

const isNothing = (contents: Document.Parsed['contents']): boolean =>
  contents === null || ('value' in contents && contents.value === null && contents.source === '')

const partsOf = (document: Document.Parsed, value: unknown, listed: boolean): ReadonlyArray<Part> =>
  listed && Array.isArray(value)
    ? value.map((entry: unknown, i) => ({ document, steps: [i], value: entry }))
    : [{ document, steps: [], value }]

const placedIn = ({ document, steps }: Part, fault: Fault, place: ParsedText['place']): Fault => {
  const whole = [...steps, ...stepsOf(fault.path)]
  return { ...fault, path: pathOf(whole), ...place(offsetOf(document, whole)) }
}

// ---- Files

const readFile = <A>(file: string, read: (text: Uint8Array) => Faulty<A>): TE.TaskEither<FileFault, A> => {
  const bytes = TE.tryCatch(
    () => bytesOf(file),
    (cause): FileFault => fileUnreadable(file, cause),
  )
  return TE.chainEitherK((text: Uint8Array) =>
    E.mapLeft((faults: ReadonlyArray<Fault>): FileFault => ({ type: 'DocumentRefused', file, faults }))(read(text)),
  )(bytes)
}

/** A byte more than a document may have, and no more, whatever kind of file it is; `-` is the standard input. */
const bytesOf = async (file: string): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
    const bytes = chunk as Uint8Array
    chunks.push(bytes)
    size += bytes.byteLength
    if (size > textBytesMax) break
  }
  return Buffer.concat(chunks)
}
