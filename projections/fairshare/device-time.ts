import { hourMs } from '../../domain/budget/ledger.ts'

interface Bucket {
  /** Thousandths of a device held there now. */
  rate: number
  since: number
  /** Thousandths x ms, of the open hour up to `since`. */
  sum: number
}

/** What one workload holds: thousandths of devices that have not failed, and at which nodes that counts, by path. */
export interface Holding {
  readonly way: ReadonlyArray<string>
  readonly milli: number
}

/**
 * Raw device-time per node of the budget tree, hour and policy: what the budget ledger's milli-units are not. Nothing here
 * comes from that ledger. A change costs the depth of the tree, an hour that ends all nodes at which something is held.
 */
export class DeviceTime {
  private readonly buckets = new Map<string, Bucket>()
  /** Of hours that have ended and not been taken, or of another policy in the open one. */
  private readonly closed = new Map<string, number>()
  private now = 0
  private hour = 0
  private policy = ''

  /** Nothing changed up to there. */
  advance(at: number): void {
    if (at <= this.now) return
    while (this.buckets.size > 0 && this.hour + hourMs <= at) {
      this.now = this.hour + hourMs
      this.close()
      this.hour += hourMs
    }
    this.now = at
    this.hour = Math.floor(at / hourMs) * hourMs
  }

  /** What was held so far was held under the policy before. */
  follow(policy: string): void {
    this.close()
    this.policy = policy
  }

  add({ way, milli }: Holding, sign: 1 | -1): void {
    if (milli === 0) return
    for (const path of way) {
      const bucket = this.settled(path)
      bucket.rate += sign * milli
      if (bucket.rate === 0 && bucket.sum === 0) this.buckets.delete(path)
    }
  }

  /** What a closed bucket came to, thousandths x ms; it is asked for once. */
  take(path: string, hour: number, policy: string): number {
    const key = keyOf(path, hour, policy)
    const sum = this.closed.get(key) ?? 0
    this.closed.delete(key)
    return sum
  }

  private close(): void {
    for (const path of [...this.buckets.keys()]) {
      const bucket = this.settled(path)
      const key = keyOf(path, this.hour, this.policy)
      if (bucket.sum > 0) this.closed.set(key, (this.closed.get(key) ?? 0) + bucket.sum)
      bucket.sum = 0
      if (bucket.rate === 0) this.buckets.delete(path)
    }
  }

  private settled(path: string): Bucket {
    let bucket = this.buckets.get(path)
    if (bucket === undefined) {
      bucket = { rate: 0, since: this.now, sum: 0 }
      this.buckets.set(path, bucket)
    }
    bucket.sum += bucket.rate * (this.now - bucket.since)
    bucket.since = this.now
    return bucket
  }
}

const keyOf = (path: string, hour: number, policy: string): string => `${hour} ${policy} ${path}`
