import type { BusUnavailable } from './bus-unavailable.ts'

/** Something that is delivered for as long as nobody stops it, whatever happens to the bus meanwhile. */
export interface BusDelivery {
  /** Why nothing can be delivered just now; null: it can. */
  readonly fault: BusUnavailable | null
  /** Takes nothing more; resolves when what is in hand has been let go of. What was not finished is delivered again. */
  readonly stop: () => Promise<void>
}
