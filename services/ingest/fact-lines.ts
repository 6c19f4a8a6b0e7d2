import { isUtf8 } from 'node:buffer'
import { createHash, hash, type Hash } from 'node:crypto'
import type { Fault } from '../../domain/kernel/fault.ts'
import { factLengthMax } from '../../domain/planner/cloud-event.ts'

/** What is left of a line that is not kept whole: enough to find it again where it came from. */
export interface LineExcerpt {
  readonly bytes: number
  readonly sha256: string
  /** Its beginning. */
  readonly head: string
}

/** A line as it came, or what is left of one that is too long or no text. */
export type FactLine = { readonly text: string } | { readonly fault: Fault; readonly excerpt: LineExcerpt }

const headBytes = 1_024
/** A longer line holds no fact; only its hash is taken of what follows, so that memory stays bounded. */
const lineBytesMax = factLengthMax

/** The lines that each chunk of a stream of bytes completes, in order; blank ones are left out. */
export async function* factLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<ReadonlyArray<FactLine>> {
  const begun = new BegunLine()
  for await (const chunk of source) {
    const lines: FactLine[] = []
    let from = 0
    for (let to = chunk.indexOf(lineFeed); to >= 0; to = chunk.indexOf(lineFeed, from)) {
      const line = begun.end(chunk.subarray(from, to))
      if (line !== null) lines.push(line)
      from = to + 1
    }
    begun.add(chunk.subarray(from))
    if (lines.length > 0) yield lines
  }
  const last = begun.end(new Uint8Array())
  if (last !== null) yield [last]
}

/** What is gathered at most before it is handed on. */
const gatheredLinesMax = 1_000
const gatheredCharsMax = 1_048_576

/**
 * What has come by now goes on together, because each batch costs a flush to the disk. It waits for nothing that has not
 * come, and reads one batch ahead at most.
 * @throws what `batches` throws, once what came before has been handed on
 */
export async function* gathered(
  batches: AsyncGenerator<ReadonlyArray<FactLine>>,
): AsyncGenerator<ReadonlyArray<FactLine>> {
  let lines: FactLine[] = []
  let chars = 0
  let next: ReturnType<typeof batches.next> | null = null
  try {
    for (;;) {
      next ??= batches.next()
      // It is awaited later, perhaps only after it has failed.
      next.catch(() => undefined)
      const came = lines.length === 0 ? await next : await Promise.race([next, nothingYet()]).catch(() => null)
      if (came?.done === true) break
      if (came !== null) {
        next = null
        for (const line of came.value) {
          lines.push(line)
          chars += charsOf(line)
        }
        if (lines.length < gatheredLinesMax && chars < gatheredCharsMax) continue
      }
      yield lines
      lines = []
      chars = 0
    }
    if (lines.length > 0) yield lines
  } finally {
    // Not awaited: it may be waiting for what never comes.
    batches.return(undefined).catch(() => undefined)
  }
}

/** A turn in which sockets are read has gone by. */
const nothingYet = (): Promise<null> =>
  new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve, null))
  })

const charsOf = (line: FactLine): number => ('text' in line ? line.text.length : headBytes)

export const excerptOf = (text: string): LineExcerpt => ({
  bytes: Buffer.byteLength(text),
  sha256: hash('sha256', text),
  head: headOf(Buffer.from(text.slice(0, headBytes))),
})

/** A message that is a line of its own, whatever it holds. */
export const messageLine = (value: Uint8Array | null): FactLine => {
  const bytes = value ?? new Uint8Array()
  if (bytes.length > lineBytesMax) return leftOut(bytes, tooLong(bytes.length))
  return lineOf(bytes) ?? leftOut(bytes, { path: '$', reason: 'is empty', mend: 'send a fact' })
}

const leftOut = (bytes: Uint8Array, fault: Fault): FactLine => ({
  fault,
  excerpt: { bytes: bytes.length, sha256: hash('sha256', bytes), head: headOf(bytes) },
})

const tooLong = (bytes: number): Fault => ({
  path: '$',
  reason: `has ${bytes} bytes, above ${lineBytesMax}`,
  mend: 'send one fact a line',
})

const lineFeed = 0x0a
const carriageReturn = 0x0d

const headOf = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, headBytes)).toString('utf8')

/** The part of a line that has come. */
class BegunLine {
  private kept = Buffer.allocUnsafe(64 * 1_024)
  private bytes = 0
  /** Of a line that is too long to be kept. */
  private sum: Hash | null = null

  add(part: Uint8Array): void {
    const size = this.bytes + part.length
    if (this.sum === null && size > lineBytesMax)
      this.sum = createHash('sha256').update(this.kept.subarray(0, this.bytes))
    this.sum?.update(part)
    if (this.bytes < lineBytesMax) this.keep(part.subarray(0, lineBytesMax - this.bytes))
    this.bytes = size
  }

  /** The line that ends with this part; null when it is blank. */
  end(part: Uint8Array): FactLine | null {
    if (this.bytes === 0 && part.length <= lineBytesMax) return lineOf(part)
    this.add(part)
    const { bytes, sum } = this
    const whole = this.kept.subarray(0, Math.min(bytes, lineBytesMax))
    this.bytes = 0
    this.sum = null
    if (sum === null) return lineOf(whole)
    return { fault: tooLong(bytes), excerpt: { bytes, sha256: sum.digest('hex'), head: headOf(whole) } }
  }

  private keep(part: Uint8Array): void {
    const needed = this.bytes + part.length
    if (needed > this.kept.length) {
      const longer = Buffer.allocUnsafe(Math.max(needed, this.kept.length * 2))
      this.kept.copy(longer, 0, 0, this.bytes)
      this.kept = longer
    }
    this.kept.set(part, this.bytes)
  }
}

const lineOf = (given: Uint8Array): FactLine | null => {
  const bytes = given.at(-1) === carriageReturn ? given.subarray(0, -1) : given
  if (bytes.length === 0) return null
  if (isUtf8(bytes)) return { text: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8') }
  return leftOut(bytes, { path: '$', reason: 'is not UTF-8', mend: 'send UTF-8' })
}
