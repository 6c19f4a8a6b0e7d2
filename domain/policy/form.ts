import { canonicalJson, type Json } from '../kernel/canonical-json.ts'
import {
  listOf,
  mapOf,
  needed,
  nullable,
  Objection,
  optional,
  record,
  scalar,
  wholeNumber,
  type Member,
  type Notes,
  type Reader,
} from '../kernel/document.ts'
import { duration, durationMax, durationText } from '../kernel/quantity.ts'
import type { DurationMs } from '../kernel/units.ts'
import { found, isMap } from '../kernel/wording.ts'

/**
 * One part of a policy in its guises: as people write it, as events carry it, and written back. They are stated
 * together, so that what is written is what is read.
 */
export interface Form<A> {
  readonly document: Reader<A>
  /** Nothing that has a default is left out, quantities are numbers, members are in canonical order. */
  readonly event: Reader<A>
  readonly written: (value: A) => Json
}

/** A member of a form: its name in documents, and what it is where a document leaves it out. */
export interface FormMember<A> {
  readonly as: string
  readonly document: Member<unknown>
  readonly event: Member<unknown>
  /** What was read, or undefined where it was left out or at fault. */
  readonly settle: (read: unknown, beside: Readonly<Record<string, unknown>>) => unknown
  /** Undefined: it is left out. */
  readonly written: (value: A) => Json | undefined
}

/** Whatever was at fault is not there; a list keeps its places. */
export type Rough<A> = A extends string | number | boolean | null | undefined
  ? A
  : A extends ReadonlyArray<infer E>
    ? ReadonlyArray<Rough<E>>
    : { readonly [K in keyof A]?: Rough<A[K]> | undefined }

const asRead = (read: unknown): unknown => read

export const must = <A>(as: string, { document, event, written }: Form<A>): FormMember<A> => ({
  as,
  document: needed(document),
  event: needed(event),
  settle: asRead,
  written,
})

export const may = <A>(as: string, { document, event, written }: Form<A>, usual: A): FormMember<A> => ({
  as,
  document: optional(document, usual),
  event: needed(event),
  settle: asRead,
  written,
})

export const orNull = <A>(as: string, { document, event, written }: Form<A>): FormMember<A | null> => ({
  as,
  document: optional(document, null),
  event: needed(nullable(event)),
  settle: asRead,
  written: (value) => (value === null ? undefined : written(value)),
})

/** Left out of the type as well, and so is what says no more than `usual`. */
export const orAbsent = <A>(
  as: string,
  { document, event, written }: Form<A>,
  usual?: A,
): FormMember<A | undefined> => {
  const unsaid = usual === undefined ? undefined : canonicalJson(usual as unknown as Json)
  return {
    as,
    document: optional(document, undefined),
    event: optional(event, undefined),
    settle: (read) => (read !== undefined && canonicalJson(read as Json) === unsaid ? undefined : read),
    written: (value) => (value === undefined ? undefined : written(value)),
  }
}

/** Where it is left out it follows from the members before it. */
export const derived = <A, Beside>(
  as: string,
  { document, event, written }: Form<A>,
  from: (beside: Rough<Beside>) => A,
): FormMember<A> => ({
  as,
  document: optional(document, undefined),
  event: needed(event),
  settle: (read, beside) => (read === undefined ? from(beside as Rough<Beside>) : read),
  written,
})

export type FormMembers<A> = { readonly [K in keyof Required<A>]: FormMember<A[K]> }

type Entries = ReadonlyArray<readonly [key: string, member: FormMember<unknown>]>
const entriesOf = <A>(members: FormMembers<A>): Entries => Object.entries(members)

export const documentMembers = <A>(members: FormMembers<A>): Readonly<Record<string, Member<unknown>>> =>
  Object.fromEntries(entriesOf(members).map(([, { as, document }]) => [as, document]))

export const eventMembers = <A>(members: FormMembers<A>): Readonly<Record<string, Member<unknown>>> =>
  Object.fromEntries(entriesOf(members).map(([key, { event }]) => [key, event]))

/** From what was read of a document, by the document's names. */
export const fromDocument = <A>(members: FormMembers<A>, read: Readonly<Record<string, unknown>>): Rough<A> => {
  const got: Record<string, unknown> = {}
  for (const [key, { as, settle }] of entriesOf(members)) got[key] = settle(read[as], got)
  return inOrder(got) as Rough<A>
}

/** From what was read of an event. */
export const fromEvent = <A>(members: FormMembers<A>, read: Readonly<Record<string, unknown>>): Rough<A> =>
  inOrder(Object.fromEntries(Object.keys(members).map((key) => [key, read[key]]))) as Rough<A>

