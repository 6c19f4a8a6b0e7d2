import { join } from 'node:path'
import { either as E, taskEither as TE } from 'fp-ts'
import type { Fault } from '../domain/kernel/fault.ts'
import type { EpochMs } from '../domain/kernel/units.ts'
import { OpenCommands } from '../domain/planner/open-commands.ts'
import { defaultPolicy } from '../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../domain/policy/allocation-policy.ts'
import type { CommandSink, SinkDown } from '../domain/ports/command-sink.ts'
import type { EventLog, LogUnavailable } from '../domain/ports/event-log.ts'
import type { ViewsPlace } from '../infra/clickhouse/views.ts'
import { systemClock } from '../infra/host/clock.ts'
import { claimFolder, type FolderRefused } from '../infra/host/folder-owner.ts'
import type { EventStorePlace } from '../infra/eventstore/place.ts'
import { openLog } from '../infra/host/open-log.ts'
import { policyHash } from '../infra/host/policy-hash.ts'
import { within } from '../infra/host/within.ts'
import { snapshotStore } from '../infra/host/snapshot-store.ts'
import type { SystemStatus } from './api/desk.ts'
import { withGranted } from './api/exception-grant.ts'
import { openDesk, type DeskParts, type LocalDesk } from './api/local-desk.ts'
import { Metrics } from './api/metrics.ts'
import { startServer } from './api/server.ts'
import { asUnavailable, CellOwner, type Owning } from './decide/cell-owner.ts'
import { foldCell } from './decide/fold.ts'
import { policyActivated } from './decide/policy-activated.ts'
import { Dispatch } from './dispatch/dispatch.ts'
import { DeadLetters } from './ingest/dead-letters.ts'
import { FactIntake } from './ingest/fact-intake.ts'
import { AttachedViews, caughtUpViews, noViews } from './project/attached-views.ts'
import { rebuild } from './project/rebuild.ts'
import { EmbeddedAdapter } from './schedulers/embedded/adapter.ts'
import { pretendedNodes } from './schedulers/embedded/nodes.ts'
import { Journal } from './schedulers/embedded/journal.ts'
import type { Pretended } from './schedulers/embedded/script.ts'
import { askedCommands } from './schedulers/http/asked-commands.ts'

export interface SystemOptions {
  /** Data folder: of the log, the snapshots, the views and the embedded adapter's journal. */
  readonly folder: string
  /** That keeps the log instead; absent or null: none. */
  readonly logServer?: EventStorePlace | null
  /** The cell's stream. */
  readonly cell: string
  readonly version: string
  readonly host: string
  /** 0: any that is free. */
  readonly port: number
  /** Names that a request may give as its host, beside the loopback's own. */
  readonly hosts: ReadonlyArray<string>
  /** `events`: time comes from the facts, and nothing happens without one. */
  readonly clock: 'wall' | 'events'
  /** `http`: adapters of somebody else ask for their commands. Null: none, and no command ever expires. */
  readonly adapter: Pretended | 'http' | null
  /** Null: none; a folder is that of an embedded chDB. */
  readonly views: ViewsPlace | null
  /** Comes into force at the start where another one is; null: what is, else the default. */
  readonly policy: AllocationPolicy | null
}

export type StartFault =
  FolderRefused | LogUnavailable | { readonly type: 'NotStarted'; readonly reason: string; readonly mend: string }

export interface System {
  /** `http://127.0.0.1:8410` */
  readonly address: string
  readonly desk: LocalDesk
  readonly degraded: () => SystemStatus['degraded']
  /** Takes nothing more, makes durable what it has, and lets go of the folder; within `stopMaxMs`. */
  readonly stop: () => Promise<void>
}

export const viewsFolder = (folder: string): string => join(folder, 'views')

export const stopMaxMs = 10_000
const serverStopMaxMs = 4_000
const viewsWaitMaxMs = 20_000
/** A log whose time is before this counts from the start of a trace. */
const calendarFrom = Date.UTC(2000, 0, 1)

