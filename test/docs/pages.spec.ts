import { readFileSync } from 'node:fs'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Decode } from '../../domain/kernel/document.ts'
import { comparedBy, reasonCodes, type ReasonCode } from '../../domain/planner/reason-code.ts'
import { decodePolicy, policyFields } from '../../domain/policy/allocation-policy.codec.ts'
import { orderings, strategies } from '../../domain/policy/allocation-policy.ts'
import { decodeIntent, intentFields } from '../../domain/workload/intent.codec.ts'
import { readDocument } from '../../infra/yaml/document.ts'
import { rightOf } from '../support/faults.ts'
import { leastPolicy } from './least-policy.ts'

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
/** Cells of every row of the page's tables, without their headings. */
const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(' | '))
const bare = (cell: string) => cell.replaceAll('`', '')
const examplesOf = (text: string) => Array.from(text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm), ([, example]) => example!)

/** A document with `value` at `field`, and what must be stated beside it. */
const stating = (start: object, field: string, value: unknown): unknown => {
  const steps = field.replaceAll('[]', '.0').replace('NAME', 'lab').split('.')
  const document: Record<string, unknown> = structuredClone(start) as Record<string, unknown>
  let at: Record<string, unknown> = document
  for (const [i, step] of steps.slice(0, -1).entries()) at = (at[step] ??= steps[i + 1] === '0' ? [] : {}) as typeof at
  at[steps.at(-1)!] = value
  return document
}

interface Documented {
  readonly file: string
  readonly fields: ReadonlyArray<string>
  readonly decode: Decode<unknown>
  /** The least that may be stated, for a field and what it is only allowed beside. */
  readonly least: (field: string) => object
}
const pages: ReadonlyArray<Documented> = [
  {
    file: 'intent.md',
    fields: intentFields,
    decode: decodeIntent,
    least: (field) => ({
      spec: {
        preferred: { count: 16 },
        ...(field.startsWith('spec.substitutable[]')
          ? {
              substitutable: [
                { accelerator: 'a', count: 1, ...(field.endsWith('Cost') ? { requiresRecompile: true } : {}) },
              ],
            }
          : {}),
        ...(field.startsWith('spec.elasticity.') ? { elasticity: {} } : {}),
        ...(field === 'spec.topology.sliceLevel' ? { topology: { sliceSize: 8 } } : {}),
      },
    }),
  },
  {
    file: 'policy.md',
    fields: policyFields,
    decode: decodePolicy,
    least: leastPolicy,
  },
]

describe.each(pages)('$file', ({ file, fields, decode, least }) => {
  const rows = rowsOf(page(file))

  it('should document every field of the code, in its order, and no other', () => {
    expect(rows.map(([field]) => bare(field!))).toEqual(fields)
    for (const row of rows) {
      expect(row).toHaveLength(6)
      for (const cell of row) expect(cell.trim()).not.toBe('')
    }
  })
  it('should have examples that are read', () => {
    const examples = examplesOf(page(file))
    expect(examples.length).toBeGreaterThan(1)
    for (const example of examples) rightOf(readDocument(example, decode))
  })
  it.each(rows.map(([field, , , , example]) => [bare(field!), bare(example!)] as const))(
    'should have an example for %s that is read: %s',
    (field, example) => {
      rightOf(decode(stating(least(field), field, parse(example))))
    },
  )
  const defaulted = rows
    .map(([field, , , value]) => [bare(field!), value!] as const)
    .filter(([, value]) => value.startsWith('`'))
  it.each(defaulted)('should state the default that %s has: %s', (field, value) => {
    const written: unknown = bare(value) === 'spec.preferred.count' ? 16 : parse(bare(value))
    expect(decode(stating(least(field), field, written))).toEqual(decode(least(field)))
  })
  it('should say required exactly of what cannot be left out', () => {
    for (const [field, , , value] of rows) {
      const stated = stating(least(bare(field!)), bare(field!), undefined)
      const without: unknown = JSON.parse(JSON.stringify(stated))
      expect([field, E.isLeft(decode(without))]).toEqual([field, value === 'required'])
    }
  })
})

describe('policy.md', () => {
  it('should name every strategy and every ordering', () => {
    for (const word of [...strategies, ...orderings]) expect(page('policy.md')).toContain(`\`${word}\``)
  })
})

describe('reasons.md', () => {
  it('should document every reason code of this release, in its order, and no other', () => {
    const rows = rowsOf(page('reasons.md'))
    expect(rows.map(([code]) => bare(code!))).toEqual(reasonCodes)
    for (const row of rows) {
      expect(row).toHaveLength(4)
      for (const cell of row) expect(cell.trim()).not.toBe('')
    }
  })
  it('should speak of numbers that an event has', () => {
    const source = readFileSync(new URL('../../domain/planner/cell-event.ts', import.meta.url), 'utf8')
    for (const [code, , numbers] of rowsOf(page('reasons.md')))
      for (const [, number] of numbers!.matchAll(/`(\w+)`/g)) {
        const names = comparedBy[bare(code!) as ReasonCode] ?? []
        if (!names.includes(number!) && number !== 'why') expect(source).toContain(`readonly ${number}: `)
      }
  })
  it('should speak of every number that a reason compares', () => {
    for (const [code, meaning, numbers] of rowsOf(page('reasons.md')))
      for (const name of comparedBy[bare(code!) as ReasonCode] ?? [])
        expect(meaning! + numbers!).toContain(`\`${name}\``)
  })
  it('should speak of fields that an intent has', () => {
    for (const [, field] of page('reasons.md').matchAll(/`(spec\.(?!queues)[\w.]+)(?:: \w+)?`/g))
      expect(intentFields).toContain(field)
  })
})
