import type { Cell } from './cell.ts'
import type { Line } from './line.ts'
import type { WaitingQueue } from './waiting-queue.ts'
import type { Workload } from './workload.ts'

/** What a copy of a cell has to have so that its next pass starts a workload where the cell's own would. */
export interface Contenders {
  readonly workloads: ReadonlySet<Workload>
  /** Others stand behind these that were left out: once one of them starts, the copy says nothing of the cell any more. */
  readonly rims: ReadonlySet<string>
  /** How many lines there are, each of which every pass looks at. */
  readonly lines: number
}

/** Fewer of each line where there are many lines. */
const waitingMax = 10_000

/**
 * What runs, those for whom places are kept, and the first of what waits of each kind beside the workload itself:
 * whoever stands behind the first of a line starts after it. O(nodes, what runs, lines), whatever waits.
 */
export const contendersOf = (cell: Cell, own: Workload, perLineMax: number): Contenders => {
  const workloads = new Set<Workload>([own])
  const rims = new Set<string>()
  for (let node = 0; node < cell.fleet.nodes.length; node++)
    for (const running of cell.runningOn(node)) workloads.add(running)
  for (const id of cell.places.keys()) workloads.add(cell.workloads.get(id)!)
  // Beside itself, which leaves its place among them, and one more, which tells that there are others.
  const add = (first: Iterable<Workload>, most: number) => {
    const others = [...first].filter((one) => one !== own)
    const taken = others.slice(0, most)
    for (const one of taken) workloads.add(one)
    if (others.length > most) rims.add(taken.at(-1)!.id)
  }
  const lines = [...linesOf(cell)]
  const perLine = Math.max(1, Math.min(perLineMax, Math.floor(waitingMax / lines.length)))
  for (const line of lines) add(firstOfLine(line, perLine + 2), perLine)
  for (const queue of cell.queues)
    if (cell.books === null && queue.ordering !== 'greedy') add(firstOfQueue(queue, perLineMax + 2), perLineMax)
  return { workloads, rims, lines: lines.length }
}

/** At least so many, without looking at each: what runs, and one of each line. */
export const leastContenders = ({ books, ends, queues, unending }: Cell): number => {
  const running = ends.size + unending.size
  if (books !== null) return running + books.lineCount
  return queues.reduce((sum, { lines }) => sum + lines.size, running)
}

function* linesOf({ books, queues }: Cell): Generator<Line> {
  for (const set of books === null ? queues.map(({ lines }) => lines) : books.lines.values()) yield* set
}

function* firstOfLine(line: Line, most: number): Generator<Workload> {
  for (let i = 0, one = line.first; i < most && one !== null; i++, one = line.atOrAfter(one.slot + 1)) yield one
}

function* firstOfQueue({ head }: WaitingQueue, most: number): Generator<Workload> {
  for (let i = 0, one = head; i < most && one !== null; i++, one = one.next) yield one
}
