import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import { decoding, pathOf, stepsOf } from '../../domain/kernel/document.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { isPast } from '../../domain/planner/protection.ts'
import { decodePolicy, encodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { exception as form } from '../../domain/policy/contract-policy.codec.ts'

/**
 * The policy with one exception more, checked as the whole document would be. Unlike one in a document it has to expire:
 * it is granted to somebody who asks, and nobody reviews it with the rest.
 */
export const withException = (
  policy: AllocationPolicy,
  exception: Json,
  now: EpochMs,
): E.Either<ReadonlyArray<Fault>, AllocationPolicy> => {
  const read = decoding(form.document)(exception)
  if (E.isLeft(read)) return read
  const { expires } = read.right
  if (expires === null)
    return E.left([{ path: 'expires', reason: 'is missing', mend: 'give the date from which it no longer holds' }])
  if (isPast(expires, now))
    return E.left([{ path: 'expires', reason: `${expires} has begun`, mend: 'give a date that is still to come' }])
  const { exceptions = [] } = policy
  const document = encodePolicy({ ...policy, exceptions: [...exceptions, read.right] })
  const own = stepsOf(`spec.exceptions[${exceptions.length}]`)
  return E.mapLeft((faults: ReadonlyArray<Fault>) =>
    faults.map((fault) => {
      const steps = stepsOf(fault.path)
      const isOwn = own.every((step, i) => step === steps[i])
      return isOwn ? { ...fault, path: pathOf(steps.slice(own.length)) } : fault
    }),
  )(decodePolicy(document))
}
