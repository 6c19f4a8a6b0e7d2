import type { NodeSpec } from '../../../domain/fleet/fleet.ts'
import type { NodeHealth } from '../../../domain/planner/cell-event.ts'
import type { MixClass, Strategy } from '../../../domain/policy/allocation-policy.ts'
import type { PlacementRequest } from '../../../domain/workload/request.ts'

/** A fleet as nested lists, without a sum or an index: every question looks at everything. */
export interface NaiveNode {
  readonly spec: NodeSpec
  health: NodeHealth
  cpu: number
  host: number
  readonly devices: ReadonlyArray<NaiveDevice>
}
export interface NaiveDevice {
  milli: number
  memory: number
  health: NodeHealth
}
export interface NaivePart {
  readonly node: number
  readonly devices: ReadonlyArray<number>
  readonly milli: number
  readonly memoryMib: number
}
/** How a strategy that is defined by an order chooses; `fgd` and `random` have tests of their own. */
export type OrderedStrategy = Exclude<Strategy, 'fgd' | 'random'>

export const naiveNode = (spec: NodeSpec): NaiveNode => ({
  spec,
  health: 'ready',
  cpu: spec.cpuMilli ?? Infinity,
  host: spec.hostMemoryMib ?? Infinity,
  devices: Array.from({ length: spec.devices }, () => ({
    milli: 1000,
    memory: spec.deviceMemoryMib ?? Infinity,
    health: 'ready',
  })),
})

export const copyOf = (nodes: ReadonlyArray<NaiveNode>): ReadonlyArray<NaiveNode> =>
  nodes.map((node) => ({ ...node, devices: node.devices.map((device) => ({ ...device })) }))

/** GPU milli free on what takes new work. */
export const freeOf = (node: NaiveNode): number =>
  node.health === 'ready' ? sum(node.devices.map(({ milli, health }) => (health === 'ready' ? milli : 0))) : 0
export const wholeOf = (node: NaiveNode): number =>
  node.health === 'ready' ? node.devices.filter(({ milli, health }) => health === 'ready' && milli === 1000).length : 0

export const accepts = ({ models }: PlacementRequest, { spec }: NaiveNode): boolean =>
  models === null || spec.model === null || models.includes(spec.model)

/** Thousandths of each device: stated, or the part that its memory is of the device's. */
export const milliEach = ({ milli, memoryMib, devices }: PlacementRequest, { spec }: NaiveNode): number => {
  if (milli > 0 || devices === 0) return milli
  return spec.deviceMemoryMib === null ? 1 : Math.ceil((1000 * memoryMib) / spec.deviceMemoryMib)
}

const usable = (request: PlacementRequest, node: NaiveNode): ReadonlyArray<number> =>
  [...node.devices.keys()].filter((index) => {
    const { milli, memory, health } = node.devices[index]!
    return health === 'ready' && milli >= milliEach(request, node) && memory >= request.memoryMib
  })

/** What `count` of the gang's devices need of their node, rounded up. */
const partOf = (total: number, count: number, { devices }: PlacementRequest): number =>
  devices === 0 ? total : Math.ceil((total * count) / devices)

/** How many devices the gang could take on the node. */
export const roomOn = (request: PlacementRequest, node: NaiveNode): number => {
  if (node.health !== 'ready' || !accepts(request, node)) return 0
  let room = 0
  for (let count = 1; count <= Math.min(request.devices, usable(request, node).length); count++)
    if (
      partOf(request.cpuMilli, count, request) <= node.cpu &&
      partOf(request.hostMemoryMib, count, request) <= node.host
    )
      room = count
  return room
}

export const fitsOn = (request: PlacementRequest, node: NaiveNode): boolean =>
  node.health === 'ready' &&
  accepts(request, node) &&
  node.cpu >= request.cpuMilli &&
  node.host >= request.hostMemoryMib &&
  usable(request, node).length >= request.devices

const pick = (request: PlacementRequest, node: NaiveNode, count: number, strategy: OrderedStrategy) => {
  const indexes = [...usable(request, node)]
  const milli = (index: number) => node.devices[index]!.milli
  if (strategy === 'spread') indexes.sort((a, b) => milli(b) - milli(a) || a - b)
  else if (strategy !== 'first-fit') indexes.sort((a, b) => milli(a) - milli(b) || a - b)
  return indexes.slice(0, count)
}

/** Node numbers, the best first: by the strategy's keys, then by number. */
const ranked = (
  nodes: ReadonlyArray<NaiveNode>,
  numbers: ReadonlyArray<number>,
  request: PlacementRequest,
  strategy: OrderedStrategy,
): ReadonlyArray<number> => {
  const installed = (model: string | null) => sum(nodes.map(({ spec }) => (spec.model === model ? spec.devices : 0)))
  const keys = (number: number): ReadonlyArray<number | string> => {
    const node = nodes[number]!
    switch (strategy) {
      case 'first-fit':
        return []
      case 'best-fit':
        return [freeOf(node)]
      case 'spread':
        return [-freeOf(node)]
      case 'model-aware':
        return request.devices === 0
          ? [freeOf(node), Math.min(node.cpu, 999_999)]
          : [-installed(node.spec.model), node.spec.model ?? '', freeOf(node), Math.min(node.cpu, 999_999)]
    }
  }
  const keyed = numbers.map((number) => ({ number, keys: keys(number) }))
  keyed.sort((a, b) => {
    for (const [i, key] of a.keys.entries()) {
      const other = b.keys[i]!
      if (key !== other) return key < other ? -1 : 1
    }
    return a.number - b.number
  })
  return keyed.map(({ number }) => number)
}