/** The whole system in one process. Nothing is left running on `Left`. */
export const startSystem = async (options: SystemOptions): Promise<E.Either<StartFault, System>> => {
  const { cell, folder, version } = options
  const closers: (() => unknown)[] = []
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close()
  }
  const fail = async (fault: StartFault): Promise<E.Either<StartFault, never>> => {
    await closeAll()
    return E.left(fault)
  }
  const startedAt = systemClock.now()
  const claim = claimFolder(folder, { address: null, since: startedAt, version, what: 'up' })
  if (E.isLeft(claim)) return claim
  closers.push(claim.right.release)

  const logPlace = options.logServer ?? folder
  const opened = await openLog(logPlace)()
  if (E.isLeft(opened)) return fail(opened.left)
  const { log } = opened.right
  closers.push(log.close)
  const state: Running = { owner: null, dispatch: null, sinkDown: null, stopping: false, address: '' }

  const metrics = new Metrics()
  const wayIn = await openWayIn(log, folder, cell, options.clock, metrics)
  if (E.isLeft(wayIn)) return fail(wayIn.left)
  const { intake, owner } = wayIn.right
  state.owner = owner
  closers.push(() => owner.close())
  if (options.clock === 'wall' && owner.cell.now > 0 && owner.cell.now < calendarFrom)
    return fail({
      type: 'NotStarted',
      reason: `the log in ${folder} counts its time from the start of a trace, not from 1970`,
      mend: 'add --clock events, or name another folder with --data',
    })
  const prepared = await prepare(owner, options)
  if (E.isLeft(prepared)) return fail(prepared.left)

  const views =
    options.views === null ? null : new AttachedViews({ log, logPlace, place: options.views, clock: systemClock })
  if (views !== null) closers.push(() => views.stop())

  if (options.adapter !== null) {
    const sink = await openSink(owner, options.adapter, folder)
    if (E.isLeft(sink)) return fail(sink.left)
    closers.push(() => sink.right.close())
    const dispatch = await startDispatch(log, owner, sink.right, options, (down) => (state.sinkDown = down))
    if (E.isLeft(dispatch)) return fail(dispatch.left)
    state.dispatch = dispatch.right
    closers.push(() => dispatch.right.close())
  }

  const degraded = () => degradedBy(state, views)
  const desk = await openDesk({
    version,
    cell,
    log,
    fold: (until) => foldCell(log, cell, { until, snapshots: snapshotsIn(folder) }),
    intake: E.right(intake),
    views: () => (views === null ? E.left(noViews) : views.views),
    rebuild: () => (views === null ? TE.left(noViews) : views.rebuild()),
    running: () => ({
      pid: process.pid,
      address: state.address,
      startedAt,
      adapter: options.adapter === null || options.adapter === 'http' ? options.adapter : 'embedded',
      clock: options.clock,
      openCommands: state.dispatch?.open.size ?? 0,
    }),
    now: () => (options.clock === 'wall' ? owner.now : null),
    viewsStatus: () => (views === null ? Promise.resolve(null) : views.status()),
    degraded,
  })
  if (E.isLeft(desk)) return fail(desk.left)
  closers.push(() => desk.right.close())
  if (views !== null) await within(viewsWaitMaxMs, views.tried)

  try {
    const { host, hosts, port } = options
    const limits = { stopTimeMaxMs: serverStopMaxMs }
    const parts = { host, hosts, port, version, limits, metrics, unready: () => unready(state) }
    const server = await startServer(desk.right, parts)
    closers.push(() => server.stop())
    state.address = server.address
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    return fail({ type: 'NotStarted', reason, mend: 'name another address with --host and --port' })
  }
  const announced = claim.right.announce(state.address)
  if (E.isLeft(announced)) return fail(announced.left)
  let stopped: Promise<void> | null = null
  return E.right({
    address: state.address,
    desk: desk.right,
    degraded,
    stop: () => {
      state.stopping = true
      stopped ??= within(stopMaxMs, closeAll())
      return stopped
    },
  })
}

/** What comes and goes while the system runs. */
interface Running {
  owner: CellOwner | null
  dispatch: Dispatch | null
  sinkDown: SinkDown | null
  stopping: boolean
  address: string
}

interface WayIn {
  readonly owner: CellOwner
  readonly intake: FactIntake
}

