import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { readDocument } from '../../infra/yaml/document.ts'
import { pass, preemptionsOf } from '../support/budgets/seen.ts'
import { CellLife, hour, minute } from '../support/cell-life.ts'
import { rightOf } from '../support/faults.ts'

const docs = new URL('../../docs/', import.meta.url)
const page = readFileSync(new URL('policy.md', docs), 'utf8')
const [, statement, example, table] =
  /\n(What a program holds beyond its share[^]*?)On eight GPUs with [^]*?\((examples[^)]*)\)[^]*?:\n\n([^]*?)\n\n/.exec(
    page,
  )!

const programs = ['product', 'research'] as const
type Program = (typeof programs)[number]
type Row = Readonly<Record<`${Program} ${'holds' | 'waits for'}` | `taken from ${Program}`, number>>

const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
const [head, , ...lines] = table!.split('\n').map(cellsOf)
const rows = lines.map((cells) => Object.fromEntries(cells.map((cell, i) => [head![i]!, Number(cell)])) as Row)

/** What was taken of whom within a day, and how both sides stood at each decision. */
const played = (row: Row) => {
  const policy: AllocationPolicy = {
    ...rightOf(readDocument(readFileSync(new URL(example!, docs), 'utf8'), decodePolicy)),
    mode: 'advise',
  }
  const life = new CellLife()
    .policy(policy)
    .nodes(1, 8, 'h100')
    .drilled(...programs)
  const submit = (program: Program, what: string, count: number) => {
    for (let i = 0; i < count; i++) life.submit(`${program}-${what}-${i}`, 1, { queue: program, team: program })
    life.tick()
  }
  for (const program of programs) submit(program, 'runs', row[`${program} holds`])
  expect(programs.map((program) => life.holds(program))).toEqual(programs.map((program) => row[`${program} holds`]))
  life.at(minute)
  for (const program of programs) submit(program, 'waits', row[`${program} waits for`])
  pass(life, hour)
  return preemptionsOf(life)
}

describe('what policy.md says of who gives back (situation 17, KAI#1934 and KAI#586)', () => {
  it('should have a row for each direction, and for neither', () => {
    expect(rows.length).toBeGreaterThan(4)
    for (const program of programs) expect(rows.some((row) => row[`taken from ${program}`] > 0)).toBe(true)
    expect(rows.some((row) => programs.every((program) => row[`taken from ${program}`] === 0))).toBe(true)
  })
  it.each(rows.map((row) => [Object.values(row).slice(0, 4).join(', '), row] as const))(
    'should be what happens: held and waited for, %s',
    (_, row) => {
      const victims = played(row).flatMap(({ data }) => data.victims.map(({ workload }) => workload))
      const taken = programs.map((program) => victims.filter((victim) => victim.startsWith(program)).length)
      expect(taken).toEqual(programs.map((program) => row[`taken from ${program}`]))
    },
  )
  it('should be said in words as it is decided', () => {
    const decided = rows.flatMap(played)
    expect(decided.length).toBeGreaterThan(4)
    const standing = ({ entitledMilli, heldMilli }: { readonly entitledMilli: number; readonly heldMilli: number }) =>
      heldMilli > entitledMilli ? 'beyond' : heldMilli < entitledMilli ? 'less than' : 'just'
    const words = new Set(
      decided.map(
        ({ data: { side, victimSide } }) =>
          `What a program holds ${standing(victimSide!)} its share is taken back for who holds ${standing(side!)} its own`,
      ),
    )
    expect([...words]).toHaveLength(1)
    expect(statement!.replaceAll('\n', ' ')).toContain([...words][0])
  })
})
