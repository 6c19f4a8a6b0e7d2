import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import { decoding, pathOf, stepsOf } from '../../domain/kernel/document.ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { isPast } from '../../domain/planner/protection.ts'
import { decodePolicy, encodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { exception as form } from '../../domain/policy/contract-policy.codec.ts'
import type { ExceptionPolicy } from '../../domain/policy/contract-policy.ts'

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
  const document = encodePolicy({ ...policy, exceptions: [...exceptions, { ...read.right, granted: true }] })
  const own = stepsOf(`spec.exceptions[${exceptions.length}]`)
  return E.mapLeft((faults: ReadonlyArray<Fault>) =>
    faults.map((fault) => {
      const steps = stepsOf(fault.path)
      const isOwn = own.every((step, i) => step === steps[i])
      return isOwn ? { ...fault, path: pathOf(steps.slice(own.length)) } : fault
    }),
  )(decodePolicy(document))
}

/**
 * A policy that comes into force with the exceptions that were granted under the one before: they end by their date or
 * by being revoked. One of the same name in the document takes their place.
 */
export const withGranted = (
  policy: AllocationPolicy,
  before: AllocationPolicy | null,
  now: EpochMs,
): E.Either<
  ReadonlyArray<Fault>,
  { readonly policy: AllocationPolicy; readonly kept: ReadonlyArray<ExceptionPolicy> }
> => {
  const { exceptions: own = [] } = policy
  const named = new Set(own.map(({ name }) => name))
  const kept = (before?.exceptions ?? []).filter(
    ({ expires, granted, name }) => granted === true && !isPast(expires, now) && !named.has(name),
  )
  if (kept.length === 0) return E.right({ policy, kept })
  const read = decodePolicy(encodePolicy({ ...policy, exceptions: [...own, ...kept] }))
  if (E.isRight(read)) return E.right({ policy: read.right, kept })
  return E.left(
    read.left.map(({ path, reason }): Fault => {
      const [, , i] = stepsOf(path)
      const name = typeof i === 'number' ? kept[i - own.length]?.name : undefined
      const mend =
        name === undefined
          ? 'revoke what was granted first'
          : `\`leasehold exception revoke ${name}\` ends what was granted, or let the document have what it names`
      return { path: name === undefined ? path : `exception ${name}`, reason, mend }
    }),
  )
}

/** The policy without the exception of that name; null: it has none. */
export const withoutException = (policy: AllocationPolicy, name: string): AllocationPolicy | null => {
  const { exceptions = [], ...rest } = policy
  const left = exceptions.filter((each) => each.name !== name)
  if (left.length === exceptions.length) return null
  return left.length === 0 ? rest : { ...rest, exceptions: left }
}

/** Names of what an exception could be for, as far as they are known: of what waits and runs, and of the policy's caps. */
export const subjectsIn = (
  { policy, workloads }: Cell,
  kind: ExceptionPolicy['subject']['kind'],
): ReadonlySet<string> => {
  const names = new Set<string>(kind === 'team' ? Object.keys(policy?.caps?.teams ?? {}) : [])
  for (const { id, team, terms } of workloads.values()) {
    if (names.size === namesMax) break
    names.add(kind === 'team' ? team : kind === 'submitter' ? terms.submitter : id)
  }
  return names
}

/** Names that a misspelt one is compared with. */
const namesMax = 10_000
