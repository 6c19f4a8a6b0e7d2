import { pathOf, type Step } from '../kernel/document.ts'
import type { Fault } from '../kernel/fault.ts'
import { wholeGpu } from '../kernel/units.ts'
import type { AllocationPolicy } from './allocation-policy.ts'
import type { Supply } from './supply.ts'

/** What warnings are made from. */
export interface Warnable {
  readonly policy: AllocationPolicy
  /** Null: what does not depend on a fleet is warned of, and nothing else. */
  readonly supply: Supply | null
  /** A date, `2026-12-31`. */
  readonly today: string
}

/** Something that is allowed, and will surprise somebody: where, why, and what to write instead. */
export interface Warning extends Fault {
  readonly severity: 'warning'
}

export const isWarning = (fault: Fault): fault is Warning => 'severity' in fault

/** Of the member of the document that these steps lead to. */
export const warning = (reason: string, mend: string, ...steps: ReadonlyArray<Step>): Warning => ({
  path: pathOf(steps),
  reason,
  mend,
  severity: 'warning',
})

export const pastReview = (date: string, ...steps: ReadonlyArray<Step>): Warning =>
  warning(`${date} is past: nobody has looked at it since`, 'review it, and give the next date', ...steps)

/** Thousandths of devices as one would say them. */
export const devicesText = (milli: number): string => `${milli / wholeGpu} ${milli === wholeGpu ? 'device' : 'devices'}`
