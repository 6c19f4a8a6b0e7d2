import type { VirtualTime } from './virtual-time.ts'

/** Whole numbers below a bound. */
export type Chance = (bound: number) => number

const never = new Promise<never>(() => undefined)

/** What lasts as long as one process: after its end nothing that it asked for has an effect or an answer. */
export class Lifeline {
  readonly died: Promise<'died'>
  private isDead = false
  private readonly time: VirtualTime
  private readonly below: Chance
  private die: (how: 'died') => void = () => undefined
  private readonly atEnd: (() => unknown)[] = []

  constructor(time: VirtualTime, below: Chance) {
    this.time = time
    this.below = below
    this.died = new Promise((resolve) => (this.die = resolve))
  }

  get dead(): boolean {
    return this.isDead
  }

  /** Frees what would go on by itself. */
  onEnd(free: () => unknown): void {
    this.atEnd.push(free)
  }

  end(): void {
    this.isDead = true
    for (const free of this.atEnd) free()
    this.die('died')
  }

  /** Asks somebody outside of the process: it takes a while until it has its effect, and again until the answer is there. */
  async outside<A>(effect: () => Promise<A> | A, latencyMaxMs = 4): Promise<A> {
    await this.pass(latencyMaxMs)
    const value = await effect()
    await this.pass(latencyMaxMs)
    return value
  }

  private async pass(latencyMaxMs: number): Promise<void> {
    if (latencyMaxMs > 0) await this.time.wait(this.below(latencyMaxMs))
    if (this.isDead) await never
  }
}
