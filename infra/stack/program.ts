import { spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where servers and Go are put that an administrator's shell finds and another environment may not. */
const usualFolders = ['/usr/sbin', '/usr/local/go/bin']

/** The first executable file of that name on the search path, or where such programs usually are; null: there is none. */
export const findProgram = (name: string): string | null => {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...usualFolders]
  for (const folder of folders) {
    if (folder === '') continue
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      if (statSync(path).isFile()) return path
    } catch {
      continue
    }
  }
  return null
}

export interface Ran {
  /** Null: a signal ended it, or the time was up. */
  readonly status: number | null
  /** What it wrote, to either. */
  readonly text: string
}

const textCharsMax = 1_000_000

/** Runs a program to its end. Never rejects: one that cannot be started has the status null and says why. */
export const run = (
  program: string,
  args: ReadonlyArray<string>,
  timeMaxMs: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> =>
  new Promise((resolve) => {
    let text = ''
    const child = spawn(program, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeMaxMs,
      killSignal: 'SIGKILL',
    })
    const take = (chunk: Buffer): void => {
      text = (text + chunk.toString()).slice(-textCharsMax)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.on('error', (cause) => {
      resolve({ status: null, text: `${text}${cause.message}` })
    })
    child.on('close', (status) => {
      resolve({ status, text })
    })
  })

const linesMax = 3

/** The end of what a program wrote, in one line, without where in its code it was. */
export const lastLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(at |\.\.\. \d+ more)/.test(line))
    .slice(-linesMax)
    .join(' | ')
