import type { Command } from 'commander'
import type { DrillRow } from '../../projections/explain/drills.ts'
import { instantText } from '../../projections/explain/wording.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Context } from './session.ts'

interface DrillFlags {
  readonly team: string
  readonly family?: string
  readonly reason?: string
}

/** Registers `drill` and what may be said of one. */
export const registerDrill: Register = (program, context) => {
  const drill = program
    .command('drill')
    .description("say whether a team's work was seen to go on from a checkpoint; only then it may be evicted")
  registerOutcome(drill, context, 'pass', 'passed', 'it went on from its checkpoint')
  registerOutcome(drill, context, 'fail', 'failed', 'it did not')
  drill
    .command('list')
    .description('the newest drill of each team and model family')
    .option('--at <time>', 'as things stood then (default: now, the end of the log)')
    .action(
      verb(context, (session, flags: { at?: string }) =>
        withDesk(session, {}, async (desk) => {
          const rows = (await fromDesk(desk.drills(instantFrom(flags.at)))) as unknown as ReadonlyArray<Row>
          await session.printRows<Row>(rows, session.style.format === 'csv' ? plainColumns : columns)
          if (session.style.format === 'table' && rows.length === 0)
            session.note('No drill has been told of: nothing may be evicted where the policy asks for one.')
          return exitCodes.done
        }),
      ),
    )
  drill.addHelpText('after', examples)
}

const registerOutcome = (
  drill: Command,
  context: Context,
  word: string,
  outcome: DrillRow['outcome'],
  what: string,
): void => {
  drill
    .command(word)
    .description(what)
    .requiredOption('--team <name>', 'whose work it was')
    .option('--family <name>', '`spec.modelFamily` of that work (default: work that names none)')
    .option('--reason <text>', 'what was seen; it is recorded')
    .action(
      verb(context, (session, { family, reason, team }: DrillFlags) =>
        withDesk(session, { claims: 'drill' }, async (desk) => {
          const data = { modelFamily: family ?? null, outcome, team }
          const ordered = await fromDesk(desk.concludeDrill(data, orderer(reason)))
          const of = family === undefined ? '' : `, family ${family},`
          const code = await printOrdered(session, { ...data, ...ordered }, `The drill of ${team}${of} ${outcome}`)
          if (ordered.workloads === 0) session.note(unknownText(team, ordered.meant))
          return code
        }),
      ),
    )
}

const unknownText = (team: string, meant: string | null): string =>
  `No workload of a team ${team} waits or runs${meant === null ? '.' : `: did you mean ${meant}?`}`

type Row = DrillRow & JsonObject

const columns: ReadonlyArray<Column<Row>> = [
  { name: 'team', value: ({ team }) => team },
  { name: 'family', value: ({ modelFamily }) => modelFamily },
  { name: 'outcome', value: ({ outcome }) => outcome, paint: ({ outcome }) => (outcome === 'passed' ? 'good' : 'bad') },
  { name: 'at', value: ({ at }) => instantText(at), whole: true },
  { name: 'until', value: ({ validUntil }) => (validUntil === null ? null : instantText(validUntil)), whole: true },
  { name: 'counts', value: ({ counts, required }) => (required ? (counts ? 'yes' : 'no') : 'not asked for') },
]

const plainColumns: ReadonlyArray<Column<Row>> = (
  ['team', 'modelFamily', 'outcome', 'at', 'validUntil', 'counts', 'required'] as const
).map((name) => ({ name, value: (row) => row[name] }))

const examples = `
Examples:
  leasehold drill pass --team ranking --family transformer-7b --reason "restored in 90 s"
  leasehold drill list`
