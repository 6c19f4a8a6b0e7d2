import type { Command } from 'commander'
import { either as E } from 'fp-ts'
import type { Fault } from '../../domain/kernel/fault.ts'
import { parseColumnMap, timeUnits, type TimeUnit } from '../../infra/traces/column-map.ts'
import { faultsCountedMax } from '../../infra/traces/fault-list.ts'
import { readTrace, traceFormats, type FaultyFile, type Trace, type TraceFormat } from '../../infra/traces/trace.ts'
import type { FileFault } from '../../infra/yaml/document.ts'
import { exitCodes, invalidInput, VerbFailed } from './exit.ts'

/** The flags that say what a trace file is. */
export interface TraceFlags {
  readonly format?: string
  readonly map?: string
  readonly timeUnit?: string
}

export const addTraceFlags = (command: Command): Command =>
  command
    .option('--format <format>', `what the file is: ${traceFormats.join(', ')} (default: by its ending, csv or ndjson)`)
    .option('--map <map>', 'for csv, ndjson and swf: FIELD=COLUMN,... such as submit=start,duration=run_ms,gpus=n')
    .option('--time-unit <unit>', `for csv and ndjson: ${timeUnits.join(', ')} (default: s)`)

/** A value that must be one of these; the faults say what else it is. */
export const oneOf = <T extends string>(
  flag: string,
  value: string | undefined,
  values: ReadonlyArray<T>,
  faults: Fault[],
): T | undefined => {
  const known = values.find((each) => each === value)
  if (value !== undefined && known === undefined)
    faults.push({ path: flag, reason: `there is no ${JSON.stringify(value)}`, mend: `use one of ${values.join(', ')}` })
  return known
}

/** A number between bounds, whole unless said otherwise. */
export const numberBetween = (
  flag: string,
  value: string | undefined,
  least: number,
  most: number,
  faults: Fault[],
  whole = true,
): number | undefined => {
  if (value === undefined) return undefined
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN
  if (number >= least && number <= most && (!whole || Number.isInteger(number))) return number
  const kind = whole ? 'a whole number' : 'a number'
  faults.push({
    path: flag,
    reason: `${JSON.stringify(value)} is not ${kind} that fits`,
    mend: `give ${kind} from ${least} to ${most}`,
  })
  return undefined
}

export const refuseFlags = (faults: ReadonlyArray<Fault>): void => {
  if (faults.length > 0) throw new VerbFailed(exitCodes.usage, 'the command line is not valid', faults)
}

/** Reads the trace that the flags describe; all that is wrong with either is told at once. */
export const traceFrom = async (file: string, flags: TraceFlags, faults: Fault[]): Promise<Trace> => {
  const byEnding = file.endsWith('.csv')
    ? 'csv'
    : /\.(nd|)jsonl?$/.test(file)
      ? 'ndjson'
      : file.endsWith('.swf')
        ? 'swf'
        : undefined
  const format: TraceFormat | undefined = oneOf('--format', flags.format, traceFormats, faults) ?? byEnding
  const timeUnit: TimeUnit | undefined = oneOf('--time-unit', flags.timeUnit, timeUnits, faults)
  const map = flags.map === undefined ? null : parseColumnMap(flags.map)
  if (map !== null && E.isLeft(map)) faults.push(...map.left)
  if (format === undefined && flags.format === undefined)
    faults.push({ path: '--format', reason: 'is missing', mend: `say what the file is: ${traceFormats.join(', ')}` })
  refuseFlags(faults)
  const read = await readTrace(file, {
    format: format!,
    ...(map !== null && E.isRight(map) && { map: map.right }),
    ...(timeUnit !== undefined && { timeUnit }),
  })
  if (E.isRight(read)) return read.right
  throw fileFailed(read.left)
}

/** A file that could not be read, or was read and is faulty. */
export const fileFailed = (fault: FaultyFile | FileFault): VerbFailed => {
  if (fault.type === 'FileUnreadable')
    return new VerbFailed(exitCodes.failed, `cannot read ${fault.file}: ${fault.reason}; ${fault.mend}`)
  if (fault.type === 'DocumentRefused') return invalidInput(fault.file, fault.faults)
  const more = fault.count - fault.faults.length
  if (more === 0) return invalidInput(fault.file, fault.faults)
  const places = `${fault.count.toLocaleString('en-US')} places${fault.count >= faultsCountedMax ? ' or more' : ''}`
  return new VerbFailed(
    exitCodes.usage,
    `${fault.file} is not valid, in ${places}; the first are`,
    fault.faults,
    fault.file,
  )
}
