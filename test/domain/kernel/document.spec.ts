import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decoding,
  decodingDocument,
  depthMax,
  faultsMax,
  flag,
  listOf,
  mapOf,
  name,
  needed,
  nullable,
  oneOf,
  optional,
  pathOf,
  prose,
  record,
  stepsOf,
  valuesMax,
  wholeNumber,
  type Reader,
} from '../../../domain/kernel/document.ts'
import { nearest } from '../../../domain/kernel/wording.ts'
import { expectReadable, faultsOf, reasonsOf, rightOf } from '../../support/faults.ts'

const person = record(
  {
    name: needed(name),
    age: optional(wholeNumber(0, 150), null),
    pets: optional(
      listOf(record({ name: needed(name), tame: optional(flag, true) }), 0, 3, (pet) => pet.name),
      [],
    ),
  },
  ({ name, age }, notes) => {
    if (name === 'Methuselah' && age !== null && age !== undefined && age < 100)
      notes.add('is too young', 'wait', 'age')
  },
)
const decode = decodingDocument(person)
const refusal = <A>(reader: Reader<A>, value: unknown) => faultsOf(decoding(reader)(value))[0]!

describe('a record', () => {
  it('should fill in what is left out, in the order of its own members', () => {
    const read = rightOf(decode({ pets: [{ name: 'Rex' }], name: 'Ann' }))
    expect(read).toEqual({ name: 'Ann', age: null, pets: [{ name: 'Rex', tame: true }] })
    expect(Object.keys(read)).toEqual(['name', 'age', 'pets'])
  })

  it('should give every fault at once, those between members included', () => {
    const value = { name: 'Methuselah', age: 7, pets: [{ tame: 'yes' }, 5, { name: 'a b', colour: 1 }], aeg: 3 }
    expect(faultsOf(decode(value))).toEqual([
      { path: 'pets[0].name', reason: 'is missing', mend: `add it: ${name.expected}` },
      { path: 'pets[0].tame', reason: 'found the text "yes"', mend: 'write true' },
      { path: 'pets[1]', reason: 'found 5', mend: 'give a map of name, tame' },
      { path: 'pets[2].name', reason: '"a b" has a blank in it (U+0020)', mend: `give ${name.expected}` },
      { path: 'pets[2].colour', reason: 'is not known here', mend: 'remove it; known here: name, tame' },
      { path: 'aeg', reason: 'is not known here', mend: 'did you mean age?' },
      { path: 'age', reason: 'is too young', mend: 'wait' },
    ])
  })

  it('should refuse an empty member that may be left out, and say so', () => {
    expect(faultsOf(decode({ name: 'Ann', age: null }))).toEqual([
      { path: 'age', reason: 'is empty', mend: 'leave it out, or give a whole number from 0 to 150' },
    ])
    expect(reasonsOf(decode({ name: null }))).toEqual(['name: found nothing'])
  })

  it.each(['__proto__', 'constructor', 'prototype'])('should refuse the key %s and change no prototype', (key) => {
    const value: unknown = JSON.parse(`{"name":"Ann","${key}":{"polluted":true}}`)
    expect(reasonsOf(decode(value))).toEqual([`${key}: is a key that no document may use`])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it.each(['toString', 'hasOwnProperty', 'valueOf'])('should not take %s for a member that is there', (key) => {
    expect(reasonsOf(decode({ name: 'Ann', [key]: 1 }))).toEqual([`${key}: is not known here`])
    expect(reasonsOf(decoding(record({ [key]: needed(flag) }))({}))).toEqual([`${key}: is missing`])
  })

  it('should refuse what is not plain data', () => {
    for (const [value, found] of [
      [null, 'nothing'],
      [undefined, 'nothing'],
      [[], 'a list'],
      ['', 'an empty text'],
      [new Date(0), 'a value that is not plain data'],
      [new Map(), 'a value that is not plain data'],
      [10n, 'a bigint'],
      [() => 0, 'a function'],
    ] as const)
      expect(refusal(person, value)).toEqual({
        path: '$',
        reason: `found ${found}`,
        mend: 'give a map of name, age, pets',
      })
  })

  it('should list a bounded number of faults, and count the rest', () => {
    const value = { name: 'Ann', ...Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`key${i}`, i])) }
    const faults = faultsOf(decode(value))
    expect(faults).toHaveLength(faultsMax + 1)
    expect(faults.at(-1)?.reason).toBe(`${50_000 - faultsMax} more faults`)
  })
})

describe('a document', () => {
  it(`should nest at most ${depthMax} levels`, () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)])
    expect(reasonsOf(decode(nested(depthMax + 1)))).toEqual([`$: nests deeper than ${depthMax} levels`])
    expect(reasonsOf(decode(nested(depthMax)))).toEqual(['$: found a list'])
    expect(reasonsOf(decode(JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))))).toHaveLength(1)
  })

  it('should refuse what contains itself, or repeats itself beyond measure', () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    expect(reasonsOf(decode(cycle))).toEqual([`$: nests deeper than ${depthMax} levels`])
    let bomb: unknown = 'ha'
    for (let i = 0; i < 30; i++) bomb = [bomb, bomb, bomb, bomb]
    expect(reasonsOf(decode(bomb))).toEqual([`$: holds more than ${valuesMax} values`])
  })
})

