import type { Command } from 'commander'
import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { allowances, subjectKinds } from '../../domain/policy/contract-policy.ts'
import { allowedText } from '../../projections/explain/policy-text.ts'
import type { ExceptionRow } from '../../projections/explain/policy.ts'
import type { DeskFault } from '../api/desk.ts'
import { withDesk } from './desk.ts'
import { deskFailed, fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Context } from './session.ts'
import { refuseFlags } from './trace-options.ts'

/** Registers `exception list`, `exception grant` and `exception revoke`. */
export const registerException: Register = (program, context) => {
  const exception = program
    .command('exception')
    .description('who is not bound by a rule of the policy for a while, why, and who answers for it')
  registerList(exception, context)
  registerGrant(exception, context)
  registerRevoke(exception, context)
  exception.addHelpText('after', examples)
}

const registerList = (exception: Command, context: Context): void => {
  exception
    .command('list')
    .description('the exceptions of the policy in force, those that are over too')
    .option('--at <time>', 'as things stood then (default: now, the end of the log)')
    .action(
      verb(context, (session, flags: { at?: string }) =>
        withDesk(session, {}, async (desk) => {
          const { exceptions, name } = await fromDesk(desk.policy(instantFrom(flags.at)))
          const rows = exceptions as unknown as ReadonlyArray<Row>
          await session.printRows<Row>(rows, session.style.format === 'csv' ? plainColumns : columns)
          if (session.style.format === 'table' && rows.length === 0) session.note(`Policy ${name} has no exceptions.`)
          return exitCodes.done
        }),
      ),
    )
}

interface GrantFlags {
  readonly for: string
  readonly allow: string
  readonly owner: string
  readonly reason: string
  readonly expires: string
}

const registerGrant = (exception: Command, context: Context): void => {
  exception
    .command('grant')
    .argument('<name>', 'what it is to be called')
    .description('lift one rule for somebody until a date: a new version of the policy')
    .requiredOption('--for <kind=name>', `for whom: ${subjectKinds.join(', ')}, such as team=vision`)
    .requiredOption('--allow <what>', `what: cap=DEVICES, ${allowances.slice(1).join(', ')}`)
    .requiredOption('--owner <text>', 'who answers for it')
    .requiredOption('--reason <text>', 'why')
    .requiredOption('--expires <date>', 'from the beginning of that day (UTC) it no longer holds')
    .action(
      verb(context, (session, name: string, flags: GrantFlags) => {
        const { expires, owner, reason } = flags
        const granted = { name, subject: subjectOf(flags.for), allows: allowedOf(flags.allow), owner, reason, expires }
        return withDesk(session, { claims: 'exception grant' }, async (desk) => {
          const asked = await desk.grantException(granted, orderer(reason))()
          if (E.isLeft(asked)) throw deskFailed(ofFlags(asked.left))
          const ordered = asked.right
          const code = await printOrdered(session, { exception: name, ...ordered }, `${name} holds until ${expires}`)
          if (!ordered.known) session.note(unknownText(flags.for, ordered.meant))
          return code
        })
      }),
    )
}

const unknownText = (subject: string, meant: string | null): string =>
  `Nothing of ${subject.replace('=', ' ')} waits or runs${meant === null ? ', or is named by the policy.' : `: did you mean ${meant}?`}`

/** What is wrong with an exception, where it was written. */
const ofFlags = (fault: DeskFault): DeskFault =>
  fault.type !== 'Invalid'
    ? fault
    : {
        ...fault,
        faults: fault.faults.map((each) => ({ ...each, path: flagOf[each.path.split('.')[0]!] ?? each.path })),
      }

const flagOf: { readonly [member: string]: string } = {
  name: '<name>',
  subject: '--for',
  allows: '--allow',
  owner: '--owner',
  reason: '--reason',
  expires: '--expires',
}

const registerRevoke = (exception: Command, context: Context): void => {
  exception
    .command('revoke')
    .argument('<name>', 'as `leasehold exception list` has it')
    .description('let the rule bind again before its date: a new version of the policy')
    .option('--reason <text>', 'why; it is recorded')
    .action(
      verb(context, (session, name: string, { reason }: { reason?: string }) =>
        withDesk(session, { claims: 'exception revoke' }, async (desk) => {
          const ordered = await fromDesk(desk.revokeException(name, orderer(reason)))
          return printOrdered(session, { exception: name, ...ordered }, `${name} holds no longer`)
        }),
      ),
    )
}

const subjectOf = (text: string): JsonObject => {
  const [kind = '', ...name] = text.split('=')
  refuseUnless(name.length > 0, '--for', text, 'write whom it is for, such as team=vision')
  return { kind, name: name.join('=') }
}

const allowedOf = (text: string): JsonObject => {
  const [kind = '', devices, ...more] = text.split('=')
  refuseUnless(
    more.length === 0 && (kind === 'cap') === (devices !== undefined) && (devices === undefined || +devices >= 0),
    '--allow',
    text,
    `write cap=DEVICES, or one of ${allowances.slice(1).join(', ')}`,
  )
  return devices === undefined ? { kind } : { kind, devices: Number(devices) }
}

const refuseUnless = (holds: boolean, flag: string, text: string, mend: string): void => {
  const fault: Fault = { path: flag, reason: `${JSON.stringify(text.slice(0, 100))} says nothing of that kind`, mend }
  if (!holds) refuseFlags([fault])
}

type Row = ExceptionRow & JsonObject

const columns: ReadonlyArray<Column<Row>> = [
  { name: 'name', value: ({ name }) => name, whole: true },
  { name: 'for', value: ({ subject }) => `${subject.kind} ${subject.name}` },
  { name: 'allows', value: ({ allows }) => allowedText(allows) },
  { name: 'until', value: ({ expires }) => expires ?? 'with the policy', whole: true },
  { name: 'holds', value: ({ holds }) => (holds ? 'yes' : 'no'), paint: ({ holds }) => (holds ? 'good' : 'plain') },
  { name: 'owner', value: ({ owner }) => owner },
  { name: 'reason', value: ({ reason }) => reason },
]

const plainColumns: ReadonlyArray<Column<Row>> = [
  { name: 'name', value: ({ name }) => name },
  { name: 'subjectKind', value: ({ subject }) => subject.kind },
  { name: 'subject', value: ({ subject }) => subject.name },
  { name: 'allows', value: ({ allows }) => allows.kind },
  { name: 'devicesMilli', value: ({ allows }) => (allows.kind === 'cap' ? allows.devicesMilli : null) },
  { name: 'expires', value: ({ expires }) => expires },
  { name: 'holds', value: ({ holds }) => holds },
  { name: 'owner', value: ({ owner }) => owner },
  { name: 'reason', value: ({ reason }) => reason },
]

const examples = `
What was granted ends by its date or by being revoked: a document that is activated later takes it
along. One that a document states ends when a later document leaves it out, or by being revoked.

Examples:
  leasehold exception grant demo --for team=vision --allow cap=64 --owner "Ann" \\
    --reason "the demo in May" --expires 2027-05-31
  leasehold exception list
  leasehold exception revoke demo --reason "the demo is over"`
