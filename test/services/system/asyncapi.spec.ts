import { readFileSync, readdirSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { encodeCommand } from '../../../domain/planner/command-event.ts'
import type { Command } from '../../../domain/planner/command.ts'
import { isInput, type CellEvent } from '../../../domain/planner/cell-event.ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import { decisionMessage } from '../../../projections/decisions/decision-message.ts'
import { asyncApi, schemaFile, wireSchemas } from '../../../services/system/asyncapi.ts'
import { allEvents, contraryLog } from '../../projections/rows/told-logs.ts'

const folder = new URL('../../../docs/wire/', import.meta.url)
const published = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** `npx vitest run -u test/services/system/asyncapi.spec.ts` writes them anew. */
describe('docs/wire', () => {
  it('should hold the document that the code makes', async () => {
    await expect(published(asyncApi(version))).toMatchFileSnapshot(new URL('asyncapi.json', folder).pathname)
  })

  it.each([...wireSchemas])('should hold the schema of %s that its codec has', async (type, schema) => {
    const whole = { $schema: 'http://json-schema.org/draft-07/schema#', title: type, ...schema }
    await expect(published(whole)).toMatchFileSnapshot(new URL(schemaFile(type), folder).pathname)
  })

  it('should hold nothing else', () => {
    expect(readdirSync(folder).sort()).toEqual(['asyncapi.json', 'schemas'])
    expect(
      readdirSync(new URL('schemas/', folder))
        .map((file) => `schemas/${file}`)
        .sort(),
    ).toEqual([...wireSchemas.keys()].map(schemaFile).sort())
  })

  it('should refer to nothing that is not there', () => {
    const document = read('asyncapi.json')
    const references = Array.from(JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g), ([, to]) => to!)
    expect(references.length).toBeGreaterThan(30)
    for (const to of references) {
      const [file = '', path = ''] = to.split('#')
      let at: unknown = file === '' ? document : read(file)
      for (const name of path.split('/').slice(1)) at = (at as { readonly [name: string]: unknown })[name]
      expect(at, to).toBeTypeOf('object')
    }
  })
})

describe('published schemas', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const objections = (type: string, value: unknown): unknown => {
    const validate = ajv.compile(read(schemaFile(type)) as object)
    return validate(value) ? null : validate.errors
  }

  it('should take the facts of the example, and no fact with a member more', () => {
    const lines = readFileSync(new URL('../examples/facts.ndjson', folder), 'utf8').trimEnd().split('\n')
    for (const line of lines) {
      const fact = JSON.parse(line) as { readonly type: string; readonly data: object }
      expect(objections(fact.type, fact), line).toBeNull()
      expect(objections(fact.type, { ...fact, data: { ...fact.data, none: 1 } }), line).not.toBeNull()
    }
  })

  it('should take commands as they are sent', () => {
    const command: Command = {
      command: 'a/1/start',
      verb: 'start',
      cell: 'cell-a',
      workload: 'a',
      attempt: 1,
      because: 'admitted',
      issuedAt: 0 as EpochMs,
      deadlineAt: 60_000 as EpochMs,
      graceMs: 30_000 as DurationMs,
      lease: [{ node: 'node-1', devices: [0, 1], memoryMib: 0, milli: 1_000 }],
      team: 'research',
      class: 'training',
      estimateMs: null,
    }
    const event: unknown = JSON.parse(encodeCommand({ command, until: 60_000 as EpochMs }))
    expect(objections('dev.leasehold.command.issued.v1', event)).toBeNull()
  })

  it('should take every decision of random histories', async () => {
    const validate = ajv.compile(read(schemaFile('decision')) as object)
    const types = new Set<string>()
    for (const seed of [1, 2, 3, 4, 5, 6])
      for (const event of await allEvents(await contraryLog(seed))) {
        const sent = decisionMessage(event)
        expect(sent === null).toBe(isInput(event.message as unknown as CellEvent))
        if (sent === null) continue
        types.add(sent.type)
        if (!validate(JSON.parse(JSON.stringify(sent)))) expect(validate.errors, sent.type).toBeNull()
      }
    expect(types.size).toBeGreaterThan(5)
  })
})
