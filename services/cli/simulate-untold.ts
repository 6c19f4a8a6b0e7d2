import { sharingOf } from '../../domain/policy/allocation-policy.ts'
import type { TraceJob } from '../../domain/simulation/trace-job.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import type { Scenario } from '../decide/simulate.ts'
import { counted } from './counted.ts'
import type { Session } from './session.ts'

/** What budgets ask about and the trace does not tell. Null: the policy does not share by budgets. */
export const untoldOf = ({ jobs, policy }: Scenario) => {
  if (sharingOf(policy) !== 'budgets') return null
  const led = new Set(policy.queues.flatMap(({ budget, name }) => (budget === undefined ? [] : [name])))
  return {
    onePerson: onePersonOf(jobs),
    misconfigured: jobs.filter(({ queue, terms }) => (terms?.budget ?? null) === null && !led.has(queue)).length,
  }
}

const onePersonOf = (jobs: ReadonlyArray<TraceJob>): string | null => {
  const all = counted(jobs.length, 'job')
  const isOne = jobs.every(({ terms = unstatedTerms }) => terms.submitter === unstatedTerms.submitter)
  const isFirm = jobs.every(({ terms = unstatedTerms }) => !terms.preemption.tolerated)
  const one = `all ${all} count as one person, \`${unstatedTerms.submitter}\``
  if (isOne && isFirm) return `${one}, and none may be evicted: caps per person and taking back mean nothing here`
  if (isOne) return `${one}: caps per person mean nothing here`
  return isFirm ? `none of ${all} may be evicted: taking back means nothing here` : null
}

export type Untold = ReturnType<typeof untoldOf>

export const noteUntold = (session: Session, untold: Untold): void => {
  if (untold === null) return
  const { misconfigured, onePerson } = untold
  if (onePerson !== null) session.note(`${onePerson}.`)
  if (misconfigured === 0) return
  const are = `${counted(misconfigured, 'job')} ${misconfigured === 1 ? 'is' : 'are'}`
  session.note(`${are} Misconfigured: the queue leads to no budget; add \`budget\` to it in the policy.`)
}
