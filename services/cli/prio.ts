import type {
  DecayedSibling,
  DominantSibling,
  PrioAnswer,
  PrioLevel,
  PrioSibling,
  ServedSibling,
} from '../../projections/explain/prio.ts'
import type { QuotaSibling } from '../../projections/explain/prio-quota.ts'
import {
  coresText,
  countText,
  durationText,
  gpuHoursText,
  gpusText,
  instantText,
  ratioText,
} from '../../projections/explain/wording.ts'
import { withDesk } from './desk.ts'
import { fromDesk } from './desk-failed.ts'
import { exitCodes } from './exit.ts'
import { instantFrom } from './instant.ts'
import { renderRows, type Column, type JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { verb, type Session } from './session.ts'
import { addWatchFlag, watched, type WatchFlag } from './watch.ts'

/** Registers `prio`. */
export const registerPrio: Register = (program, context) => {
  addWatchFlag(
    program
      .command('prio')
      .argument('<workload>', 'its id')
      .description(
        'whose turn it is, level by level of the budget tree or of the cohorts, down to a workload that waits',
      )
      .option('--at <time>', 'as things stood then (default: now, the end of the log)'),
  )
    .addHelpText('after', '\nExamples:\n  leasehold prio ranking-hparam-sweep')
    .action(
      verb(context, (session, id: string, flags: { at?: string; watch?: WatchFlag }) => {
        const at = instantFrom(flags.at)
        return watched(session, flags.watch, (drawn) =>
          withDesk(drawn, { at }, async (desk) => {
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

type Factors = Partial<ServedSibling & DecayedSibling & DominantSibling & QuotaSibling>
type Row = PrioSibling & Factors & { readonly parent: string; readonly by: string } & JsonObject
const rowsOf = ({ levels }: PrioAnswer) =>
  levels.flatMap(({ by, parent, siblings }) => siblings.map((each) => ({ parent, by, ...each }))) as ReadonlyArray<Row>

const ruleOf: { readonly [B in PrioLevel['by']]: string } = {
  'charged-of-owed': 'lowest charged / owed first',
  'yield-credit': 'what is free is owed to nobody: highest credit per entitled GPU first, then lowest charged / owed',
  'fair-tree': 'highest level share first (its part of the shares over its part of the decayed usage)',
  'dominant-share': 'lowest dominant share, over what its share is, first',
  borrowing: 'who need not borrow first, then who borrows from nearest, then higher priority, then the older',
  'quota-share':
    'who borrows nothing of what it asks for first, then the lower share with it, then higher priority, then the older',
  priority: 'higher priority first, then the older',
}

const printText = async (session: Session, answer: PrioAnswer): Promise<void> => {
  for (const { by, parent, siblings } of answer.levels) {
    await session.say(`${parent === '' ? 'All' : parent}: ${ruleOf[by]}`)
    await session.write(
      `${renderRows(siblings as unknown as ReadonlyArray<Row>, [...placeOf, ...factors[by]], session.style)}\n`,
    )
  }
  for (const line of leafLines(answer)) await session.say(line)
  session.note(`As of ${instantText(answer.at)}. Of those for whom something waits, the first whose work fits starts.`)
}

const orderOf: { readonly [B in PrioAnswer['leaf']['by']]: string } = {
  usage: 'whose team used less first, then higher class, then the older',
  class: 'higher class first, then the older',
  age: 'the older first, whatever the class',
}

const leafLines = ({ budget, leaf, queue }: PrioAnswer): ReadonlyArray<string> => {
  const aged =
    leaf.agingMs === null
      ? 'it does not age'
      : `${leaf.aged} for having waited (one for every ${durationText(leaf.agingMs)}): counts as ${leaf.priority + leaf.aged}`
  const behind = leaf.aheadCount === 0 ? '' : `, behind ${namesText(leaf.ahead, leaf.aheadCount)}`
  return [
    `${budget ?? `queue ${queue}`}: ${orderOf[leaf.by]}`,
    ...(leaf.usage === null ? [] : [`  usage      ${leaf.usage.toFixed(3)} of its team, over its weight`]),
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

const placeOf: ReadonlyArray<Column<Row>> = [
  { name: 'rank', value: ({ rank }) => rank, align: 'right' },
  { name: 'node', value: ({ node, own }) => `${own ? '* ' : '  '}${node}` },
]
const common: ReadonlyArray<Column<Row>> = [
  { name: 'share', value: ({ share }) => share ?? null },
  { name: 'waiting', value: ({ waiting }) => waiting },
]

const right = (name: string, value: (row: Row) => string | null): Column<Row> => ({ name, value, align: 'right' })

const served: ReadonlyArray<Column<Row>> = [
  ...common,
  right('charged', ({ chargedMilliUnitH = 0 }) => gpuHoursText(chargedMilliUnitH)),
  right('owed', ({ owedMilliUnitH = 0 }) => gpuHoursText(owedMilliUnitH)),
  right('ratio', ({ chargedMilliUnitH = 0, owedMilliUnitH = 0 }) =>
    owedMilliUnitH === 0 ? null : ratioText(chargedMilliUnitH, owedMilliUnitH),
  ),
  right('credit', ({ creditMilliUnitH = 0 }) => gpuHoursText(creditMilliUnitH)),
]

const fitsText = { now: 'now', evicting: 'by evicting', no: 'no' }
const borrowText = (level: number | null): string | null => (level === null ? null : level === 0 ? 'no' : `${level} up`)

/** Of queues and cohorts, by the first that waits there. */
function quotaColumns(...compared: ReadonlyArray<Column<Row>>): ReadonlyArray<Column<Row>> {
  return [
    { name: 'waiting', value: ({ waiting }) => waiting },
    { name: 'first', value: ({ first = null }) => first },
    { name: 'fits', value: ({ fits = null }) => (fits === null ? null : fitsText[fits]) },
    ...compared,
    right('priority', ({ priority = null }) => priority?.toFixed(0) ?? null),
    right('since', ({ submittedAt = null }) => (submittedAt === null ? null : instantText(submittedAt))),
  ]
}

/** What siblings are compared by, in the order in which it is compared. */
const factors: { readonly [B in PrioLevel['by']]: ReadonlyArray<Column<Row>> } = {
  'charged-of-owed': served,
  'yield-credit': served,
  'fair-tree': [
    ...common,
    right('usage', ({ usageMilliUnitH = 0 }) => gpuHoursText(usageMilliUnitH)),
    right('level share', ({ levelShare }) => levelShare?.toFixed(3) ?? 'unused'),
  ],
  'dominant-share': [
    ...common,
    right('resource', ({ resource = null }) => resource),
    right('held', ({ held = 0, resource = 'devices' }) => heldText(resource, held)),
    right('of', ({ resource = 'devices', total = 0 }) => heldText(resource, total)),
    right('over share', ({ weighted = 0 }) => weighted.toFixed(6)),
  ],
  borrowing: quotaColumns(right('borrows', ({ borrowLevel = null }) => borrowText(borrowLevel))),
  'quota-share': quotaColumns(
    right('borrows', ({ borrows = null }) => (borrows === null ? null : borrows ? 'yes' : 'no')),
    right('share', ({ borrows, shareMilli = null, fits }) =>
      fits === null ? null : (shareMilli?.toFixed(0) ?? (borrows === true ? 'weight 0' : '0')),
    ),
  ),
  priority: quotaColumns(),
}

const heldText = (resource: DominantSibling['resource'], amount: number): string =>
  ({ devices: gpusText, cpu: coresText, memory: (mib: number) => `${countText(mib)} MiB` })[resource](amount)

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
    'usageMilliUnitH',
    'levelShare',
    'resource',
    'held',
    'total',
    'weighted',
    'kind',
    'first',
    'fits',
    'borrows',
    'borrowLevel',
    'shareMilli',
    'shareResource',
    'priority',
    'submittedAt',
  ] as const
).map((name) => ({ name, value: (row) => row[name] ?? null }))
