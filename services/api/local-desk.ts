import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { nearest } from '../../domain/kernel/wording.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { Command } from '../../domain/planner/command.ts'
import { misnamedBy } from '../../domain/planner/misnamed.ts'
import { openCommand } from '../../domain/planner/open-commands.ts'
import type { EventLog, LogUnavailable } from '../../domain/ports/event-log.ts'
import type { RebuiltTable, Views, ViewsUnavailable } from '../../domain/ports/views.ts'
import type { WorkloadIntent } from '../../domain/workload/intent.ts'
import { drillsOf } from '../../projections/explain/drills.ts'
import { fleetOf } from '../../projections/explain/fleet.ts'
import { planOf, type PlanAnswer } from '../../projections/explain/plan.ts'
import { policyOf } from '../../projections/explain/policy.ts'
import { positionOf } from '../../projections/explain/position.ts'
import { prioOf } from '../../projections/explain/prio.ts'
import { queueOf } from '../../projections/explain/queue.ts'
import { shareOf } from '../../projections/explain/share.ts'
import { whyWithHints } from '../../projections/explain/why.ts'
import { streamSize } from '../../infra/chain/chain-head.ts'
import { notYetKnown } from './as-of.ts'
import { isOpen } from './dead-letter-index.ts'
import type { Answered, AsOf, Desk, DeskFault, EventRow, SystemStatus } from './desk.ts'
import { decisionsFrom } from './event-stream.ts'
import { decisionsIn, lifeOf, preemptionsOf, rowOf } from './event-rows.ts'
import { fateOf, notYetSubmitted, stateOf, unknownWorkload } from './fate.ts'
import { FoldTurns } from './fold-turns.ts'
import { Follower } from './follower.ts'
import type { Intake } from './intake.ts'
import { noPolicy, Orders } from './orders.ts'

/** A cell as it stood at an instant (null: at the end of the log), and how many events of its stream that took. */
export type FoldCell = (
  until: EpochMs | null,
) => Promise<E.Either<LogUnavailable, { readonly cell: Cell; readonly size: number }>>

/** What a desk is put together from. The functions are asked anew at every question: what they tell of may come and go. */
export interface DeskParts {
  readonly version: string
  /** The cell's stream. */
  readonly cell: string
  readonly log: EventLog
  /** Gives a cell of its own at each call: the desk keeps one and changes it. */
  readonly fold: FoldCell
  /** Left: nothing can be ordered here, and why. */
  readonly intake: E.Either<LogUnavailable, Intake>
  readonly views: () => E.Either<ViewsUnavailable, Views>
  readonly rebuild: () => Answered<ReadonlyArray<RebuiltTable>>
  readonly running: () => SystemStatus['running']
  /** What `now` is where time goes on by itself; null: the end of the log. */
  readonly now: () => EpochMs | null
  /** What is known of the views without asking them for more than how far they are; null: there are none. */
  readonly viewsStatus: () => Promise<SystemStatus['views']>
  readonly degraded: () => SystemStatus['degraded']
}

/** A desk that follows its log. */
export interface LocalDesk extends Desk {
  /** What it follows: for figures, and for whoever wants to hear of events as they come. */
  readonly follower: Follower
  /** Decisions from a position of the log on, as they come: see event-stream.ts. */
  readonly events: (from: number, signal: AbortSignal) => AsyncIterable<ReadonlyArray<EventRow>>
  /** Ends the following; the log stays open. */
  readonly close: () => Promise<void>
}

/** Folds the cell, and follows the log from there on. */
export const openDesk = async (parts: DeskParts): Promise<E.Either<LogUnavailable, LocalDesk>> => {
  const folded = await parts.fold(null)
  if (E.isLeft(folded)) return folded
  const follower = await Follower.open(parts.log, folded.right)
  return E.isLeft(follower) ? follower : E.right(deskOver(parts, follower.right))
}

/** Each is worked out on a cell of its own, which takes a while where much waits: others are answered in between. */
const plansMax = 20

