import type { Machine, Pod } from './files.ts'

export type FillRule = 'first' | 'best'

export interface Fill {
  readonly placed: number
  readonly unplaced: number
  readonly unplacedMilli: number
  readonly allocatedMilli: number
  readonly share: number
  readonly freeGpus: number
  readonly partialGpus: number
  readonly partialFreeMilli: number
  readonly free8GpuNodes: number
  readonly firstUnplaced: string | null
}

/** Places pods in the order of the file; nothing leaves. The slow way: every pod looks at every machine. */
export const fillSlowly = (pods: ReadonlyArray<Pod>, machines: ReadonlyArray<Machine>, rule: FillRule): Fill => {
  const state = machines.map((machine) => ({
    machine,
    cpu: machine.cpu,
    memory: machine.memory,
    free: new Array<number>(machine.gpus).fill(1000),
  }))
  const missed: Array<Pod> = []
  let allocated = 0
  for (const pod of pods) {
    let chosen: (typeof state)[number] | undefined
    let chosenFree = Infinity
    for (const node of state) {
      if (node.cpu < pod.cpu || node.memory < pod.memory) continue
      if (pod.gpus > 0 && pod.models.length > 0 && !pod.models.includes(node.machine.model)) continue
      if (pod.gpus === 1 && !node.free.some((free) => free >= pod.milli)) continue
      if (pod.gpus > 1 && node.free.filter((free) => free === 1000).length < pod.gpus) continue
      if (rule === 'first') {
        chosen = node
        break
      }
      const total = node.free.reduce((sum, free) => sum + free, 0)
      if (total < chosenFree) {
        chosen = node
        chosenFree = total
      }
    }
    if (chosen === undefined) {
      missed.push(pod)
      continue
    }
    chosen.cpu -= pod.cpu
    chosen.memory -= pod.memory
    allocated += pod.gpus * pod.milli
    for (const device of devicesFor(pod, chosen.free, rule)) chosen.free[device]! -= pod.milli
  }
  const devices = state.flatMap((node) => node.free)
  const partial = devices.filter((free) => free > 0 && free < 1000)
  return {
    placed: pods.length - missed.length,
    unplaced: missed.length,
    unplacedMilli: missed.reduce((sum, pod) => sum + pod.gpus * pod.milli, 0),
    allocatedMilli: allocated,
    share: allocated / (1000 * devices.length),
    freeGpus: devices.filter((free) => free === 1000).length,
    partialGpus: partial.length,
    partialFreeMilli: partial.reduce((sum, free) => sum + free, 0),
    free8GpuNodes: state.filter((node) => node.free.length === 8 && node.free.every((free) => free === 1000)).length,
    firstUnplaced: missed[0]?.name ?? null,
  }
}

/** Which devices of a node that fits are taken: the first that fit, or under `best` the fullest one. */
export const devicesFor = (
  need: { readonly gpus: number; readonly milli: number },
  free: ReadonlyArray<number>,
  rule: FillRule,
): Array<number> => {
  const indexes = [...free.keys()]
  if (need.gpus === 0) return []
  if (need.gpus > 1) return indexes.filter((index) => free[index] === 1000).slice(0, need.gpus)
  const fitting = indexes.filter((index) => free[index]! >= need.milli)
  if (rule === 'best') fitting.sort((a, b) => free[a]! - free[b]! || a - b)
  return fitting.slice(0, 1)
}
