import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { LeasePart } from '../../domain/planner/cell-event.ts'
import type { CommandCause } from '../../domain/planner/command.ts'
import { openCommand } from '../../domain/planner/open-commands.ts'
import { claimOf, type Claim } from '../../domain/planner/claim.ts'
import { exemptionsFor, type Exemption } from '../../domain/planner/exemption.ts'
import { groundsOf, noGrounds, type Grounds } from '../../domain/planner/grounds.ts'
import type { Hint } from '../../domain/planner/hint.ts'
import { hintsOf, noHelp, type Help } from '../../domain/planner/hints.ts'
import { aheadOf } from '../../domain/planner/ahead.ts'
import { largestMilliFor } from '../../domain/planner/held.ts'
import { misnamedBy, type Misnamed } from '../../domain/planner/misnamed.ts'
import { projectStarts, type Projection } from '../../domain/planner/projection.ts'
import { projectedStart, type ProjectedStart } from '../../domain/planner/projected-start.ts'
import type { ReasonCode } from '../../domain/planner/reason-code.ts'
import { commandsOf } from '../../domain/policy/allocation-policy.ts'
import { waitedBy, type Run, type Workload } from '../../domain/planner/workload.ts'

/** Ids of those ahead that are named; how many there are is told beside them. */
export const aheadNamedMax = 10

/** How often an adapter could not start it, the last time when; so many times, and it is given up. */
export interface FailedStarts {
  readonly count: number
  readonly countMax: number
  readonly at: EpochMs
  /** What the adapter said of the last one; null: nothing. */
  readonly reason: string | null
}

/** Why a workload waits, or where it runs, with the numbers of this instant. Times in ms, GPU in thousandths. */
export type Why = {
  readonly at: EpochMs
  readonly workload: string
  readonly queue: string
  /** Path of its person in the budget tree; null: nobody keeps books, or they have no place for it. */
  readonly budget: string | null
  readonly class: string
  readonly needDevices: number
  /** 0 where no device is asked for, or as much of each as its memory makes. */
  readonly needMilli: number
  /** Of each device. */
  readonly needMemoryMib: number
  readonly submittedAt: EpochMs
  /** In all: not while it ran. */
  readonly waitedMs: DurationMs
  /** Attempts of it that made room for others. */
  readonly preemptions: number
  /** Starts of it that came to nothing; null: none did. */
  readonly failedStarts: FailedStarts | null
  /** GPU milli that nobody uses on nodes or devices that take nothing: cordoned, draining or failed. */
  readonly outOfServiceMilli: number
  /** What the policy lets the pool do: where nothing is decided, nothing starts. */
  readonly standing: Cell['standing']
} & (
  | ({
      readonly state: 'waiting'
      /** Null until a pass has looked at it. */
      readonly code: ReasonCode | null
      readonly rule: string | null
      readonly policy: string | null
      readonly heldSince: EpochMs | null
      /** Since when it waits, this time. */
      readonly queuedAt: EpochMs
      /** 1 is the first of its queue; where books are kept, of its person's part of its leaf. */
      readonly position: number
      /** Who has to start first, or went first, as it was told last. */
      readonly behind: string | null
      /** Those before it there, nearest to the head first. */
      readonly ahead: ReadonlyArray<string>
      readonly aheadCount: number
      readonly freeMilli: number
      readonly largestMilli: number
      /** Between these it starts four times of five, as such waits have gone of late; null: that is not known. */
      readonly projectedFrom: EpochMs | null
      readonly projectedTo: EpochMs | null
      /** What is ahead of it among its like, at the pace at which its leaf starts such work; null: it has none. */
      readonly expectedWaitMs: number | null
      /** The middle of these, or if everything ends as expected and nothing new comes; null: that cannot be known. */
      readonly projectedStartAt: EpochMs | null
      readonly projection: string
      /** Where it would start, and whose ends at that instant make room there. */
      readonly projectedNodes: ReadonlyArray<string>
      readonly projectedAfter: ReadonlyArray<string>
      /** What would start it now, for who asks for it; none where nothing is known to. */
      readonly hints: ReadonlyArray<Hint>
      /** Whether there may be others, and to try them was too much work. */
      readonly hintsCut: boolean
      /** What spares those who hold what it wants, so that nobody makes room. */
      readonly exemptions: ReadonlyArray<Exemption>
      /** What its side is owed and may take back, now or later. */
      readonly claim: Claim | null
      /** Of one that is `Misconfigured`, while the policy still lacks it. */
      readonly misnamed: Misnamed | null
      /** Accelerators that its queue has quota for, where the fleet has none of them for it. */
      readonly quotaFor: ReadonlyArray<string>
    } & Grounds)
  | {
      readonly state: 'running'
      /** `advised`: no adapter was asked to start it; `stopping`: one has been asked to end it. */
      readonly phase: 'advised' | 'starting' | 'running' | 'stopping'
      /** What its adapter has been asked and has not concluded. */
      readonly command: string | null
      readonly because: CommandCause | null
      readonly deadlineAt: EpochMs | null
      readonly attempt: number
      readonly startedAt: EpochMs
      readonly expectedEndAt: EpochMs | null
      readonly lease: ReadonlyArray<LeasePart>
      /** Somebody asked that it wait: it does not start again once it is stopped. */
      readonly onHold: boolean
    }
)

