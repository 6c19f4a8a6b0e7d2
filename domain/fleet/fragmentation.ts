import { mixKey, type MixClass } from '../policy/allocation-policy.ts'
import type { Shape } from './shape.ts'

/** Requests of the mix that differ only in CPU. */
interface MixGroup {
  readonly devices: number
  readonly milli: number
  readonly weight: number
  /** Ascending, with the weight of the requests up to and including each. */
  readonly cpuMilli: ReadonlyArray<number>
  readonly weightUpTo: ReadonlyArray<number>
}

/**
 * Expected fragmentation of a node: over the mix, GPU milli that a request drawn from it could not use there.
 * @see Weng et al., Beware of Fragmentation, ATC 2023, section 3 (memory is left out, requests without GPU count all)
 */
export class FragmentationMeasure {
  /** Sum of the weights: measures are in GPU milli x this. */
  readonly weight: number
  private readonly groups: ReadonlyArray<MixGroup>
  private readonly gpuLessWeight: number
  private sorted = new Int32Array(64)
  private readonly hosted: Float64Array

  constructor(mix: ReadonlyArray<MixClass>) {
    const byKind = new Map<string, MixClass[]>()
    for (const entry of mix) {
      const key = `${entry.devices} ${entry.milli}`
      const kind = byKind.get(key)
      if (kind === undefined) byKind.set(key, [entry])
      else kind.push(entry)
    }
    const groups = [...byKind.values()].map(groupOf)
    this.groups = groups.filter((group) => group.devices > 0).sort((a, b) => a.milli - b.milli || a.devices - b.devices)
    this.gpuLessWeight = groups.filter((group) => group.devices === 0).reduce((sum, group) => sum + group.weight, 0)
    this.weight = groups.reduce((sum, group) => sum + group.weight, 0)
    this.hosted = new Float64Array(this.groups.length)
  }

  /** Prepares measures of nodes with so much CPU free. */
  withCpu(cpuFree: number): void {
    for (let i = 0; i < this.groups.length; i++) this.hosted[i] = weightUpTo(this.groups[i]!, cpuFree)
  }

  /**
   * Measure of a node whose devices have these thousandths free, at the CPU last given to `withCpu`. `changed` of its
   * devices, from `index` on, count as `to` instead: what a placement would leave.
   */
  of(free: Int32Array, from: number, count: number, index = -1, changed = 0, to = 0): number {
    if (count > this.sorted.length) this.sorted = new Int32Array(2 * count)
    const { sorted } = this
    let total = 0
    for (let i = 0; i < count; i++) {
      const value = index >= 0 && i >= index && i < index + changed ? to : free[from + i]!
      total += value
      let at = i
      while (at > 0 && sorted[at - 1]! > value) {
        sorted[at] = sorted[at - 1]!
        at--
      }
      sorted[at] = value
    }
    return this.gpuLessWeight * total + this.overGroups(count, total)
  }

  private overGroups(count: number, total: number): number {
    const { groups, hosted, sorted } = this
    let sum = 0
    let below = 0
    let belowSum = 0
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!
      while (below < count && sorted[below]! < group.milli) belowSum += sorted[below++]!
      const hosts = count - below >= group.devices ? hosted[i]! : 0
      sum += hosts * belowSum + (group.weight - hosts) * total
    }
    return sum
  }
}

const groupOf = (entries: ReadonlyArray<MixClass>): MixGroup => {
  const byCpu = [...entries].sort((a, b) => a.cpuMilli - b.cpuMilli)
  let weight = 0
  const upTo = byCpu.map((entry) => (weight += entry.weight))
  const { devices, milli } = byCpu[0]!
  return { devices, milli, weight, cpuMilli: byCpu.map((entry) => entry.cpuMilli), weightUpTo: upTo }
}

const weightUpTo = (group: MixGroup, cpuFree: number): number => {
  let low = 0
  let high = group.cpuMilli.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (group.cpuMilli[middle]! <= cpuFree) low = middle + 1
    else high = middle
  }
  return low === 0 ? 0 : group.weightUpTo[low - 1]!
}

interface Demanded {
  readonly cpuMilli: number
  readonly devices: number
  readonly milli: number
  weight: number
}

/**
 * Demand seen so far, as a mix. What is measured against follows in steps of a tenth, decided when demand is added and
 * not when it is asked for, so that a replay measures the same.
 */
export class DemandSeen {
  private readonly classes = new Map<string, Demanded>()
  /** The class of each shape, by its index: what saves the name of the class. */
  private readonly byShape: Demanded[] = []
  private seen = 0
  private measured: { readonly seen: number; readonly mix: ReadonlyArray<MixClass> } = { seen: 0, mix: [] }
  private compiled: FragmentationMeasure | null = null

  add({ index, request }: Shape): void {
    const demanded = (this.byShape[index] ??= this.classOf(request))
    demanded.weight++
    this.seen++
    if (this.seen * 10 > this.measured.seen * 11) this.measure(this.seen, this.mix)
  }

  get mix(): ReadonlyArray<MixClass> {
    return Array.from(this.classes.values(), (entry) => ({ ...entry }))
  }

  get measuredMix(): ReadonlyArray<MixClass> {
    return this.measured.mix
  }

  get fragmentation(): FragmentationMeasure {
    return (this.compiled ??= new FragmentationMeasure(this.measured.mix))
  }

  /** From a snapshot. */
  restore(mix: ReadonlyArray<MixClass>, measuredMix: ReadonlyArray<MixClass>): void {
    const total = (entries: ReadonlyArray<MixClass>) => entries.reduce((sum, entry) => sum + entry.weight, 0)
    for (const entry of mix) this.classOf(entry).weight = entry.weight
    this.seen = total(mix)
    this.measure(total(measuredMix), measuredMix)
  }

  private classOf(request: Omit<MixClass, 'weight'>): Demanded {
    const key = mixKey(request)
    const known = this.classes.get(key)
    if (known !== undefined) return known
    const { cpuMilli, devices, milli } = request
    const fresh = { cpuMilli, devices, milli, weight: 0 }
    this.classes.set(key, fresh)
    return fresh
  }

  private measure(seen: number, mix: ReadonlyArray<MixClass>): void {
    this.measured = { seen, mix }
    this.compiled = null
  }
}

/** Bucket in which two placements count as equally good: 40 thousandths, per unit of the mix's weight. */
export const scoreStepMilli = 40
