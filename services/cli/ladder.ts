import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Column, JsonObject } from './output.ts'
import type { Register } from './program.ts'
import { answerQuery, cellIs, instantCell, instantLiteral, tenths, type ViewFlags } from './view-query.ts'

interface LadderFlags extends ViewFlags {
  readonly daily?: true
  readonly from?: string
  readonly to?: string
}

/** Hours that are shown where nobody says which. */
const lastHours = 24

/** Registers `ladder`. */
export const registerLadder: Register = (program, context) => {
  const command = program
    .command('ladder')
    .description('GPU-hours installed, schedulable and allocated, hour by hour or day by day')
    .option('--daily', `by day (default: by hour, the last ${lastHours} unless --from says more)`)
    .option('--from <time>', 'from the hour or day that holds it')
    .option('--to <time>', 'up to then')
    .option('--at <time>', 'the hour or day that holds it')
    .addHelpText('after', examples)
  answerQuery<LadderFlags>(command, context, { claims: 'ladder', sql, columns })
}

const sql = (session: Parameters<typeof cellIs>[0], { at, daily, from, to }: LadderFlags): string => {
  const [unit, view] = daily === true ? ['day', 'ladder_daily'] : ['hour', 'ladder_hourly']
  const conditions = [
    cellIs(session),
    ...(from === undefined
      ? []
      : [`${unit}_at >= toStartOf${daily === true ? 'Day' : 'Hour'}(${instantLiteral(from, '--from')})`]),
    ...(at === undefined
      ? []
      : [`${unit}_at = toStartOf${daily === true ? 'Day' : 'Hour'}(${instantLiteral(at, '--at')})`]),
    ...(to === undefined ? [] : [`${unit}_at < ${instantLiteral(to, '--to')}`]),
  ]
  const newest = daily === true || from !== undefined ? '' : ` DESC LIMIT ${lastHours}`
  return (
    `SELECT ${unit}_at, covered_ms, installed_gpu_hours, schedulable_gpu_hours, allocated_gpu_hours, ` +
    `allocated_milli_ms / installed_milli_ms AS allocated_share FROM ` +
    `(SELECT * FROM ${view} WHERE ${conditions.join(' AND ')} ORDER BY ${unit}_at${newest}) ORDER BY ${unit}_at`
  )
}

const columns = ({ daily }: LadderFlags): ReadonlyArray<Column<JsonObject>> => [
  {
    name: daily === true ? 'day' : 'hour',
    value: (row) => instantCell(row[daily === true ? 'day_at' : 'hour_at']),
    whole: true,
  },
  hours('installed'),
  hours('schedulable'),
  hours('allocated'),
  {
    name: 'of installed',
    value: ({ allocated_share: share }) => percent(share ?? null),
    align: 'right',
  },
]

const hours = (rung: string): Column<JsonObject> => ({
  name: `${rung} GPU-h`,
  value: (row) => tenths(row[`${rung}_gpu_hours`]),
  align: 'right',
})

const percent = (share: Json): string | null => (typeof share === 'number' ? `${(share * 100).toFixed(1)} %` : null)

const examples = `
What an hour has that the rung below it has not, nobody could use (installed), or nobody had asked
for or could be given (schedulable). Every column: docs/views.md.

Examples:
  leasehold ladder
  leasehold ladder --daily -o csv
  leasehold ladder --from "day 2 00:00:00" --to "day 3 00:00:00" --data .leasehold/demo`
