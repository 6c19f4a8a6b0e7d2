import type { ReasonCode } from './reason-code.ts'

/** Why a workload may not start now, and the numbers compared. */
export interface Block {
  readonly code: ReasonCode
  /** Path into the policy document. */
  readonly rule: string
  readonly compared?: { readonly [name: string]: number }
}
