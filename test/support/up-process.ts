import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { UpOptions } from './up-child.ts'

const child = 'dist/test/support/up-child.js'

export interface UpProcess {
  readonly pid: number
  readonly address: string
  readonly kill: (signal: NodeJS.Signals) => void
  /** Resolves with its exit code, null after a signal. */
  readonly ended: Promise<number | null>
}

/** Resolves when it takes requests, rejects with what it says else. */
export const startUp = (options: UpOptions): Promise<UpProcess> =>
  new Promise((resolve, reject) => {
    const process_ = spawn(process.execPath, [child, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = new Promise<number | null>((settle) => {
      process_.once('exit', settle)
    })
    createInterface(process_.stdout).on('line', (line) => {
      const [word, address = ''] = line.split(' ')
      if (word === 'ready') resolve({ pid: process_.pid!, address, kill: (signal) => process_.kill(signal), ended })
      else reject(new Error(line))
    })
    void ended.then((code) => {
      reject(new Error(`it ended before it was ready: ${code}`))
    })
  })

/** Processes that run chDB for this one. */
export const chdbChildren = (parent: number): ReadonlyArray<number> =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const ofParent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
        return ofParent && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('chdb-door')
      } catch {
        return false // It has ended meanwhile.
      }
    })

/** Resident memory of a process, KiB. */
export const residentKib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN)
