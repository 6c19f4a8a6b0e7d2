import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { either as E, taskEither as TE } from 'fp-ts'
import { claimFile, isAlive, thisProcess, type ProcessIdentity } from '../host/claim-file.ts'
import { installKafka } from './kafka-jars.ts'
import { kafkaAnswers, startKafka } from './kafka.ts'
import { installNats, natsName, type NatsRelease } from './nats-program.ts'
import { natsServerName, startNats } from './nats.ts'
import { httpAnswers, startAlertmanager, startPrometheus } from './prometheus.ts'
import { endProcess, type ServerProcess } from './server-process.ts'
import { stackFault, type StackFault } from './stack-fault.ts'
import { saveServers, stackServers, type StackServer } from './stack-state.ts'

type Say = (server: string, line: string) => void

interface Member {
  /** Whoever asks for all does without it where it is not installed. */
  readonly optional: boolean
  /** Brought up before it, if at all. */
  readonly after?: string
  readonly start: (
    folder: string,
    say: (line: string) => void,
    up: ReadonlyArray<StackServer>,
  ) => TE.TaskEither<StackFault, ServerProcess>
}

const natsMember = (release: NatsRelease): Member => ({
  optional: false,
  start: (folder, say) => TE.flatMap(installNats(release, say), (program) => startNats(program, { folder })),
})

const members: Readonly<Record<string, Member>> = {
  kafka: {
    optional: false,
    start: (folder, say) => TE.flatMap(installKafka(say), (installation) => startKafka(installation, { folder })),
  },
  [natsName('packaged')]: natsMember('packaged'),
  [natsName('current')]: natsMember('current'),
  alertmanager: { optional: true, start: (folder) => startAlertmanager(folder) },
  prometheus: {
    optional: true,
    after: 'alertmanager',
    start: (folder, _, up) =>
      startPrometheus(folder, up.find(({ name }) => name === 'alertmanager')?.urls['http'] ?? null),
  },
}

export const nativeNames: ReadonlyArray<string> = Object.keys(members)

const notInstalled = 'it is not installed'

/**
 * Starts what does not run of these servers, all at once; those that fail keep nobody else from coming up.
 * @param names  of `nativeNames`; empty: all of them, the optional ones where they are installed
 * @returns      what did not come up
 */
export const nativeUp = async (
  folder: string,
  names: ReadonlyArray<string>,
  say: Say,
): Promise<ReadonlyArray<StackFault>> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const claim = claimFile(
    join(folder, 'up.lock'),
    JSON.stringify(thisProcess()),
    (text) => JSON.parse(text) as ProcessIdentity,
  )
  if (E.isLeft(claim))
    return [stackFault('stack', `another process is bringing it up in ${folder}`, 'wait for it, then try again')]
  try {
    const wanted = names.length === 0 ? nativeNames : names
    const begun = new Map<string, Promise<StackFault | null>>()
    for (const name of wanted) {
      const before = begun.get(members[name]?.after ?? '') ?? Promise.resolve(null)
      begun.set(
        name,
        before.then(() => bringUp(folder, name, names.length > 0, say)),
      )
    }
    return (await Promise.all(begun.values())).filter((fault) => fault !== null)
  } finally {
    claim.right.release()
  }
}

const bringUp = async (folder: string, name: string, asked: boolean, say: Say): Promise<StackFault | null> => {
  const member = members[name]
  if (member === undefined) return stackFault(name, 'there is no such server', `name some of ${nativeNames.join(', ')}`)
  const known = stackServers(folder).find((server) => server.name === name)
  if (known !== undefined && (await stateOf(known)) === 'up') {
    say(name, `already up at ${Object.values(known.urls).join(', ')}`)
    return null
  }
  // One that runs and does not answer holds its data.
  if (known?.process != null) await endProcess(known.process, 'SIGKILL')
  const began = performance.now()
  const started = await member.start(
    join(folder, name),
    (line) => {
      say(name, line)
    },
    stackServers(folder),
  )()
  if (E.isLeft(started)) {
    if (member.optional && !asked && started.left.reason === notInstalled) {
      say(name, `left out: ${notInstalled}`)
      return null
    }
    say(name, `failed: ${started.left.reason}`)
    return started.left
  }
  const { launch, identity } = started.right
  const server = { name, version: launch.version, urls: launch.urls, process: identity, folder: launch.folder }
  saveServers(folder, [...stackServers(folder).filter((other) => other.name !== name), server])
  say(name, `up at ${Object.values(launch.urls).join(', ')} after ${Math.round(performance.now() - began)} ms`)
  return null
}

export type ServerState = 'up' | 'silent' | 'down'

/** `silent`: its process is there and does not answer. */
export const stateOf = async ({ name, process, urls }: StackServer): Promise<ServerState> => {
  if (process === null || !isAlive(process)) return 'down'
  return (await answers(name, urls)) ? 'up' : 'silent'
}

const portOf = (url: string | undefined): number => Number(/:(\d+)$/.exec(url ?? '')?.[1] ?? 0)

const answers = async (name: string, urls: StackServer['urls']): Promise<boolean> => {
  if (name === 'kafka') return kafkaAnswers(portOf(urls['kafka']))
  if (urls['nats'] !== undefined) return (await natsServerName(portOf(urls['nats']))) !== null
  return httpAnswers(`${urls['http'] ?? ''}/-/ready`)
}

/** Stops what runs, and forgets it; with `purge` its data goes too. */
export const nativeDown = async (folder: string, purge: boolean, say: Say): Promise<void> => {
  await Promise.all(
    stackServers(folder).map(async ({ name, process, folder: own }) => {
      if (process === null) return
      const ran = isAlive(process)
      await endProcess(process, 'SIGTERM')
      if (purge && own !== null) rmSync(own, { recursive: true, force: true })
      saveServers(
        folder,
        stackServers(folder).filter((other) => other.name !== name),
      )
      say(name, `${ran ? 'stopped' : 'did not run'}${purge ? ', its data is deleted' : ''}`)
    }),
  )
  if (purge) for (const name of nativeNames) rmSync(join(folder, name), { recursive: true, force: true })
}