/**
 * Null: the cell does not have it, or no longer.
 * @param projection of this cell as it is, where one is at hand; absent: as far as this workload needs it
 */
export const whyOf = (cell: Cell, id: string, projection?: Projection): Why | null => {
  const workload = cell.workloads.get(id)
  if (workload === undefined) return null
  return workload.run === null
    ? whyItWaits(cell, workload, noHelp, projection)
    : whereItRuns(cell, workload, workload.run)
}

const budgetOf = ({ books }: Cell, { account }: Workload): string | null =>
  account === null ? null : books!.ledger.path(account.node)

const failedStartsOf = ({ policy }: Cell, { lastFailedStart: last, startsFailed }: Workload): FailedStarts | null =>
  startsFailed === 0 ? null : { count: startsFailed, countMax: commandsOf(policy).startsMax, ...last! }

const whereItRuns = (cell: Cell, workload: Workload, { startedAt, expectedEndAt, parts }: Run): Why => {
  const { shape, queue } = workload
  const open = openCommand(cell, workload)
  return {
    at: cell.now,
    workload: workload.id,
    queue: queue.name,
    budget: budgetOf(cell, workload),
    class: workload.class,
    needDevices: shape.request.devices,
    needMilli: shape.needMilli,
    needMemoryMib: shape.request.memoryMib,
    submittedAt: workload.submittedAt,
    waitedMs: waitedBy(workload, cell.now),
    preemptions: workload.preemptions,
    failedStarts: failedStartsOf(cell, workload),
    outOfServiceMilli: cell.fleet.idleOutOfService,
    standing: cell.standing,
    state: 'running',
    phase: phaseOf(workload),
    command: open?.command ?? null,
    because: open?.because ?? null,
    deadlineAt: open?.deadlineAt ?? null,
    attempt: workload.attempt,
    startedAt,
    expectedEndAt,
    lease: parts.map((part) => cell.fleet.partNamed(part)),
    onHold: workload.onHold,
  }
}

/** With what would start it now: that is tried out on copies, and costs more than all else that is said. */
export const whyWithHints = (cell: Cell, id: string): Why | null => {
  const workload = cell.workloads.get(id)
  if (workload === undefined) return null
  return workload.run === null
    ? whyItWaits(cell, workload, hintsOf(cell, workload))
    : whereItRuns(cell, workload, workload.run)
}

const phaseOf = ({ run }: Workload): Extract<Why, { readonly state: 'running' }>['phase'] => {
  if (run!.open?.verb === 'evict' || run!.open?.verb === 'cancel') return 'stopping'
  if (run!.confirmed) return 'running'
  return run!.commanded ? 'starting' : 'advised'
}

/** More that wait than this are not played through for the sake of one question. */
const playedThroughMax = 10_000

interface When {
  readonly projectedFrom: EpochMs | null
  readonly projectedStartAt: EpochMs | null
  readonly projectedTo: EpochMs | null
  readonly expectedWaitMs: number | null
  readonly projection: string
  readonly projectedNodes: ReadonlyArray<string>
  readonly projectedAfter: ReadonlyArray<string>
}

