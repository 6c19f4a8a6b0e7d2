import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import type { Migration } from '../../../infra/clickhouse/migration.ts'
import { openViews } from '../../../infra/clickhouse/views.ts'
import { jobs } from '../../contract/views.contract.ts'
import { left, right } from '../../support/events.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { schema } from './job-views.ts'

const folderFor = tempFolder()
const rebuild = 'run `leasehold rebuild`: it makes the views anew from the log'

/** Views with two batches of jobs in them, closed. */
const filled = async (migrations: ReadonlyArray<Migration> = schema): Promise<string> => {
  const folder = folderFor()
  const views = await right(openViews({ folder }, { migrations }))
  await right(views.write(3, jobs(['a', 1, null, 0], ['b', 1, null, 1])))
  await right(views.write(5, jobs(['c', 1, null, 4])))
  await views.close()
  return folder
}

const positionIn = async (folder: string, migrations: ReadonlyArray<Migration> = schema, anew = false) => {
  const views = await right(openViews({ folder }, { migrations, anew }))
  const position = await right(views.projected())
  await views.close()
  return position
}

const filesOf = (folder: string, name: RegExp): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.startsWith('store') || path.startsWith('metadata'))
    .map((path) => join(folder, path))
    .filter((path) => name.test(path) && statSync(path, { throwIfNoEntry: false })?.isFile() === true)

describe('a schema', () => {
  it('that a newer release made should be left alone', async () => {
    const folder = await filled([
      ...schema,
      { name: '0003-later', statements: ['CREATE TABLE later (a Int8) ENGINE = Memory'] },
    ])
    expect(await left(openViews({ folder }, { migrations: schema }))).toMatchObject({
      kind: 'newer-schema',
      reason: `${folder}: a newer release made the views (0003-later, this one knows 0002-job)`,
      mend: 'use that release, or run `leasehold rebuild` with this one',
    })
  })

  it('that is not what its migration says should be refused, and made anew when that is asked for', async () => {
    const folder = await filled()
    const other = [schema[0]!, { name: '0002-job', statements: [...schema[1]!.statements, 'SELECT 1'] }]
    expect(await left(openViews({ folder }, { migrations: other }))).toMatchObject({
      kind: 'refused',
      reason: `${folder}: 0002-job is not what this release made of it`,
      mend: rebuild,
    })
    expect(await positionIn(folder)).toBe(5)
    expect(await positionIn(folder, other, true)).toBe(-1)
  })

  it('should grow by what is new alone, and keep the rows', async () => {
    const folder = await filled()
    const later = {
      name: '0003-later',
      statements: ['CREATE TABLE IF NOT EXISTS later (a Int8) ENGINE = MergeTree ORDER BY a'],
    }
    const views = await right(openViews({ folder }, { migrations: [...schema, later] }))
    expect(await right(views.projected())).toBe(5)
    expect((await right(views.contents())).map(({ table, rows }) => [table, rows])).toEqual([
      ['job', 3],
      ['later', 0],
    ])
    await views.close()
    expect(await positionIn(folder, [...schema, later])).toBe(5)
  })

  it('whose migration fails should say so, and be taken up there', async () => {
    const folder = folderFor()
    const bad = [
      ...schema,
      { name: '0003-bad', statements: ['CREATE TABLE IF NOT EXISTS half (a Int8) ENGINE = Memory', 'CREATE NONSENSE'] },
    ]
    await (await right(openViews({ folder }, { migrations: schema }))).close()
    expect(await left(openViews({ folder }, { migrations: bad }))).toMatchObject({ kind: 'refused' })
    const good = [...schema, { name: '0003-bad', statements: [bad[2]!.statements[0]!] }]
    expect(await positionIn(folder, good)).toBe(-1)
    expect(await positionIn(folder, good)).toBe(-1)
  })

  it('that was dropped by half should be dropped to the end', async () => {
    const folder = await filled()
    // Dropping begins with the position, and ends here.
    for (const path of filesOf(folder, /projection\.sql$/)) rmSync(path, { force: true })
    const views = await right(openViews({ folder }, { migrations: schema }))
    expect(await right(views.projected())).toBe(-1)
    expect(await right(views.contents())).toMatchObject([{ table: 'job', rows: 0 }])
    await views.close()
  })

  it('should not be made where somebody else has tables', async () => {
    const folder = await filled()
    const views = await right(openViews({ folder }, { migrations: schema }))
    await views.close()
    for (const path of filesOf(folder, /schema_migration\.sql$/)) rmSync(path, { force: true })
    expect(await left(openViews({ folder }, { migrations: schema }))).toMatchObject({
      kind: 'refused',
      reason: expect.stringContaining('holds tables of somebody else') as unknown,
    })
    expect(await positionIn(folder, schema, true)).toBe(-1)
  })
})

