import { mkdir, open, readFile, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

/** What its owner makes of the lines of a journal. */
export interface Journaling<Line> {
  /** Told of each line in order: those that are there, and later each that has come on the disk. */
  readonly follow: (line: Line) => void
  /** A line that stands for all that were followed. */
  readonly picture: () => Line
  /** What is lost with a file that is moved away because it is damaged. */
  readonly forgets: string
}

/** Lines beyond the first, before the file is written anew from what still counts. */
const linesMax = 20_000
const waitingLinesMax = 1_000
const lineFeed = 0x0a

interface Waiting<Line> {
  readonly line: Line
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

/** What somebody keeps: lines of JSON in one file, appended to and now and then written anew. */
export class Journal<Line> {
  private readonly path: string
  private readonly journaling: Journaling<Line>
  private file: FileHandle
  /** Bytes of whole lines: what lies behind them is void. */
  private size: number
  private lines: number
  private linesMax = linesMax
  private waiting: Waiting<Line>[] = []
  private flushing: Promise<void> | null = null

  private constructor({ path, size, lines }: Opened, file: FileHandle, journaling: Journaling<Line>) {
    this.path = path
    this.size = size
    this.lines = lines
    this.file = file
    this.journaling = journaling
  }

  /**
   * Opens a journal, and makes it and its folder where there is none. A line that a kill cut off was never acted on.
   * @throws what the file system refuses, or why a line cannot be read
   */
  static async open<Line>(path: string, journaling: Journaling<Line>): Promise<Journal<Line>> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const bytes = await readFile(path).catch(() => null)
    const size = bytes === null ? 0 : bytes.lastIndexOf(lineFeed) + 1
    const lines = bytes === null ? [] : bytes.subarray(0, size).toString('utf8').split('\n').slice(0, -1)
    lines.forEach((line, i) => {
      journaling.follow(parsed(line, `${path}:${i + 1}`, journaling.forgets) as Line)
    })
    const file = await open(path, bytes === null ? 'w+' : 'r+', 0o600)
    await file.truncate(size)
    await file.datasync()
    return new Journal({ path, size, lines: lines.length }, file, journaling)
  }

  /** Resolves when the line is on the disk and has been followed. Rejects when it cannot be written. */
  append(line: Line): Promise<void> {
    const appended = new Promise<void>((resolve, reject) => this.waiting.push({ line, resolve, reject }))
    this.flushing ??= this.drain()
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
        this.journaling.follow(line)
        resolve()
      }
      if (this.lines > this.linesMax) await this.writeAnew()
    }
    // In this very turn: whoever appends in the next one, because of what was kept in this, has to begin anew.
    this.flushing = null
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
    const bytes = Buffer.from(`${JSON.stringify(this.journaling.picture())}\n`)
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
    await this.file.close().catch(() => undefined)
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

const parsed = (line: string, place: string, forgets: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    throw new Error(`${place} is damaged; move the file away, and ${forgets} is forgotten`)
  }
}
