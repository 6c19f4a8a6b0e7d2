import type { CellEvent, LeasePart } from '../../../domain/planner/cell-event.ts'
import type { StoredEvent } from '../../../domain/ports/event-log.ts'

type Level = readonly [installed: number, schedulable: number, allocated: number, freeDevices: number]

interface Device {
  leased: number
  health: string
}

/**
 * Thousandths installed, schedulable and allocated, and wholly free devices, at the end of each instant: from the events
 * alone, the slow way.
 */
export const levelsByHand = (events: ReadonlyArray<StoredEvent>): ReadonlyMap<number, Level> => {
  const nodes = new Map<string, { health: string; devices: Device[] }>()
  const leases = new Map<string, ReadonlyArray<LeasePart>>()
  const levels = new Map<number, Level>()
  const lease = (parts: ReadonlyArray<LeasePart>, sign: number) => {
    for (const { node, devices, milli } of parts)
      for (const device of devices) nodes.get(node)!.devices[device]!.leased += sign * milli
  }
  const release = (workload: string) => {
    lease(leases.get(workload) ?? [], -1)
    leases.delete(workload)
  }
  let now = 0
  for (const [i, { id, message }] of events.entries()) {
    const event = message as unknown as CellEvent
    now = Math.max(now, event.at)
    switch (event.type) {
      case 'NodeRegistered': {
        const devices = Array.from({ length: event.data.devices }, () => ({ leased: 0, health: 'ready' }))
        nodes.set(event.data.node, { health: 'ready', devices })
        break
      }
      case 'NodeHealthChanged': {
        const node = nodes.get(event.data.node)!
        if (event.data.device === null) node.health = event.data.health
        else node.devices[event.data.device]!.health = event.data.health
        break
      }
      case 'WorkloadAdmitted':
        lease(event.data.lease, 1)
        leases.set(event.data.workload, event.data.lease)
        break
      case 'AttemptEnded': {
        const stops = events
          .slice(i + 1)
          .some(({ causation, message: { type } }) => causation === id && type === 'AttemptStopped')
        if (!stops) release(event.data.workload)
        break
      }
      case 'AttemptStopped':
      case 'WorkloadCancelled':
        release(event.data.workload)
        break
      case 'LeaseShrunk':
        release(event.data.workload)
        lease(event.data.keeps, 1)
        leases.set(event.data.workload, event.data.keeps)
    }
    levels.set(now, levelOf([...nodes.values()]))
  }
  return levels
}

const levelOf = (nodes: ReadonlyArray<{ readonly health: string; readonly devices: ReadonlyArray<Device> }>): Level => {
  let [installed, schedulable, allocated, free] = [0, 0, 0, 0]
  for (const { health, devices } of nodes)
    for (const device of devices) {
      installed += 1000
      if (health === 'failed' || device.health === 'failed') continue
      allocated += device.leased
      const open = health === 'ready' && device.health === 'ready'
      schedulable += open ? 1000 : device.leased
      if (open && device.leased === 0) free++
    }
  return [installed, schedulable, allocated, free]
}
