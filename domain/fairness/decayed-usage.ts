import { assert } from '../kernel/decider.ts'
import type { EpochMs } from '../kernel/units.ts'
import { amountBits, amountIn } from './fixed-point.ts'
import type { PeriodDecay } from './period-decay.ts'

/** What one leaf has used; exact between its own events, however often anybody looks in between. */
interface Ledger {
  /** The period that the rest is of; only an event of this leaf moves it on. */
  period: number
  /** At the start of that period: amount of unit-seconds. */
  usage: bigint
  /** What its end will add, if all that runs goes on: the same. */
  charge: bigint
  /** Units that run. */
  rate: number
}

/** Plain data; amounts as decimals, since they are beyond what a JSON number holds. */
export interface DecayedUsageSnapshot {
  readonly now: number
  /** In order of their ids. */
  readonly leaves: ReadonlyArray<{
    readonly id: string
    readonly period: number
    readonly usage: string
    readonly charge: string
    readonly rate: number
  }>
}

/**
 * Usage of leaves that decays period by period. Instants are rounded down to whole seconds. An event costs O(log of the
 * periods since the leaf's last one); time that passes costs nothing. Changes in place.
 */
export class DecayedUsage {
  private decay: PeriodDecay
  private readonly ledgers = new Map<string, Ledger>()
  private now: number

  constructor(decay: PeriodDecay, from?: DecayedUsageSnapshot) {
    this.decay = decay
    this.now = from?.now ?? 0
    for (const { id, period, usage, charge, rate } of from?.leaves ?? [])
      this.ledgers.set(id, { period, usage: BigInt(usage), charge: BigInt(charge), rate })
  }

  /** The period that is open. */
  get period(): number {
    return Math.floor(this.now / this.decay.periodSeconds)
  }

  /** Time does not go back. */
  advance(at: EpochMs): void {
    const seconds = Math.floor(at / 1000)
    assert(seconds >= this.now, 'usage is told of instants in their order')
    this.now = seconds
  }

  /** @param rate units, a whole number: see `billedMilli` */
  started(id: string, rate: number, at: EpochMs): void {
    this.advance(at)
    const ledger = this.settled(id)
    ledger.rate += rate
    assert(Number.isSafeInteger(ledger.rate), 'what runs is a whole number of units')
    ledger.charge += this.chargeOf(rate, this.now, this.periodEnd)
  }

  /** @param startedAt as `started` was told */
  ended(id: string, rate: number, startedAt: EpochMs, at: EpochMs): void {
    this.advance(at)
    const ledger = this.settled(id)
    const from = Math.max(Math.floor(startedAt / 1000), this.periodEnd - this.decay.periodSeconds)
    ledger.rate -= rate
    assert(ledger.rate >= 0, 'what ends has run')
    const charge = ledger.charge + this.chargeOf(rate, from, this.now) - this.chargeOf(rate, from, this.periodEnd)
    // Below 0 only where it was charged by a decay that has been changed since.
    ledger.charge = charge < 0n ? 0n : charge
  }

  /** Takes over usage that was accounted elsewhere, as of now. @param unitSeconds a whole number */
  add(id: string, unitSeconds: bigint): void {
    this.settled(id).usage += unitSeconds << amountBits
  }

  /**
   * From now on usage decays otherwise. Costs a visit to every leaf. What runs is charged for the open period by either,
   * which makes a difference of 0.693 x 300 s over the shorter half-life at most.
   * @param decay with periods of the same length
   */
  changeDecay(decay: PeriodDecay): void {
    assert(decay.periodSeconds === this.decay.periodSeconds, 'periods keep their length')
    for (const id of this.ledgers.keys()) this.settled(id)
    this.decay = decay
  }

  /** Forgets a leaf; what runs there has ended before. */
  remove(id: string): void {
    this.ledgers.delete(id)
  }

  /** As of the last period that was closed: an amount of unit-seconds, as `shownAmount` shows it. */
  of(id: string): bigint {
    const ledger = this.ledgers.get(id)
    return ledger === undefined ? 0n : this.valueOf(ledger)
  }

  snapshot(): DecayedUsageSnapshot {
    const leaves = [...this.ledgers]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, { period, usage, charge, rate }]) => ({
        id,
        period,
        usage: String(usage),
        charge: String(charge),
        rate,
      }))
    return { now: this.now, leaves }
  }

  private get periodEnd(): number {
    return (this.period + 1) * this.decay.periodSeconds
  }

  private chargeOf(rate: number, from: number, to: number): bigint {
    return BigInt(rate) * this.decay.charges[to - from]!
  }

  private settled(id: string): Ledger {
    const { period } = this
    let ledger = this.ledgers.get(id)
    if (ledger === undefined) this.ledgers.set(id, (ledger = { period, usage: 0n, charge: 0n, rate: 0 }))
    if (ledger.period === period) return ledger
    ledger.usage = this.valueOf(ledger)
    ledger.charge = BigInt(ledger.rate) * this.decay.wholeCharge
    ledger.period = period
    return ledger
  }

  /** Not period by period, but at once: so that it does not matter how often it is asked for. */
  private valueOf({ period, usage, charge, rate }: Ledger): bigint {
    const closed = this.period - period
    if (closed === 0) return usage
    const { powers, wholeCharge } = this.decay
    const sum = usage * powers.of(closed) + charge * powers.of(closed - 1)
    return amountIn(rate === 0 ? sum : sum + BigInt(rate) * wholeCharge * powers.sum(closed - 1))
  }
}
