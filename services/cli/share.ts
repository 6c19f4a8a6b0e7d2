import { quotaAmount, quotaLines } from '../../projections/explain/quota-share-text.ts'
import { shareLines } from '../../projections/explain/share-text.ts'
import type { QuotaAmounts, QuotaShare } from '../../projections/explain/quota-share.ts'
import type { ShareAnswer, ShareNode } from '../../projections/explain/share.ts'
import { amountText, durationText, gpuHoursText, instantText, wrapped } from '../../projections/explain/wording.ts'
import { counted } from './counted.ts'
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
      .argument('[node]', 'its path in the budget tree, such as research/vision, or a queue or cohort (default: all)')
      .description('what each budget is owed, was charged and got, and its next turn; of quota, who borrows from whom')
      .option('--at <time>', 'as things stood then (default: now, the end of the log)'),
  )
    .addHelpText('after', examples)
    .action(
      verb(context, (session, node: string | undefined, flags: { at?: string; watch?: WatchFlag }) => {
        const at = instantFrom(flags.at)
        return watched(session, flags.watch, (drawn) =>
          withDesk(drawn, { at }, async (desk) => {
            const answer = await fromDesk(desk.share(node ?? null, at))
            if (answer.sharing === 'kueue' && drawn.style.format !== 'json' && drawn.style.format !== 'yaml')
              await printQuotas(drawn, answer, node !== undefined)
            else if (drawn.style.format === 'table') await printTable(drawn, answer, node !== undefined)
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
  const everybody = rowsOf(answer)
  const rows = everybody.filter((row) => !isGone(row) || row.node === everybody[0]!.node)
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
  session.note(`As of ${instantText(answer.at)}; GPU-hours over the last ${answer.windowHours} hours and the open one.`)
  const left = everybody.length - rows.length
  if (left > 0)
    session.note(`${counted(left, 'person')} had nothing in that time and ${left === 1 ? 'is' : 'are'} left out.`)
  session.note('Each level is judged by itself: sums need not add up. Columns: `leasehold share --help`.')
}

/** Of a queue or cohort, one line for each resource that it has quota of. */
interface QuotaRow extends QuotaShare, QuotaAmounts {}

const printQuotas = async (session: Session, answer: ShareAnswer, isOne: boolean): Promise<void> => {
  const { style } = session
  const rows = answer.quotas.flatMap((share) =>
    share.quotas.map((amounts): QuotaRow => ({ ...share, ...amounts })),
  ) as unknown as ReadonlyArray<QuotaRow & JsonObject>
  if (style.format === 'csv') {
    await session.printRows<QuotaRow & JsonObject>(rows, plainQuotaColumns)
    return
  }
  if (isOne) {
    const lines = quotaLines(answer.quotas[0]!).map((line) => folded(terminalSafe(line), style.width))
    await session.write(`${lines.join('\n')}\n`)
  }
  if (isOne && answer.quotas.length > 1) await session.write('\n')
  const shown = answer.quotas.some(({ share }) => share !== null) ? [...quotaColumns, shareColumn] : quotaColumns
  if (!isOne || answer.quotas.length > 1) await session.write(renderRows(rows, shown, style))
  session.note(`As of ${instantText(answer.at)}. What is borrowed is told as of the cohort's own first.`)
}

const quotaOf = (pick: 'borrowed' | 'lent' | 'available') => (row: QuotaRow) => quotaAmount(row.resource, row[pick])

const quotaColumns: ReadonlyArray<Column<QuotaRow>> = [
  { name: 'node', value: ({ depth, node }) => `${'  '.repeat(depth)}${node}` },
  {
    name: 'of',
    value: ({ accelerator, resource }) => (resource === 'devices' ? accelerator : `${accelerator} ${resource}`),
  },
  {
    name: 'uses',
    value: ({ kind, nominal, resource, subtree, used }) =>
      `${quotaAmount(resource, used)} of ${quotaAmount(resource, kind === 'cohort' ? subtree : nominal)}`,
    whole: true,
  },
  { name: 'borrows', value: quotaOf('borrowed'), align: 'right' },
  { name: 'from', value: ({ from }) => from.map(({ node }) => node).join(', ') || null },
  { name: 'lends', value: quotaOf('lent'), align: 'right' },
  { name: 'more', value: quotaOf('available'), align: 'right' },
  { name: 'runs', value: ({ kind, running }) => (kind === 'queue' ? running : null), align: 'right' },
  { name: 'waits', value: ({ kind, waiting }) => (kind === 'queue' ? waiting : null), align: 'right' },
]
const shareColumn: Column<QuotaRow> = {
  name: 'share',
  value: ({ share }) => (share === null ? null : (share.milli ?? 'above all')),
  align: 'right',
}

const plainQuotaColumns: ReadonlyArray<Column<QuotaRow & JsonObject>> = [
  ...(
    [
      'node',
      'kind',
      'parent',
      'accelerator',
      'resource',
      'nominal',
      'subtree',
      'used',
      'borrowed',
      'lent',
      'borrowingLimit',
      'lendingLimit',
      'available',
      'most',
      'fairWeightMilli',
      'running',
      'waiting',
    ] as const
  ).map((name) => ({ name, value: (row: QuotaRow & JsonObject) => row[name] })),
  { name: 'shareMilli', value: ({ share }) => share?.milli ?? null },
]

/** A line, broken where it is too long; what goes on stands below its text. */
const folded = (line: string, width: number): string => {
  if (line.length <= width) return line
  const margin = /^( {2}\S+ +)?/.exec(line)![0]
  const below = ' '.repeat(margin.length === 0 ? 2 : margin.length)
  return margin + wrapped(line.slice(margin.length), width - below.length, 0).replaceAll('\n', `\n${below}`)
}

const isIdle = ({ heldMilli, waiting }: ShareNode): boolean => heldMilli === 0 && waiting === 0

/** A person of whom the window knows nothing: they came once, and are part of their siblings' sums for ever. */
const isGone = (row: ShareNode): boolean =>
  row.kind === 'person' && isIdle(row) && row.owedMilliUnitH === 0 && row.heldMilliUnitH === 0

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
    value: (row) => (isIdle(row) ? 'idle' : row.standing),
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
Of a budget tree (docs/policy.md), as a table; GPU-hours over the window of the policy:
  SHARE      of what its parent is entitled to, against its siblings', idle ones included
  HOLDS      GPUs now, of those that it is entitled to
  OWED       what it had demand for, up to what it was entitled to
  GOT        all that it held
  CHARGED    what of that counts: within its entitlement, or while a sibling lacked it
  DEBT       owed and not charged, summed over the window: it comes before what was served more
  CREDIT     entitled and not wanted: first served when there is more than anybody is owed
  STANDS     behind: holds less than it is owed, and has work that waits; over: holds more than its
             entitlement while a sibling is behind; even: neither; idle: holds and wants nothing
  NEXT TURN  the earliest thing known that changes something for what waits there
Each level is judged among siblings only, so children's figures need not add up to their parent's.
Debt of some hours and credit of others stand beside each other. Whoever holds nothing, wants
nothing and had nothing within the window is left out of the table, and keeps the share.

Examples:
  leasehold share
  leasehold share research --at 2026-08-05T02:00:00Z
  leasehold share -o csv`
