import { either as E } from 'fp-ts'
import { assert } from './decider.ts'
import type { Fault } from './fault.ts'
import { idLengthMax, idObjection, keyObjection, nameLengthMax, nameObjection, prototypeKeys } from './ids.ts'
import { listSchema, mapSchema, nullableSchema, recordSchema, type JsonSchema } from './json-schema.ts'
import { found, isMap, nearest, shown } from './wording.ts'

/**
 * Reads what people and programs write: plain values as JSON or YAML give them, into the domain's types, with every
 * default filled in, or every fault at once.
 *
 * The result is an `Either` of faults rather than an io-ts codec: io-ts reports the types that did not match, while an
 * author needs the path, what was found, what to write instead and the rules between members; and a member that is
 * missing, misspelt or defaulted has no place in `t.type`. The io-ts brands of units.ts are what is decoded into.
 */
export type Decode<A> = (value: unknown) => E.Either<ReadonlyArray<Fault>, A>

/** Deepest nesting of maps and lists in a document. */
export const depthMax = 64
/** Most values in a document; what is shared counts as often as it is reached. */
export const valuesMax = 1_000_000
/** Most faults that are listed one by one; the rest is counted. */
export const faultsMax = 100

export type Step = string | number

/** `spec.queues[2].name`, `spec.pools["a.b"].mode`; `$` for the whole. */
export const pathOf = (steps: ReadonlyArray<Step>): string => {
  let path = ''
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`
    else if (/^[A-Za-z_][\w-]*$/.test(step)) path += path === '' ? step : `.${step}`
    else path += `[${shown(step)}]`
  }
  return path === '' ? '$' : path
}

/** The way back, for whoever knows where in the text each step lies. A key too long to be shown leads nowhere. */
export const stepsOf = (path: string): ReadonlyArray<Step> =>
  path === '$'
    ? []
    : Array.from(path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g), ([, index, quoted, plain]) =>
        index !== undefined ? Number(index) : quoted !== undefined ? (JSON.parse(quoted) as string) : plain!,
      )

/** Where the reading is, and what has been found wrong so far. Lives for one decode. */
export class Notes {
  readonly #faults: Fault[] = []
  readonly #steps: Step[] = []
  #count = 0

  /** @param below steps from the value being read to the one that is wrong */
  add(reason: string, mend: string, ...below: ReadonlyArray<Step>): void {
    if (!this.isFull) this.#faults.push({ path: pathOf([...this.#steps, ...below]), reason, mend })
    this.#count++
  }

  read<A>(reader: Reader<A>, value: unknown, step: Step): A | undefined {
    this.#steps.push(step)
    const got = reader.read(value, this)
    this.#steps.pop()
    return got
  }

  get count(): number {
    return this.#count
  }

  get isFull(): boolean {
    return this.#faults.length === faultsMax
  }

  get faults(): ReadonlyArray<Fault> {
    const unlisted = this.#count - this.#faults.length
    if (unlisted === 0) return this.#faults
    const rest = { path: '$', reason: `${unlisted} more faults`, mend: 'mend those listed first, then check again' }
    return [...this.#faults, rest]
  }
}

export interface Reader<A> {
  /** Completes "give ...". */
  readonly expected: string
  /** Paths of the members below, `preferred.count`, `queues[].name`; empty for what has none. */
  readonly fields: ReadonlyArray<string>
  /** What is read here, for machines: whatever this refuses is refused here too, for reasons that people understand. */
  readonly schema: JsonSchema
  /**
   * Undefined only after a fault has been noted. A record with a fault below is given all the same, without the
   * members at fault, so that rules between members are checked in the same run: see `Loose`.
   */
  readonly read: (value: unknown, notes: Notes) => A | undefined
}

/** What a record looks like to the rules between its members: any of them may have had a fault of its own. */
export type Loose<A> = A extends string | number | boolean | null | undefined | ReadonlyArray<unknown>
  ? A
  : { readonly [K in keyof A]?: Loose<A[K]> | undefined }

export const decoding =
  <A>(reader: Reader<A>): Decode<A> =>
  (value) => {
    const notes = new Notes()
    const got = reader.read(value, notes)
    if (notes.count > 0) return E.left(notes.faults)
    assert(got !== undefined, 'what cannot be read leaves a fault')
    return E.right(got)
  }

/** The same for a whole document, whose depth and size are bounded before anything is read. */
export const decodingDocument = <A>(reader: Reader<A>): Decode<A> => {
  const decode = decoding(reader)
  return (value) => {
    const objection = sizeObjection(value)
    return objection === null ? decode(value) : E.left([objection])
  }
}

const sizeObjection = (whole: unknown): Fault | null => {
  const open: Array<readonly [value: unknown, depth: number]> = [[whole, 0]]
  let values = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next
    if (typeof value !== 'object' || value === null) continue
    if (depth === depthMax)
      return { path: '$', reason: `nests deeper than ${depthMax} levels`, mend: 'remove the levels that are too many' }
    const below: ReadonlyArray<unknown> = Array.isArray(value) ? value : Object.values(value)
    values += below.length
    if (values > valuesMax)
      return { path: '$', reason: `holds more than ${valuesMax} values`, mend: 'split it into several documents' }
    for (const child of below) open.push([child, depth + 1])
  }
  return null
}

// ---- Records, lists and maps

export interface Member<A> {
  readonly reader: Reader<A>
  readonly absent: { readonly value: A } | null
}
export const needed = <A>(reader: Reader<A>): Member<A> => ({ reader, absent: null })
export const optional = <A, const D>(reader: Reader<A>, value: D): Member<A | D> => ({
  reader,
  absent: { value },
})

type Members = Readonly<Record<string, Member<unknown>>>
type Shape<M extends Members> = { readonly [K in keyof M]: M[K] extends Member<infer A> ? A : never }

/**
 * A map with these members and no others, given with its members in the order of this list.
 * @param rules notes what is wrong between members; a member that is undefined has a fault of its own already
 */
export const record = <M extends Members>(
  members: M,
  rules?: (got: Loose<Shape<M>>, notes: Notes) => void,
): Reader<Shape<M>> => {
  const table = new Map(Object.entries(members))
  const names = [...table.keys()]
  const expected = names.length === 0 ? 'an empty map' : `a map of ${names.join(', ')}`
  return {
    expected,
    fields: names.flatMap((name) => [name, ...table.get(name)!.reader.fields.map((field) => joined(name, field))]),
    schema: recordSchema(table),
    read: (value, notes) => {
      if (!isMap(value)) {
        notes.add(`found ${found(value)}`, `give ${expected}`)
        return undefined
      }
      const got: Record<string, unknown> = {}
      for (const [name, { reader, absent }] of table) {
        if (Object.hasOwn(value, name)) {
          if (value[name] === null && absent !== null)
            notes.add('is empty', `leave it out, or give ${reader.expected}`, name)
          else got[name] = notes.read(reader, value[name], name)
        } else if (absent !== null) got[name] = absent.value
        else notes.add('is missing', `add it: ${reader.expected}`, name)
      }
      for (const key of Object.keys(value)) if (!table.has(key)) noteUnknown(key, names, notes)
      rules?.(got as Loose<Shape<M>>, notes)
      return got as Shape<M>
    },
  }
}

const noteUnknown = (key: string, names: ReadonlyArray<string>, notes: Notes): void => {
  if (notes.isFull) notes.add('is not known here', 'remove it')
  else if (prototypeKeys.has(key)) notes.add('is a key that no document may use', 'remove it', key)
  else {
    const meant = nearest(key, names)
    const known = names.length === 0 ? 'nothing belongs here' : `known here: ${names.join(', ')}`
    notes.add('is not known here', meant === null ? `remove it; ${known}` : `did you mean ${meant}?`, key)
  }
}

/** At most `max` values, and at least `min`. `named` gives what must not repeat, if anything. */
export const listOf = <A>(
  item: Reader<A>,
  min: number,
  max: number,
  named?: (item: Loose<A>) => string | undefined,
): Reader<ReadonlyArray<A>> => {
  const expected = `a list of ${min} to ${max} entries, each ${item.expected}`
  return {
    expected,
    fields: item.fields.map((field) => joined('[]', field)),
    schema: listSchema(item.schema, min, max),
    read: (value, notes) => {
      if (!Array.isArray(value)) {
        notes.add(`found ${found(value)}`, `give ${expected}`)
        return undefined
      }
      if (value.length < min || value.length > max) {
        notes.add(`has ${value.length} entries`, `give ${min} to ${max}, or leave the whole list out`)
        return undefined
      }
      const seen = new Map<string, number>()
      const got: A[] = []
      for (let i = 0; i < value.length; i++) {
        const read = notes.read(item, value[i], i)
        if (read === undefined) continue
        got.push(read)
        const name = named?.(read as Loose<A>)
        if (name === undefined) continue
        const first = seen.get(name)
        if (first === undefined) seen.set(name, i)
        else notes.add(`repeats entry ${first}: ${name}`, 'keep one of the two', i)
      }
      return got
    },
  }
}

/** A map from names that its author chooses; given with its keys in ascending order. */
export const mapOf = <A>(item: Reader<A>, max: number): Reader<{ readonly [name: string]: A }> => {
  const expected = `a map from names to ${item.expected}`
  return {
    expected,
    fields: item.fields.map((field) => joined('NAME', field)),
    schema: mapSchema(item.schema, max),
    read: (value, notes) => {
      if (!isMap(value)) {
        notes.add(`found ${found(value)}`, `give ${expected}`)
        return undefined
      }
      const keys = Object.keys(value).sort()
      if (keys.length > max) {
        notes.add(`has ${keys.length} entries`, `give at most ${max}`)
        return undefined
      }
      const got: Record<string, A> = {}
      for (const key of keys) {
        const objection = keyObjection(key)
        if (objection !== null) notes.add(`the name ${shown(key)} ${objection}`, `rename it: ${nameHint}`, key)
        else {
          const read = notes.read(item, value[key], key)
          if (read !== undefined) got[key] = read
        }
      }
      return got
    },
  }
}

/** The same, or null: for programs, which say "none" instead of leaving a member out. */
export const nullable = <A>(reader: Reader<A>): Reader<A | null> => ({
  ...reader,
  expected: `${reader.expected}, or null`,
  schema: nullableSchema(reader.schema),
  read: (value, notes) => (value === null ? null : reader.read(value, notes)),
})

/** What was read, built into something else; not called while there is a fault below. */
export const built = <A, B>(reader: Reader<A>, build: (got: A, notes: Notes) => B | undefined): Reader<B> => ({
  ...reader,
  read: (value, notes) => {
    const before = notes.count
    const got = reader.read(value, notes)
    return got === undefined || notes.count > before ? undefined : build(got, notes)
  },
})

// ---- Scalars

/** Reads one value, or says why not; without a mend of its own the objection asks for what is expected. */
export const scalar = <A>(
  expected: string,
  schema: JsonSchema,
  read: (value: unknown) => A | Objection,
): Reader<A> => ({
  expected,
  fields: [],
  schema,
  read: (value, notes) => {
    const got = read(value)
    if (!(got instanceof Objection)) return got
    notes.add(got.reason, got.mend ?? `give ${expected}`)
    return undefined
  },
})
export class Objection {
  readonly reason: string
  readonly mend: string | undefined
  constructor(reason: string, mend?: string) {
    this.reason = reason
    this.mend = mend
  }
}

export const wholeNumber = <N extends number = number>(min: number, max: number): Reader<N> => {
  const expected = `a whole number from ${min} to ${max}`
  return scalar(expected, { type: 'integer', minimum: min, maximum: max }, (value) => {
    if (typeof value !== 'number') {
      const digits = typeof value === 'string' && /^-?\d+$/.test(value)
      return new Objection(`found ${found(value)}`, digits ? `give ${expected}, without quotes` : undefined)
    }
    if (!Number.isFinite(value)) return new Objection(`${value} is not a number that can be counted with`)
    if (value < min) return new Objection(`${value} is below ${min}`)
    if (value > max) return new Objection(`${value} is above ${max}`)
    // Adding nothing turns -0, which JSON prints as 0, into 0.
    return Number.isSafeInteger(value) ? ((value + 0) as N) : new Objection(`${value} is not a whole number`)
  })
}

export const flag: Reader<boolean> = scalar('true or false', { type: 'boolean' }, (value) => {
  if (typeof value === 'boolean') return value
  const meant = /^(yes|y|on|true)$/i.test(String(value))
    ? true
    : /^(no|n|off|false)$/i.test(String(value))
      ? false
      : null
  return new Objection(`found ${found(value)}`, meant === null ? undefined : `write ${meant}`)
})

export const oneOf = <const T extends string>(words: ReadonlyArray<T>): Reader<T> =>
  scalar(words.length === 1 ? words[0]! : `one of ${words.join(', ')}`, { type: 'string', enum: words }, (value) => {
    const word = words.find((candidate) => candidate === value)
    if (word !== undefined) return word
    const meant = typeof value === 'string' ? nearest(value, words) : null
    return new Objection(`found ${found(value)}`, meant === null ? undefined : `did you mean ${meant}?`)
  })

/** The one word that says how a document is to be read. */
export const version = (word: string): Reader<string> =>
  scalar(word, { type: 'string', enum: [word] }, (value) =>
    value === word
      ? word
      : new Objection(
          `found ${found(value)}, and this release reads ${word}`,
          `write ${word}, or upgrade to a release that reads what is written`,
        ),
  )

const nameSchema: JsonSchema = { type: 'string', minLength: 1, maxLength: nameLengthMax, pattern: '^\\S+$' }
const nameHint = `printable, without blanks, 1 to ${nameLengthMax} characters`

/** What things are called: see ids.ts. */
export const name: Reader<string> = scalar(`a name: ${nameHint}`, nameSchema, (value) => {
  if (typeof value !== 'string')
    return new Objection(
      `found ${found(value)}`,
      typeof value === 'number' ? 'put it in quotes if it is a name' : undefined,
    )
  const objection = nameObjection(value)
  return objection === null ? value : new Objection(`${shown(value)} ${objection}`)
})

/** Ids of facts and commands, which are made of names: see ids.ts. */
export const identifier: Reader<string> = scalar(
  `an id: printable, without blanks, 1 to ${idLengthMax} characters`,
  { type: 'string', minLength: 1, maxLength: idLengthMax },
  (value) => {
    if (typeof value !== 'string') return new Objection(`found ${found(value)}`)
    const objection = idObjection(value)
    return objection === null ? value : new Objection(`${shown(value)} ${objection}`)
  },
)

/** Prose: any printable characters, and line breaks. */
export const prose = (lengthMax: number): Reader<string> =>
  scalar(`text of 1 to ${lengthMax} characters`, { type: 'string', minLength: 1, maxLength: lengthMax }, (value) => {
    if (typeof value !== 'string') return new Objection(`found ${found(value)}`)
    if (value.length === 0) return new Objection('is empty')
    if (value.length > lengthMax) return new Objection(`has ${value.length} characters, above ${lengthMax}`)
    const hidden = /[^\P{Cc}\n\t]|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u.exec(value)
    return hidden === null
      ? value
      : new Objection(`has an unprintable character at ${hidden.index + 1}: ${shown(value)}`)
  })

/** Lower-case hex of a SHA-256. */
export const digest: Reader<string> = scalar(
  'a SHA-256 in 64 lower-case hexadecimal digits',
  { type: 'string', pattern: '^[0-9a-f]{64}$' },
  (value) =>
    typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? value : new Objection(`found ${found(value)}`),
)

const joined = (name: string, field: string): string => (field.startsWith('[]') ? name + field : `${name}.${field}`)
