import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

export interface Told {
  readonly code: number | null
  readonly stderr: string
  readonly answers: ReadonlyArray<{ readonly id: string; readonly outcome: string; readonly reason?: string }>
  /** Most memory that it had, in MiB; 0 where it did not end well. */
  readonly peakMib: number
}

/** A line that is sent as it is, its end included, so that it may come in parts. */
export const part = (bytes: Buffer): Buffer => Object.assign(bytes, { isPart: true })

/** Sends lines to a process that ingests, until it has answered or given up. */
export const toIngest = async (data: string, lines: Iterable<string | Buffer>, kind = 'sqlite'): Promise<Told> => {
  const process_ = spawn(process.execPath, [resolve('dist/test/support/ingest-child.js'), data, kind, 'report'])
  const ended = once(process_, 'close')
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    process_[name].on('data', (chunk: Buffer) => (texts[name] += chunk.toString()))
  process_.stdin.on('error', () => undefined)
  for (const line of lines) {
    const isWhole = typeof line === 'string' || !('isPart' in line)
    if (isWhole) process_.stdin.write(line)
    if (!process_.stdin.write(isWhole ? '\n' : line) && process_.exitCode === null)
      await Promise.race([once(process_.stdin, 'drain'), ended]).catch(() => undefined)
  }
  process_.stdin.end()
  const [code] = (await ended) as [number | null]
  const answers = texts.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Told['answers'][number])
  return { code, stderr: texts.stderr, answers, peakMib: code === 0 ? Math.round(Number(texts.stderr) / 1_024) : 0 }
}
