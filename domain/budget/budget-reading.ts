/** One node at an instant. Rates are milli-units; what is said to be over the window is milli-units x ms. */
export interface BudgetReading {
  readonly path: string
  readonly share: number
  /** Rate that its share comes to now. */
  readonly entitled: number
  /** Rate of the leases at it and below. */
  readonly held: number
  /** Held and waiting, as far as its allowance goes. */
  readonly demand: number
  /** The smaller of demand and entitled. */
  readonly owedRate: number
  /** Held beyond entitled. */
  readonly excess: number
  /** Holds less than it is owed, and has work that waits. */
  readonly behind: boolean
  /** Holds more than it is entitled to while a sibling is behind. */
  readonly isOver: boolean
  readonly owed: bigint
  readonly charged: bigint
  /** Excess while no sibling was behind: charged to nobody, except where it was idle. */
  readonly unallocated: bigint
  /** Excess while a sibling was behind: charged. */
  readonly over: bigint
  /** What is in `charged` only because it was idle. */
  readonly idleCharged: bigint
  readonly heldIntegral: bigint
  /** Owed less charged where positive. */
  readonly debt: bigint
  /** What it left unused and did not take back as unallocated excess, up to `creditCap`. */
  readonly credit: bigint
  readonly creditCap: bigint
}