describe('lists and maps', () => {
  it('should refuse a name given twice', () => {
    expect(faultsOf(decode({ name: 'Ann', pets: [{ name: 'Rex' }, { name: 'Rex' }] }))).toEqual([
      { path: 'pets[1]', reason: 'repeats entry 0: Rex', mend: 'keep one of the two' },
    ])
  })
  it('should have a bounded length', () => {
    expect(reasonsOf(decode({ name: 'Ann', pets: [1, 2, 3, 4] }))).toEqual(['pets: has 4 entries'])
    expect(reasonsOf(decoding(mapOf(flag, 2))({ a: true, b: true, c: true }))).toEqual(['$: has 3 entries'])
  })
  it('should give a map in ascending order, and refuse keys that would not keep it', () => {
    expect(Object.keys(rightOf(decoding(mapOf(flag, 9))({ b: true, a: false })))).toEqual(['a', 'b'])
    expect(reasonsOf(decoding(mapOf(flag, 9))({ '10': true, 'a b': true, '': true }))).toEqual([
      '[""]: the name "" is empty',
      '["10"]: the name "10" has digits only',
      '["a b"]: the name "a b" has a blank in it (U+0020)',
    ])
    const hostile: unknown = JSON.parse('{"__proto__": true}')
    expect(reasonsOf(decoding(mapOf(flag, 9))(hostile))).toEqual(['__proto__: the name "__proto__" is a reserved word'])
  })
})

describe('scalars', () => {
  it.each([
    [NaN, 'NaN is not a number that can be counted with'],
    [Infinity, 'Infinity is not a number that can be counted with'],
    [-1, '-1 is below 0'],
    [1e300, '1e+300 is above 9007199254740991'],
    [2 ** 53, '9007199254740992 is above 9007199254740991'],
    [1.5, '1.5 is not a whole number'],
    ['7', 'found the text "7"'],
    [true, 'found true'],
    [null, 'found nothing'],
  ])('should refuse %s as a whole number', (value, reason) => {
    expect(refusal(wholeNumber(0, Number.MAX_SAFE_INTEGER), value).reason).toBe(reason)
  })
  it('should read -0 as 0, which is how it would be stored', () => {
    expect(Object.is(rightOf(decoding(wholeNumber(0, 9))(-0)), 0)).toBe(true)
  })
  it('should ask for a number without its quotes', () => {
    expect(refusal(wholeNumber(0, 9), '7').mend).toBe('give a whole number from 0 to 9, without quotes')
  })
  it.each([
    ['', '"" is empty'],
    ['a\tb', '"a\\tb" has a blank in it (U+0009)'],
    ['a\u00a0b', '"a\u00a0b" has a blank in it (U+00A0)'],
    ['\u001b[31m', '"\\u001b[31m" has an unprintable character in it (U+001B)'],
    ['a\u202eb', '"a\\u202eb" has an unprintable character in it (U+202E)'],
    ['\ud800', '"\\ud800" has an unprintable character in it (U+D800)'],
    ['__proto__', '"__proto__" is a reserved word'],
    ['x'.repeat(254), `"${'x'.repeat(60)}..." has 254 characters, above 253`],
    [7, 'found 7'],
  ])('should refuse %j as a name', (value, reason) => {
    expect(refusal(name, value).reason).toBe(reason)
  })
  it('should take any script, slashes and colons in a name', () => {
    for (const fine of ['research/ranking', 'V100M16', 'gpu:a100', 'größe', '計算', 'x'.repeat(253)])
      expect(rightOf(decoding(name)(fine))).toBe(fine)
  })
  it('should take lines in prose, and nothing that a terminal obeys', () => {
    expect(rightOf(decoding(prose(20))('two\nlines'))).toBe('two\nlines')
    for (const bad of ['', 'x'.repeat(21), '\u0007', '\u001b[2J', '\u202e', '\r', 3])
      expectReadable(faultsOf(decoding(prose(20))(bad)))
  })
  it('should name the word that was meant', () => {
    const words = ['first-fit', 'best-fit', 'model-aware'] as const
    expect(refusal(oneOf(words), 'bestFit').mend).toBe('did you mean best-fit?')
    expect(refusal(oneOf(words), 'round-robin').mend).toBe('give one of first-fit, best-fit, model-aware')
    expect(refusal(nullable(oneOf(words)), 3).reason).toBe('found 3')
    expect(nearest('x'.repeat(1_000_000), words)).toBe(null)
    expect(nearest('mniReplicas', ['minReplicas', 'maxReplicas'])).toBe('minReplicas')
  })
})

it('should lead back from a path to the steps it was made of', () => {
  const step = fc.oneof(fc.nat(1_000_000), fc.string({ unit: 'binary', minLength: 1, maxLength: 50 }), fc.string())
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      fc.pre(steps.every((each) => typeof each === 'number' || (each !== '$' && each.length <= 60)))
      expect(stepsOf(pathOf(steps))).toEqual(steps)
    }),
  )
})

it('should say what it holds, for the pages that document it', () => {
  expect(person.fields).toEqual(['name', 'age', 'pets', 'pets[].name', 'pets[].tame'])
  expect(record({ pools: needed(mapOf(person, 3)) }).fields.slice(0, 2)).toEqual(['pools', 'pools.NAME.name'])
  expect(E.isRight(decode({ name: 'Ann' }))).toBe(true)
})
