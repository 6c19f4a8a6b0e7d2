import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Column, JsonObject } from './output.ts'

type Figure = JsonObject & { readonly name: string; readonly value: Json }

export const figureColumns: ReadonlyArray<Column<Figure>> = [
  { name: 'name', value: ({ name }) => name, whole: true },
  { name: 'value', value: ({ value }) => value, whole: true, align: 'left' },
]

/** Entries of a list that a table shows; they come with the most telling first, or in ascending order. */
export const listedMax = 20
/** Characters of one thing's figures that stand on one line: beside the longest usual name it fits a terminal. */
const lineMax = 56

/** For a program: every figure under its path, as it is. */
export const figures = (value: Json, name = ''): ReadonlyArray<Figure> =>
  typeof value === 'object' && value !== null
    ? members(value).flatMap(([key, each]) => figures(each, pathOf(name, key)))
    : [{ name, value }]

/** For a person: only what is known, a line for each thing that is counted, numbers as one would say them. */
export const figuresToRead = (value: Json, name = ''): ReadonlyArray<Figure> => {
  if (value === null) return []
  if (typeof value !== 'object') return [{ name, value: said(value) }]
  if (Array.isArray(value)) {
    const shown = members(value).slice(0, listedMax)
    const more = value.length - shown.length
    return [
      ...shown.flatMap(([key, each]) => figuresToRead(each, pathOf(name, key))),
      ...(more > 0 ? [{ name, value: `... and ${more} more: -o json has all` }] : []),
    ]
  }
  const all = members(value).filter(([, each]) => each !== null)
  const plain = all.filter(([, each]) => typeof each !== 'object')
  const line = plain.map(([key, each]) => `${key} ${said(each)}`).join(', ')
  if (name === '' || line === '' || line.length > lineMax)
    return all.flatMap(([key, each]) => figuresToRead(each, pathOf(name, key)))
  return [
    { name, value: line },
    ...all.filter((each) => !plain.includes(each)).flatMap(([key, each]) => figuresToRead(each, pathOf(name, key))),
  ]
}

const pathOf = (name: string, key: string): string => (name === '' ? key : `${name}.${key}`)

/** An entry of a list goes by its first member, which is what it counts by. */
const members = (value: Exclude<Json, string | number | boolean | null>): ReadonlyArray<readonly [string, Json]> =>
  Array.isArray(value)
    ? (value as ReadonlyArray<JsonObject>).map((entry) => {
        const [key, ...counted] = Object.entries(entry)
        return [textOf(key?.[1] ?? null), Object.fromEntries(counted)] as const
      })
    : Object.entries(value as JsonObject)

export const said = (value: Json): string =>
  typeof value === 'number' ? value.toLocaleString('en-US', { maximumFractionDigits: 4 }) : textOf(value)

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))
