import { mkdir, open, readFile, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Deed, JobsPicture } from './pretended-jobs.ts'

/** `picture` stands for all lines before it. */
export type JournalLine = { readonly deed: Deed } | { readonly told: string } | { readonly picture: JobsPicture }

/** Where an adapter keeps what it did, and what it finds there when it starts. */
export interface KeptJournal {
  /** Resolves when the line is kept and has been followed. Rejects when it cannot be kept. */
  readonly append: (line: JournalLine) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * @param follow  told of each line in order: those that are there, and later each that is kept
 * @param picture what counts of all lines that were followed
 */
export type OpenJournal = (follow: (line: JournalLine) => void, picture: () => JobsPicture) => Promise<KeptJournal>

const fileName = 'journal.ndjson'
/** Lines beyond the first, before the file is written anew from what still counts. */
const linesMax = 20_000
const waitingLinesMax = 1_000
const lineFeed = 0x0a

interface Waiting {
  readonly line: JournalLine
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

/** What an adapter keeps: lines of JSON in one file, appended to and now and then written anew. */
export class Journal implements KeptJournal {
  private readonly path: string
  private readonly follow: Parameters<OpenJournal>[0]
  private readonly picture: Parameters<OpenJournal>[1]
  private file: FileHandle
  /** Bytes of whole lines: what lies behind them is void. */
  private size: number
  private lines: number
  private linesMax: number
  private waiting: Waiting[] = []
  private flushing: Promise<void> | null = null

  private constructor(opened: Opened, file: FileHandle, follow: Journal['follow'], picture: Journal['picture']) {
    this.path = opened.path
    this.size = opened.size
    this.lines = opened.lines
    this.linesMax = linesMax
    this.file = file
    this.follow = follow
    this.picture = picture
  }

  /**
   * Opens the journal of a folder, and makes both where there is none. A line that a kill cut off was never acted on.
   * @param follow  told of each line in order: those that are there, and later each that has come on the disk
   * @param picture what counts of all lines that were followed
   * @throws what the file system refuses, or why a line cannot be read
   */
  static async open(folder: string, follow: Journal['follow'], picture: Journal['picture']): Promise<Journal> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, fileName)
    const bytes = await readFile(path).catch(() => null)
    const size = bytes === null ? 0 : bytes.lastIndexOf(lineFeed) + 1
    const lines = bytes === null ? [] : bytes.subarray(0, size).toString('utf8').split('\n').slice(0, -1)
    lines.forEach((line, i) => {
      follow(parsed(line, `${path}:${i + 1}`))
    })
    const file = await open(path, bytes === null ? 'w+' : 'r+', 0o600)
    await file.truncate(size)
    await file.datasync()
    return new Journal({ path, size, lines: lines.length }, file, follow, picture)
  }

  /** Resolves when the line is on the disk and has been followed. Rejects when it cannot be written. */
  append(line: JournalLine): Promise<void> {
    const appended = new Promise<void>((resolve, reject) => this.waiting.push({ line, resolve, reject }))
    this.flushing ??= this.drain().finally(() => (this.flushing = null))
    return appended
  }

  async close(): Promise<void> {
    await this.flushing
    await this.file.close()
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      // What else is appended in this turn shares the flush.
      await new Promise(setImmediate)
      const batch = this.waiting.splice(0, waitingLinesMax)
      try {
        await this.write(batch.map(({ line }) => `${JSON.stringify(line)}\n`).join(''))
      } catch (cause) {
        for (const { reject } of batch) reject(cause)
        continue
      }
      this.lines += batch.length
      for (const { line, resolve } of batch) {
        this.follow(line)
        resolve()
      }
      if (this.lines > this.linesMax) await this.writeAnew()
    }
  }

  private async write(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    try {
      for (let done = 0; done < bytes.length;)
        done += (await this.file.write(bytes, done, bytes.length - done, this.size + done)).bytesWritten
      await this.file.datasync()
      this.size += bytes.length
    } catch (cause) {
      await this.file.truncate(this.size).catch(() => undefined)
      throw cause
    }
  }

  /** A disk that has no room for it now has perhaps later: the file goes on as it is. */
  private async writeAnew(): Promise<void> {
    const next = `${this.path}.next`
    const bytes = Buffer.from(`${JSON.stringify({ picture: this.picture() })}\n`)
    let file: FileHandle | null = null
    try {
      file = await open(next, 'w+', 0o600)
      await file.writeFile(bytes)
      await file.datasync()
      await rename(next, this.path)
    } catch {
      await file?.close()
      await rm(next, { force: true }).catch(() => undefined)
      this.linesMax = this.lines + linesMax
      return
    }
    await this.file.close()
    this.file = file
    this.size = bytes.length
    this.lines = 1
    this.linesMax = linesMax
  }
}

interface Opened {
  readonly path: string
  readonly size: number
  readonly lines: number
}

const parsed = (line: string, place: string): JournalLine => {
  try {
    return JSON.parse(line) as JournalLine
  } catch {
    throw new Error(`${place} is damaged; move the file away, and what the pretended jobs were doing is forgotten`)
  }
}