/** The parts of the whole request, or null. `except` may not be taken. */
export const placeSlowly = (
  nodes: ReadonlyArray<NaiveNode>,
  request: PlacementRequest,
  strategy: OrderedStrategy,
  except = -1,
): ReadonlyArray<NaivePart> | null => {
  const part = (node: number, count: number): NaivePart => ({
    node,
    devices: pick(request, nodes[node]!, count, strategy),
    milli: milliEach(request, nodes[node]!),
    memoryMib: request.memoryMib,
  })
  const numbers = [...nodes.keys()]
  if (request.span === 'node' || request.devices === 0) {
    const fitting = numbers.filter((number) => number !== except && fitsOn(request, nodes[number]!))
    const [best] = ranked(nodes, fitting, request, strategy)
    return best === undefined ? null : [part(best, request.devices)]
  }
  const order = ranked(
    nodes,
    numbers.filter((number) => roomOn(request, nodes[number]!) > 0),
    request,
    strategy,
  )
  const places = groupsOf(nodes, order, request)
    .map((members) => ({ members, room: sum(members.map((number) => roomOn(request, nodes[number]!))) }))
    .filter(({ room }) => room >= request.devices)
  const [place] = places.sort((a, b) => a.room - b.room)
  if (place === undefined) return null
  const parts: NaivePart[] = []
  let missing = request.devices
  for (const number of place.members) {
    const count = Math.min(missing, roomOn(request, nodes[number]!))
    if (count > 0) parts.push(part(number, count))
    missing -= count
  }
  return parts
}

const groupsOf = (
  nodes: ReadonlyArray<NaiveNode>,
  order: ReadonlyArray<number>,
  { span }: PlacementRequest,
): ReadonlyArray<ReadonlyArray<number>> => {
  if (span === 'anywhere') return [order]
  const groups = new Map<string, number[]>()
  for (const number of order) {
    const { domain } = nodes[number]!.spec
    const key = domain === null ? `alone ${number}` : `domain ${domain}`
    groups.set(key, [...(groups.get(key) ?? []), number])
  }
  return [...groups.values()]
}

/** GPU milli of the largest request of its kind that one place of its span could take. */
export const largestSlowly = (nodes: ReadonlyArray<NaiveNode>, request: PlacementRequest): number => {
  const whole = request.milli === 1000 && request.devices > 0
  const able = nodes.filter((node) => node.health === 'ready' && accepts(request, node))
  if (request.span === 'node') {
    if (whole) return 1000 * most(able.map((node) => usable(request, node).length))
    return most(
      able.flatMap(({ devices }) =>
        devices
          .filter(({ health, memory }) => health === 'ready' && memory >= request.memoryMib)
          .map(({ milli }) => milli),
      ),
    )
  }
  const groups = groupsOf(nodes, [...nodes.keys()], request)
  return (
    (whole ? 1000 : request.milli) *
    most(
      groups.map((members) =>
        sum(members.map((number) => roomOn({ ...request, devices: request.devices }, nodes[number]!))),
      ),
    )
  )
}

export const take = (
  nodes: ReadonlyArray<NaiveNode>,
  request: PlacementRequest,
  parts: ReadonlyArray<NaivePart>,
  sign = 1,
): void => {
  for (const { node: number, devices, milli, memoryMib } of parts) {
    const node = nodes[number]!
    node.cpu -= sign * partOf(request.cpuMilli, devices.length, request)
    node.host -= sign * partOf(request.hostMemoryMib, devices.length, request)
    for (const index of devices) {
      node.devices[index]!.milli -= sign * milli
      node.devices[index]!.memory -= sign * memoryMib
    }
  }
}

export const give = (
  nodes: ReadonlyArray<NaiveNode>,
  request: PlacementRequest,
  parts: ReadonlyArray<NaivePart>,
): void => {
  take(nodes, request, parts, -1)
}

/** Fragmentation of one node by its definition, summed over the mix: GPU milli x weight that a class cannot use. */
export const fragmentationSlowly = (free: ReadonlyArray<number>, cpu: number, mix: ReadonlyArray<MixClass>): number =>
  sum(
    mix.map(({ cpuMilli, devices, milli, weight }) => {
      const hosts = devices > 0 && cpuMilli <= cpu && free.filter((each) => each >= milli).length >= devices
      return weight * sum(free.filter((each) => !hosts || each < milli))
    }),
  )

export const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, each) => total + each, 0)
export const most = (numbers: ReadonlyArray<number>): number => numbers.reduce((best, each) => Math.max(best, each), 0)
