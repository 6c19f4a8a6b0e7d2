import type { Books } from './books.ts'
import type { SideStanding } from './cell-event.ts'

const milliUnitHour = 3_600_000n

/** How a node of the budget tree stands at the instant to which the ledger was brought. */
export const nodeStanding = ({ ledger }: Books, node: number): SideStanding => {
  const { charged, entitled, held, owed, path } = ledger.read(node)
  return {
    chargedMilliUnitH: milliUnitHours(charged),
    entitledMilli: entitled,
    heldMilli: held,
    node: path,
    owedMilliUnitH: milliUnitHours(owed),
  }
}

/** Whole milli-unit hours of so many milli-units x ms. */
export const milliUnitHours = (amount: bigint): number => Number(amount / milliUnitHour)
