import type { CellEvent, LeasePart } from '../../../domain/planner/cell-event.ts'
import type { StoredEvent } from '../../../domain/ports/event-log.ts'

type Level = readonly [installed: number, schedulable: number, allocated: number, kept: number, freeDevices: number]

interface Device {
  leased: number
  /** For whom parts of it are kept, and how much. */
  readonly kept: Map<string, number>
  health: string
}

const keptOf = ({ kept }: Device): number => [...kept.values()].reduce((sum, milli) => sum + milli, 0)

/**
 * Thousandths installed, schedulable, allocated and kept for somebody, and wholly free devices, at the end of each instant:
 * from the events alone, the slow way.
 */
export const levelsByHand = (events: ReadonlyArray<StoredEvent>): ReadonlyMap<number, Level> =>
  standingByHand(events).levels

interface Standing {
  readonly levels: ReadonlyMap<number, Level>
  /** Thousandths x ms that each place kept idle until it was given up, by the position of its preemption. */
  readonly keptMilliMs: ReadonlyMap<number, number>
}

export const standingByHand = (events: ReadonlyArray<StoredEvent>): Standing => {
  const nodes = new Map<string, { health: string; devices: Device[] }>()
  const leases = new Map<string, ReadonlyArray<LeasePart>>()
  const places = new Map<string, { readonly parts: ReadonlyArray<LeasePart>; readonly position: number }>()
  const keptMilliMs = new Map<number, number>()
  const levels = new Map<number, Level>()
  const lease = (parts: ReadonlyArray<LeasePart>, sign: number) => {
    for (const { node, devices, milli } of parts)
      for (const device of devices) nodes.get(node)!.devices[device]!.leased += sign * milli
  }
  /** What is free of each place, there or anywhere, is kept for its workload, bit by bit. */
  const gather = (there: ReadonlySet<string> | null) => {
    for (const [workload, { parts }] of places)
      for (const { node, devices, milli } of parts)
        for (const index of there === null || there.has(node) ? devices : []) {
          const device = nodes.get(node)!.devices[index]!
          const before = device.kept.get(workload) ?? 0
          const free = 1000 - device.leased - keptOf(device) + before
          if (free > 0) device.kept.set(workload, Math.min(milli, free))
        }
  }
  const drop = (workload: string) => {
    if (!places.delete(workload)) return
    for (const { devices } of nodes.values()) for (const { kept } of devices) kept.delete(workload)
  }
  const release = (workload: string) => {
    const parts = leases.get(workload) ?? []
    lease(parts, -1)
    leases.delete(workload)
    return new Set(parts.map(({ node }) => node))
  }
  let now = 0
  const pass = (to: number) => {
    for (const { devices } of nodes.values())
      for (const { kept } of devices)
        for (const [workload, milli] of kept) {
          const { position } = places.get(workload)!
          keptMilliMs.set(position, (keptMilliMs.get(position) ?? 0) + milli * (to - now))
        }
    now = to
  }
  for (const [i, { id, message, position }] of events.entries()) {
    const event = message as unknown as CellEvent
    pass(Math.max(now, event.at))
    switch (event.type) {
      case 'NodeRegistered': {
        const devices = Array.from({ length: event.data.devices }, () => ({
          leased: 0,
          kept: new Map(),
          health: 'ready',
        }))
        nodes.set(event.data.node, { health: 'ready', devices })
        break
      }
      case 'NodeHealthChanged': {
        const node = nodes.get(event.data.node)!
        if (event.data.device === null) node.health = event.data.health
        else node.devices[event.data.device]!.health = event.data.health
        break
      }
      case 'PreemptionDecided':
        places.set(event.data.workload, { parts: event.data.lease, position })
        gather(null)
        break
      case 'PlaceReleased':
      case 'WorkloadRefused':
        drop(event.data.workload)
        break
      case 'HoldRequested':
        if (!leases.has(event.data.workload)) drop(event.data.workload)
        break
      case 'WorkloadAdmitted':
        drop(event.data.workload)
        lease(event.data.lease, 1)
        leases.set(event.data.workload, event.data.lease)
        break
      case 'AttemptEnded': {
        const stops = events
          .slice(i + 1)
          .some(({ causation, message: { type } }) => causation === id && type === 'AttemptStopped')
        if (!stops) gather(release(event.data.workload))
        break
      }
      case 'AttemptStopped':
      case 'WorkloadCancelled':
        drop(event.data.workload)
        gather(release(event.data.workload))
        break
      case 'LeaseShrunk': {
        const left = release(event.data.workload)
        lease(event.data.keeps, 1)
        leases.set(event.data.workload, event.data.keeps)
        gather(left)
      }
    }
    levels.set(now, levelOf([...nodes.values()]))
  }
  return { levels, keptMilliMs }
}

const levelOf = (nodes: ReadonlyArray<{ readonly health: string; readonly devices: ReadonlyArray<Device> }>): Level => {
  let [installed, schedulable, allocated, kept, free] = [0, 0, 0, 0, 0]
  for (const { health, devices } of nodes)
    for (const device of devices) {
      installed += 1000
      if (health === 'failed' || device.health === 'failed') continue
      allocated += device.leased
      const open = health === 'ready' && device.health === 'ready'
      schedulable += open ? 1000 : device.leased
      if (open) kept += keptOf(device)
      if (open && device.leased + keptOf(device) === 0) free++
    }
  return [installed, schedulable, allocated, kept, free]
}
