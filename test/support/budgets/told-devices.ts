import type { LeasePart } from '../../../domain/planner/cell-event.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import type { PlacementRequest } from '../../../domain/workload/request.ts'
import type { Job, ToldCell } from './told-cell.ts'

/** Thousandths taken of each device, by the node's name. */
export type Taken = ReadonlyMap<string, number[]>

/** What a lease leaves its holder with: these parts, or null for nothing. */
export type Leaving = ReadonlyMap<string, ReadonlyArray<LeasePart> | null>

const nobody: Leaving = new Map()

/** What leases take, and unless told otherwise what is kept for somebody else than `forWhom`. */
export const takenOf = (told: ToldCell, leaving: Leaving = nobody, forWhom: string | null = null): Taken => {
  const taken = new Map(
    Array.from(told.nodes, ([name, { devices }]) => [name, new Array<number>(devices.length).fill(0)]),
  )
  const take = (parts: ReadonlyArray<LeasePart>) => {
    for (const { node, devices, milli } of parts) for (const device of devices) taken.get(node)![device]! += milli
  }
  for (const { id, run } of told.jobs.values()) {
    if (run === null) continue
    const keeps = leaving.get(id)
    take(keeps === undefined ? run.lease : (keeps ?? []))
  }
  for (const [id, { decision }] of told.places) if (id !== forWhom) take(decision.lease)
  return taken
}

/** Who was asked to make room for a place that is kept still, and has not yet. */
export const leavingOf = (told: ToldCell): Leaving => {
  const leaving = new Map<string, ReadonlyArray<LeasePart> | null>()
  for (const { decision } of told.places.values())
    for (const { workload, attempt, keeps } of decision.victims)
      if (told.jobs.get(workload)?.attempt === attempt && told.jobs.get(workload)?.run != null)
        leaving.set(workload, keeps)
  return leaving
}

export const isReady = (told: ToldCell, name: string, device: number): boolean => {
  const node = told.nodes.get(name)!
  return node.health === 'ready' && node.devices[device] === 'ready'
}

/**
 * Whether the request could go somewhere, all of it, beside what is taken.
 * @param kept whole devices that have to stay free
 */
export const fits = (told: ToldCell, taken: Taken, request: PlacementRequest, kept = 0): boolean => {
  let whole = 0
  for (const [name, devices] of taken)
    whole += devices.filter((milli, device) => milli === 0 && isReady(told, name, device)).length
  // A part of a device goes by the strategy to any device that has it free, also to a whole one.
  if (kept > 0 && whole - request.devices < kept) return false
  const rooms = new Map<string, number>()
  for (const [name, { spec }] of told.nodes) {
    if (request.models !== null && !request.models.includes(spec.model ?? '')) continue
    let room = 0
    taken.get(name)!.forEach((milli, device) => {
      if (isReady(told, name, device) && 1000 - milli >= request.milli) room++
    })
    const place =
      request.span === 'anywhere' ? '' : request.span === 'node' || spec.domain === null ? `node ${name}` : spec.domain
    rooms.set(place, (rooms.get(place) ?? 0) + room)
  }
  return [...rooms.values()].some((room) => room >= request.devices)
}

/** Whole devices that others keep and do not use; Infinity: headroom that it must leave alone, however much that is. */
export const keptFrom = (told: ToldCell, job: Job): number => {
  const { classes = [], headroom } = told.policy!
  const isFree = job.data.terms.preemption.tolerated && told.isDrilled(job.data, told.now)
  if (headroom !== undefined && (!headroom.lent || !isFree)) return Infinity
  return classes.reduce((sum, { name, reserveDevices }) => {
    if (name === job.data.class) return sum
    const own = [...told.jobs.values()].filter(({ data, run }) => run !== null && data.class === name)
    const held = own.reduce((milli, { run }) => milli + sizeOf(run!.lease), 0)
    return sum + Math.max(0, reserveDevices - Math.floor(held / 1000))
  }, 0)
}

export const sizeOf = (parts: ReadonlyArray<LeasePart>): number =>
  parts.reduce((sum, { devices, milli }) => sum + devices.length * milli, 0)

/** Milli-units of one whole device of that model. */
export const unitOf = (policy: AllocationPolicy | null, model: string | null): number =>
  policy?.accelerators?.find(({ name, models }) => model !== null && (name === model || models.includes(model)))
    ?.milliUnits ?? 1000

/** What a lease is charged: nothing for what has failed. */
export const rateOf = (told: ToldCell, parts: ReadonlyArray<LeasePart>): number => {
  let thousandths = 0
  for (const { node, devices, milli } of parts) {
    const { health, devices: healths, spec } = told.nodes.get(node)!
    if (health === 'failed') continue
    const ready = devices.filter((device) => healths[device] !== 'failed').length
    thousandths += ready * milli * unitOf(told.policy, spec.model)
  }
  return Math.ceil(thousandths / 1000)
}

/** Of what waits: on the device of those it accepts that counts least. */
export const waitingRateOf = (told: ToldCell, { data: { request } }: Job): number => {
  const units = request.models?.map((model) => unitOf(told.policy, model)) ?? [1000]
  return Math.ceil(
    (request.devices * request.milli * Math.min(...units, ...(request.models === null ? [] : [1000]))) / 1000,
  )
}

/** Milli-units, or what else a device of a model counts for, of what is ready, or has a live lease and has not failed. */
export const capacityOf = (told: ToldCell, unit = (model: string | null) => unitOf(told.policy, model)): number => {
  const leased = new Set<string>()
  for (const { run } of told.jobs.values())
    for (const { node, devices } of run?.lease ?? []) for (const device of devices) leased.add(`${node} ${device}`)
  let capacity = 0
  for (const [name, { health, devices, spec }] of told.nodes)
    devices.forEach((own, device) => {
      if (health === 'failed' || own === 'failed') return
      if (isReady(told, name, device) || leased.has(`${name} ${device}`)) capacity += unit(spec.model)
    })
  return capacity
}
