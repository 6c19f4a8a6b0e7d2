/** Ours against a baseline, in one process and by turns: the ratio is baseline time over our time, per pair. */
export interface Ratio {
  readonly name: string
  readonly events: number
  readonly pairs: number
  readonly median: number
  readonly p10: number
  readonly p90: number
  /** Medians, per event. */
  readonly oursUs: number
  readonly baselineUs: number
}

/** A run gives its own time in ms, without what it sets up. */
export type Timed = () => Promise<number> | number

const pairsMin = 7

export const ratioOf = async (
  name: string,
  events: number,
  ours: Timed,
  baseline: Timed,
  pairs = pairsMin,
): Promise<Ratio> => {
  const ratios: number[] = []
  const oursMs: number[] = []
  const baselineMs: number[] = []
  await ours()
  await baseline()
  for (let pair = 0; pair < pairs; pair++) {
    // By turns also in which goes first.
    const first = pair % 2 === 0
    if (first) oursMs.push(await timed(ours))
    baselineMs.push(await timed(baseline))
    if (!first) oursMs.push(await timed(ours))
    ratios.push(baselineMs.at(-1)! / oursMs.at(-1)!)
  }
  const perEvent = (ms: ReadonlyArray<number>): number => (quantile(ms, 0.5) * 1_000) / events
  return {
    name,
    events,
    pairs,
    median: quantile(ratios, 0.5),
    p10: quantile(ratios, 0.1),
    p90: quantile(ratios, 0.9),
    oursUs: perEvent(oursMs),
    baselineUs: perEvent(baselineMs),
  }
}

const timed = async (run: Timed): Promise<number> => {
  globalThis.gc?.()
  return run()
}

export const quantile = (values: ReadonlyArray<number>, q: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const low = sorted[Math.floor(at)]!
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at))
}
