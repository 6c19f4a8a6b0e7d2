import fc from 'fast-check'

/** Words that mean something to a parser, a terminal or an object's prototype. */
const words = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'memory',
  'yes',
  'null',
  '~',
  '<<',
  '012',
  '1e3',
  '0x10',
  '.nan',
  '.inf',
  '90s',
  '2h30m',
  '60Gi',
  '500m',
  '2026-08-14',
  '2026-08-14T00:00:00Z',
  '\u001b[31m',
  '\u202e',
  '\ud800',
  'a\r\nb',
  '',
  ' ',
  'x'.repeat(254),
]
const numbers = [0, -0, 1, -1, 1.5, 1000, 1001, 2 ** 53, Infinity, -Infinity, NaN, 1e-9, 2 ** 31, 999_999_999_999]

/** Anything that JSON or a program could hand over, with members of the given names likely. */
export const anyDocument = (names: ReadonlyArray<string>): fc.Arbitrary<unknown> => {
  const key = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    { weight: 1, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  )
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      fc.oneof(
        fc.constantFrom<unknown>(null, true, false, ...numbers, ...words),
        fc.constantFrom<unknown>(undefined, 10n, Symbol('s'), new Date(0), new Map(), () => 0),
        fc.integer(),
        fc.double(),
        fc.string({ unit: 'binary', maxLength: 12 }),
      ),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 8 }).map(asParsed),
    ),
  })).value
}

/** As JSON.parse builds it: `__proto__` is a member like any other. */
const asParsed = (entries: ReadonlyArray<readonly [string, unknown]>): unknown => {
  const map = {}
  for (const [key, value] of entries)
    Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true })
  return map
}
