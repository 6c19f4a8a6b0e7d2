import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const binary = 'dist/services/cli/main.js'

export interface AdapterProcess {
  readonly pid: number
  readonly said: () => string
  /** Resolves to its exit code, null after SIGKILL. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Resolves when it takes commands. */
export const startAdapterProcess = async (
  words: ReadonlyArray<string>,
  environment: { readonly [name: string]: string } = {},
): Promise<AdapterProcess> => {
  const child: ChildProcess = spawn(process.execPath, [binary, 'adapter', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  let said = ''
  const heard = (chunk: Buffer) => (said += chunk.toString())
  child.stderr!.on('data', heard)
  child.stdout!.on('data', heard)
  const ended = once(child, 'exit') as Promise<[number | null]>
  const up = once(child.stdout!, 'data')
  await Promise.race([up, ended.then(([code]) => Promise.reject(new Error(`it ended with ${code}: ${said}`)))])
  ended.catch(() => undefined)
  return {
    pid: child.pid!,
    said: () => said,
    end: async (signal) => {
      child.kill(signal)
      return (await ended)[0]
    },
  }
}

/** Folders of all attempts of a workload, in the order of its lives. */
export const attemptFolders = (data: string, workload: string, adapter = 'reference'): ReadonlyArray<string> => {
  const root = join(data, 'adapters', adapter, 'jobs', workload)
  if (!existsSync(root)) return []
  return readdirSync(root)
    .sort()
    .flatMap((life) =>
      readdirSync(join(root, life))
        .filter((name) => name !== 'state')
        .sort()
        .map((attempt) => join(root, life, attempt)),
    )
}

/** Lines of the log of each attempt. */
export const logsOf = (data: string, workload: string): ReadonlyArray<ReadonlyArray<string>> =>
  attemptFolders(data, workload).map((folder) => {
    const file = join(folder, 'log')
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  })

/** Processes that run a job in these folders, with their shells: pids by the folder. */
export const jobProcesses = (data: string): ReadonlyArray<number> =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
        return environment.includes(`LEASEHOLD_STATE=${data}`)
      } catch {
        return false // It has ended meanwhile.
      }
    })