/** By what became of others where books are kept; else by playing through what is expected, unless too much waits. */
const whenOf = (cell: Cell, workload: Workload, given: Projection | undefined): When => {
  const byHistory = workload.onHold ? null : projectedStart(cell, workload, cell.now)
  const place = cell.places.get(workload.id)
  if (place !== undefined) {
    const latest = place.decision.holdUntil
    return { ...whenBy(byHistory, 'its place is kept'), projectedTo: latest, projectedStartAt: latest }
  }
  if (cell.books !== null)
    return whenBy(byHistory, (byHistory?.median ?? null) === null ? 'too few waits' : 'by history')
  const waiting = [...cell.queueNamed.values()].reduce((sum, { size }) => sum + size, 0)
  if (given === undefined && waiting > playedThroughMax) return whenBy(null, 'too much waits')
  const { outcome, place: projected, starts } = given ?? projectStarts(cell, workload.id)
  return {
    ...whenBy(null, outcome),
    projectedStartAt: starts.get(workload.id) ?? null,
    projectedNodes: projected?.nodes ?? [],
    projectedAfter: projected?.after ?? [],
  }
}

const whenBy = (byHistory: ProjectedStart | null, projection: string): When => ({
  projectedFrom: byHistory?.from ?? null,
  projectedTo: byHistory?.to ?? null,
  expectedWaitMs: byHistory?.expectedWaitMs ?? null,
  projectedStartAt: byHistory?.median ?? null,
  projection,
  projectedNodes: [],
  projectedAfter: [],
})

const whyItWaits = (cell: Cell, workload: Workload, help: Help, projection?: Projection): Why => {
  const { hold, shape, queue } = workload
  const { count, first } = aheadOf(cell, workload, aheadNamedMax)
  // It is so at once, and told by the next pass.
  const code = workload.onHold ? 'OnHold' : (hold?.code ?? null)
  const when = whenOf(cell, workload, projection)
  const grounds = groundsOf(cell, workload) ?? noGrounds
  // Every field by name: to spread so many into one object costs more than all that is looked up for them.
  return {
    at: cell.now,
    workload: workload.id,
    queue: queue.name,
    budget: budgetOf(cell, workload),
    class: workload.class,
    needDevices: shape.request.devices,
    needMilli: shape.needMilli,
    needMemoryMib: shape.request.memoryMib,
    submittedAt: workload.submittedAt,
    waitedMs: waitedBy(workload, cell.now),
    preemptions: workload.preemptions,
    failedStarts: failedStartsOf(cell, workload),
    outOfServiceMilli: cell.fleet.idleOutOfService,
    standing: cell.standing,
    state: 'waiting',
    code,
    rule: hold?.rule ?? null,
    policy: cell.policyHash,
    heldSince: hold?.since ?? null,
    queuedAt: workload.queuedAt,
    position: count + 1,
    // Who was named when it was told may have started since.
    behind: (code === 'BehindInQueue' ? first[0]?.id : null) ?? hold?.behind ?? null,
    ahead: first.map(({ id }) => id),
    aheadCount: count,
    freeMilli: cell.fleet.freeFor(shape),
    largestMilli: largestMilliFor(cell.fleet, shape),
    projectedFrom: when.projectedFrom,
    projectedTo: when.projectedTo,
    expectedWaitMs: when.expectedWaitMs,
    projectedStartAt: when.projectedStartAt,
    projection: when.projection,
    projectedNodes: when.projectedNodes,
    projectedAfter: when.projectedAfter,
    claim: code === 'OnHold' ? null : claimOf(cell, workload),
    quotaFor: code === 'NoMatchingAccelerator' ? quotaFor(cell, workload) : [],
    misnamed: code === 'Misconfigured' ? misnamedBy(cell, workload) : null,
    exemptions: code === 'OnHold' ? [] : exemptionsFor(cell, workload),
    hints: help.hints,
    hintsCut: help.isCut,
    compared: grounds.compared,
    own: grounds.own,
    other: grounds.other,
    holders: grounds.holders,
    holdersCount: grounds.holdersCount,
    nextTurn: grounds.nextTurn,
    quotaOf: grounds.quotaOf,
    keptFor: grounds.keptFor,
  }
}

const quotaFor = ({ policy }: Cell, { queue }: Workload): ReadonlyArray<string> =>
  policy?.queues[queue.index]?.quotas?.map(({ accelerator }) => accelerator) ?? []
