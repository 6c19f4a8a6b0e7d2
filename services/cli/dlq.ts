import type { Command } from 'commander'
import { describeFault } from '../../domain/kernel/fault.ts'
import { instantText } from '../../projections/explain/wording.ts'
import type { DeadLetterRow, Desk } from '../api/desk.ts'
import { counted } from './counted.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes, VerbFailed } from './exit.ts'
import { orderer } from './orderer.ts'
import { printOrdered } from './ordered.ts'
import { terminalSafe, type Column, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb } from './session.ts'

/** Registers `dlq` and what is done with what it holds. */
export const registerDlq: Register = (program, context) => {
  const dlq = program.command('dlq').description('messages that could not be decoded, each with the reason')
  registerList(dlq, context)
  registerShow(dlq, context)
  registerReplay(dlq, context)
  registerDrop(dlq, context)
  dlq.addHelpText('after', examples)
}

type Row = DeadLetterRow & JsonObject

const registerList: Register = (dlq, context) => {
  dlq
    .command('list')
    .description('every one that waits or was dealt with')
    .action(
      verb(context, (session) =>
        withDesk(session, {}, async (desk) => {
          const rows = (await fromDesk(desk.deadLetters())) as ReadonlyArray<Row>
          await session.printRows<Row>(rows, session.style.format === 'csv' ? plainColumns : columns)
          if (session.style.format === 'table' && rows.length === 0) session.note('None: everything could be decoded.')
          return exitCodes.done
        }),
      ),
    )
}

const registerShow: Register = (dlq, context) => {
  withId(dlq, 'show')
    .description('all that is known of one, and its body')
    .action(
      verb(context, (session, id: string) =>
        withDesk(session, {}, async (desk) => {
          const letter = await fromDesk(desk.deadLetter(await wholeId(desk, id)))
          if (session.style.format !== 'table') {
            await session.printObject(letter as unknown as JsonObject)
            return exitCodes.done
          }
          const { at, body, bytes, faults, head, state } = letter
          const lines = [
            `${letter.id}: ${state}, ${counted(bytes, 'byte')}, came ${instantText(at)}`,
            ...faults.map((fault) => `  ${describeFault(fault)}`),
            ...(body === null ? ['only its beginning was kept:'] : []),
          ]
          for (const line of lines) await session.say(line)
          await session.write(`${terminalSafe(body ?? head)}\n`)
          return exitCodes.done
        }),
      ),
    )
}

const registerReplay: Register = (dlq, context) => {
  withId(dlq, 'replay')
    .description('try to take it once more, as this release reads it')
    .action(
      verb(context, (session, id: string) =>
        withDesk(session, { claims: 'dlq replay' }, async (desk) => {
          const letter = await wholeId(desk, id)
          const ordered = await fromDesk(desk.replayDeadLetter(letter, orderer()))
          return printOrdered(session, { letter, ...ordered }, `${shortId(letter)} is taken`)
        }),
      ),
    )
}

const registerDrop: Register = (dlq, context) => {
  withId(dlq, 'drop')
    .description('record that it is not wanted; it stays in the log')
    .option('--reason <text>', 'why; it is recorded')
    .action(
      verb(context, (session, id: string, { reason }: { reason?: string }) =>
        withDesk(session, { claims: 'dlq drop' }, async (desk) => {
          const letter = await wholeId(desk, id)
          const ordered = await fromDesk(desk.dropDeadLetter(letter, orderer(reason)))
          return printOrdered(session, { letter, ...ordered }, `${shortId(letter)} is dropped`)
        }),
      ),
    )
}

/** Enough of it to tell it from the others, and short enough for a line. */
const shortId = (id: string): string => id.slice(0, 'sha256:'.length + 12)

/** An id may be given by its beginning, as the table prints it. */
const wholeId = async (desk: Desk, id: string): Promise<string> => {
  const found = (await fromDesk(desk.deadLetters())).filter((letter) => letter.id.startsWith(id))
  if (found.length === 1) return found[0]!.id
  if (found.length === 0)
    throw new VerbFailed(exitCodes.failed, `there is no dead letter ${id}; \`leasehold dlq list\` lists them`)
  throw new VerbFailed(exitCodes.usage, `${found.length} dead letters begin with ${id}; give more of the id`)
}

const withId = (dlq: Command, name: string): Command =>
  dlq.command(name).argument('<id>', 'as `dlq list` prints it, or its beginning')

const columns: ReadonlyArray<Column<Row>> = [
  { name: 'id', value: ({ id }) => shortId(id), whole: true },
  { name: 'came', value: ({ at }) => instantText(at), whole: true },
  {
    name: 'state',
    value: ({ state }) => state,
    whole: true,
    paint: ({ state }) => (state === 'waiting' ? 'warn' : 'plain'),
  },
  { name: 'reason', value: ({ reason }) => reason },
]
const plainColumns: ReadonlyArray<Column<Row>> = ['id', 'at', 'state', 'bytes', 'reason', 'head'].map((name) => ({
  name,
  value: (row) => row[name] ?? null,
}))

const examples = `
Examples:
  leasehold dlq list
  leasehold dlq show ID
  leasehold dlq replay ID
  leasehold dlq drop ID --reason "a test message"`
