import type { AllocationPolicy } from './allocation-policy.ts'
import type { QuotaResource } from './quota-policy.ts'

/** A cap or a quota that would have to be larger: thousandths of devices or of cores, MiB. */
export interface RaisedLimit {
  /** Its path in the policy document. */
  readonly rule: string
  readonly resource: QuotaResource
  readonly from: number
  readonly to: number
}

/** The policy with these limits raised, and nothing else. */
export const withRaised = (policy: AllocationPolicy, limits: ReadonlyArray<RaisedLimit>): AllocationPolicy =>
  limits.reduce((raised, { rule, to }) => setAt(raised, stepsTo(rule), to) as AllocationPolicy, policy)

const ofTeam = 'spec.caps.teams.'

/** Decoded members are named with their unit. */
const decoded: { readonly [step: string]: string } = {
  cap: 'capMilli',
  perPerson: 'perPersonMilli',
  perTeam: 'perTeamMilli',
}

const stepsTo = (rule: string): ReadonlyArray<string> => {
  // The name of a team may have dots in it.
  if (rule.startsWith(ofTeam)) return ['caps', 'teams', rule.slice(ofTeam.length)]
  const steps = rule.split(/[.[\]]+/).filter((step) => step !== '')
  return steps.slice(1).map((step) => decoded[step] ?? step)
}

const setAt = (at: unknown, [step, ...rest]: ReadonlyArray<string>, value: number): unknown => {
  if (step === undefined) return value
  if (Array.isArray(at)) return at.map((one: unknown, i) => (i === Number(step) ? setAt(one, rest, value) : one))
  return { ...(at as object), [step]: setAt((at as { readonly [member: string]: unknown })[step], rest, value) }
}