const snapshotsIn = (folder: string) => snapshotStore(join(folder, 'snapshots'))

const openWayIn = async (
  log: EventLog,
  folder: string,
  stream: string,
  ticks: Owning['ticks'],
  metrics: Metrics | null = null,
): Promise<E.Either<LogUnavailable, WayIn>> => {
  const writer = { source: 'leasehold', actor: 'leasehold' }
  const owner = await CellOwner.open(log, {
    stream,
    ...writer,
    recordTime: systemClock.now,
    clock: systemClock,
    ticks,
    snapshots: snapshotsIn(folder),
    faulted: () => undefined,
    ...(metrics !== null && {
      measured: {
        pass: (s) => {
          metrics.observePass(s)
        },
        append: (s) => {
          metrics.observeAppend(s)
        },
      },
    }),
  })
  if (E.isLeft(owner)) return owner
  const deadLetters = await DeadLetters.open(log, { source: 'ingest', actor: 'ingest' })
  if (E.isLeft(deadLetters)) {
    await owner.right.close()
    return deadLetters
  }
  const orderTime = { now: () => owner.right.now }
  const request = () => owner.right.request()
  const intake = new FactIntake({ log, stream, deadLetters: deadLetters.right, clock: systemClock, orderTime, request })
  return E.right({ owner: owner.right, intake })
}

/** The policy that is wanted, with what was granted under the one before, and nodes to pretend on. Where time comes with the facts, all else does too. */
const prepare = async (
  owner: CellOwner,
  { adapter, clock, policy }: SystemOptions,
): Promise<E.Either<StartFault, unknown>> => {
  const before = owner.cell.policy
  const stated = policy ?? (before === null && clock === 'wall' ? defaultPolicy : null)
  const whole = stated === null ? null : withGranted(stated, before, owner.now)
  if (whole !== null && E.isLeft(whole)) {
    const [{ mend, path, reason }] = whole.left as readonly [Fault]
    return E.left({ type: 'NotStarted', reason: `${path}: ${reason}`, mend })
  }
  const wanted = whole?.right.policy ?? null
  const facts = []
  if (wanted !== null && owner.cell.policyHash !== policyHash(wanted)) {
    const activated = policyActivated(wanted, owner.now)
    facts.push({ ...activated, id: `policy/${activated.data.hash}/${owner.now}` })
  }
  if (adapter !== null && adapter !== 'http' && owner.cell.fleet.nodes.length === 0)
    facts.push(...pretendedNodes(adapter.nodes, adapter.gpusPerNode, owner.now))
  return facts.length === 0 ? E.right(undefined) : E.mapLeft(asUnavailable)(await owner.record(facts))
}

/** Who is asked to do what is decided. */
const openSink = async (
  owner: CellOwner,
  adapter: Pretended | 'http',
  folder: string,
): Promise<E.Either<StartFault, CommandSink & { readonly close: () => Promise<void> }>> => {
  if (adapter === 'http') return E.right({ ...askedCommands, close: () => Promise.resolve() })
  try {
    const embedded = await EmbeddedAdapter.open({
      openJournal: (follow, picture) => Journal.open(join(folder, 'embedded'), follow, picture),
      script: adapter.script,
      now: () => owner.now,
      // What happened before what has been decided about is told late.
      report: (facts) =>
        owner.record(facts.map((fact) => ({ ...fact, at: Math.max(fact.at, owner.cell.now) as EpochMs }))),
    })
    return E.right(embedded)
  } catch (cause) {
    const reason = `the embedded adapter cannot start: ${cause instanceof Error ? cause.message : String(cause)}`
    return E.left({ type: 'NotStarted', reason, mend: 'or run with --adapter none' })
  }
}

const startDispatch = async (
  log: EventLog,
  owner: CellOwner,
  sink: CommandSink,
  { cell: stream, folder }: SystemOptions,
  sinkDown: (down: SinkDown | null) => void,
): Promise<E.Either<LogUnavailable, Dispatch>> => {
  const folded = await foldCell(log, stream, { snapshots: snapshotsIn(folder) })
  if (E.isLeft(folded)) return folded
  const { cell, size } = folded.right
  const last = await log.readStream(stream, size - 1, 1)()
  if (E.isLeft(last)) return last
  const followed = { commands: new OpenCommands(cell), position: last.right[0]?.position ?? -1 }
  const record = (fact: Parameters<CellOwner['record']>[0][number]) => owner.record([fact])
  return E.right(new Dispatch({ log, sink, record, now: () => owner.now, sinkDown }, followed))
}

