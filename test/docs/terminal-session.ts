import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export interface TerminalSession {
  readonly folder: string
  /** Runs a line of a page; `npx leasehold` is the build of this checkout, without npm's second of thought. */
  readonly run: (line: string) => { readonly status: number | null; readonly stdout: string; readonly stderr: string }
  /** Starts `leasehold up` in the session's folder; resolves to what it says when it runs. */
  readonly up: (...flags: ReadonlyArray<string>) => Promise<string>
  /** Stops it as Ctrl-C does, and whatever else was started, and resolves to the exit code. */
  readonly down: () => Promise<number | null>
  readonly close: () => Promise<void>
}

const binary = resolve('dist/services/cli/main.js')

/** Commands of a page that stand in a block marked `sh`, in order. */
export const commandsIn = (page: string): ReadonlyArray<string> =>
  Array.from(page.matchAll(/^```sh\n([^]*?)^```$/gm), ([, block]) => block!.trim().split('\n')).flat()

/** A folder of its own that looks like a clone, as far as the pages need one. */
export const terminalSession = (): TerminalSession => {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'))
  const npx = join(folder, 'npx')
  writeFileSync(npx, `#!/bin/sh\nshift\nexec node '${binary}' "$@"\n`)
  chmodSync(npx, 0o755)
  mkdirSync(join(folder, 'docs'))
  symlinkSync(resolve('docs/examples'), join(folder, 'docs', 'examples'))
  const systems: ChildProcess[] = []
  const stopped = async (system: ChildProcess): Promise<number | null> => {
    if (system.exitCode !== null || system.signalCode !== null) return system.exitCode
    const ended = once(system, 'exit')
    system.kill('SIGINT')
    return ((await ended) as [number | null])[0]
  }
  const down = async (): Promise<number | null> => {
    const codes = await Promise.all(systems.splice(0).map(stopped))
    return codes.find((code) => code !== 0) ?? codes[0] ?? null
  }
  return {
    folder,
    run: (line) =>
      spawnSync('sh', ['-c', line.replaceAll('/tmp/', `${folder}/`)], {
        encoding: 'utf8',
        cwd: folder,
        maxBuffer: 64 << 20,
        env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` },
      }),
    up: async (...flags) => {
      const child = spawn(process.execPath, [binary, 'up', '--port', '0', ...flags], { cwd: folder })
      systems.push(child)
      let said = ''
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
      return new Promise<string>((resolve, reject) => {
        child.stdout.once('data', (banner: Buffer) => {
          resolve(banner.toString())
        })
        child.once('exit', (code) => {
          reject(new Error(`up ended with ${code}: ${said}`))
        })
      })
    },
    down,
    close: async () => {
      await down()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
