import type { JsonSchema } from '../../domain/kernel/json-schema.ts'
import { policySchema } from '../../domain/policy/allocation-policy.codec.ts'
import { modes, sharings } from '../../domain/policy/allocation-policy.ts'
import { exception } from '../../domain/policy/contract-policy.codec.ts'
import { allowances, subjectKinds } from '../../domain/policy/contract-policy.ts'
import { faultSchema, ordered } from './schemas.ts'
import { flag, instant, list, nullable, object, text, whole, word } from './schema-words.ts'

/* Of what is answered about the policy, and taken for it: see schemas.ts for the units. */

/** As in a document, but that it has to expire. */
export const exceptionBody: JsonSchema = {
  ...exception.document.schema,
  required: [...(exception.document.schema.required ?? []), 'expires'],
}

const date: JsonSchema = { type: 'string', format: 'date' }

const reservationRow = object({
  name: text,
  budget: text,
  devices: whole,
  owner: text,
  justification: text,
  expires: date,
  holds: flag,
  heldMilli: whole,
  keptMilli: whole,
})
const poolRow = object({
  name: text,
  nodes: list(text),
  budgets: list(text),
  devices: whole,
  heldMilli: whole,
  heldByOthersMilli: whole,
})
const headroomRow = object({
  percent: whole,
  lent: flag,
  band: object({ low: whole, high: whole }),
  heldMilli: whole,
  mostMilli: whole,
  schedulableMilli: whole,
})
const exceptionRow = object(
  {
    name: text,
    subject: object({ kind: word(...subjectKinds), name: text }),
    allows: object({ kind: word(...allowances) }, { devicesMilli: whole }),
    owner: text,
    reason: text,
    expires: nullable(date),
    holds: flag,
  },
  { granted: flag },
)

export const exceptionOrderedSchema = object({ ...ordered, known: flag, meant: nullable(text) })
export const policyOrderedSchema = object({
  ...ordered,
  kept: list(object({ name: text, owner: text, expires: nullable(date) })),
  warnings: list(faultSchema),
})

export const policyAnswerSchema = object({
  at: instant,
  cell: text,
  hash: text,
  name: text,
  owner: nullable(text),
  reviewDate: nullable(date),
  impactHypothesis: nullable(text),
  sharing: word(...sharings, 'queues'),
  mode: word(...modes),
  frozen: flag,
  reservations: list(reservationRow),
  protectedPools: list(poolRow),
  headroom: nullable(headroomRow),
  exceptions: list(exceptionRow),
  document: policySchema,
})
