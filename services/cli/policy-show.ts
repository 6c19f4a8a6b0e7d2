import type { Command } from 'commander'
import { grantLines, type GrantLine } from '../../projections/explain/policy-text.ts'
import type { PolicyAnswer } from '../../projections/explain/policy.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { renderObject, type Column, type JsonObject } from './output.ts'
import { verb, type Context, type Session } from './session.ts'

interface ShowFlags {
  readonly at?: string
  readonly document?: true
}

/** Registers `policy show` below `policy`. */
export const registerPolicyShow = (policy: Command, context: Context): void => {
  policy
    .command('show')
    .description('the policy in force: whose it is, what it keeps, protects and grants, and what is made of that')
    .option('--document', 'the document itself, as it can be activated again: YAML, or JSON with -o json')
    .option('--at <time>', 'as things stood then (default: now, the end of the log)')
    .addHelpText('after', examples)
    .action(
      verb(context, (session, flags: ShowFlags) =>
        withDesk(session, {}, async (desk) => {
          const answer = await fromDesk(desk.policy(instantFrom(flags.at)))
          await (flags.document === true ? printDocument(session, answer) : printPolicy(session, answer))
          return exitCodes.done
        }),
      ),
    )
}

const printDocument = ({ style, write }: Session, { document }: PolicyAnswer): Promise<void> =>
  write(renderObject(document as JsonObject, { ...style, format: style.format === 'json' ? 'json' : 'yaml' }))

const printPolicy = async (session: Session, answer: PolicyAnswer): Promise<void> => {
  const { format } = session.style
  if (format === 'json' || format === 'yaml') return session.printObject(answer as unknown as JsonObject)
  const lines = grantLines(answer) as ReadonlyArray<Line>
  if (format === 'csv') return session.printRows<Line>(lines, columns)
  const { frozen, hash, impactHypothesis, mode, name, owner, reviewDate, sharing } = answer
  await session.printObject({
    name,
    owner,
    reviewDate,
    impactHypothesis,
    sharing,
    mode: `${mode}${frozen ? ', and frozen: nothing starts' : ''}`,
    hash,
  })
  if (lines.length === 0) {
    session.note('It keeps nothing free, protects no pool and makes no exception.')
    return
  }
  await session.write('\n')
  await session.printRows<Line>(lines, columns)
}

type Line = GrantLine & JsonObject

const columns: ReadonlyArray<Column<Line>> = [
  { name: 'kind', value: ({ kind }) => kind, whole: true },
  { name: 'name', value: ({ name }) => name, whole: true },
  { name: 'for', value: (line) => line.for },
  { name: 'grants', value: ({ grants }) => grants, whole: true },
  { name: 'stands', value: ({ stands }) => stands, whole: true, paint: ({ holds }) => (holds ? 'plain' : 'warn') },
  { name: 'until', value: ({ until }) => until, whole: true },
  { name: 'owner', value: ({ owner }) => owner },
]

const examples = `
A reservation is released on its day unless a new policy justifies it again; of an exception,
\`leasehold exception list\` tells the reason too.

Examples:
  leasehold policy show
  leasehold policy show --document > policy.yaml`
