import { nearest, shown } from '../../domain/kernel/wording.ts'
import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { faultList } from './fault-list.ts'

/** What a table may say about a job, under the names that `--map` and NDJSON use (docs/import.md). */
export const jobFields = [
  'id',
  'submit',
  'duration',
  'end',
  'gpus',
  'milli',
  'cpu',
  'memory',
  'deviceMemory',
  'models',
  'class',
  'queue',
  'team',
  'estimate',
  'submitter',
  'budget',
  'preemptible',
  'checkpoint',
  'minRuntime',
] as const
export type JobField = (typeof jobFields)[number]

/** Which column of the table holds which field. */
export type ColumnMap = ReadonlyMap<JobField, string>

export const timeUnits = ['ms', 's', 'm', 'h'] as const
export type TimeUnit = (typeof timeUnits)[number]
export const unitMs: { readonly [U in TimeUnit]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** `did you mean submit?`, or all there are. */
export const mendName = (name: string, names: ReadonlyArray<string>): string => {
  const meant = nearest(name, names)
  return meant === null ? `use one of ${names.join(', ')}` : `did you mean ${meant}?`
}

const isJobField = (name: string): name is JobField => (jobFields as ReadonlyArray<string>).includes(name)

/** Reads `submit=start,duration=run_ms,gpus=n`. */
export const parseColumnMap = (text: string): E.Either<ReadonlyArray<Fault>, ColumnMap> => {
  const faults = faultList()
  const map = new Map<JobField, string>()
  const refuse = (reason: string, mend: string) => {
    faults.add({ path: '--map', reason, mend })
  }
  for (const pair of text.split(',')) {
    const equals = pair.indexOf('=')
    const field = pair.slice(0, Math.max(equals, 0)).trim()
    const column = pair.slice(equals + 1).trim()
    if (equals < 0 || field === '' || column === '') refuse(`${shown(pair)} is not FIELD=COLUMN`, 'write submit=start')
    else if (!isJobField(field)) refuse(`there is no field ${shown(field)}`, mendName(field, jobFields))
    else if (map.has(field)) refuse(`${field} is given twice`, 'name one column for it')
    else map.set(field, column)
  }
  if (map.has('duration') && map.has('end')) refuse('duration and end are both given', 'map one of them')
  return faults.count() > 0 ? E.left(faults.told) : E.right(map)
}