describe('a folder', () => {
  const noise = (path: string) => {
    writeFileSync(path, Buffer.alloc(200, 'noise'))
  }
  const cut = (path: string) => {
    truncateSync(path, Math.floor(statSync(path).size / 2))
  }
  const gone = (path: string) => {
    rmSync(path, { force: true })
  }
  it.each([
    ['a description of a table overwritten', /job\.sql$/, noise, 'not-started'],
    ['a description of a table cut', /job\.sql$/, cut, 'not-started'],
    ['a description of a table gone', /job\.sql$/, gone, 'refused'],
    ['the description of the database cut', /metadata.leasehold\.sql$/, cut, 'not-started'],
    ['rows cut', /store.*all_2_2.*data\.bin$/, cut, 'refused'],
    ['rows gone', /store.*all_2_2.*data\.bin$/, gone, 'refused'],
    ['checksums overwritten', /store.*all_1_1.*checksums\.txt$/, noise, null],
  ] as const)(
    'with %s should be told as damaged, and made anew when that is asked for',
    async (_, name, damage, kind) => {
      const folder = await filled()
      const paths = filesOf(folder, name)
      expect(paths.length).toBeGreaterThan(0)
      for (const path of paths) damage(path)
      const opened = await openViews({ folder }, { migrations: schema })()
      if (E.isRight(opened)) {
        // All that was known is lost, and so is the position: everything is projected again.
        expect(kind).toBeNull()
        expect(await right(opened.right.projected())).toBe(-1)
        await opened.right.close()
      } else {
        expect(opened.left).toMatchObject({ type: 'ViewsUnavailable', mend: rebuild })
        if (kind !== null) expect(opened.left.kind).toBe(kind)
        expect(opened.left.reason).not.toMatch(/Code: |DB::|version \d|Stack trace/)
      }
      expect(await positionIn(folder, schema, true)).toBe(-1)
    },
  )

  it('that is a file, or under one, should be told', async () => {
    const file = join(folderFor(), 'file')
    writeFileSync(file, '')
    for (const folder of [file, join(file, 'views')])
      expect(await left(openViews({ folder }))).toMatchObject({
        kind: 'not-started',
        reason: `${folder} is no folder`,
        mend: 'name a folder that can be written with --data',
      })
  })
})

/** Runs in a file system of its own of that size, which only root can make. */
const onSmallDisk = async (
  size: string,
  work: (folder: string, remount: (options: string) => void) => Promise<void>,
  skip: (why: string) => void,
) => {
  const disk = folderFor()
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk], {
    encoding: 'utf8',
  })
  if (status !== 0) {
    skip(`no tmpfs can be mounted here: ${stderr}`)
    return
  }
  try {
    await work(disk, (options) => execFileSync('mount', ['-o', `remount,${options}`, disk]))
  } finally {
    spawnSync('umount', ['-l', disk])
  }
}

describe('a disk', () => {
  const batch = (n: number) =>
    jobs(...Array.from({ length: 2_000 }, (_, i) => [`job-${n}-${i}`, n, Buffer.alloc(400, String.fromCharCode(65 + ((n * 31 + i * 17) % 26), 66 + (i % 25), 67 + (n % 20))).toString(), n])) // prettier-ignore

  it(
    'that is full should be told, lose nothing, and be written on when there is room',
    { timeout: 120_000 },
    async ({ skip }) => {
      await onSmallDisk(
        '3m',
        async (disk, remount) => {
          const folder = join(disk, 'views')
          const views = await right(openViews({ folder }, { migrations: schema }))
          let n = 0
          let told = await views.write(n, batch(n))()
          for (; E.isRight(told) && n < 500; told = await views.write(n, batch(n))()) n++
          expect(told).toMatchObject({ left: { kind: 'full', reason: `${folder}: the disk is full` } })
          expect(n).toBeGreaterThan(3)
          expect(await right(views.projected())).toBe(n - 1)
          const all = 'SELECT count(), uniqExact(job), max(wait_ms) FROM job FINAL WHERE wait_ms < {n: Int64}'
          const limits = { timeMaxMs: 10_000, rowsMax: 10 }
          expect(await views.query(all, limits, { n })()).toMatchObject({
            right: { rows: [[n * 2_000, n * 2_000, n - 1]] },
          })
          remount('size=64m')
          await right(views.write(n, batch(n)))
          expect(await right(views.projected())).toBe(n)
          expect(await views.query(all, limits, { n: n + 1 })()).toMatchObject({
            right: { rows: [[(n + 1) * 2_000, (n + 1) * 2_000, n]] },
          })
          await views.close()
        },
        skip,
      )
    },
  )

  it('that is full from the start, or cannot be written, should be told', async ({ skip }) => {
    await onSmallDisk(
      '64k',
      async (disk, remount) => {
        writeFileSync(join(disk, 'ballast'), Buffer.alloc(60 * 1024))
        const folder = join(disk, 'views')
        expect(await left(openViews({ folder }, { migrations: schema }))).toMatchObject({ kind: 'full' })
        remount('size=64m')
        expect(await positionIn(folder)).toBe(-1)
        remount('ro')
        const told = await left(openViews({ folder }, { migrations: schema }))
        expect(told).toMatchObject({ kind: 'not-started', mend: 'give this user the right to read and write it' })
        expect(await left(openViews({ folder: join(disk, 'new') }))).toMatchObject({ kind: 'not-started' })
      },
      skip,
    )
  })
})
