import { readdirSync, readFileSync } from 'node:fs'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import { cellEventVersions } from '../../domain/planner/cell-event.ts'
import { parseLine } from '../../infra/chain/stored-event.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { simulate } from '../../services/decide/simulate.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import { budgetPolicy } from '../support/budget-policy.ts'

const page = (name: string) => readFileSync(`docs/${name}.md`, 'utf8')
/** First cell of every row of the page's tables, and the row. */
const rowsOf = (text: string) =>
  Array.from(text.matchAll(/^\| (`[^|]*) \|(.*)\|$/gm), ([, first, rest]) => ({ first: first!, rest: rest! }))
const names = (text: string) => Array.from(text.matchAll(/`([^`]+)`/g), ([, name]) => name!)

describe('docs/log.md', () => {
  const rows = rowsOf(page('log'))

  it('should describe every type of event', () => {
    const described = rows.flatMap(({ first }) => names(first))
    for (const type of Object.keys(cellEventVersions)) expect(described).toContain(type)
  })

  it('should name every member of what a release wrote', () => {
    const lines = readdirSync('test/replay/logs').flatMap((file) =>
      readFileSync(`test/replay/logs/${file}`, 'utf8').trimEnd().split('\n'),
    )
    for (const line of lines) {
      const { data, type } = parseLine(line).message
      const { rest } = rows.find(({ first }) => names(first).includes(type))!
      for (const member of Object.keys(data)) expect(names(rest), `${type}.${member}`).toContain(member)
      for (const member of Object.keys(JSON.parse(line) as object)) expect(page('log')).toContain(`\`${member}\``)
    }
  })
})

it('docs/simulate.md should describe every figure', async () => {
  const scenario = { jobs: [], nodes: equalNodes(1, 8), policy: budgetPolicy({ a: 1 }), fill: false }
  const done = await simulate(memoryEventLog(), 'cell', scenario, () => undefined)
  if (E.isLeft(done)) throw new Error(done.left.type)
  const described = rowsOf(page('simulate')).flatMap(({ first }) => names(first))
  const { report, shared } = done.right
  const { programs, ...others } = shared!
  const ofProgram = ['programs.NAME', ...Object.keys(programs['a']!)]
  const ofRun = ['decisions', 'events', 'wallMs', 'logDigest']
  const printed = [...Object.keys(report), ...ofProgram, ...Object.keys(others), ...ofRun]
  expect(described.toSorted()).toEqual(printed.toSorted())
})
