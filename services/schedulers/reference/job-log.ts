import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** What a job says of itself, in lines of its log that begin with `leasehold: `. */
const sayings = ['progress', 'checkpoint', 'shrunk', 'can checkpoint', 'can shrink'] as const
export type Saying = (typeof sayings)[number]

const word = 'leasehold: '
const chunkBytes = 65_536
/** A line that is longer says nothing to us. */
const lineBytesMax = 4_096

/** What a job has said so far, and how often. */
export class JobLog {
  private readonly path: string
  private at = 0
  private newestAt = 0
  private begun = ''
  private readonly counts = new Map<Saying, number>()

  constructor(path: string) {
    this.path = path
  }

  times(saying: Saying): number {
    return this.counts.get(saying) ?? 0
  }

  /** When the newest was written of what has been taken in. */
  get writtenAt(): number {
    return this.newestAt
  }

  /** Takes in what has been written since. */
  read(): void {
    let file: number
    try {
      file = openSync(this.path, 'r')
    } catch {
      return // It has written nothing yet.
    }
    try {
      const { mtimeMs, size } = fstatSync(file)
      const bytes = Buffer.allocUnsafe(chunkBytes)
      while (this.at < size) {
        const read = readSync(file, bytes, 0, chunkBytes, this.at)
        if (read === 0) break
        this.at += read
        this.newestAt = Math.floor(mtimeMs)
        this.take(bytes.toString('latin1', 0, read))
      }
    } finally {
      closeSync(file)
    }
  }

  private take(text: string): void {
    const lines = `${this.begun}${text}`.split('\n')
    this.begun = lines.pop()!.slice(0, lineBytesMax)
    for (const line of lines) {
      if (!line.startsWith(word)) continue
      const saying = sayings.find((each) => each === line.slice(word.length).trim())
      if (saying !== undefined) this.counts.set(saying, this.times(saying) + 1)
    }
  }
}
