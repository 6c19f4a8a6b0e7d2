import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { cloudEventTypes, decodeFactLine } from '../../domain/planner/cloud-event.ts'
import { commandOutcomes, commandVerbs } from '../../domain/planner/command.ts'
import { rightOf } from '../support/faults.ts'

const page = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')
/** The first cells of the page's rows, which are in backquotes. */
const namesOn = (name: string) => Array.from(page(name).matchAll(/^\| `([^`]+)` \|/gm), ([, first]) => first!)

describe('facts.md', () => {
  it('should name every type of fact, and no other', () => {
    const named = namesOn('facts.md').filter((first) => first.startsWith('dev.leasehold.'))
    expect(named.sort()).toEqual(Object.values(cloudEventTypes).sort())
  })
  it('should show a fact that is taken', () => {
    const example = /^ {4}(\{.*\})$/m.exec(page('facts.md'))![1]!
    expect(rightOf(decodeFactLine(example))).toMatchObject({ type: 'AttemptEnded', source: '/slurm/a' })
  })
})

describe('commands.md', () => {
  it('should name every verb and every outcome, and no other', () => {
    expect(namesOn('commands.md').sort()).toEqual([...commandVerbs, ...commandOutcomes].sort())
  })
})
