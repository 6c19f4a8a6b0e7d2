import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterEach } from 'vitest'

export interface UpVerb {
  readonly pid: number
  readonly address: string
  readonly kill: (signal: NodeJS.Signals) => boolean
  /** Resolves with its exit code, null after a signal. */
  readonly ended: Promise<number | null>
}

/** A way to start the verb itself, as a person does; what still runs after a test is killed. */
export const upVerb = (): ((words: ReadonlyArray<string>, environment?: NodeJS.ProcessEnv) => Promise<UpVerb>) => {
  const left: (() => void)[] = []
  afterEach(() => {
    for (const end of left.splice(0)) end()
  })
  return async (words, environment = {}) => {
    const process_ = spawn(process.execPath, ['dist/services/cli/main.js', 'up', '--port', '0', ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...environment },
    })
    left.push(() => process_.kill('SIGKILL'))
    const ended = new Promise<number | null>((resolve) => process_.once('exit', resolve))
    const address = await new Promise<string>((resolve, reject) => {
      createInterface(process_.stdout).on('line', (line) => {
        const [, found] = /address\s+(http:\S+)/.exec(line) ?? []
        if (found !== undefined) resolve(found)
      })
      void ended.then((code) => {
        reject(new Error(`it ended with ${code}`))
      })
    })
    return { pid: process_.pid!, address, kill: (signal) => process_.kill(signal), ended }
  }
}
