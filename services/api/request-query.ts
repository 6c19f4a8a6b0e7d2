import { either as E } from 'fp-ts'
import { decoding, type Reader } from '../../domain/kernel/document.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { shown } from '../../domain/kernel/wording.ts'
import { invalid } from './http-error.ts'

/** What stands behind the question mark, read: what is unknown, given twice or badly written is told. */
export const queryOf = <Q>(url: string, reader: Reader<Q>): Q => {
  const mark = url.indexOf('?')
  const got: Record<string, string> = Object.create(null) as Record<string, string>
  const faults: Fault[] = []
  const words = mark < 0 || mark === url.length - 1 ? [] : url.slice(mark + 1).split('&')
  for (const word of words) {
    const [name, value] = [word.split('=', 1)[0]!, word.slice(word.indexOf('=') + 1)].map(decoded)
    if (name === null || value === null || name === undefined || value === undefined || !word.includes('=')) {
      const mend = 'write NAME=VALUE, with % and two hexadecimal digits for what is special'
      faults.push({ path: '$', reason: `${shown(word)} cannot be read`, mend })
    } else if (name in got) faults.push({ path: name, reason: 'is given twice', mend: 'give it once' })
    else got[name] = value
  }
  if (faults.length > 0) throw invalid(faults)
  const read = decoding(reader)(got)
  if (E.isLeft(read)) throw invalid(read.left)
  return read.right
}

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null
  }
}
