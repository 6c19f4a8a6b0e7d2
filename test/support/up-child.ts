import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { startSystem, viewsFolder, type SystemOptions } from '../../services/main.ts'
import { cellName } from './up-cell.ts'

/*
 * The whole system as a process of its own that a test may kill: `ready ADDRESS` comes first, or `error: ...`; SIGTERM
 * ends it gracefully. Its argument is JSON: the folder, and whatever differs from the options below.
 */

export interface UpOptions extends Partial<Omit<SystemOptions, 'views' | 'folder'>> {
  readonly folder: string
  readonly views: boolean
}

const { views, ...given } = JSON.parse(process.argv[2] ?? '{}') as UpOptions

const started = await startSystem({
  cell: cellName,
  version: 'test',
  host: '127.0.0.1',
  port: 0,
  hosts: [],
  clock: 'wall',
  adapter: null,
  policy: null,
  views: views ? { folder: viewsFolder(given.folder) } : null,
  ...given,
})
if (E.isLeft(started)) {
  process.stdout.write(`error: ${started.left.reason}; ${started.left.mend}\n`)
  process.exit(1)
}
process.once('SIGTERM', () => {
  void started.right.stop().then(() => process.exit(0))
})
process.stdout.write(`ready ${started.right.address} ${join(given.folder)}\n`)
