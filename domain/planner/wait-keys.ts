import { kindsOfStart } from './line-set.ts'
import type { RecentValues } from './recent-values.ts'
import type { Reach } from './wait-history.ts'
import type { Workload } from './workload.ts'

/** How often a minute has to be doubled. */
const lengthOf = (ms: number): number => 31 - Math.clz32(Math.floor(ms / 60_000))

/** Waits of one leaf, class and size, after so many attempts. */
interface KeysOfTurn {
  /** By how long the wait is expected to be. */
  readonly kinds: WaitKinds[]
  readonly levels: Map<Reach, string>
}

/** Kinds from fine to coarse, and the first of them of which enough is remembered, as far as that was looked up. */
export interface WaitKinds {
  readonly keys: ReadonlyArray<string>
  /** How many kinds had enough when it was looked up; no kind has less again. */
  known: number
  values: RecentValues | null
}

/**
 * Under what starts and waits of one kind of work are remembered: a leaf, a class and a power of two of devices. A key is
 * made once and looked up often.
 */
export class WaitKeys {
  /** Of starts, from fine to coarse, as `kindsOfStart`. */
  readonly starts: ReadonlyArray<string>
  private readonly leaf: string
  private readonly kind: string
  private readonly size: number
  private readonly first: KeysOfTurn = { kinds: [], levels: new Map() }
  private readonly again: KeysOfTurn = { kinds: [], levels: new Map() }

  constructor(leaf: string, kind: string, size: number) {
    this.leaf = leaf
    this.kind = kind
    this.size = size
    this.starts = kindsOfStart(kind, size).map((each) => JSON.stringify([leaf, each]))
  }

  /**
   * From fine to coarse: the longer a wait is expected to be, the closer it comes to that, so those of another length are
   * asked last, shorter ones first.
   */
  kinds(workload: Workload, expectedWaitMs: number): WaitKinds {
    const length = lengthOf(expectedWaitMs)
    const { kinds } = this.ofTurn(workload)
    return (kinds[length] ??= { keys: this.kindsOf(turnOf(workload), length), known: -1, values: null })
  }

  /** Those that a wait is one of itself. */
  ownKinds(workload: Workload, expectedWaitMs: number): ReadonlyArray<string> {
    const { keys } = this.kinds(workload, expectedWaitMs)
    return [...keys.slice(0, 4), keys.at(-1)!]
  }

  levels(workload: Workload, reach: Reach): string {
    const { levels } = this.ofTurn(workload)
    let key = levels.get(reach)
    if (key === undefined) levels.set(reach, (key = JSON.stringify([turnOf(workload), this.kind, reach])))
    return key
  }

  private kindsOf(turn: string, length: number): ReadonlyArray<string> {
    const { kind, leaf, size } = this
    const kinds = [JSON.stringify([turn, length, leaf, kind, size]), JSON.stringify([turn, length, leaf, kind])]
    for (let each = length; each >= 0; each--)
      kinds.push(JSON.stringify([turn, each, kind]), JSON.stringify([turn, each]))
    return [...kinds, turn]
  }

  private ofTurn({ attempt }: Workload): KeysOfTurn {
    return attempt > 0 ? this.again : this.first
  }
}

/** What was stopped waits at its old place. */
const turnOf = ({ attempt }: Workload): string => (attempt > 0 ? 'again' : 'first')
