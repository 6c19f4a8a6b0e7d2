import { nameObjection } from '../../domain/kernel/ids.ts'
import { cpuMaxMilli, durationMax, memoryMaxMib } from '../../domain/kernel/quantity.ts'
import { shown } from '../../domain/kernel/wording.ts'
import type { CpuMilli, DurationMs, EpochMs, GpuMilli, Mebibytes } from '../../domain/kernel/units.ts'
import { wholeGpu } from '../../domain/kernel/units.ts'
import type { RecordedRun } from '../../domain/simulation/recorded-run.ts'
import type { StatedTerms, TraceJob } from '../../domain/simulation/trace-job.ts'
import { requestDevicesMax, requestModelsMax, type Span } from '../../domain/workload/request.ts'
import type { JobField } from './column-map.ts'
import type { FaultList } from './fault-list.ts'
import { numberText } from './number-text.ts'

/** A column by its place among the cells of a row, and the name that faults call it. */
export interface Column {
  readonly index: number
  readonly name: string
}

/** How the rows of one format become jobs. */
export interface JobTableShape {
  readonly columns: ReadonlyMap<JobField, Column>
  /** Milliseconds in one unit of the table's times. */
  readonly unitMs: number
  readonly span: Span
  /** Jobs of several GPUs take whole ones whatever the milli column says (openb). */
  readonly wholeGangs: boolean
  /** Any cell but that of the GPUs may be empty: NDJSON, where a job may leave out a member. */
  readonly sparse: boolean
  readonly phase?: Column | undefined
  readonly scheduled?: Column | undefined
}

/**
 * Takes the cells of one row, as many as the header has; `false`: the rest is not wanted. `columnOf` counts from 1
 * where a cell begins in its line, if that is known.
 */
export type RowSink = (cells: ReadonlyArray<string>, line: number, columnOf?: (index: number) => number) => boolean

export interface JobTable {
  readonly jobs: ReadonlyArray<TraceJob>
  /** One entry per job, where the shape has phase and scheduled time. */
  readonly recorded: ReadonlyArray<RecordedRun>
  readonly add: RowSink
}

export const jobsMax = 2_000_000
/** 9999-12-31T23:59:59.999Z */
const instantMsMax = 253_402_300_799_999