const degradedBy = ({ owner, dispatch, sinkDown }: Running, views: AttachedViews | null): SystemStatus['degraded'] => {
  const degraded: { what: string; reason: string; mend: string }[] = []
  const add = (what: string, fault: Pick<LogUnavailable, 'reason' | 'mend'> | null | undefined) => {
    if (fault != null) degraded.push({ what, reason: fault.reason, mend: fault.mend })
  }
  if (owner?.unrecorded != null) add('log', asUnavailable(owner.unrecorded))
  add('dispatch', dispatch?.fault)
  if (sinkDown !== null)
    add('adapter', { reason: sinkDown.reason, mend: 'mend what is in its way; commands are sent again' })
  add('views', views?.fault)
  return degraded
}

const unready = ({ owner, stopping }: Running): ReadonlyArray<string> => {
  if (stopping) return ['it is stopping']
  const fault = owner?.fault ?? owner?.unrecorded
  return fault == null ? [] : [asUnavailable(fault).reason]
}

export interface FolderOptions {
  readonly folder: string
  /** That keeps the log instead; null: none. */
  readonly logServer: EventStorePlace | null
  readonly cell: string
  readonly version: string
  /** The caller has claimed the folder, and orders may be given. */
  readonly writes: boolean
  /** Null: none are wanted. They are brought up to the end of the log first. */
  readonly views: ViewsPlace | null
}

export interface OpenedFolder {
  readonly desk: LocalDesk
  readonly close: () => Promise<void>
}

/** A desk on a folder whose system does not run: nothing is decided but what follows from an order itself. */
export const openFolder = async (options: FolderOptions): Promise<E.Either<LogUnavailable, OpenedFolder>> => {
  const { cell, folder, version, writes } = options
  const closers: (() => unknown)[] = []
  const close = async (): Promise<void> => {
    for (const each of closers.splice(0).reverse()) await each()
  }
  const opened = await openLog(options.logServer ?? folder, { readOnly: !writes })()
  if (E.isLeft(opened)) return opened
  const { log } = opened.right
  closers.push(log.close)
  let intake: DeskParts['intake'] = E.left({
    type: 'LogUnavailable',
    kind: 'read-only',
    reason: 'the folder was opened to be read',
    mend: 'open it to write',
  })
  if (writes) {
    const counted = await foldCell(log, cell, { snapshots: snapshotsIn(folder) })
    const now = E.isLeft(counted) ? 0 : counted.right.cell.now
    const wayIn = await openWayIn(log, folder, cell, now > 0 && now < calendarFrom ? 'events' : 'none')
    if (E.isLeft(wayIn)) {
      await close()
      return wayIn
    }
    closers.push(() => wayIn.right.owner.close())
    intake = E.right(wayIn.right.intake)
  }
  const views = options.views === null ? E.left(noViews) : await caughtUpViews(log, options.views)()
  if (E.isRight(views)) closers.push(views.right.close)
  const desk = await openDesk({
    version,
    cell,
    log,
    fold: (until) => foldCell(log, cell, { until, snapshots: snapshotsIn(folder) }),
    intake,
    views: () => views,
    rebuild: () => async () => (E.isLeft(views) ? views : rebuild(log, views.right)()),
    running: () => null,
    now: () => null,
    viewsStatus: async () => {
      if (E.isLeft(views)) return null
      const projected = await views.right.projected()()
      const { engine, kind } = views.right
      return { kind, engine, projected: E.isLeft(projected) ? -1 : projected.right, lagEvents: 0, lagMs: 0 as never }
    },
    degraded: () => (E.isLeft(views) && options.views !== null ? [{ what: 'views', ...views.left }] : []),
  })
  if (E.isLeft(desk)) {
    await close()
    return desk
  }
  closers.push(() => desk.right.close())
  return E.right({ desk: desk.right, close })
}
