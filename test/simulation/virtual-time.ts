import { Heap } from '../../domain/kernel/heap.ts'

interface Timer {
  readonly at: number
  readonly order: number
  readonly run: () => void
  readonly everyMs: number | null
  cancelled: boolean
}

const replaced = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
] as const
/** More timers than any world starts: they rank by their instant first, and then in the order in which they were set. */
const timersMax = 10_000_000

/**
 * The timers of this process while it is installed: what waits is run in the order in which it is due, and no time is
 * spent waiting. Everything that follows from a timer without another one is done before the next.
 */
export class VirtualTime {
  now: number
  private readonly start: number
  private readonly due = new Heap<Timer>(({ at, order }) => (at - this.start) * timersMax + order)
  private order = 0
  private readonly real = Object.fromEntries(replaced.map((name) => [name, globalThis[name]]))
  private readonly turn = setImmediate

  constructor(start: number) {
    this.start = start
    this.now = start
  }

  install(): void {
    const clear = (timer: Timer | undefined): void => {
      if (timer !== undefined) timer.cancelled = true
    }
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 0) => this.set(run, Math.max(1, ms), null),
      setInterval: (run: () => void, ms = 0) => this.set(run, Math.max(1, ms), Math.max(1, ms)),
      setImmediate: (run: (value?: unknown) => void, value?: unknown) =>
        this.set(
          () => {
            run(value)
          },
          0,
          null,
        ),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    })
  }

  uninstall(): void {
    Object.assign(globalThis, this.real)
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.set(resolve, ms, null))
  }

  /** Until then, or until it is so. */
  async run(until: number, isSo: () => boolean = () => false): Promise<void> {
    await this.settle()
    while (!isSo()) {
      const next = this.due.least
      if (next === undefined || next.at > until) break
      this.due.pop()
      if (next.cancelled) continue
      this.now = next.at
      if (next.everyMs !== null) this.due.push(Object.assign(next, { at: next.at + next.everyMs, order: this.order++ }))
      next.run()
      await this.settle()
    }
    this.now = Math.max(this.now, Math.min(until, this.due.least?.at ?? until))
  }

  private set(run: () => void, ms: number, everyMs: number | null): Timer {
    const timer: Timer & { unref: () => Timer; ref: () => Timer } = {
      at: this.now + Math.round(ms),
      order: this.order++,
      run,
      everyMs,
      cancelled: false,
      unref: () => timer,
      ref: () => timer,
    }
    this.due.push(timer)
    return timer
  }

  /** Nothing in memory needs more than a turn of the engine's own loop. */
  private settle(): Promise<unknown> {
    return new Promise((resolve) => this.turn(resolve))
  }
}