export const jobTable = (shape: JobTableShape, faults: FaultList): JobTable => {
  const jobs: Array<TraceJob> = []
  const recorded: Array<RecordedRun> = []
  const ids = new Set<string>()
  const texts = new Map<string, string>()
  const specs = new Map<string, ReadonlyArray<string> | null>()
  const records = shape.phase !== undefined || shape.scheduled !== undefined
  const field = (name: JobField) => shape.columns.get(name)
  const column = {
    id: field('id'),
    submit: field('submit'),
    duration: field('duration'),
    end: field('end'),
    gpus: field('gpus'),
    milli: field('milli'),
    cpu: field('cpu'),
    memory: field('memory'),
    deviceMemory: field('deviceMemory'),
    models: field('models'),
    class: field('class'),
    queue: field('queue'),
    team: field('team'),
    estimate: field('estimate'),
    submitter: field('submitter'),
    budget: field('budget'),
    preemptible: field('preemptible'),
    checkpoint: field('checkpoint'),
    minRuntime: field('minRuntime'),
  }
  const { budget, checkpoint, minRuntime, preemptible, submitter } = column
  const statesTerms = [budget, checkpoint, minRuntime, preemptible, submitter].some((at) => at !== undefined)

  // The row at hand. Plain variables: this runs once per cell of a million rows.
  let cells: ReadonlyArray<string> = []
  let line = 0
  let columnOf: ((index: number) => number) | undefined

  const refuse = (at: Column, reason: string, mend: string): void => {
    const place = columnOf === undefined ? { line } : { line, column: columnOf(at.index) }
    faults.add({ path: at.name, ...place, reason, mend })
  }
  /** A number from 0 to `max`, in units of `scale`; `empty` where the cell is. */
  const amount = <T extends number | null>(
    at: Column | undefined,
    max: number,
    scale: number,
    empty: T,
  ): number | T => {
    if (at === undefined) return empty
    const text = cells[at.index]!
    if (text === '') return empty
    const value = numberText(text)
    if (value >= 0 && value * scale <= max) {
      const scaled = value * scale + 0 // Never -0.
      return Number.isInteger(scaled) ? scaled : Math.round(scaled)
    }
    if (Number.isNaN(value)) refuse(at, `${shown(text)} is not a number`, 'write a decimal number')
    else if (value < 0) refuse(at, `${shown(text)} is below 0`, 'write a number from 0 on')
    else refuse(at, `${shown(text)} is too large`, `the most is ${max / scale}`)
    return empty
  }
  /** As `amount`, where an empty cell is a fault unless the table is sparse. */
  const filled = (at: Column | undefined, max: number, scale: number): number | null => {
    if (at !== undefined && !shape.sparse && cells[at.index] === '')
      refuse(at, 'is empty', 'fill it in, or leave the row out')
    return amount(at, max, scale, null)
  }
  const text = (at: Column | undefined, empty: string): string => {
    if (at === undefined) return empty
    const cell = cells[at.index]!
    if (cell === '') return empty
    const seen = texts.get(cell)
    if (seen !== undefined) return seen
    checkName(at, cell)
    texts.set(cell, cell)
    return cell
  }
  const checkName = (at: Column, cell: string): void => {
    const objection = nameObjection(cell)
    if (objection !== null) refuse(at, `${shown(cell)} ${objection}`, 'write another name, or leave the column out')
  }
  const models = (at: Column | undefined): ReadonlyArray<string> | null => {
    if (at === undefined) return null
    const cell = cells[at.index]!
    if (cell === '') return null
    const seen = specs.get(cell)
    if (seen !== undefined) return seen
    const set = [...new Set(cell.split('|').map((model) => model.trim()))].sort()
    const objection = set.map(nameObjection).find((found) => found !== null)
    if (objection !== undefined) refuse(at, `${shown(cell)}: a model ${objection}`, 'join their names with one |')
    if (set.length > requestModelsMax) refuse(at, `has ${set.length} models`, `the most is ${requestModelsMax}`)
    specs.set(cell, set)
    return set
  }

  const yesOrNo = (at: Column | undefined): boolean | null => {
    if (at === undefined) return null
    const cell = cells[at.index]!
    if (/^(true|yes|1)$/i.test(cell)) return true
    if (cell !== '' && !/^(false|no|0)$/i.test(cell))
      refuse(at, `${shown(cell)} is neither yes nor no`, 'write yes or no')
    return cell === '' ? null : false
  }
  const named = (at: Column | undefined): string | null => {
    const name = text(at, '')
    return name === '' ? null : name
  }
  const terms = (): StatedTerms => {
    const checkpointIntervalMs = amount(checkpoint, durationMax, shape.unitMs, null)
    if (checkpointIntervalMs === 0) refuse(checkpoint!, 'is 0', 'leave it empty where no checkpoint is made')
    return {
      budget: named(budget),
      checkpointIntervalMs: checkpointIntervalMs as DurationMs | null,
      minRuntimeMs: amount(minRuntime, durationMax, shape.unitMs, null) as DurationMs | null,
      preemptible: yesOrNo(preemptible),
      submitter: named(submitter),
    }
  }

  const newId = (): string => {
    const generated = `row-${jobs.length + 1}`
    if (column.id === undefined) return generated
    const written = cells[column.id.index]!
    const id = written === '' && shape.sparse ? generated : written
    if (id === '') refuse(column.id, 'is empty', 'give every job an id of its own')
    else checkName(column.id, id)
    if (ids.has(id)) refuse(column.id, `${shown(id)} is there twice`, 'give every job an id of its own')
    ids.add(id)
    return id
  }
  /** Devices and thousandths of each. A part of one GPU, `0.25`, is one device of that many thousandths, rounded up. */
  const gpus = (): readonly [devices: number, milli: number] => {
    if (column.gpus === undefined) return [0, 0]
    const count = numberText(cells[column.gpus.index]!)
    const milliIsStated = column.milli !== undefined && cells[column.milli.index] !== ''
    if (count > 0 && count < 1 && !milliIsStated) return [1, Math.ceil(Math.round(count * 1e9) / 1e6)]
    if (cells[column.gpus.index] === '') refuse(column.gpus, 'is empty', 'write 0 for a job without GPUs')
    const devices = amount(column.gpus, requestDevicesMax, 1, 0)
    if (count > 0 && !Number.isInteger(count))
      refuse(column.gpus, `${shown(cells[column.gpus.index]!)} is not a whole number`, 'several GPUs are whole ones')
    if (devices === 0) return [0, 0]
    if (shape.wholeGangs && devices > 1) return [devices, wholeGpu]
    return [devices, amount(column.milli, wholeGpu, 1, wholeGpu)]
  }
  const runTime = (submitAt: number | null): number | null => {
    const { duration, end } = column
    if (end === undefined || cells[end.index] === '') {
      if (duration === undefined && end !== undefined) return filled(end, 0, 1)
      return filled(duration, durationMax, shape.unitMs)
    }
    if (duration !== undefined && cells[duration.index] !== '')
      refuse(end, 'stands beside a duration', 'give one of them')
    const endAt = amount(end, instantMsMax, shape.unitMs, null)
    if (submitAt === null || endAt === null) return null
    if (endAt < submitAt) refuse(end, 'is before the job was submitted', 'check both times of the row')
    return endAt - submitAt
  }

  const add: JobTable['add'] = (rowCells, rowLine, rowColumnOf) => {
    cells = rowCells
    line = rowLine
    columnOf = rowColumnOf
    const before = faults.count()
    if (jobs.length === jobsMax) {
      faults.add({ path: '$', line, reason: `has more than ${jobsMax} jobs`, mend: 'split the file' })
      return false
    }
    const id = newId()
    const submitAt = filled(column.submit, instantMsMax, shape.unitMs)
    const runMs = runTime(submitAt)
    const [devices, milli] = gpus()
    const memoryMib = amount(column.deviceMemory, memoryMaxMib, 1, 0)
    if (devices > 0 && milli === 0 && memoryMib === 0 && faults.count() === before)
      refuse(column.milli ?? column.gpus!, 'asks for no part of a GPU', 'give from 1 to 1000 thousandths, or 0 GPUs')
    const job: TraceJob = {
      id,
      submitAt: submitAt as EpochMs | null,
      runMs: runMs as DurationMs | null,
      estimateMs: amount(column.estimate, durationMax, shape.unitMs, null) as DurationMs | null,
      class: text(column.class, 'default'),
      queue: text(column.queue, 'default'),
      team: text(column.team, 'default'),
      request: {
        cpuMilli: amount(column.cpu, cpuMaxMilli, 1, 0) as CpuMilli,
        devices,
        hostMemoryMib: amount(column.memory, memoryMaxMib, 1, 0) as Mebibytes,
        memoryMib: memoryMib as Mebibytes,
        milli: milli as GpuMilli,
        models: models(column.models),
        span: shape.span,
      },
      ...(statesTerms && { stated: terms() }),
    }
    const scheduledAt = amount(shape.scheduled, instantMsMax, shape.unitMs, null) as EpochMs | null
    const phase = text(shape.phase, '')
    const written = records && column.models !== undefined ? cells[column.models.index]! : ''
    if (faults.count() > before) return true
    jobs.push(job)
    if (records)
      recorded.push({ models: written === '' ? null : written, phase: phase === '' ? null : phase, scheduledAt })
    return true
  }
  return { jobs, recorded, add }
}
