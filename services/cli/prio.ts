import type { PrioAnswer, PrioLevel, PrioSibling } from '../../projections/explain/prio.ts'
import { durationText, gpuHoursText, instantText, ratioText } from '../../projections/explain/wording.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { renderRows, terminalSafe, type Column, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { addWatchFlag, watched, type WatchFlag } from './watch.ts'

/** Registers `prio`. */
export const registerPrio: Register = (program, context) => {
  addWatchFlag(
    program
      .command('prio')
      .argument('<workload>', 'its id')
      .description('whose turn it is, level by level of the budget tree down to a workload that waits')
      .option('--at <time>', 'as things stood then (default: now, the end of the log)'),
  )
    .addHelpText('after', '\nExamples:\n  leasehold prio ranking-hparam-sweep')
    .action(
      verb(context, (session, id: string, flags: { at?: string; watch?: WatchFlag }) => {
        const at = instantFrom(flags.at)
        return watched(session, flags.watch, (drawn) =>
          withDesk(drawn, {}, async (desk) => {
            const answer = await fromDesk(desk.prio(id, at))
            if (drawn.style.format === 'table') await printText(drawn, answer)
            else if (drawn.style.format === 'csv') await drawn.printRows<Row>(rowsOf(answer), plainColumns)
            else await drawn.printObject(answer as unknown as JsonObject)
            return exitCodes.done
          }),
        )
      }),
    )
}

type Row = PrioSibling & { readonly parent: string; readonly by: string } & JsonObject
const rowsOf = ({ levels }: PrioAnswer) =>
  levels.flatMap(({ by, parent, siblings }) => siblings.map((each) => ({ parent, by, ...each }))) as ReadonlyArray<Row>

const ruleOf: { readonly [B in PrioLevel['by']]: string } = {
  'charged-of-owed': 'lowest charged / owed first',
  'yield-credit': 'what is free is owed to nobody: highest credit per entitled GPU first, then lowest charged / owed',
  'fair-tree': 'by decayed usage and shares, ranked over the whole tree',
  'dominant-share': 'lowest weighted dominant share first',
}

const printText = async (session: Session, answer: PrioAnswer): Promise<void> => {
  for (const { by, parent, siblings } of answer.levels) {
    await session.write(`${terminalSafe(`${parent === '' ? 'All' : parent}: ${ruleOf[by]}`)}\n`)
    await session.write(`${renderRows(siblings as unknown as ReadonlyArray<Row>, columns, session.style)}\n`)
  }
  await session.write(`${leafLines(answer).map(terminalSafe).join('\n')}\n`)
  session.note(`As of ${instantText(answer.at)}. Of those for whom something waits, the first whose work fits starts.`)
}

const leafLines = ({ budget, leaf }: PrioAnswer): ReadonlyArray<string> => {
  const aged =
    leaf.agingMs === null
      ? 'it does not age'
      : `${leaf.aged} for having waited (one for every ${durationText(leaf.agingMs)}): counts as ${leaf.priority + leaf.aged}`
  const behind = leaf.aheadCount === 0 ? '' : `, behind ${namesText(leaf.ahead, leaf.aheadCount)}`
  return [
    `${budget}: higher class first, then the older`,
    `  class      ${leaf.class}, priority ${leaf.priority}; ${aged}`,
    `  age        submitted ${instantText(leaf.submittedAt)}; it has waited ${durationText(leaf.waitedMs)}`,
    `  position   ${leaf.position}${behind}`,
  ]
}

const namesMax = 3
const namesText = (names: ReadonlyArray<string>, count: number): string => {
  const shown = names.slice(0, namesMax)
  return `${shown.join(', ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}`
}

const columns: ReadonlyArray<Column<Row>> = [
  { name: 'rank', value: ({ rank }) => rank, align: 'right' },
  { name: 'node', value: ({ node, own }) => `${own ? '* ' : '  '}${node}` },
  { name: 'share', value: ({ share }) => share },
  { name: 'waiting', value: ({ waiting }) => waiting },
  { name: 'charged', value: (row) => gpuHoursText(row.chargedMilliUnitH), align: 'right' },
  { name: 'owed', value: (row) => gpuHoursText(row.owedMilliUnitH), align: 'right' },
  {
    name: 'ratio',
    value: (row) => (row.owedMilliUnitH === 0 ? null : ratioText(row.chargedMilliUnitH, row.owedMilliUnitH)),
    align: 'right',
  },
  { name: 'credit', value: (row) => gpuHoursText(row.creditMilliUnitH), align: 'right' },
]

const plainColumns: ReadonlyArray<Column<Row>> = (
  [
    'parent',
    'by',
    'rank',
    'node',
    'own',
    'waiting',
    'share',
    'entitledMilli',
    'chargedMilliUnitH',
    'owedMilliUnitH',
    'creditMilliUnitH',
  ] as const
).map((name) => ({ name, value: (row) => row[name] }))
