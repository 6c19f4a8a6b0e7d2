import { classesOf } from '../policy/allocation-policy.ts'
import type { Books } from './books.ts'
import type { Cell } from './cell.ts'
import type { Line } from './line.ts'
import { QueueOrder } from './queue-order.ts'
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
  return queues.map((queue) => (kueue === null ? chain(queue) : sharedQuota(cell, queue)))
}

/**
 * What waits in a queue whose quota is shared. Where usage decides, each counts as started for those behind it, until
 * whoever asks has seen enough.
 */
export function* sharedQuota({ kueue, now, policy }: Cell, queue: WaitingQueue): Generator<Workload> {
  const usage = kueue!.usage
  usage?.lookAt(now)
  const charged: Workload[] = []
  try {
    for (const workload of inOrder(new QueueOrder(policy!, usage, now), queue)) {
      yield workload
      usage?.charge(workload, null)
      charged.push(workload)
    }
  } finally {
    for (const workload of charged) usage?.takeBack(workload)
  }
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

function* inOrder(order: QueueOrder, { lines }: WaitingQueue): Generator<Workload> {
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

/** By age alone. */
export function* chain({ head }: WaitingQueue): Generator<Workload> {
  for (let one = head; one !== null; one = one.next) yield one
}

const behind = (line: Line, { slot }: Workload): Workload | null => line.atOrAfter(slot + 1)
