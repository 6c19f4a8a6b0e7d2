import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { CellEvent } from '../../domain/planner/cell-event.ts'
import { cellDecider } from '../../domain/planner/decide.ts'
import { fromSnapshot, takeSnapshot, type CellSnapshot } from '../../domain/planner/cell-snapshot.ts'
import type { EventLog, LogUnavailable, StreamHead } from '../../domain/ports/event-log.ts'
import type { SnapshotStore } from '../../infra/host/snapshot-store.ts'

export const foldPageMax = 2_000

/** A cell as its stream tells it, and how many events that took. */
export interface Folded {
  readonly cell: Cell
  readonly size: number
}

export interface FoldOptions {
  /** The cell as it stood at this instant, or at the end of the log where that is earlier; absent or null: all. */
  readonly until?: EpochMs | null
  /** Where a snapshot may lie that spares the way up to it. */
  readonly snapshots?: SnapshotStore
  /** Told after each page how many events have been folded. */
  readonly seen?: (events: number) => void
}

/** Folds a stream into a cell. */
export const foldCell = async (
  log: EventLog,
  stream: string,
  { until = null, snapshots, seen = () => undefined }: FoldOptions = {},
): Promise<E.Either<LogUnavailable, Folded>> => {
  const { initial, evolve } = cellDecider(stream)
  let { cell, size } = (await fromStore(log, stream, snapshots, until)) ?? { cell: initial(), size: 0 }
  for (;;) {
    const page = await log.readMessages(stream, size, foldPageMax)()
    if (E.isLeft(page)) return page
    for (const message of page.right as unknown as ReadonlyArray<CellEvent>) {
      if (until !== null && message.at > until) {
        cell.now = until // Nothing happened in between, and what waits has waited until then.
        return E.right({ cell, size })
      }
      try {
        cell = evolve(cell, message)
      } catch (cause) {
        return E.left(unfoldable(stream, size, cause))
      }
      size++
    }
    seen(size)
    if (page.right.length < foldPageMax) return E.right({ cell, size })
    // Whoever else is asked something meanwhile has their turn.
    await new Promise(setImmediate)
  }
}

/** Form of the snapshot's body; another release's is not read. */
const snapshotVersion = 11

/** A cell as text after so many events of its stream. */
export interface CellPicture {
  readonly stream: string
  readonly size: number
  readonly body: string
}

/** @param size events that the cell has been folded from, or decided into, whether or not they are recorded yet */
export const pictureOf = (cell: Cell, size: number): CellPicture => ({
  stream: cell.name,
  size,
  body: JSON.stringify({ version: snapshotVersion, cell: takeSnapshot(cell) }),
})

/** Keeps it if it is of all that the stream held at this head, neither more nor less. */
export const keepPicture = async (
  { stream, size, body }: CellPicture,
  head: StreamHead | null,
  snapshots: SnapshotStore,
): Promise<void> => {
  if (head?.size === size) await snapshots.save({ stream, revision: size - 1, hash: head.hash, body })()
}

/** Null: the stream is not there, or the log cannot be read. */
export const headOfStream = async (log: EventLog, stream: string): Promise<StreamHead | null> => {
  const heads = await log.heads()()
  return E.isLeft(heads) ? null : (heads.right.find((head) => head.stream === stream) ?? null)
}

/** Keeps a cell that has been folded from, or decided into, all of its stream. */
export const keepSnapshot = async (log: EventLog, cell: Cell, snapshots: SnapshotStore): Promise<void> => {
  const head = await headOfStream(log, cell.name)
  if (head !== null) await keepPicture(pictureOf(cell, head.size), head, snapshots)
}

/** The cell of the newest snapshot, if it is of this stream, of this release and not too new; null: fold it all. */
const fromStore = async (
  log: EventLog,
  stream: string,
  snapshots: SnapshotStore | undefined,
  until: EpochMs | null,
): Promise<Folded | null> => {
  const { snapshot } = (await snapshots?.load(stream, log)) ?? { snapshot: null }
  if (snapshot === null) return null
  try {
    const { version, cell } = JSON.parse(snapshot.body) as { version: number; cell: CellSnapshot }
    if (version !== snapshotVersion || (until !== null && cell.now > until)) return null
    return { cell: fromSnapshot(cell), size: snapshot.revision + 1 }
  } catch {
    return null
  }
}

/** The log holds what no cell could have recorded: it was written by something else, or is damaged. */
const unfoldable = (stream: string, revision: number, cause: unknown): LogUnavailable => ({
  type: 'LogUnavailable',
  kind: 'damaged',
  reason: `event ${revision} of ${stream} does not follow from those before it: ${String(cause)}`,
  mend: 'run `leasehold audit verify`, and restore the log from a copy that passes',
})
