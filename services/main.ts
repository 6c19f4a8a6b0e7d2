import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { either as E, taskEither as TE } from 'fp-ts'
import type { Fault } from '../domain/kernel/fault.ts'
import { defaultPolicy } from '../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../domain/policy/allocation-policy.ts'
import type { SinkDown } from '../domain/ports/command-sink.ts'
import type { LogUnavailable } from '../domain/ports/event-log.ts'
import type { ViewsPlace } from '../infra/clickhouse/views.ts'
import { systemClock } from '../infra/host/clock.ts'
import { claimFolder, type FolderRefused } from '../infra/host/folder-owner.ts'
import type { EventStorePlace } from '../infra/eventstore/place.ts'
import type { KafkaPlace } from '../infra/kafka/place.ts'
import type { NatsPlace } from '../infra/nats/place.ts'
import { openLog } from '../infra/host/open-log.ts'
import { policyHash } from '../infra/host/policy-hash.ts'
import { within } from '../infra/host/within.ts'
import type { SystemStatus } from './api/desk.ts'
import { withGranted } from './api/exception-grant.ts'
import { openDesk, type LocalDesk } from './api/local-desk.ts'
import { Metrics } from './api/metrics.ts'
import { startServer } from './api/server.ts'
import { AttachedKafka } from './system/attached-kafka.ts'
import { AttachedNats, type AttachingNats } from './system/attached-nats.ts'
import { openSink, startDispatch } from './system/attached-sink.ts'
import { asUnavailable, type CellOwner } from './decide/cell-owner.ts'
import { foldCell } from './decide/fold.ts'
import { policyActivated } from './decide/policy-activated.ts'
import type { Dispatch } from './dispatch/dispatch.ts'
import { AttachedViews, noViews } from './project/attached-views.ts'
import { pretendedNodes } from './schedulers/embedded/nodes.ts'
import type { Pretended } from './schedulers/embedded/script.ts'
import { calendarFrom, openWayIn, snapshotsIn } from './system/way-in.ts'

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
  /** `http`: adapters of somebody else ask for their commands; `nats`: it is sent them. Null: none, and no command ever expires. */
  readonly adapter: Pretended | 'http' | { readonly nats: string } | null
  /** Carries commands, outcomes and questions, and keeps the cell's lease; absent or null: none does. */
  readonly nats?: NatsPlace | null
  /** Brings facts and takes decisions; absent or null: none does. */
  readonly kafka?: KafkaPlace | null
  /** While somebody else holds the cell's lease it is waited for, until the signal says to give up. */
  readonly lease?: Pick<AttachingNats, 'waiting' | 'lost' | 'signal'>
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

  const attachedNats = await attachNats(options)
  if (E.isLeft(attachedNats)) return fail(attachedNats.left)
  const nats = attachedNats.right
  if (nats !== null) closers.push(() => nats.close())

  const logPlace = options.logServer ?? folder
  const opened = await openLog(logPlace)()
  if (E.isLeft(opened)) return fail(opened.left)
  const { log } = opened.right
  closers.push(log.close)
  const state: Running = {
    owner: null,
    dispatch: null,
    kafka: null,
    nats,
    sinkDown: null,
    stopping: false,
    address: '',
  }

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
    const sink = await openSink(owner, options.adapter, folder, nats)
    if (E.isLeft(sink)) return fail(sink.left)
    closers.push(() => sink.right.close())
    const sinkDown = (down: SinkDown | null) => (state.sinkDown = down)
    const dispatch = await startDispatch({
      log,
      owner,
      stream: cell,
      sink: sink.right,
      snapshots: snapshotsIn(folder),
      sinkDown,
    })
    if (E.isLeft(dispatch)) return fail(dispatch.left)
    state.dispatch = dispatch.right
    closers.push(() => dispatch.right.close())
  }
  if (options.kafka != null) {
    const kafka = await AttachedKafka.open({ place: options.kafka, cell, folder, log, intake })
    if (E.isLeft(kafka)) return fail({ ...kafka.left, type: 'NotStarted' })
    state.kafka = kafka.right
    closers.push(() => kafka.right.stop())
  }
  if (nats !== null) {
    nats.takeOutcomes(intake)
    closers.push(() => nats.stopTaking())
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
      adapter: adapterName(options.adapter),
      clock: options.clock,
      openCommands: state.dispatch?.open.size ?? 0,
    }),
    now: () => (options.clock === 'wall' ? owner.now : null),
    viewsStatus: () => (views === null ? Promise.resolve(null) : views.status()),
    degraded,
  })
  if (E.isLeft(desk)) return fail(desk.left)
  closers.push(() => desk.right.close())
  nats?.answer(desk.right)
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

/** Resolves when the lease of the cell is held. */
const attachNats = async ({
  cell,
  folder,
  lease,
  nats,
}: SystemOptions): Promise<E.Either<StartFault, AttachedNats | null>> => {
  if (nats == null) return E.right(null)
  const { lost, signal, waiting } = lease ?? unattended
  const holder = `${hostname()}:${resolve(folder)}`
  const attached = await AttachedNats.open({ place: nats, cell, holder, lost, signal, waiting })
  if (E.isLeft(attached)) return E.left({ ...attached.left, type: 'NotStarted' })
  return attached.right === null
    ? E.left({ type: 'NotStarted', reason: 'it was stopped while it waited for the cell', mend: 'start it again' })
    : attached
}

/** Nobody is told, and it waits for ever. */
const unattended = { waiting: () => undefined, lost: () => undefined, signal: new AbortController().signal }

const adapterName = (adapter: SystemOptions['adapter']): string | null => {
  if (adapter === null || adapter === 'http') return adapter
  return 'nats' in adapter ? `nats: ${adapter.nats}` : 'embedded'
}

/** What comes and goes while the system runs. */
interface Running {
  owner: CellOwner | null
  readonly nats: AttachedNats | null
  kafka: AttachedKafka | null
  dispatch: Dispatch | null
  sinkDown: SinkDown | null
  stopping: boolean
  address: string
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
  if (adapter !== null && adapter !== 'http' && 'nodes' in adapter && owner.cell.fleet.nodes.length === 0)
    facts.push(...pretendedNodes(adapter.nodes, adapter.gpusPerNode, owner.now))
  return facts.length === 0 ? E.right(undefined) : E.mapLeft(asUnavailable)(await owner.record(facts))
}

const degradedBy = (
  { owner, dispatch, kafka, nats, sinkDown }: Running,
  views: AttachedViews | null,
): SystemStatus['degraded'] => {
  const degraded: { what: string; reason: string; mend: string }[] = []
  const add = (what: string, fault: Pick<LogUnavailable, 'reason' | 'mend'> | null | undefined) => {
    if (fault != null) degraded.push({ what, reason: fault.reason, mend: fault.mend })
  }
  if (owner?.unrecorded != null) add('log', asUnavailable(owner.unrecorded))
  add('dispatch', dispatch?.fault)
  if (sinkDown !== null)
    add('adapter', { reason: sinkDown.reason, mend: 'mend what is in its way; commands are sent again' })
  add('views', views?.fault)
  add('nats', nats?.fault)
  add('kafka', kafka?.fault)
  return degraded
}

const unready = ({ owner, stopping }: Running): ReadonlyArray<string> => {
  if (stopping) return ['it is stopping']
  const fault = owner?.fault ?? owner?.unrecorded
  return fault == null ? [] : [asUnavailable(fault).reason]
}
