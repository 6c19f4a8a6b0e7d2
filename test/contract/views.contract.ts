import { either as E } from 'fp-ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import type {
  QueryLimits,
  QueryRefused,
  QueryResult,
  TableRows,
  Views,
  ViewsUnavailable,
} from '../../domain/ports/views.ts'
import { left, right } from '../support/events.ts'

/** A table `job (job String, wait_ms Int64, note Nullable(String), version Int64)`, keyed by job, the last version read. */
export interface ViewsAt {
  readonly views: Views
  readonly close: () => Promise<void>
}

export const jobColumns = ['job', 'wait_ms', 'note', 'version'] as const
export const jobTable = `CREATE TABLE IF NOT EXISTS job (
  job String, wait_ms Int64, note Nullable(String), version Int64
) ENGINE = ReplacingMergeTree(version) ORDER BY job`

export const jobs = (...rows: ReadonlyArray<ReadonlyArray<Json>>): ReadonlyArray<TableRows> => [
  { table: 'job', columns: jobColumns, rows },
]

const limits: QueryLimits = { timeMaxMs: 10_000, rowsMax: 1_000 }

export const viewsContract = (name: string, open: () => Promise<ViewsAt>): void => {
  describe(name, () => {
    let at: ViewsAt
    beforeAll(async () => {
      at = await open()
    }, 300_000)
    afterAll(() => at.close())
    beforeEach(async () => {
      await right(at.views.reset())
    })
    const rowsOf = async (sql: string, parameters?: Readonly<Record<string, Json>>) =>
      (await right<ViewsUnavailable | QueryRefused, QueryResult>(at.views.query(sql, limits, parameters))).rows
    const refusalOf = (sql: string, within = limits) =>
      left<ViewsUnavailable | QueryRefused, QueryResult>(at.views.query(sql, within))

    it('should be empty at first, and at nothing', async () => {
      expect(await right(at.views.projected())).toBe(-1)
      expect(await rowsOf('SELECT count() FROM job')).toEqual([[0]])
    })

    it('should hold what was written, and up to where', async () => {
      await right(at.views.write(4, jobs(['a', 1, null, 0], ['b', 2, 'Größe "ü" \\ 😀\n', 1])))
      expect(await right(at.views.projected())).toBe(4)
      expect(await rowsOf('SELECT job, wait_ms, note FROM job FINAL ORDER BY job')).toEqual([
        ['a', 1, null],
        ['b', 2, 'Größe "ü" \\ 😀\n'],
      ])
      await right(at.views.write(9, []))
      expect(await right(at.views.projected())).toBe(9)
    })

    it('should add nothing for what is written again, and keep the last version whatever comes last', async () => {
      const first = jobs(['a', 1, null, 3], ['b', 2, null, 4])
      await right(at.views.write(4, first))
      await right(at.views.write(7, jobs(['a', 5, null, 7])))
      await right(at.views.write(4, first))
      expect(await right(at.views.projected())).toBe(7)
      expect(await rowsOf('SELECT job, wait_ms FROM job FINAL ORDER BY job')).toEqual([
        ['a', 5],
        ['b', 2],
      ])
    })

    it('should take more rows than go into one batch', async () => {
      const rows = Array.from({ length: 50_001 }, (_, i) => [`job-${i}`, i, null, i])
      await right(at.views.write(50_000, jobs(...rows)))
      expect(await rowsOf('SELECT count(), sum(wait_ms), uniqExact(job) FROM job FINAL')).toEqual([
        [50_001, 1_250_025_000, 50_001],
      ])
    })

    it('should refuse rows that do not fit, and not move on', async () => {
      expect(await left(at.views.write(3, jobs(['a', 'soon', null, 0])))).toMatchObject({ kind: 'refused' })
      expect(await left(at.views.write(3, [{ table: 'absent', columns: ['a'], rows: [[1]] }]))).toMatchObject({
        kind: 'refused',
      })
      expect(await right(at.views.projected())).toBe(-1)
    })

    it('should do writes that are given at once one after the other', async () => {
      const writes = Array.from({ length: 20 }, (_, i) => at.views.write(i, jobs([`job-${i % 5}`, i, null, i]))())
      expect((await Promise.all(writes)).filter(E.isLeft)).toEqual([])
      expect(await right(at.views.projected())).toBe(19)
      expect(await rowsOf('SELECT job, wait_ms FROM job FINAL ORDER BY job LIMIT 2')).toEqual([
        ['job-0', 15],
        ['job-1', 16],
      ])
    })

    it('should give names and types, and whole numbers that no number holds as text', async () => {
      const sql =
        "SELECT toUInt64(7) AS small, 18446744073709551615 AS large, [toInt64(-9007199254740993)] AS list, 0.1234567890123456789 AS part, '12345678901234567890' AS text, toDecimal64('1.50', 2) AS decimal, inf AS endless, NULL AS nothing"
      expect(await right<unknown, QueryResult>(at.views.query(sql, limits))).toEqual({
        columns: [
          { name: 'small', type: 'UInt64' },
          { name: 'large', type: 'UInt64' },
          { name: 'list', type: 'Array(Int64)' },
          { name: 'part', type: 'Float64' },
          { name: 'text', type: 'String' },
          { name: 'decimal', type: 'Decimal(9, 2)' },
          { name: 'endless', type: 'Float64' },
          { name: 'nothing', type: 'Nullable(Nothing)' },
        ].map((column) =>
          column.name === 'decimal' ? (expect.objectContaining({ name: 'decimal' }) as unknown) : column,
        ),
        rows: [
          [
            7,
            '18446744073709551615',
            ['-9007199254740993'],
            0.12345678901234568,
            '12345678901234567890',
            '1.5',
            'inf',
            null,
          ],
        ],
      })
    })

    it.each(["it's", 'a\\b', 'tab\tand\nline', '{x:String}', "'; DROP TABLE job; --", '', '😀', '\\N', 'a\u0000b'])(
      'should bind %j as it is',
      async (text) => {
        expect(await rowsOf('SELECT {text: String}, length({text: String})', { text })).toEqual([
          [text, Buffer.byteLength(text)],
        ])
      },
    )

    it('should bind numbers and lists, for many queries at once', async () => {
      const sums = Array.from({ length: 40 }, (_, i) =>
        rowsOf('SELECT {n: UInt64} + arraySum({list: Array(UInt64)})', { n: i, list: [i, 1] }),
      )
      expect((await Promise.all(sums)).map(([row]) => row![0])).toEqual(Array.from({ length: 40 }, (_, i) => 2 * i + 1))
    })

    it('should refuse more rows than asked for, and give as many', async () => {
      const within = { timeMaxMs: 10_000, rowsMax: 10 }
      expect(
        (await right<unknown, QueryResult>(at.views.query('SELECT * FROM numbers(10)', within))).rows,
      ).toHaveLength(10)
      expect(await refusalOf('SELECT * FROM numbers(11)', within)).toMatchObject({
        type: 'QueryRefused',
        kind: 'too-many-rows',
        mend: 'add a LIMIT, or group',
      })
      expect(await refusalOf('SELECT * FROM numbers(100000000)', within)).toMatchObject({ kind: 'too-many-rows' })
    })

    it('should end what takes too long, and what takes too much memory', async () => {
      const within = { timeMaxMs: 200, rowsMax: 10 }
      expect(await refusalOf('SELECT sum(cityHash64(number)) FROM numbers(1000000000000)', within)).toMatchObject({
        type: 'QueryRefused',
        kind: 'too-long',
      })
      const patient = { timeMaxMs: 60_000, rowsMax: 10 }
      expect(await refusalOf('SELECT length(groupArray(number)) FROM numbers(1000000000)', patient)).toMatchObject({
        type: 'QueryRefused',
        kind: 'too-much-memory',
      })
      expect(await rowsOf('SELECT 1')).toEqual([[1]])
    })

    it('should answer beside a query that runs', async () => {
      const order: string[] = []
      const long = refusalOf('SELECT sum(cityHash64(number)) FROM numbers(1000000000000)', {
        timeMaxMs: 3_000,
        rowsMax: 10,
      }).then(() => order.push('long'))
      await right(at.views.write(1, jobs(['a', 1, null, 0])))
      expect(await rowsOf('SELECT count() FROM job')).toEqual([[1]])
      order.push('short')
      await long
      expect(order).toEqual(['short', 'long'])
    })

    it.each([
      ['SELEC 1', 'invalid', /SELEC begins no query/],
      ['DROP TABLE job', 'read-only', /DROP does not read/],
      ['SELECT', 'invalid', /^Syntax error/],
      ['SELECT a FROM nowhere', 'invalid', /nowhere/],
      ['SELECT nothing FROM job', 'invalid', /nothing/],
      ["SELECT throwIf(1, 'no')", 'invalid', /^no/],
    ])('should word what is wrong with %s', async (sql, kind, reason) => {
      const refusal = await refusalOf(sql)
      expect(refusal).toMatchObject({ type: 'QueryRefused', kind })
      expect(refusal.reason).toMatch(reason)
      expect(refusal.reason).not.toMatch(/Code: |DB::|version \d|FORMAT JSON|Stack trace/)
      expect(refusal.mend).not.toBe('')
    })

    it('should drop everything on reset, and take the same again', async () => {
      await right(at.views.write(4, jobs(['a', 1, null, 0])))
      await right(at.views.reset())
      expect(await right(at.views.projected())).toBe(-1)
      expect(await rowsOf('SELECT count() FROM job')).toEqual([[0]])
      await right(at.views.write(4, jobs(['a', 1, null, 0])))
      expect(await rowsOf('SELECT count() FROM job FINAL')).toEqual([[1]])
    })
  })
}
