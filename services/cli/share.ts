import { shareLines } from '../../projections/explain/share-text.ts'
import type { ShareAnswer, ShareNode } from '../../projections/explain/share.ts'
import { amountText, durationText, gpuHoursText, instantText, wrapped } from '../../projections/explain/wording.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { fitsTable, renderRows, terminalSafe, type Column, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { addWatchFlag, watched, type WatchFlag } from './watch.ts'

/** Registers `share`. */
export const registerShare: Register = (program, context) => {
  addWatchFlag(
    program
      .command('share')
      .argument('[node]', 'its path in the budget tree, such as research/vision (default: all of it)')
      .description('what each budget is entitled to, was owed, was charged and got, and when its next turn is')
      .option('--at <time>', 'as things stood then (default: now, the end of the log)'),
  )
    .addHelpText('after', examples)
    .action(
      verb(context, (session, node: string | undefined, flags: { at?: string; watch?: WatchFlag }) => {
        const at = instantFrom(flags.at)
        return watched(session, flags.watch, (drawn) =>
          withDesk(drawn, {}, async (desk) => {
            const answer = await fromDesk(desk.share(node ?? null, at))
            if (drawn.style.format === 'table') await printTable(drawn, answer, node !== undefined)
            else if (drawn.style.format === 'csv') await drawn.printRows<Row>(rowsOf(answer), plainColumns)
            else await drawn.printObject(answer as unknown as JsonObject)
            return exitCodes.done
          }),
        )
      }),
    )
}

type Row = ShareNode & JsonObject
const rowsOf = ({ nodes }: ShareAnswer) => nodes as unknown as ReadonlyArray<Row>

const printTable = async (session: Session, answer: ShareAnswer, isOne: boolean): Promise<void> => {
  const { style } = session
  const rows = rowsOf(answer)
  const all = columnsAt(answer.at)
  // In words, and in every other format, the credit is told too.
  const shown = fitsTable(rows, all, style) ? all : all.filter(({ name }) => name !== 'credit')
  if (isOne) {
    const lines = shareLines(rows[0]!, answer).map((line) => folded(terminalSafe(line), style.width))
    await session.write(`${lines.join('\n')}\n`)
  }
  if (isOne && rows.length > 1) await session.write('\n')
  if (!isOne || rows.length > 1) await session.write(renderRows(rows, shown, style))
  const owned = rows.filter(({ owner, reviewDate }) => owner !== null || reviewDate !== null)
  if (!isOne && owned.length > 0) await session.write(`\n${renderRows(owned, ownerColumns, style)}`)
  session.note(
    `As of ${instantText(answer.at)}; GPU-hours over the last ${answer.windowHours} hours and the open one. Got is all that was held; what nobody was owed of it is not charged, and debt is what is owed and was not charged.`,
  )
}

/** A line, broken where it is too long; what goes on stands below its text. */
const folded = (line: string, width: number): string => {
  if (line.length <= width) return line
  const margin = /^( {2}\S+ +)?/.exec(line)![0]
  const below = ' '.repeat(margin.length === 0 ? 2 : margin.length)
  return margin + wrapped(line.slice(margin.length), width - below.length, 0).replaceAll('\n', `\n${below}`)
}

const indented = ({ depth, kind, node }: ShareNode): string =>
  `${'  '.repeat(depth)}${kind === 'cell' ? '(all)' : node.slice(node.lastIndexOf('/') + 1)}`

const columnsAt = (at: number): ReadonlyArray<Column<Row>> => [
  { name: 'node', value: indented },
  { name: 'share', value: ({ kind, share }) => (kind === 'cell' ? null : share), align: 'right' },
  { name: 'holds', value: (row) => `${amountText(row.heldMilli)} of ${amountText(row.entitledMilli)}`, whole: true },
  { name: 'owed', value: (row) => gpuHoursText(row.owedMilliUnitH), align: 'right' },
  { name: 'got', value: (row) => gpuHoursText(row.heldMilliUnitH), align: 'right' },
  { name: 'charged', value: (row) => gpuHoursText(row.chargedMilliUnitH), align: 'right' },
  { name: 'debt', value: (row) => gpuHoursText(row.debtMilliUnitH), align: 'right' },
  { name: 'credit', value: (row) => gpuHoursText(row.creditMilliUnitH), align: 'right' },
  {
    name: 'stands',
    value: ({ standing }) => standing,
    paint: ({ standing }) => (standing === 'even' ? 'plain' : 'warn'),
    whole: true,
  },
  {
    name: 'next turn',
    value: ({ nextTurn }) => (nextTurn === null ? null : `in ${durationText(Math.max(0, nextTurn.at - at))}`),
  },
]

const ownerColumns: ReadonlyArray<Column<Row>> = [
  { name: 'node', value: ({ node }) => node },
  { name: 'owner', value: ({ owner }) => owner },
  { name: 'review by', value: ({ reviewDate }) => reviewDate, whole: true },
]

const plainColumns: ReadonlyArray<Column<Row>> = [
  ...(
    [
      'node',
      'kind',
      'share',
      'entitledMilli',
      'heldMilli',
      'demandMilli',
      'owedMilli',
      'chargedMilliUnitH',
      'owedMilliUnitH',
      'heldMilliUnitH',
      'deliveredMilli',
      'debtMilliUnitH',
      'creditMilliUnitH',
      'standing',
      'waiting',
    ] as const
  ).map((name) => ({ name, value: (row: Row) => row[name] })),
  { name: 'nextTurnAt', value: ({ nextTurn }) => nextTurn?.at ?? null },
  { name: 'owner', value: ({ owner }) => owner },
  { name: 'reviewDate', value: ({ reviewDate }) => reviewDate },
]

const examples = `
Examples:
  leasehold share
  leasehold share research --at 2026-08-05T02:00:00Z
  leasehold share -o csv`
