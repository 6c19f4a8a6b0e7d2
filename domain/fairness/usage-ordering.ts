import { assert } from '../kernel/decider.ts'
import type { DurationMs, EpochMs } from '../kernel/units.ts'
import { bySeniority, type Candidate } from './candidate.ts'
import { amountBits, amountIn, amountOf, halving, one, Powers } from './fixed-point.ts'
import { compareFractions, endless, fraction, type Fraction } from './fraction.ts'
import { PendingDebits } from './pending-debits.ts'
import { WaitingHeads } from './waiting-heads.ts'

export interface UsageOrderingSettings {
  /** 0: usage stays what it is, and nothing is added to it. */
  readonly halfLifeMs: DurationMs
  /** Usage is sampled at multiples of this since 1970; above 0. */
  readonly samplingMs: DurationMs
  /** Thousandths, one per resource. */
  readonly resourceWeightsMilli: ReadonlyArray<number>
}

export interface SubQueue {
  readonly name: string
  /** Thousandths; 0: after all that have one. */
  readonly weightMilli: number
}

export interface SubQueueCandidate extends Candidate {
  readonly subQueue: string
}

/** Plain data; amounts as decimals, since they are beyond what a JSON number holds. */
export interface UsageOrderingSnapshot {
  readonly nowMs: number
  readonly subQueues: ReadonlyArray<
    SubQueue & {
      readonly sample: number
      readonly usage: ReadonlyArray<string>
      readonly held: ReadonlyArray<number>
      readonly debits: ReadonlyArray<readonly [workload: string, amounts: ReadonlyArray<string>]>
    }
  >
}

interface Ledger extends SubQueue {
  /** Number of the sample that the usage is as of; only an event of this sub-queue moves it on. */
  sample: number
  /** Amounts per resource; what is held is in whole numbers. */
  readonly usage: bigint[]
  readonly held: number[]
  readonly debits: PendingDebits
  /** Weighted usage, as of a sample; null: an event has changed it. */
  known: { readonly sample: number; readonly usage: Fraction } | null
}

/**
 * Order of the sub-queues of one queue by what they have used, each sample moving usage towards what is held then by
 * `alpha`. An admission is charged alpha of its request beforehand. An event costs O(resources x log of the samples since
 * the sub-queue's last one); time that passes costs nothing. Changes in place.
 * @see usage-based admission of Kueue
 */
export class UsageOrdering {
  private readonly settings: UsageOrderingSettings
  private readonly left: Powers
  private readonly ledgers = new Map<string, Ledger>()
  private nowMs: number
  private readonly heads = new WaitingHeads((a, b) =>
    compareFractions(this.weightedUsageOf(a), this.weightedUsageOf(b)),
  )
  /** The sample as of which the heads are in order. */
  private headsSample = 0

  constructor(settings: UsageOrderingSettings, subQueues: Iterable<SubQueue>, from?: UsageOrderingSnapshot) {
    const { halfLifeMs, samplingMs } = settings
    this.settings = settings
    this.left = new Powers(halfLifeMs === 0 ? one : halving(samplingMs, halfLifeMs))
    this.nowMs = from?.nowMs ?? 0
    for (const subQueue of subQueues) this.add(subQueue)
    for (const { name, sample, usage, held, debits } of from?.subQueues ?? []) {
      const ledger = this.ledgers.get(name)
      if (ledger === undefined) continue
      ledger.sample = sample
      usage.forEach((amount, i) => (ledger.usage[i] = BigInt(amount)))
      held.forEach((amount, i) => (ledger.held[i] = amount))
      for (const [workload, amounts] of debits) ledger.debits.push(workload, amounts.map(BigInt))
    }
  }

  /** Part of the way that one sample goes towards what is held, as `shownFactor` shows it. */
  get alpha(): bigint {
    return one - this.left.base
  }

  add({ name, weightMilli }: SubQueue): void {
    assert(!this.ledgers.has(name), `there is one sub-queue ${name}`)
    const width = this.settings.resourceWeightsMilli.length
    this.ledgers.set(name, {
      name,
      weightMilli,
      sample: this.sample,
      usage: new Array<bigint>(width).fill(0n),
      held: new Array<number>(width).fill(0),
      debits: new PendingDebits(width),
      known: null,
    })
  }

  /** Of which nothing is held; what it had used is forgotten. */
  remove(name: string): void {
    this.setHead(name, null)
    this.ledgers.delete(name)
  }

  /** Time does not go back. */
  advance(at: EpochMs): void {
    assert(at >= this.nowMs, 'usage is told of instants in their order')
    this.nowMs = at
  }

  /** What is asked for next is as of this instant: no earlier than the last event, and maybe earlier than the last look. */
  lookAt(at: EpochMs): void {
    this.nowMs = at
  }

  has(name: string): boolean {
    return this.ledgers.has(name)
  }

  /**
   * Decided, not started yet: its debit counts until it starts or is withdrawn, which takes it back as if it had not been.
   * @param amounts whole, per resource
   */
  admitted(name: string, workload: string, amounts: ReadonlyArray<number>): void {
    const ledger = this.ledger(name)
    ledger.debits.push(workload, this.debitOf(amounts))
    this.changed(ledger)
  }