const plansOf = async (
  cell: Cell,
  intents: ReadonlyArray<WorkloadIntent>,
): Promise<E.Either<DeskFault, ReadonlyArray<PlanAnswer>>> => {
  if (cell.fleet.nodes.length === 0)
    return E.left({ type: 'Refused', reason: 'the log knows no fleet', mend: 'send its nodes first' })
  if (intents.length > plansMax) {
    const fault = {
      path: '$',
      reason: `has ${intents.length} intents, above ${plansMax}`,
      mend: 'plan fewer at a time',
    }
    return E.left({ type: 'Invalid', faults: [fault] })
  }
  const plans: PlanAnswer[] = []
  for (const intent of intents) {
    await new Promise(setImmediate)
    plans.push(planOf(cell, intent))
  }
  return E.right(plans)
}

const openIn = (cell: Cell, limit: number): ReadonlyArray<Command> => {
  const open: Command[] = []
  for (const workload of cell.workloads.values()) {
    const command = openCommand(cell, workload)
    if (command !== null && open.push(command) === limit) break
  }
  return open
}

const deskOver = (parts: DeskParts, follower: Follower): LocalDesk => {
  const { log, cell: stream } = parts
  const folds = new FoldTurns()
  /** The cell as it stands now, where what waits has waited on although nothing has happened since. */
  const cellNow = async (): Promise<E.Either<LogUnavailable, Cell>> => {
    await follower.caughtUp()
    const { cell, fault } = follower
    cell.now = Math.max(cell.now, parts.now() ?? 0) as EpochMs
    return fault === null ? E.right(cell) : E.left(fault)
  }
  const cellAt = async (at: AsOf): Promise<E.Either<DeskFault, Cell>> => {
    const present = await cellNow()
    if (at === null || E.isLeft(present)) return present
    const unknown = notYetKnown(at, present.right.now)
    if (unknown !== null) return E.left(unknown)
    const folded = await folds.take(() => parts.fold(at))
    if (E.isLeft(folded)) return folded
    const { cell } = folded.right
    cell.now = at
    return E.right(cell)
  }
  const asking =
    <A>(at: AsOf, answer: (cell: Cell) => E.Either<DeskFault, A> | Promise<E.Either<DeskFault, A>>): Answered<A> =>
    async () => {
      const cell = await cellAt(at)
      return E.isLeft(cell) ? cell : answer(cell.right)
    }
  const ordering =
    <A>(order: (orders: Orders) => Promise<E.Either<DeskFault, A>>): Answered<A> =>
    async () => {
      if (E.isLeft(parts.intake)) return parts.intake
      await follower.caughtUp()
      return order(new Orders(log, follower, parts.intake.right))
    }
  /** Of one that the cell has not. */
  const goneOrUnknown = async (id: string, cell: Cell): Promise<DeskFault> => {
    const used = await follower.wasUsed(id)
    if (E.isLeft(used)) return used.left
    return used.right ? fateOf(log, cell, id) : unknownWorkload(id, cell)
  }
  const ofWorkload = async <A extends object>(
    answer: Parameters<typeof answerOr<A>>[0],
    cell: Cell,
    id: string,
  ): Promise<E.Either<DeskFault, A>> =>
    answer === null ? E.left(await goneOrUnknown(id, cell)) : answerOr(answer, cell, id)
  /** Null: it was submitted by then. */
  const unknownUntil = async (id: string, until: EpochMs): Promise<DeskFault | null> => {
    const used = await follower.wasUsed(id)
    if (E.isLeft(used)) return used.left
    return used.right ? notYetSubmitted(log, stream, id, until) : unknownWorkload(id, follower.cell)
  }
  const openLetter = async (id: string): Promise<E.Either<DeskFault, { readonly body: string | null }>> => {
    const letter = await follower.deadLetters.detail(log, id)
    if (E.isLeft(letter)) return letter
    const { right } = letter
    if (right === null) return E.left(unknownLetter(id))
    const { state } = right
    return isOpen(state)
      ? E.right(right)
      : E.left({ type: 'Refused', reason: `it has been ${state} already`, mend: 'nothing is left to do about it' })
  }

  return {
    follower,
    events: (from, signal) => decisionsFrom(log, follower, from, signal),
    close: () => follower.stop(),

    submit: (intents, by) => ordering((orders) => orders.submit(intents, by)),
    cancel: (workload, by) => ordering((orders) => orders.cancel(workload, by)),
    hold: (workload, by) => ordering((orders) => orders.hold(workload, by)),
    release: (workload, by) => ordering((orders) => orders.release(workload, by)),
    concludeDrill: (drill, by) => ordering((orders) => orders.concludeDrill(drill, by)),
    facts: (lines) => async () =>
      E.isLeft(parts.intake) ? parts.intake : new Orders(log, follower, parts.intake.right).facts(lines),
    setHealth: (node, device, health, by) => ordering((orders) => orders.setHealth(node, device, health, by)),
    activatePolicy: (document, by) => ordering((orders) => orders.activatePolicy(document, by)),
    grantException: (exception, by) => ordering((orders) => orders.grantException(exception, by)),
    revokeException: (name, by) => ordering((orders) => orders.revokeException(name, by)),
    freeze: (pool, frozen, by) => ordering((orders) => orders.freeze(pool, frozen, by)),

    commands: (limit, at) => asking(at, (cell) => E.right(cell.standing === 'automate' ? openIn(cell, limit) : [])),

    state: (id) => asking(null, () => stateOf(log, follower, id)),
    why: (id, at) =>
      asking(at, async (cell) => {
        const why = whyWithHints(cell, id)
        return why === null ? E.left(await goneOrUnknown(id, cell)) : E.right(why)
      }),
    whyPreempted: (id, at) =>
      asking(null, async (cell) => {
        const until = at ?? cell.now
        const unknown = (await unknownUntil(id, until)) ?? notYetKnown(at, cell.now)
        return unknown === null ? preemptionsOf(log, stream, id, until) : E.left(unknown)
      }),
    prio: (id, at) => asking(at, (cell) => ofWorkload(prioOf(cell, id), cell, id)),
    position: (id, limit, at) => asking(at, (cell) => ofWorkload(positionOf(cell, id, limit), cell, id)),
    share: (node, at) =>
      asking(at, (cell) => {
        const share = shareOf(cell, node)
        return share === null ? E.left(unknownNode(cell, node ?? '')) : answerOr(share, cell, '')
      }),
    drills: (at) => asking(at, (cell) => E.right(drillsOf(cell))),
    policy: (at) =>
      asking(at, (cell) => {
        const policy = policyOf(cell)
        return policy === null ? E.left(noPolicy) : E.right(policy)
      }),
    plan: (intents, at) => asking(at, (cell) => plansOf(cell, intents)),
    queue: (queue, limit, at) =>
      asking(at, (cell) => {
        const answer = queueOf(cell, queue, limit)
        return answer === null ? E.left(unknownQueue(cell, queue ?? '')) : E.right(answer)
      }),
    fleet: (at) => asking(at, (cell) => E.right(fleetOf(cell))),
    decisions: (filter) => async () => {
      const present = await cellNow()
      if (E.isLeft(present)) return present
      const unknown = notYetKnown(filter.at, present.right.now)
      if (unknown !== null) return E.left(unknown)
      const size = await streamSize(log, stream)()
      return E.isLeft(size) ? size : decisionsIn(log, stream, size.right, filter)
    },
    life: (id, at) => async () => {
      const present = await cellNow()
      if (E.isLeft(present)) return present
      const unknown = notYetKnown(at, present.right.now) ?? (await unknownUntil(id, at ?? present.right.now))
      if (unknown !== null) return E.left(unknown)
      const life = await lifeOf(log, stream, id)
      if (E.isLeft(life)) return life
      return E.right(life.right.filter(({ message }) => at === null || message.at <= at).map(rowOf))
    },

    sql: (query, limits) => async () => {
      const views = parts.views()
      return E.isLeft(views) ? views : views.right.query(query, limits)()
    },
    rebuild: () => parts.rebuild(),

    deadLetters: () => async () => {
      await follower.caughtUp()
      return follower.deadLetters.list(log)
    },
    deadLetter: (id) => async () => {
      await follower.caughtUp()
      const letter = await follower.deadLetters.detail(log, id)
      if (E.isLeft(letter)) return letter
      return letter.right === null ? E.left(unknownLetter(id)) : E.right(letter.right)
    },
    replayDeadLetter: (id, by) =>
      ordering(async (orders) => {
        const letter = await openLetter(id)
        if (E.isLeft(letter)) return letter
        const { body } = letter.right
        return body === null ? E.left(cutLetter) : orders.replay(id, body, by)
      }),
    dropDeadLetter: (id, by) =>
      ordering(async (orders) => {
        const letter = await openLetter(id)
        return E.isLeft(letter) ? letter : orders.drop(id, by)
      }),

    status: () => async () => {
      await cellNow()
      return E.right(await statusOf(parts, follower))
    },
  }
}