export const writtenMembers = <A>(members: FormMembers<A>, value: A): { readonly [name: string]: Json } =>
  Object.fromEntries(
    entriesOf(members).flatMap(([key, { as, written }]) => {
      const json = written(value[key as keyof A])
      return json === undefined ? [] : [[as, json] as const]
    }),
  )

const inOrder = (got: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.keys(got)
      .sort()
      .flatMap((key) => (got[key] === undefined ? [] : [[key, got[key]] as const])),
  )

/**
 * A map with these members, in the order in which documents show them.
 * @param rules notes what is wrong between members, with the document's names; it holds in events as well. It is told
 *              which members are stated, be it with a fault
 */
export const struct = <A extends object>(
  members: FormMembers<A>,
  rules?: (got: Rough<A>, notes: Notes, isStated: (member: keyof A) => boolean) => void,
): Form<A> => {
  const settled = (
    reader: Reader<Readonly<Record<string, unknown>>>,
    settle: (read: Readonly<Record<string, unknown>>) => Rough<A>,
    nameOf: (member: keyof A) => PropertyKey,
  ): Reader<A> => ({
    ...reader,
    read: (value, notes) => {
      // What is no map at all keeps its place in a list; its fault is noted.
      const got = settle(reader.read(value, notes) ?? {})
      if (isMap(value)) rules?.(got, notes, (member) => Object.hasOwn(value, nameOf(member)))
      return got as A
    },
  })
  return {
    document: settled(
      record(documentMembers(members)),
      (read) => fromDocument(members, read),
      (member) => members[member].as,
    ),
    event: settled(
      record(eventMembers(members)),
      (read) => fromEvent(members, read),
      (member) => member,
    ),
    written: (value) => writtenMembers(members, value),
  }
}

/** `named` gives what must not repeat, if anything. */
export const list = <A>(
  { document, event, written }: Form<A>,
  min: number,
  max: number,
  named?: (item: Rough<A>) => string | undefined,
): Form<ReadonlyArray<A>> => {
  const name = named === undefined ? undefined : (item: unknown) => named(item as Rough<A>)
  return {
    document: listOf(document, min, max, name),
    event: listOf(event, min, max, name),
    written: (items) => items.map(written),
  }
}

export const dictionary = <A>(
  { document, event, written }: Form<A>,
  max: number,
): Form<{ readonly [name: string]: A }> => ({
  document: mapOf(document, max),
  event: mapOf(event, max),
  written: (items) => Object.fromEntries(Object.entries(items).map(([name, item]) => [name, written(item)])),
})

/** The same for whoever lists the members of documents, who has seen these elsewhere. */
export const listedElsewhere = <A>(form: Form<A>): Form<A> => ({ ...form, document: { ...form.document, fields: [] } })

/** Written as events carry it. */
export const plain = <A extends Json>(reader: Reader<A>): Form<A> => ({
  document: reader,
  event: reader,
  written: (value) => value,
})

export const time = (minMs: number): Form<DurationMs> => ({
  document: duration(minMs),
  event: wholeNumber(minMs, durationMax),
  written: durationText,
})

/** Written as whole or decimal numbers, kept in thousandths. */
export const thousandths = (what: string, max: number): Form<number> => {
  const expected = `${what}: a number from 0 to ${max} with at most three decimals, such as 8 or 2.5`
  return {
    document: scalar(expected, { type: 'number', minimum: 0, maximum: max, description: expected }, (value) => {
      if (typeof value !== 'number') return new Objection(`found ${found(value)}`)
      if (!Number.isFinite(value)) return new Objection(`${value} is not a number that can be counted with`)
      if (value < 0) return new Objection(`${value} is below 0`)
      if (value > max) return new Objection(`${value} is above ${max}`)
      const [, whole, part = ''] = /^(\d+)(?:\.(\d{1,3}))?$/.exec(String(value)) ?? []
      return whole === undefined
        ? new Objection(`${value} has more than three decimals`)
        : Number(whole) * 1000 + Number(part.padEnd(3, '0'))
    }),
    event: wholeNumber(0, max * 1000),
    written: (milli) => milli / 1000,
  }
}

const unlimited = 'unlimited'

/** Null is written as a word, because a default that is a limit can only be taken away by saying so. */
export const orUnlimited = <A>({ document, event, written }: Form<A>): Form<A | null> => ({
  document: {
    ...document,
    expected: `${document.expected}, or ${unlimited}`,
    schema: { anyOf: [document.schema, { type: 'string', enum: [unlimited] }] },
    read: (value, notes) => (value === unlimited ? null : document.read(value, notes)),
  },
  event: nullable(event),
  written: (value) => (value === null ? unlimited : written(value)),
})
