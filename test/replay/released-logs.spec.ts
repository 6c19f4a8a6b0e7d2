import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import { cellEventVersions, type CellEvent } from '../../domain/planner/cell-event.ts'
import { verify } from '../../infra/chain/verify.ts'
import { parseLine } from '../../infra/chain/stored-event.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { verifyReplay } from '../../services/replay/verify.ts'

/** Logs as releases wrote them, one of each release that changed what is written. They are never written again. */
const folder = join(import.meta.dirname, 'logs')
const logs = readdirSync(folder).map((file) => ({
  file,
  lines: readFileSync(join(folder, file), 'utf8').trimEnd().split('\n'),
}))

describe.each(logs)('the log of $file', ({ lines }) => {
  it('should be what it was', async () => {
    expect(await verify(memoryEventLog([...lines]))).toMatchObject({ ok: true, events: lines.length })
  })

  it('should be decided again as it was', async () => {
    const verdict = await verifyReplay(memoryEventLog([...lines]), 'cell-default')
    expect(verdict).toMatchObject(E.right({ ok: true, finding: null }))
  })
})

it('should be there for every version of every event that is written', () => {
  const written = new Set(
    logs.flatMap(({ lines }) => lines.map(parseLine)).map((event) => kindOf(event.message, event.version)),
  )
  for (const [type, version] of Object.entries(cellEventVersions)) expect(written).toContain(kindOf({ type }, version))
})

const kindOf = ({ type }: Pick<CellEvent, 'type'> | { readonly type: string }, version: number): string =>
  `${type} ${version}`
