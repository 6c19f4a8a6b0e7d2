import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { decodeIntent } from '../../../domain/workload/intent.codec.ts'
import { readDocument } from '../../../infra/yaml/document.ts'
import { readIntents } from '../../../infra/yaml/intents.ts'
import { textBytesMax, tokensMax } from '../../../infra/yaml/text.ts'
import { aliasedMax } from '../../../infra/yaml/tree.ts'
import { expectReadable, faultsOf } from '../../support/faults.ts'

const read = (text: string | Uint8Array) => readDocument(text, decodeIntent)
const fill = (unit: string) => unit.repeat(Math.floor(textBytesMax / unit.length))
const laughs = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`).join('\n')

/** What it is, the text, and what the first fault has to speak of. */
const corpus: ReadonlyArray<readonly [what: string, text: string | Uint8Array, reason: RegExp]> = [
  ['an alias bomb', `a0: &a0 lol\n${laughs}\n`, new RegExp(`aliases repeat more than ${aliasedMax} values`)],
  ['an alias to what it is part of', 'spec: &s { preferred: *s }', /nests deeper than 64 levels/],
  ['an alias to nothing', 'spec: { preferred: *p }', /no anchor &p|found nothing/],
  ['a key given twice', 'spec: { preferred: { count: 1, count: 2 } }', /given twice/],
  ['a key given twice, quoted', 'spec: 1\n"spec": 2', /found 1/],
  ['a prototype as a key', 'spec: { preferred: { count: 1 }, __proto__: { a: 1 } }', /key that no document may use/],
  ['a constructor as a key', 'constructor: { prototype: { a: 1 } }', /is missing|key that no document may use/],
  ['a merge key', 'spec: { preferred: { count: 1 }, <<: { class: a } }', /not known here/],
  ['a list as a key', '? [a]\n: 1', /keys must be strings/],
  ['a binary tag', 'spec: !!binary aGk=', /Unresolved tag/],
  ['a set', 'spec: !!set { a }', /Unresolved tag/],
  ['a code tag', 'spec: !!js/function "function () {}"', /Unresolved tag/],
  ['YAML 1.1', '%YAML 1.1\n---\nspec: 1\n', /YAML 1.1/],
  ['an unknown version', '%YAML 3.0\n---\nspec: 1\n', /version/],
  ['a tab as indentation', 'spec:\n\tpreferred: 1', /Tabs are not allowed/],
  ['an open text', 'spec: "', /Missing closing/],
  ['an open list', 'spec: [1, 2', /end with a \]/],
  ['a wrong indentation', 'spec:\n   a: 1\n  b: 2', /is not YAML/],
  ['control characters', 'spec: \u0007', /control character, "\\u0007"/],
  ['an escape sequence', 'metadata: { name: \u001b[2J }', /control character, "\\u001b"/],
  ['a NUL', '\0', /control character/],
  [
    'control characters behind an escape',
    'metadata: { name: "\\e[2J" }\nspec: { preferred: { count: 1 } }',
    /unprintable/,
  ],
  ['text that runs backwards', 'metadata: { name: "a\u202eb" }\nspec: { preferred: { count: 1 } }', /U\+202E/],
  ['half a character', 'metadata: { name: "\\ud800" }\nspec: { preferred: { count: 1 } }', /U\+D800|is not YAML/],
  ['invalid UTF-8', Buffer.from([0x61, 0x3a, 0x20, 0xff]), /is not UTF-8/],
  ['Latin-1', Buffer.from('spec:\n  größe: 1', 'latin1'), /is not UTF-8/],
  ['UTF-16', Buffer.from('\ufeffspec: 1', 'utf16le'), /is UTF-16/],
  ['more than its bytes', `#${fill('x')}`, /has more than 1048576 bytes/],
  ['more than its bytes, in bytes', Buffer.alloc(textBytesMax + 1, 'a'), /has more than 1048576 bytes/],
  ['deep lists', fill('['), /nests deeper/],
  ['deep maps', fill('{a: '), /nests deeper/],
  ['deep dashes', fill('- '), /nests deeper/],
  ['deep questions', fill('? '), /nests deeper/],
  ['deep colons', fill('a: '), /nests deeper|is not YAML/],
  ['deep blocks', Array.from({ length: 1400 }, (_, i) => `${' '.repeat(i)}a:\n`).join(''), /nests deeper/],
  ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, /nests deeper/],
  ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`, /found a list/],
  ['many values', `[${'1,'.repeat(500_000)}1]`, new RegExp(`more than ${tokensMax} words`)],
  ['many equal keys', 'k: 1\n'.repeat(20_000), /is missing|not known/],
  ['many documents', fill('---\n'), /nothing in it|more than/],
  ['many tags', fill('!a '), /more than|is not YAML/],
  ['many anchors', fill('&a '), /more than|is not YAML/],
  ['many quotes', fill('"'), /more than|is not YAML/],
  ['as many quotes as may be', '"'.repeat(tokensMax - 1), /is not YAML/],
  ['as many tags as may be', '!a '.repeat(tokensMax / 2 - 1), /is not YAML/],
  ['as many keys as may be', Array.from({ length: tokensMax / 8 }, (_, i) => `k${i}: 1\n`).join(''), /is missing/],
  ['many directives', '%YAML 1.2\n'.repeat(100_000), /is not YAML|nothing/],
  ['many comments', fill('#\n'), /more than|nothing/],
  ['many lines', fill('\n'), /more than|nothing/],
  [
    'a long text',
    `metadata: { name: ${'x'.repeat(1_000_000)} }\nspec: { preferred: { count: 1 } }`,
    /has 1000000 characters/,
  ],
  ['a long key', `${'x'.repeat(1000)}: 1`, /is missing/],
  ['a long number', `spec: { preferred: { count: ${'9'.repeat(100_000)} } }`, /Infinity/],
  ['a long block', `spec: |\n${' x\n'.repeat(300_000)}`, /found the text/],
]

describe('a hostile text', () => {
  it.each(corpus)('should be refused: %s', (_what, text, reason) => {
    const begun = performance.now()
    const faults = faultsOf(read(text))
    // Far above what it takes, as the machine may be busy; without the bounds these take minutes, or end the process.
    expect(performance.now() - begun).toBeLessThan(10_000)
    expectReadable(faults)
    expect(faults[0]?.reason).toMatch(reason)
    expect(({} as { a?: unknown }).a).toBeUndefined()
  })

  it('should have the place of the first byte that is not text', () => {
    expect(faultsOf(read(Buffer.from([0x61, 0x0a, 0x62, 0xff])))[0]).toMatchObject({ line: 2, column: 2 })
    expect(faultsOf(read('a: 1\nb: \u0007'))[0]).toMatchObject({ line: 2, column: 4 })
  })
})

describe('any text', () => {
  const fragment = fc.constantFrom(
    ...[
      'spec',
      'preferred',
      'count',
      'metadata',
      'name',
      ': ',
      ':',
      '\n',
      '\n  ',
      '\n    ',
      '- ',
      '? ',
      '| \n',
      '> \n',
    ],
    ...[
      '[',
      ']',
      '{',
      '}',
      ',',
      '"',
      "'",
      '&a ',
      '*a',
      '!!str ',
      '!x ',
      '# ',
      '---\n',
      '...\n',
      '%YAML 1.1\n',
      '\t',
      '<<',
    ],
    ...[
      '1',
      '-1',
      '012',
      '1e3',
      '.nan',
      '~',
      'yes',
      '90s',
      '60Gi',
      '\\u0000',
      '\u2028',
      '\r',
      '\0',
      '__proto__',
      '$',
      '😀',
    ],
  )
  const texts = fc.oneof(
    fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.json(),
    fc.uint8Array({ maxLength: 200 }),
  )
  it('should be answered, with a document or with faults that can be read', () => {
    fc.assert(
      fc.property(texts, (text) => {
        for (const answer of [read(text), readDocument(text, decodePolicy), readIntents(text)])
          if (E.isLeft(answer)) expectReadable(answer.left)
      }),
      { numRuns: 3000 },
    )
  })
})
