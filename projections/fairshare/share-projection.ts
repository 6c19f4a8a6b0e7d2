import { cellNode, type BudgetLedger } from '../../domain/budget/ledger.ts'
import { addedUp, type ShareRow } from '../../domain/budget/share-row.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { CellEvent } from '../../domain/planner/cell-event.ts'
import type { Run, Workload } from '../../domain/planner/workload.ts'
import type { RowSink } from '../rows/row-sink.ts'
import { DeviceTime, type Holding } from './device-time.ts'
import { shareRow, shareRows } from './share-ledger-row.ts'

interface Told {
  readonly row: ShareRow
  readonly deviceMilliMs: number
}

/** Rows of the buckets that the budget ledger of a cell closes, with the raw device-time beside them. */
export class ShareProjection {
  private readonly cell: Cell
  private readonly sink: RowSink
  private readonly devices = new DeviceTime()
  private readonly holdings = new Map<string, Holding>()
  private ledger: BudgetLedger | null = null
  private isEnding = false
  /** Of the event that is being followed. */
  private position = -1
  /** Rows of the hour in which a ledger ended: another may have rows of the same key. */
  private readonly ended = new Map<string, Told>()
  private endedHour = 0
  /** The last row of each node, while it says that nothing is held there or waits. */
  private readonly idle = new Map<string, string>()

  constructor(cell: Cell, sink: RowSink) {
    this.cell = cell
    this.sink = sink
  }

  /** Before the cell takes an event: nothing changed up to there. */
  advance(at: number, position: number): void {
    this.position = position
    this.devices.advance(at)
  }

  /** After the cell has taken it. */
  follow(event: CellEvent): void {
    switch (event.type) {
      case 'PolicyActivated':
        this.reopen()
        return
      case 'NodeHealthChanged':
        for (const { id } of this.cell.runningOn(this.cell.fleet.node(event.data.node)!)) this.look(id)
        return
      case 'WorkloadAdmitted':
      case 'AttemptEnded':
      case 'AttemptStopped':
      case 'LeaseShrunk':
      case 'WorkloadCancelled':
        this.look(event.data.workload)
    }
  }

  private reopen(): void {
    const { books, now, policyHash, workloads } = this.cell
    this.devices.follow(policyHash ?? '')
    const ledger = books?.ledger ?? null
    if (ledger !== this.ledger) {
      this.isEnding = true
      this.ledger?.end(now)
      this.isEnding = false
      this.ledger = ledger
      ledger?.tellRows((row) => {
        this.put(row)
      })
    }
    for (const id of new Set([...this.holdings.keys(), ...workloads.keys()])) this.look(id)
  }

  /** What it holds now, and where that counts. */
  private look(id: string): void {
    const before = this.holdings.get(id)
    const after = this.holdingOf(this.cell.workloads.get(id))
    if (before !== undefined) this.devices.add(before, -1)
    if (after === null) this.holdings.delete(id)
    else {
      this.devices.add(after, 1)
      this.holdings.set(id, after)
    }
  }

  /** What has no budget counts for the cell alone. */
  private holdingOf(workload: Workload | undefined): Holding | null {
    const { books } = this.cell
    if (books === null || workload?.run == null) return null
    const milli = this.milliOf(workload.run)
    const { account } = workload
    return { milli, way: books.upwards(account?.node ?? cellNode).map((node) => books.ledger.path(node)) }
  }

  private milliOf({ parts }: Run): number {
    const { fleet } = this.cell
    let sum = 0
    for (const { node, devices, milli } of parts) {
      if (fleet.health[node] === 'failed') continue
      for (const device of devices) if (fleet.healthOf(node, device) !== 'failed') sum += milli
    }
    return sum
  }

  private put(closed: ShareRow): void {
    if (closed.hour > this.endedHour) this.ended.clear()
    const told = { row: closed, deviceMilliMs: this.devices.take(closed.node, closed.hour, closed.version) }
    const { row, deviceMilliMs } = this.withEarlier(told)
    if (this.saysNothingNew(row)) return
    const { name } = this.cell
    this.sink.put(shareRows, `${name} ${keyOf(row)}`, shareRow(name, row, deviceMilliMs, this.position))
  }

  private withEarlier(told: Told): Told {
    const key = keyOf(told.row)
    const earlier = this.ended.get(key)
    const sum: Told =
      earlier === undefined
        ? told
        : { row: addedUp(told.row, earlier.row), deviceMilliMs: told.deviceMilliMs + earlier.deviceMilliMs }
    if (!this.isEnding) return sum
    this.ended.set(key, sum)
    this.endedHour = told.row.hour
    return sum
  }

  /** Nobody held or wanted anything, and the hour before says all that this one would. */
  private saysNothingNew(row: ShareRow): boolean {
    const { capacity, credit, debt, demand, entitled, held, node, version } = row
    if (held > 0n || demand > 0n) {
      this.idle.delete(node)
      return false
    }
    const said = [version, capacity, entitled, debt, credit].join()
    if (this.idle.get(node) === said) return true
    this.idle.set(node, said)
    return false
  }
}

const keyOf = ({ hour, node, version }: ShareRow): string => `${hour} ${version} ${node}`
