import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { violations, type SourceFile } from './source-rules.ts'

const sources: ReadonlyArray<SourceFile> = ['domain', 'projections', 'infra', 'services', 'test']
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(path, 'utf8') }))

it('should find nothing that the style does not allow', () => {
  expect(sources.length).toBeGreaterThan(10)
  expect(violations(sources)).toEqual([])
})

it.each([
  ['domain/fleet/a.ts', "import { readFileSync } from 'node:fs'", 'domain imports node:fs'],
  ['domain/fleet/a.ts', "import { parse } from 'yaml'", 'domain imports the package yaml'],
  ['domain/fleet/a.ts', "import { x } from '../../infra/host/b.ts'", 'domain imports infra/host/b.ts'],
  ['domain/fleet/a.ts', "export * from '../../services/cli/b.ts'", 'domain imports services/cli/b.ts'],
  ['domain/fleet/a.ts', "type X = import('../../infra/host/b.ts').X", 'domain imports infra/host/b.ts'],
  ['domain/fleet/a.ts', "import { x } from '../../test/support/b.ts'", 'domain imports test/support/b.ts'],
  ['projections/ladder/a.ts', "import { x } from '../../infra/host/b.ts'", 'projections imports infra/host/b.ts'],
  ['infra/sqlite/a.ts', "import { x } from '../../projections/ladder/b.ts'", 'infra imports projections/ladder/b.ts'],
  ['infra/sqlite/a.ts', "import { x } from '../file/b.ts'", 'one adapter imports another: infra/file/b.ts'],
  ['infra/sqlite/a.ts', "import 'better-sqlite3'\nimport 'yaml'", 'two vendors in one folder: better-sqlite3, yaml'],
  ['infra/sqlite/a.ts', "import 'fs'", 'say node:fs'],
  ['services/decide/a.ts', "import { x } from '../ingest/b.ts'", 'one service imports another: services/ingest/b.ts'],
  ['services/replay/a.ts', "await import('../cli/b.ts')", 'one service imports another: services/cli/b.ts'],
  ['services/replay/a.ts', 'await import(name)', 'imports a name that is computed name'],
  ['domain/fleet/a.ts', "import { x } from './b.js'", 'a relative import ends in .ts'],
  ['domain/fleet/a.ts', "import * as E from 'fp-ts/Either'", 'import fp-ts from its root'],
  ['test/fleet/a.ts', "import * as E from 'fp-ts/lib/Either.js'", 'import fp-ts from its root'],
  ['domain/fleet/a.ts', 'const now = Date.now()', 'Date.now is neither pure nor data'],
  ['domain/fleet/a.ts', "const now = Date['now']()", 'Date.now is neither pure nor data'],
  ['domain/fleet/a.ts', 'const now = new Date()', 'new Date() reads the clock'],
  ['projections/ladder/a.ts', 'const x = Math.random()', 'Math.random is neither pure nor data'],
  ['domain/fleet/a.ts', 'const x = process.env', 'process.env reaches outside'],
  ['domain/kernel/utils.ts', '', 'utils.ts names nothing'],
  ['infra/common/a.ts', '', 'common names nothing'],
  ['test/support/job-helpers.ts', '', 'job-helpers.ts names nothing'],
  ['domain/fleet/a.ts', '\n'.repeat(401), 'a.ts has 401 lines'],
])('should find what is wrong in %s: %s', (path, text, what) => {
  const found = violations([{ path, text }])
  expect(found).toHaveLength(1)
  expect(found[0]).toContain(what)
})

it.each([
  ['services/cli/a.ts', "import { x } from '../decide/b.ts'"],
  ['services/main.ts', "import { x } from './decide/b.ts'"],
  ['infra/host/a.ts', "import { x } from '../sqlite/b.ts'"],
  ['infra/sqlite/a.ts', "import { x } from '../chain/b.ts'"],
  ['domain/fleet/a.ts', "import { either as E } from 'fp-ts'\nimport * as t from 'io-ts'"],
  ['domain/fleet/a.ts', 'const date = (ms: number) => new Date(ms).toISOString()'],
  ['domain/fleet/a.ts', "const comment = 'import x from node:fs' // Date.now()"],
])('should allow %s: %s', (path, text) => {
  expect(violations([{ path, text }])).toEqual([])
})
