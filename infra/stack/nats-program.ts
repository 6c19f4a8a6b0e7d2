import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { either as E, type taskEither as TE } from 'fp-ts'
import { cached, cacheFolder } from './cache.ts'
import { findProgram, lastLines, run } from './program.ts'
import { stackFault, type StackFault } from './stack-fault.ts'

/** `packaged`: the one that the system has, in Debian 12 of version 2.9; `current`: built from its Go module. */
export type NatsRelease = 'packaged' | 'current'

export interface NatsProgram {
  readonly release: NatsRelease
  readonly path: string
  readonly version: string
}

const currentVersion = '2.15.2'
const buildMaxMs = 900_000

export const natsName = (release: NatsRelease): string => (release === 'packaged' ? 'nats' : 'nats-current')

const currentFolder = (): string => join(cacheFolder(), `nats-server-${currentVersion}`)

/** Tells at once whether such a server can be started without anything being built. */
export const natsAtHand = async (release: NatsRelease): Promise<E.Either<StackFault, NatsProgram>> => {
  if (release === 'packaged') return findPackaged()
  const path = join(currentFolder(), 'nats-server')
  if (existsSync(path)) return E.right({ release, path, version: currentVersion })
  return E.left(
    stackFault('nats-current', `it is not built in ${currentFolder()}`, 'run `npm run stack -- up nats-current` once'),
  )
}

/** The current one is built by Go, from wherever that is configured to fetch modules, the first time only. */
export const installNats =
  (release: NatsRelease, say: (line: string) => void): TE.TaskEither<StackFault, NatsProgram> =>
  async () => {
    if (release === 'packaged') return findPackaged()
    const built = await cached('nats-current', currentFolder(), build(say))()
    return E.isLeft(built) ? built : natsAtHand(release)
  }

const findPackaged = async (): Promise<E.Either<StackFault, NatsProgram>> => {
  const path = findProgram('nats-server')
  const mend = 'install one (Debian: nats-server)'
  if (path === null) return E.left(stackFault('nats', 'there is no nats-server', mend))
  const { status, text } = await run(path, ['--version'], 30_000)
  const version = /v?(\d+\.\d+\.\d+)/.exec(text)?.[1]
  if (status === 0 && version !== undefined) return E.right({ release: 'packaged', path, version })
  return E.left(stackFault('nats', `${path} does not tell its version: ${lastLines(text)}`, mend))
}

const build =
  (say: (line: string) => void) =>
  (into: string): TE.TaskEither<StackFault, void> =>
  async () => {
    const go = findProgram('go')
    if (go === null)
      return E.left(
        stackFault('nats-current', 'there is no go to build it', 'install Go, as late as its go.mod asks for'),
      )
    say(`building nats-server ${currentVersion}, a minute or two, this once`)
    const module = `github.com/nats-io/nats-server/v2@v${currentVersion}`
    const ran = await run(go, ['install', module], buildMaxMs, { GOBIN: into, GOFLAGS: '' })
    if (ran.status === 0) return E.right(undefined)
    return E.left(stackFault('nats-current', `Go did not build it: ${lastLines(ran.text)}`, 'see to its network'))
  }