const statusOf = async (parts: DeskParts, { cell, deadLetters, fault, position }: Follower): Promise<SystemStatus> => ({
  version: parts.version,
  cell: parts.cell,
  events: position + 1,
  now: cell.now,
  mode: cell.standing,
  running: parts.running(),
  views: await parts.viewsStatus(),
  deadLetters: deadLetters.waiting,
  degraded: [...(fault === null ? [] : [{ what: 'log', reason: fault.reason, mend: fault.mend }]), ...parts.degraded()],
})

const unknownLetter = (id: string): DeskFault => ({
  type: 'NotFound',
  reason: `there is no dead letter ${id}`,
  mend: 'see `leasehold dlq list`',
})

const cutLetter: DeskFault = {
  type: 'Refused',
  reason: 'only its beginning was kept',
  mend: 'send it again from where it came, and drop this one',
}

/** Null: there is no such workload; a text: there is, and nothing can be said of it. */
const answerOr = <A extends object>(
  answer: A | 'runs' | 'on hold' | 'misconfigured' | 'no books' | null,
  cell: Cell,
  workload: string,
): E.Either<DeskFault, A> => {
  switch (answer) {
    case null:
      return E.left(unknownWorkload(workload, cell))
    case 'runs':
      return E.left(refused(`${workload} runs: it waits for nobody's turn`, `see \`leasehold why ${workload}\``))
    case 'on hold':
      return E.left(
        refused(`${workload} is on hold: it stands in no order`, `\`leasehold release ${workload}\` lets it in`),
      )
    case 'misconfigured':
      return E.left(outOfOrder(cell, workload))
    case 'no books':
      return E.left(noTree)
    default:
      return E.right(answer)
  }
}

