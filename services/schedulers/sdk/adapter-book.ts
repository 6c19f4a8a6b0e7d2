import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { SourcedFact } from '../../../domain/planner/cloud-event.ts'
import { issuedAtOf } from '../../../domain/planner/command-event.ts'
import type { ConcludedCommands } from '../../../domain/ports/concluded-commands.ts'
import { Journal } from '../../../infra/file/journal.ts'
import { takeWriterLock, type WriterLock } from '../../../infra/file/writer-lock.ts'
import { attemptName, type Attempt, type RunningAttempt } from './attempt.ts'
import { isStart, isStop } from './handlers.ts'

type BookLine =
  | { readonly concluded: SourcedFact; readonly key: string }
  /** Facts that wait to be told, and ids of those that they take the place of. */
  | { readonly waits: ReadonlyArray<SourcedFact>; readonly instead: ReadonlyArray<string> }
  | { readonly told: ReadonlyArray<string> }
  | { readonly picture: BookPicture }

interface BookPicture {
  readonly concluded: ReadonlyArray<readonly [string, SourcedFact]>
  readonly running: ReadonlyArray<RunningAttempt>
  readonly stopped: ReadonlyArray<readonly [string, EpochMs]>
  readonly waiting: ReadonlyArray<SourcedFact>
}

export interface BookOptions {
  /** Of concluded commands, the last so many are remembered, and of attempts that were asked to stop. */
  readonly keptMax?: number
}

const keptDefaultMax = 16_384
/** Bounded besides by what runs: of progress and checkpoints only the newest of an attempt waits. */
const waitingMax = 100_000

/** What an adapter has to know after it was killed, in one journal that is on the disk before anybody relies on it. */
export class AdapterBook implements ConcludedCommands {
  private readonly concluded = new Map<string, SourcedFact>()
  private readonly stopped = new Map<string, EpochMs>()
  private readonly runs = new Map<string, RunningAttempt>()
  private readonly untold = new Map<string, SourcedFact>()
  private readonly keptMax: number
  private readonly lock: WriterLock
  private journal!: Journal<BookLine>

  private constructor(lock: WriterLock, keptMax: number) {
    this.lock = lock
    this.keptMax = keptMax
  }

  /** In this folder, which is made where there is none. `Left`: who has it. @throws what the file system refuses, or why a line cannot be read */
  static async open(
    folder: string,
    { keptMax = keptDefaultMax }: BookOptions = {},
  ): Promise<E.Either<string, AdapterBook>> {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const lock = takeWriterLock(join(folder, 'adapter.lock'))
    if (E.isLeft(lock)) return lock
    try {
      const book = new AdapterBook(lock.right, keptMax)
      book.journal = await Journal.open<BookLine>(join(folder, 'adapter.ndjson'), {
        follow: (line) => {
          book.follow(line)
        },
        picture: () => ({ picture: book.picture }),
        forgets: 'which commands were concluded',
      })
      return E.right(book)
    } catch (cause) {
      lock.right.release()
      throw cause
    }
  }

  find(key: string): SourcedFact | null {
    return this.concluded.get(key) ?? null
  }

  keep(key: string, told: SourcedFact): Promise<void> {
    return this.journal.append({ concluded: told, key })
  }

  /** By name. */
  get running(): ReadonlyMap<string, RunningAttempt> {
    return this.runs
  }

  /** When the newest command was issued that has stopped this attempt; null: none has, or it is forgotten. */
  stoppedBy(attempt: Attempt): EpochMs | null {
    return this.stopped.get(attemptName(attempt)) ?? null
  }

  /** To be told, in this order; by id. */
  get waiting(): ReadonlyMap<string, SourcedFact> {
    return this.untold
  }

  /** Resolves when they are kept. Of progress and of checkpoints only the newest of an attempt is kept. */
  wait(facts: ReadonlyArray<SourcedFact>): Promise<void> {
    if (this.untold.size + facts.length > waitingMax)
      return Promise.reject(new Error(`${waitingMax} facts wait to be told`))
    const instead = [...this.untold.values()].filter((old) => facts.some((fact) => replaces(fact, old)))
    return this.journal.append({ waits: facts, instead: instead.map(({ id }) => id) })
  }

  told(ids: ReadonlyArray<string>): Promise<void> {
    return this.journal.append({ told: ids })
  }

  async close(): Promise<void> {
    await this.journal.close()
    this.lock.release()
  }

  private follow(line: BookLine): void {
    if ('concluded' in line) this.conclude(line.key, line.concluded)
    else if ('told' in line) for (const id of line.told) this.untold.delete(id)
    else if ('picture' in line) this.take(line.picture)
    else {
      for (const id of line.instead) this.untold.delete(id)
      for (const fact of line.waits) {
        this.untold.set(fact.id, fact)
        if (fact.type === 'AttemptEnded') this.runs.delete(attemptName(fact.data))
      }
    }
  }

  private conclude(key: string, fact: SourcedFact): void {
    this.concluded.set(key, fact)
    dropOldest(this.concluded, this.keptMax)
    if (fact.type !== 'CommandConcluded' || fact.data.outcome !== 'done') return
    const { attempt, verb, workload } = fact.data
    const name = attemptName(fact.data)
    if (isStart(verb)) this.runs.set(name, { attempt, startedBy: key, workload })
    if (!isStop(verb)) return
    this.runs.delete(name)
    this.stopped.delete(name)
    this.stopped.set(name, issuedAtOf(key))
    dropOldest(this.stopped, this.keptMax)
  }

  private get picture(): BookPicture {
    return {
      concluded: [...this.concluded],
      running: [...this.runs.values()],
      stopped: [...this.stopped],
      waiting: [...this.untold.values()],
    }
  }

  private take({ concluded, running, stopped, waiting }: BookPicture): void {
    for (const [key, fact] of concluded) this.concluded.set(key, fact)
    for (const run of running) this.runs.set(attemptName(run), run)
    for (const [name, at] of stopped) this.stopped.set(name, at)
    for (const fact of waiting) this.untold.set(fact.id, fact)
  }
}

/** What counts of these is the newest. */
const replaces = (fact: SourcedFact, old: SourcedFact): boolean =>
  (fact.type === 'ProgressObserved' || fact.type === 'CheckpointCommitted') &&
  fact.type === old.type &&
  attemptName(fact.data) === attemptName(old.data)

const dropOldest = (kept: Map<string, unknown>, max: number): void => {
  for (const oldest of kept.keys()) {
    if (kept.size <= max) return
    kept.delete(oldest)
  }
}
