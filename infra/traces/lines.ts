import { isAscii, isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { fileUnreadable, type FileUnreadable } from '../host/file-unreadable.ts'
import { faultsCountedMax, type FaultList } from './fault-list.ts'

/** A longer line is no trace: reading stops there, so that memory stays bounded whatever the file holds. */
export const lineBytesMax = 1 << 20
const chunkBytes = 256 * 1024

/** Takes a line without its end; `false`: the rest is not wanted. */
export type LineSink = (text: string, line: number) => boolean

/**
 * Gives out the lines of a UTF-8 file in order, without byte order mark, LF or CRLF. What cannot be text goes to
 * `faults` and is left out; blank lines are left out too.
 * @returns null when the file could be read, whatever was found in it
 */
export const readLines = async (file: string, faults: FaultList, sink: LineSink): Promise<FileUnreadable | null> => {
  let rest = Buffer.alloc(0)
  let line = 0
  let bytes = 0

  const take = (from: Buffer, plain: boolean): boolean => {
    if (faults.count() >= faultsCountedMax) return false
    line += 1
    const text = from.at(-1) === 0x0d ? from.subarray(0, -1) : from
    if (text.length === 0) return true
    if (!plain) {
      const nul = text.indexOf(0)
      if (nul >= 0) {
        faults.add({ path: '$', line, column: nul + 1, reason: 'holds a NUL byte', mend: 'give a text file' })
        return true
      }
      if (!isUtf8(text)) {
        faults.add({ path: '$', line, reason: 'is not UTF-8', mend: 'save the file as UTF-8' })
        return true
      }
    }
    return sink(text.toString(plain ? 'latin1' : 'utf8'), line)
  }
  const isPlain = (chunk: Buffer): boolean => isAscii(chunk) && !chunk.includes(0)

  try {
    const stream = createReadStream(file, { highWaterMark: chunkBytes })
    for await (const read of stream) {
      let chunk = read as Buffer
      if (bytes === 0) {
        const binary = binaryKind(chunk)
        if (binary !== undefined) {
          faults.add({ path: '$', line: 1, ...binary })
          return null
        }
        if (chunk.length >= 3 && chunk.readUIntBE(0, 3) === 0xefbbbf) chunk = chunk.subarray(3)
      }
      bytes += chunk.length
      const plain = isPlain(chunk)
      let start = 0
      let end = chunk.indexOf(0x0a)
      if (end < 0 && rest.length + chunk.length <= lineBytesMax) {
        rest = Buffer.concat([rest, chunk])
        continue
      }
      if (end >= 0 && rest.length > 0 && rest.length + end <= lineBytesMax) {
        const joined = Buffer.concat([rest, chunk.subarray(0, end)])
        if (!take(joined, isPlain(joined))) return null
        start = end + 1
        rest = Buffer.alloc(0)
        end = chunk.indexOf(0x0a, start)
      }
      if (rest.length > 0) {
        addTooLong(faults, line + 1)
        return null
      }
      for (; end >= 0; end = chunk.indexOf(0x0a, start)) {
        if (!take(chunk.subarray(start, end), plain)) return null
        start = end + 1
      }
      rest = Buffer.from(chunk.subarray(start))
    }
    if (rest.length > 0) take(rest, isPlain(rest))
    if (bytes === 0) faults.add({ path: '$', line: 1, reason: 'is empty', mend: 'give a file with at least one job' })
    return null
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause) return fileUnreadable(file, cause)
    throw cause
  }
}

const addTooLong = (faults: FaultList, line: number): void => {
  faults.add({
    path: '$',
    line,
    reason: `is a line of more than ${lineBytesMax} bytes`,
    mend: 'give one job per line; the rest was not read',
  })
}

const binaryKind = (head: Buffer): { reason: string; mend: string } | undefined => {
  if (head.length < 2) return undefined
  if (head[0] === 0x1f && head[1] === 0x8b)
    return { reason: 'is compressed with gzip', mend: 'unpack it first: gunzip -k FILE' }
  if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3)
    return { reason: 'is a zip archive or a spreadsheet', mend: 'unpack it, or save the sheet as CSV' }
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff))
    return { reason: 'is UTF-16', mend: 'save the file as UTF-8' }
  return undefined
}
