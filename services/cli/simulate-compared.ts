import type { Json } from '../../domain/kernel/canonical-json.ts'
import type { Simulated } from '../decide/simulate.ts'
import { figures, said } from './figures.ts'
import type { Column, JsonObject } from './output.ts'
import type { Session } from './session.ts'
import { noteUntold, type Untold } from './simulate-untold.ts'

/** What came of one trace under one of several policies. */
export type ComparedRun = Omit<Simulated, 'cell'> & {
  readonly policy: string
  readonly wallMs: number
  /** Of what still waits when nothing more can happen, and why. */
  readonly neverStarted: ReadonlyArray<string>
}

/** One figure, and what it is in each run, by the run's number. */
type Line = JsonObject & { readonly name: string }

/** In a table; every other format has all of them. */
const compared =
  /^(refused|waiting|neverStarted|(mean|p\d+|max)WaitS|meanJctS|util|share|firstUnplaced|programs\..*|evictions|lostGpuHours)$/

export const printCompared = async (
  session: Session,
  runs: ReadonlyArray<ComparedRun>,
  untold: Untold,
): Promise<void> => {
  noteUntold(session, untold)
  const { format } = session.style
  const objects = runs.map(({ decisions, events, logDigest, policy, report, shared, wallMs }) => {
    return { policy, ...report, ...shared, decisions, events, wallMs, logDigest } as unknown as JsonObject
  })
  const columns: ReadonlyArray<Column<Line>> = [
    { name: 'figure', value: ({ name }) => name, whole: true },
    ...runs.map(({ policy }, i): Column<Line> => ({ name: policy, value: (line) => line[i] ?? null, align: 'right' })),
  ]
  const lines = linesOf(objects).filter(({ name }) => name !== 'policy')
  if (format === 'json' || format === 'yaml') return session.printRows<JsonObject>(objects, [])
  if (format === 'csv') return session.printRows(lines, columns)
  const told = lines.filter(({ name, ...values }) => compared.test(name) && Object.values(values).some(isKnown))
  await session.printRows(
    told.map(({ name, ...values }) => ({ name, ...saidOf(values) })),
    columns,
  )
  for (const { neverStarted, policy } of runs) for (const note of neverStarted) session.note(`${policy}: ${note}`)
  session.note('No log of these runs was kept.')
}

const isKnown = (value: Json | undefined): boolean => value !== null && value !== undefined

const saidOf = (values: { readonly [run: string]: Json }): JsonObject =>
  Object.fromEntries(Object.entries(values).map(([run, value]) => [run, value === null ? null : said(value)]))

const linesOf = (objects: ReadonlyArray<JsonObject>): ReadonlyArray<Line> => {
  const lines = new Map<string, Record<string, Json> & { name: string }>()
  objects.forEach((object, run) => {
    for (const { name, value } of figures(object)) {
      const line = lines.get(name) ?? { name }
      line[run] = value
      lines.set(name, line)
    }
  })
  return [...lines.values()]
}
