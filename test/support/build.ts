import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const sources = [
  'domain',
  'projections',
  'infra',
  'services',
  'docs/examples',
  'test/bench',
  'test/cases',
  'test/support',
]
const stamp = join('dist', '.built')

/** Builds when a source is newer than the last build. Types are `npm run check`'s business: here only what runs. */
export const setup = (): void => {
  const newest = Math.max(0, ...sources.flatMap(filesOf).map((file) => statSync(file).mtimeMs))
  if (existsSync(stamp) && statSync(stamp).mtimeMs > newest) return
  execFileSync('node', ['node_modules/typescript/bin/tsc', '-p', '.config/tsconfig.build.json', '--noCheck'])
  chmodSync(join('dist', 'services', 'cli', 'main.js'), 0o755)
  writeFileSync(stamp, '')
}

const filesOf = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
        .map((entry) => join(entry.parentPath, entry.name))
    : []
