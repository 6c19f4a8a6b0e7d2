import { sizeClassOf } from './line-set.ts'
import { RecentByKind } from './recent-values.ts'
import { WaitKeys, type WaitKinds } from './wait-keys.ts'
import type { Workload } from './workload.ts'

/** Of a kind, to be asked; else a coarser one is. */
const enough = 24
/** Starts of one leaf by which its pace is told. */
const startsMax = 64
const startsMin = 8

const million = 1_000_000
/** Of all waits, so many millionths end before the band and as many behind it. */
const outside = 100_000
/** By so much the levels move with each wait that is scored. */
const step = 3_000

/** Millionths; below 0 and above a million the band goes beyond all that is remembered. */
interface Levels {
  low: number
  high: number
}

/** Thousandths of what was expected from what was ahead and the pace of the leaf. */
export interface WaitBand {
  readonly low: number
  readonly median: number
  readonly high: number
}

/**
 * How long what was held waited, against what its place and the pace of its leaf let expect; by kinds from fine to coarse. The
 * levels of the band follow what became of earlier ones, so that in the long run a tenth falls on either side of it,
 * whatever the load does.
 * @see Gibbs and Candès, Adaptive Conformal Inference Under Distribution Shift, NeurIPS 2021, (2)
 */
export class WaitHistory {
  private readonly kept = new RecentByKind(enough)
  private readonly levels = new Map<string, Levels>()
  private readonly starts = new Map<string, number[]>()
  private readonly keys = new Map<string, Map<string, WaitKeys[]>>()

  /** For what is of that leaf. */
  keysOf(leaf: string, { class: kind, shape }: Workload): WaitKeys {
    let byClass = this.keys.get(leaf)
    if (byClass === undefined) this.keys.set(leaf, (byClass = new Map<string, WaitKeys[]>()))
    let bySize = byClass.get(kind)
    if (bySize === undefined) byClass.set(kind, (bySize = []))
    const size = sizeClassOf(shape)
    return (bySize[size] ??= new WaitKeys(leaf, kind, size))
  }

  /** One of these kinds has started. */
  started(kinds: ReadonlyArray<string>, at: number): void {
    for (const kind of kinds) {
      const starts = this.starts.get(kind)
      if (starts === undefined) this.starts.set(kind, [at])
      else if (starts.push(at) > startsMax) starts.shift()
    }
  }

  /** How long it takes at the pace of late until so many of the kind have started, ms; null: too few have. */
  expected(kind: string, count: () => number, now: number): number | null {
    const starts = this.starts.get(kind)
    if (starts === undefined || starts.length < startsMin) return null
    return Math.floor((count() * Math.max(1, now - starts[0]!)) / starts.length)
  }

  /** Null: too few of any of the kinds are remembered. */
  band(kinds: WaitKinds, levelsOf: string, reach: Reach): WaitBand | null {
    const sorted = this.remembered(kinds)
    if (sorted === null) return null
    const { low, high } = this.levels.get(levelsOf) ?? startOf(reach)
    return {
      low: low >= 0 ? at(sorted, low) : Math.max(0, beyond(sorted[0]!, low)),
      median: at(sorted, million / 2),
      high: high <= million ? at(sorted, high) : beyond(sorted.at(-1)!, high - million),
    }
  }

  /** By size, of the first kind of which there are enough. */
  private remembered(kinds: WaitKinds): ReadonlyArray<number> | null {
    const { kept } = this
    // Some twenty keys, of which each is to be fetched from memory: not as long as no other kind has come to enough.
    if (kinds.known !== kept.ample) {
      kinds.known = kept.ample
      kinds.values = null
      for (let i = 0; i < kinds.keys.length && kinds.values === null; i++) {
        const values = kept.of(kinds.keys[i]!)
        if (values !== undefined && values.sorted.length >= enough) kinds.values = values
      }
    }
    return kinds.values?.sorted ?? null
  }

  /** A wait has ended, after so many thousandths of what was expected. */
  add(kinds: ReadonlyArray<string>, ratio: number): void {
    for (const kind of kinds) this.kept.add(kind, ratio)
  }

  /** A band that was told was met, or missed on one side. */
  score(levelsOf: string, reach: Reach, outcome: 'before' | 'within' | 'behind'): void {
    let levels = this.levels.get(levelsOf)
    if (levels === undefined) this.levels.set(levelsOf, (levels = startOf(reach)))
    const share = (step * outside) / million
    levels.low = between(reaches[reach].low, levels.low + share - (outcome === 'before' ? step : 0))
    levels.high = between(reaches[reach].high, levels.high - share + (outcome === 'behind' ? step : 0))
  }

  toJSON() {
    return {
      kinds: this.kept.toJSON(),
      levels: [...this.levels].map(([kind, { high, low }]) => [kind, { high, low }] as const),
      starts: [...this.starts],
    }
  }

  restore({ kinds, levels, starts }: WaitHistorySnapshot): void {
    this.kept.restore(kinds)
    for (const [kind, level] of levels) this.levels.set(kind, { ...level })
    for (const [leaf, list] of starts) this.starts.set(leaf, [...list])
  }
}

export type WaitHistorySnapshot = {
  readonly kinds: ReadonlyArray<readonly [string, ReadonlyArray<number>]>
  readonly levels: ReadonlyArray<readonly [string, Readonly<Levels>]>
  readonly starts: ReadonlyArray<readonly [string, ReadonlyArray<number>]>
}

/**
 * How soon it is known what becomes of a band. While that takes long, all that were told the same would drive the levels
 * far beyond what is good for later ones, so they are bounded; and where a queue grows, those whose waits are over are the
 * short ones, so the band of long ones always goes beyond the longest.
 */
export type Reach = 'short' | 'long'
const reaches = {
  short: { low: [-200_000, 100_000], high: [800_000, 1_200_000] },
  long: { low: [-200_000, 100_000], high: [1_050_000, 1_500_000] },
} as const

const startOf = (reach: Reach): Levels => ({ low: outside, high: Math.max(million - outside, reaches[reach].high[0]) })

const at = (sorted: ReadonlyArray<number>, level: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * level) / million))]!

/** As many times more, or less, as the level is tenths beyond all that is remembered. */
const beyond = (ratio: number, excess: number): number =>
  ratio + Math.floor((Math.max(1, ratio) * excess * 10) / million)

const between = ([least, most]: readonly [number, number], level: number): number =>
  Math.max(least, Math.min(most, level))
