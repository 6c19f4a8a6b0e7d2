import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cellEventVersions } from '../../domain/planner/cell-event.ts'
import { openViews, type ClickHouseViews } from '../../infra/clickhouse/views.ts'
import { catchUp } from '../../services/project/catch-up.ts'
import { contraryLog } from '../projections/rows/told-logs.ts'
import { right } from '../support/events.ts'

const page = readFileSync(new URL('../../docs/views.md', import.meta.url), 'utf8')
/** What stands under each heading that names a table or a view. */
const sections = page
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ name: /^`([a-z_]+)`/.exec(text)![1]!, text }))
const columnsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(' | '))

/** How far the views are and which release made them: not for people. */
const bookkeeping = ['projection', 'schema_migration']
const limits = { timeMaxMs: 30_000, rowsMax: 100_000 }

describe('docs/views.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-'))
  let views: ClickHouseViews
  beforeAll(async () => {
    views = await right(openViews({ folder: join(folder, 'views') }))
    await right(catchUp(await contraryLog(7), views))
  })
  afterAll(async () => {
    await views.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const ask = async (sql: string) =>
    (await right(views.query(sql, limits))).rows as ReadonlyArray<ReadonlyArray<string>>

  it('should describe every table and view of the database, and no other', async () => {
    const there = await ask(
      `SELECT table_name, table_comment FROM information_schema.tables
       WHERE table_schema = currentDatabase() ORDER BY table_name`,
    )
    const told = there.filter(([name]) => !bookkeeping.includes(name!))
    expect(sections.map(({ name }) => name).toSorted()).toEqual(told.map(([name]) => name))
    for (const [name, comment] of told) {
      expect(comment, name).not.toBe('')
      expect(sections.find((section) => section.name === name)!.text).toContain(`\n${comment!}.`)
    }
  })

  it('should describe every column as the database does: name, type, meaning; and its unit and source', async () => {
    const there = await ask(
      'SELECT table, name, type, comment FROM system.columns WHERE database = currentDatabase() ORDER BY table, position',
    )
    for (const { name, text } of sections) {
      const columns = columnsOf(text)
      const described = columns.map(([column, type, , meaning]) => [column, type, meaning])
      const expected = there
        .filter(([table]) => table === name)
        .map(([, column, type, comment]) => [`\`${column!}\``, `\`${type!}\``, comment])
      expect(described, name).toEqual(expected)
      for (const column of columns) {
        expect(column, name).toHaveLength(5)
        for (const cell of column) expect(cell.trim(), `${name} ${column[0]}`).not.toBe('')
      }
    }
  })

  it('should name only events that there are', () => {
    const named = sections.flatMap(({ text }) =>
      columnsOf(text).flatMap((column) => column[4]!.match(/`[A-Z]\w+`/g) ?? []),
    )
    expect(named.length).toBeGreaterThan(100)
    for (const name of named) expect(Object.keys(cellEventVersions)).toContain(name.replaceAll('`', ''))
  })

  it('should give every view an example that is answered', async () => {
    let answers = 0
    for (const { name, text } of sections) {
      const examples = Array.from(text.matchAll(/^```sql\n([\s\S]*?)^```$/gm), ([, example]) => example!)
      const isView = !name.endsWith('_rows')
      expect(examples, name).toHaveLength(isView ? 1 : 0)
      for (const example of examples) {
        expect(example).toMatch(new RegExp(`\\b${name}\\b`))
        const { columns, rows } = await right(views.query(example, limits))
        expect(columns.length, name).toBeGreaterThan(0)
        if (rows.length > 0) answers++
      }
    }
    expect(answers).toBeGreaterThan(10)
  })
})