  /** It will not start; may be repeated. */
  withdrawn(name: string, workload: string): void {
    const ledger = this.ledger(name)
    ledger.debits.withdraw(workload)
    this.changed(ledger)
  }

  /** Its debit, whether pending or not, is now part of the usage. */
  started(name: string, workload: string, amounts: ReadonlyArray<number>, at: EpochMs): void {
    this.advance(at)
    const ledger = this.settled(name)
    ledger.debits.withdraw(workload)
    this.debitOf(amounts).forEach((debit, i) => (ledger.usage[i]! += debit))
    this.hold(ledger, amounts, 1)
    this.changed(ledger)
  }

  ended(name: string, amounts: ReadonlyArray<number>, at: EpochMs): void {
    this.advance(at)
    const ledger = this.settled(name)
    this.hold(ledger, amounts, -1)
    this.changed(ledger)
  }

  /** Takes over usage that was accounted elsewhere, as of now. @param amounts whole, per resource */
  addUsage(name: string, amounts: ReadonlyArray<number>): void {
    const ledger = this.settled(name)
    amounts.forEach((amount, i) => (ledger.usage[i]! += BigInt(amount) << amountBits))
    this.changed(ledger)
  }

  /** As of the last sample, with what events since have added; per resource, an amount as `shownAmount` shows it. */
  usageOf(name: string): ReadonlyArray<bigint> {
    return this.usageIn(this.ledger(name))
  }

  /** Sum over resources by their weights, debits included, over the weight of the sub-queue; it decides who is next. */
  weightedUsageOf(name: string): Fraction {
    const ledger = this.ledger(name)
    if (ledger.known?.sample !== this.sample) ledger.known = { sample: this.sample, usage: this.weighted(ledger) }
    return ledger.known.usage
  }

  /** What waits in one queue, a before b where it is below 0; without a heap, for a few. */
  readonly compare = (a: SubQueueCandidate, b: SubQueueCandidate): number =>
    (a.subQueue === b.subQueue
      ? 0
      : compareFractions(this.weightedUsageOf(a.subQueue), this.weightedUsageOf(b.subQueue))) || bySeniority(a, b)

  /** What the sub-queue would start first, by `bySeniority`; null: nothing waits there. */
  setHead(name: string, head: Candidate | null): void {
    this.reorder()
    this.heads.set(name, head)
  }

  /** The sub-queue whose head goes first; null: nothing waits. */
  get next(): string | null {
    this.reorder()
    return this.heads.next
  }

  /** Those of which something waits, from the first. */
  get inOrder(): ReadonlyArray<string> {
    this.reorder()
    return this.heads.sorted
  }

  snapshot(): UsageOrderingSnapshot {
    const subQueues = [...this.ledgers.values()].map(({ name, weightMilli, sample, usage, held, debits }) => ({
      name,
      weightMilli,
      sample,
      usage: usage.map(String),
      held: [...held],
      debits: debits.entries.map(([workload, amounts]) => [workload, amounts.map(String)] as const),
    }))
    return { nowMs: this.nowMs, subQueues: subQueues.sort((a, b) => (a.name < b.name ? -1 : 1)) }
  }

  private get sample(): number {
    return Math.floor(this.nowMs / this.settings.samplingMs)
  }

  /** Once per sample, which may change the order of all. */
  private reorder(): void {
    if (this.headsSample === this.sample) return
    this.headsSample = this.sample
    this.heads.reordered()
  }

  private changed(ledger: Ledger): void {
    ledger.known = null
    this.heads.moved(ledger.name)
  }

  private ledger(name: string): Ledger {
    const ledger = this.ledgers.get(name)
    assert(ledger !== undefined, `there is a sub-queue ${name}`)
    return ledger
  }

  private settled(name: string): Ledger {
    const ledger = this.ledger(name)
    if (ledger.sample === this.sample) return ledger
    this.usageIn(ledger).forEach((amount, i) => (ledger.usage[i] = amount))
    ledger.sample = this.sample
    return ledger
  }

  private usageIn({ sample, usage, held }: Ledger): ReadonlyArray<bigint> {
    if (sample === this.sample) return usage
    const left = this.left.of(this.sample - sample)
    return usage.map((amount, i) => amountIn(amount * left + (BigInt(held[i]!) << amountBits) * (one - left)))
  }

  private debitOf(amounts: ReadonlyArray<number>): ReadonlyArray<bigint> {
    assert(amounts.length === this.settings.resourceWeightsMilli.length, 'amounts have one entry per resource')
    return amounts.map((amount) => amountOf(BigInt(amount), this.alpha))
  }

  private hold({ held }: Ledger, amounts: ReadonlyArray<number>, sign: 1 | -1): void {
    for (let i = 0; i < held.length; i++) {
      held[i]! += sign * amounts[i]!
      assert(Number.isSafeInteger(held[i]) && held[i]! >= 0, 'what is held is a natural number')
    }
  }

  private weighted(ledger: Ledger): Fraction {
    if (ledger.weightMilli <= 0) return endless
    let sum = 0n
    this.usageIn(ledger).forEach((amount, i) => {
      sum += (amount + ledger.debits.total[i]!) * BigInt(this.settings.resourceWeightsMilli[i]!)
    })
    return fraction(sum, BigInt(ledger.weightMilli) << amountBits)
  }
}
