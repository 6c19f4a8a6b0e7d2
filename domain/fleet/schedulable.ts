import type { Fleet } from './fleet.ts'

/** What a fleet's schedulable rung comes to. */
export interface SchedulableTotals {
  readonly milliUnits: number
  /** Devices, in thousandths. */
  readonly devicesMilli: number
  /** Of nodes that have not failed, as far as they have a limit. */
  readonly cpuMilli: number
  readonly hostMemoryMib: number
}

/**
 * Devices that are there for somebody: ready, or cordoned or draining with a live lease on them; what has failed is
 * not. CPU and host memory are those of nodes that have not failed. Kept node by node: a change costs one node's devices.
 */
export class Schedulable {
  private readonly fleet: Fleet
  private readonly unitsOf: (model: string | null) => number
  private readonly devices: number[] = []
  private readonly total = { milliUnits: 0, devicesMilli: 0, cpuMilli: 0, hostMemoryMib: 0 }
  private readonly isUp: boolean[] = []

  constructor(fleet: Fleet, unitsOf: (model: string | null) => number) {
    this.fleet = fleet
    this.unitsOf = unitsOf
    for (let node = 0; node < fleet.nodes.length; node++) this.refresh(node)
  }

  get totals(): SchedulableTotals {
    return this.total
  }

  /** Whether leases that come or go there make a difference. */
  isImpaired(node: number): boolean {
    const { fleet } = this
    if (fleet.health[node] !== 'ready') return true
    for (let device = 0; device < fleet.nodes[node]!.devices; device++)
      if (fleet.deviceHealth[fleet.firstDevice[node]! + device] !== 0) return true
    return false
  }

  /** After a node came, or its health or what is leased on it changed. */
  refresh(node: number): void {
    const { fleet } = this
    const { cpuMilli, devices, hostMemoryMib, model } = fleet.nodes[node]!
    let count = 0
    for (let device = 0; device < devices; device++) if (this.isThere(node, device)) count++
    const rise = count - (this.devices[node] ?? 0)
    this.devices[node] = count
    this.total.devicesMilli += rise * 1000
    this.total.milliUnits += rise * this.unitsOf(model)
    const isUp = fleet.health[node] !== 'failed'
    const sign = Number(isUp) - Number(this.isUp[node] ?? false)
    this.isUp[node] = isUp
    this.total.cpuMilli += sign * (cpuMilli ?? 0)
    this.total.hostMemoryMib += sign * (hostMemoryMib ?? 0)
  }

  private isThere(node: number, device: number): boolean {
    const { fleet } = this
    const healths = [fleet.healthOf(node, null), fleet.healthOf(node, device)]
    if (healths.includes('failed')) return false
    if (healths.every((health) => health === 'ready')) return true
    return fleet.deviceFree[fleet.firstDevice[node]! + device]! < 1000
  }
}
