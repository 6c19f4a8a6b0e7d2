import { classesOf } from '../policy/allocation-policy.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import { LeafOrder } from './leaf-order.ts'
import type { Line } from './line.ts'
import { ShareWalk } from './share-walk.ts'
import type { WaitingQueue } from './waiting-queue.ts'
import type { Workload } from './workload.ts'

/**
 * What waits and has a place in an order, as it is served if all of it fits: in one sequence by shares where books are
 * kept, else queue by queue.
 */
export const servingSequences = (cell: Cell): ReadonlyArray<Iterable<Workload>> => {
  const { books, kueue, policy, queueNamed, queues } = cell
  if (policy === null) return Array.from(queueNamed.values(), chain)
  if (books !== null) return [byShares(cell, books)]
  return queues.map((queue) => (kueue === null ? chain(queue) : byClass(LeafOrder.of(policy, cell.now), queue)))
}

function* byShares({ now, policy }: Cell, books: Books): Generator<Workload> {
  books.advance(now)
  const walk = new ShareWalk(books, classesOf(policy!), now)
  for (const [node, lines] of books.lines)
    for (const line of lines) {
      const first = line.first!
      walk.put({ node, line, workload: first, isOpen: true, block: null, isOutrun: false }, first)
    }
  for (let turn = walk.next(); turn !== null; turn = walk.next()) {
    const { workload } = turn
    yield workload
    walk.pass(turn, behind(turn.line, workload))
  }
}

function* byClass(order: LeafOrder, { lines }: WaitingQueue): Generator<Workload> {
  const fronts = new Map<Line, Workload>()
  for (const line of lines) fronts.set(line, line.first!)
  while (fronts.size > 0) {
    let [line, first] = fronts.entries().next().value!
    for (const [other, front] of fronts) if (order.isBefore(front, first)) [line, first] = [other, front]
    yield first
    const next = behind(line, first)
    if (next === null) fronts.delete(line)
    else fronts.set(line, next)
  }
}

function* chain({ head }: WaitingQueue): Generator<Workload> {
  for (let one = head; one !== null; one = one.next) yield one
}

const behind = (line: Line, { slot }: Workload): Workload | null => line.atOrAfter(slot + 1)
