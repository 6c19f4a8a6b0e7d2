import { either as E } from 'fp-ts'
import { isMap, isScalar, type Node } from 'yaml'
import type { Fault } from '../../domain/kernel/fault.ts'
import { parseText } from './text.ts'
import { plainOf } from './tree.ts'

/** A member of a mapping: its value as plain data, and where its name stands. */
export interface MappingMember {
  readonly name: string
  readonly value: unknown
  readonly line: number
  readonly column: number
}

/** What could be read, whatever else is wrong. */
export interface Mapping {
  readonly members: ReadonlyArray<MappingMember>
  readonly faults: ReadonlyArray<Fault>
}

/** The one mapping that a text holds; a text that holds nothing is one without members. */
export const readMapping = (text: Uint8Array): Mapping => {
  const parsed = parseText(text)
  if (E.isLeft(parsed)) return { members: [], faults: parsed.left }
  const { documents, place } = parsed.right
  const [document, second] = documents
  if (document === undefined || document.contents === null) return { members: [], faults: [] }
  if (second !== undefined)
    return { members: [], faults: [{ path: '$', reason: 'it holds several documents', mend: 'keep one' }] }
  const { contents } = document
  const { value, faults, whole } = plainOf(document, place)
  if (!whole) return { members: [], faults }
  if (!isMap(contents)) {
    const fault = { path: '$', reason: 'it is not a mapping', mend: 'write one `member: value` on each line' }
    return { members: [], faults: [...faults, fault] }
  }
  const values = value as { readonly [name: string]: unknown }
  const members = contents.items.map(({ key }) => {
    const name = isScalar(key) ? String(key.value) : ''
    return { name, value: values[name], ...place((key as Node).range?.[0] ?? 0) }
  })
  return { members, faults }
}
