import { nextRandom, randomBelow, type RandomState } from '../../../domain/kernel/random.ts'

/** Random choices, all from one seed. */
export class Draw {
  private state: RandomState

  constructor(seed: number) {
    // Seeds that follow each other must not begin alike.
    this.state = nextRandom(Math.imul(seed + 1, 0x85ebca6b))[0] | 0
  }

  below(bound: number): number {
    const [value, next] = randomBelow(this.state, bound)
    this.state = next
    return value
  }

  from<T>(...values: ReadonlyArray<T>): T {
    return values[this.below(values.length)]!
  }

  /** True so many times of a hundred. */
  percent(chance: number): boolean {
    return this.below(100) < chance
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }
}
