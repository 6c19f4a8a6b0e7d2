import { either as E } from 'fp-ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readOnlyQuery } from '../../../infra/clickhouse/read-only.ts'
import type { ClickHouseViews } from '../../../infra/clickhouse/views.ts'
import { left } from '../../support/events.ts'
import { openJobs, type JobViews } from './job-views.ts'

/* Everything that must not be possible, asked of the real engine: by itself, and in disguise. */

const limits = { timeMaxMs: 10_000, rowsMax: 1_000 }

describe('a query', () => {
  let at: JobViews
  let views: ClickHouseViews
  beforeAll(async () => {
    at = await openJobs()
    views = at.views
  })
  afterAll(() => at.remove())

  it.each([
    'INSERT INTO job (job) VALUES (1)',
    'INSERT INTO FUNCTION file(out, CSV) SELECT 1',
    'CREATE TABLE x (a Int8) ENGINE = Memory',
    'CREATE TEMPORARY TABLE x (a Int8)',
    'CREATE FUNCTION f AS (x) -> x',
    'ALTER TABLE job DELETE WHERE 1',
    'DELETE FROM job WHERE 1',
    'DROP TABLE job',
    'EXISTS job',
    'EXISTS TABLE default."/etc/passwd"',
    'SELECT * FROM default."/etc/passwd"',
    'DESCRIBE TABLE "default".`/etc/passwd`',
    'TRUNCATE TABLE job',
    'RENAME TABLE job TO jobs',
    'OPTIMIZE TABLE job FINAL',
    'ATTACH TABLE x',
    'DETACH TABLE job',
    'SET max_execution_time = 0',
    'USE system',
    'SYSTEM FLUSH LOGS',
    'KILL QUERY WHERE 1',
    "BACKUP TABLE job TO File('x')",
    'GRANT SELECT ON *.* TO default',
    'SHOW PROCESSLIST',
    'SHOW SETTINGS LIKE %',
    'SHOW GRANTS',
    'WITH 1 AS a INSERT INTO job (job) SELECT a',
    'EXPLAIN INSERT INTO job (job) SELECT 1 INTO OUTFILE x',
    'SELECT 1; SELECT 2',
    'SELECT 1; DROP TABLE job',
    'SELECT 1;;INSERT INTO job (job) VALUES (1)',
    "SELECT 1 INTO OUTFILE '/tmp/leasehold-out'",
    "SELECT 1 INTO/**/OUTFILE '/tmp/leasehold-out'",
    'SELECT 1 SETTINGS max_execution_time = 0',
    'SELECT 1 SETTINGS readonly = 0',
    'SELECT * FROM system.users',
    'SELECT * FROM `system`.`tables`',
    'SELECT * FROM "system" . "processes"',
    'SELECT * FROM system /* x */ . /* y */ server_settings',
    'SELECT 1 WHERE 1 IN system.users',
    'SELECT * FROM default.`/etc/passwd`',
    "SELECT file('/etc/passwd')",
    "SELECT FILE ('/etc/passwd')",
    "SELECT `file`('/etc/passwd')",
    'SELECT "file"(\'/etc/passwd\')',
    "SELECT file/**/('/etc/passwd')",
    "SELECT file -- x\n('/etc/passwd')",
    "SELECT arrayMap(file, ['/etc/passwd'])",
    "SELECT * APPLY(file) FROM (SELECT '/etc/passwd')",
    "WITH file AS f SELECT f('/etc/passwd')",
    'SELECT hostName(), fqdn(), serverUUID(), tcpPort()',
    "SELECT getServerSetting('path')",
    'SELECT filesystemAvailable()',
    "SELECT * FROM eval('select 1')",
    'DESCRIBE TABLE file(`/etc/passwd`)',
    "DESCRIBE url('http://127.0.0.1/x')",
    "EXPLAIN SELECT * FROM file('/etc/passwd')",
  ])('should not be: %s', async (sql) => {
    const refusal = await left(views.query(sql, limits))
    expect(refusal).toMatchObject({ type: 'QueryRefused', kind: 'read-only' })
  })

  it.each([
    "SELECT `\\x66ile`('/etc/passwd')",
    "SELECT 1 /* /* */ file('/etc/passwd') */",
    "SELECT 1 # ' \n , file('/etc/passwd') -- '",
    "SELECT 1 // ' \n , file('/etc/passwd') -- '",
    "SELECT $a$'$a$, file('/etc/passwd') -- '",
    "SELECT ‘'’, file('/etc/passwd') -- '",
    'SELECT 1 \u0000 ; DROP TABLE job',
    'SELECT 1 /* x',
    "SELECT 'x",
    'SELECT `x',
    'SELECT 1 FORMAT CSV',
    'SELECT 1 FORMAT "TSV"',
    'SELECT 1 FORMAT `Native`',
    '',
    ' ; ',
    'SELEKT 1',
    'workloads',
    '(1 + 1)',
    '* FROM job',
  ])('should be read in one way only: %j', async (sql) => {
    const refusal = await left(views.query(sql, limits))
    expect(refusal).toMatchObject({ type: 'QueryRefused', kind: 'invalid' })
    expect(refusal.reason).toMatch(/^line \d+, column \d+: |^there is no query$/)
  })

  it('should not take the name of what it reads as a parameter', async () => {
    const asked = views.query('SELECT * FROM {t: Identifier}', limits, { t: 'system.users' })
    expect(await left(asked)).toMatchObject({ kind: 'read-only' })
  })

  it('should not reach out by any table function that the engine has', async () => {
    const made =
      'numbers numbers_mt zeros zeros_mt values SQLStandardValues generateSeries generate_series view null primes'
    const listed = await views.query('SELECT name FROM system.table_functions', limits)()
    const functions = E.isRight(listed) ? listed.right.rows.flat().filter((name) => typeof name === 'string') : []
    expect(functions.length).toBeGreaterThan(80)
    for (const name of [
      'file',
      'url',
      's3',
      'remote',
      'executable',
      'mysql',
      'postgresql',
      'sqlite',
      'mongodb',
      'hdfs',
    ])
      expect(functions).toContain(name)
    const reached: string[] = []
    for (const name of functions.filter((each) => !made.split(' ').includes(each)))
      for (const sql of [
        `SELECT * FROM ${name}('a', 'b', 'c')`,
        `SELECT * FROM \`${name}\`('a')`,
        `DESCRIBE ${name}('a')`,
      ]) {
        const asked = await views.query(sql, limits)()
        if (E.isRight(asked) || asked.left.kind !== 'read-only') reached.push(`${sql}: ${JSON.stringify(asked)}`)
      }
    // A plain function too; the engine refuses to read by it, and it reads nothing but its own text.
    expect(reached.filter((each) => !/format`?\(/.test(each))).toEqual([])
  })

  it('should have the rest of the language', async () => {
    const failed: unknown[] = []
    for (const sql of [
      "SELECT 'system.users; DROP TABLE job; file(' AS \"a name; of (all)\" -- file('x'); DROP",
      '/* file( ; */ SELECT 1;',
      "WITH x AS (SELECT number AS n FROM numbers(10)) SELECT n, format('{}-{}', 'a', n) FROM x WHERE n IN (1, 2) ORDER BY n",
      "SELECT quantiles(0.5, 0.9)(wait_ms), countIf(note IS NULL), max(wait_ms) FILTER (WHERE job LIKE 'a%') FROM job",
      'SELECT job, lagInFrame(wait_ms) OVER (PARTITION BY job ORDER BY version) FROM job FINAL',
      '(SELECT 1 AS a) UNION ALL (SELECT 2)',
      "SELECT [1, 2][1], tuple(1, 'a').2, map('k', 1)['k'], 1 ? 2 : 3, 10 / 5, 0x1F, 1e3, 'it''s', 'a\\'b'",
      "SELECT extract(job, '^[a-z]+'), toDate('2026-01-01') + INTERVAL 1 DAY FROM job LIMIT 1 BY job LIMIT 5",
      'SHOW TABLES',
      'SHOW CREATE TABLE job',
      'DESCRIBE job',
      'EXPLAIN SELECT * FROM job',
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'leasehold'",
    ]) {
      const asked = await views.query(sql, limits)()
      if (E.isLeft(asked)) failed.push([sql, asked.left.reason])
    }
    expect(failed).toEqual([])
  })

  it('should change nothing, whatever is made of these pieces', async () => {
    const pieces = [
      'SELECT', 'FROM', 'job', '1', ';', 'DROP', 'TABLE', 'INSERT', 'INTO', 'VALUES', '(', ')', "'", '"', '`', '--', '/*', '*/',
      '\n', '\\', 'file', "'/etc/passwd'", 'SETTINGS', 'readonly', '=', '0', 'OUTFILE', 'FORMAT', 'system', '.', 'users', '#', '//', '$$',
    ] // prettier-ignore
    await at.fill(3)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), async (words) => {
        const asked = await views.query(`SELECT 1 ${words.join(' ')}`, limits)()
        if (E.isRight(asked)) expect(JSON.stringify(asked.right.rows)).not.toContain('root:')
        else expect(asked.left.type).toBe('QueryRefused')
      }),
      { seed: 4, numRuns: 400 },
    )
    expect(await views.query('SELECT count() FROM job FINAL', limits)()).toMatchObject({ right: { rows: [[3]] } })
  }, 120_000)
})

it('should say where it is that something is refused', () => {
  const refusal = readOnlyQuery("SELECT 1,\n  'a' || file('x')")
  expect(refusal).toMatchObject({ left: { reason: 'line 2, column 10: file reaches beyond the views' } })
})