const noTree: DeskFault = {
  type: 'Refused',
  reason: 'the policy in force has no budget tree, and shares no quota',
  mend: 'state `spec.budgets.tree` in the policy, and `budget` of its queues',
}

/** What it names that the policy has not, and what was probably meant. */
const outOfOrder = (cell: Cell, id: string): DeskFault => {
  const misnamed = misnamedBy(cell, cell.workloads.get(id)!)
  const see = `\`leasehold why ${id}\` says what it lacks`
  if (misnamed === null) return refused(`${id} stands in no order: the policy has no place for it`, see)
  const { kind, meant, name } = misnamed
  const lacks = name === null ? 'neither it nor its queue names a budget' : `the policy has no ${kind} ${name}`
  return refused(`${id} stands in no order: ${lacks}`, meant === null ? see : `did you mean ${meant}?`)
}

/** Where it stands is told all the same. */
const refused = (reason: string, mend: string): DeskFault => ({ type: 'Refused', reason, mend })

const unknownNode = ({ books, kueue }: Cell, name: string): DeskFault => {
  const paths =
    books?.ledger.nodes().map((node) => books.ledger.path(node)) ??
    kueue?.holdings.tree.nodes.map((node) => node.name) ??
    []
  const meant = nearest(name, paths)
  const mend = meant === null ? 'see `leasehold share` for those that there are' : `did you mean ${meant}?`
  return { type: 'NotFound', reason: `there is no node ${name} in the budget tree`, mend }
}

const unknownQueue = (cell: Cell, name: string): DeskFault => {
  const names = [...cell.queueNamed.keys()]
  const meant = nearest(name, names)
  const mend = meant === null ? `there are: ${names.slice(0, 20).join(', ') || 'none'}` : `did you mean ${meant}?`
  return { type: 'NotFound', reason: `there is no queue ${name}`, mend }
}
