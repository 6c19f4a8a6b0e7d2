import { readFileSync } from 'node:fs'

/** A pod as its file has it. Times in seconds; `submit` and `end` are NaN in the lists without times. */
export interface Pod {
  readonly name: string
  readonly cpu: number
  readonly memory: number
  readonly gpus: number
  readonly milli: number
  /** Empty: any model. */
  readonly models: ReadonlyArray<string>
  readonly qos: string
  readonly submit: number
  readonly end: number
}

export interface Machine {
  readonly name: string
  readonly cpu: number
  readonly memory: number
  readonly gpus: number
  readonly model: string
}

const rows = (file: string): Array<Array<string>> =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => line.trimEnd().split(','))

const column = (row: ReadonlyArray<string>, index: number): string => row[index] ?? ''
const number = (row: ReadonlyArray<string>, index: number): number => Number.parseInt(column(row, index), 10)

export const podsOf = (file: string): Array<Pod> =>
  rows(file).map((row) => ({
    name: column(row, 0),
    cpu: number(row, 1),
    memory: number(row, 2),
    gpus: number(row, 3),
    milli: number(row, 4),
    models: column(row, 5) === '' ? [] : column(row, 5).split('|'),
    qos: column(row, 6),
    submit: number(row, 8),
    end: number(row, 9),
  }))

export const machinesOf = (file: string): Array<Machine> =>
  rows(file).map((row) => ({
    name: column(row, 0),
    cpu: number(row, 1),
    memory: number(row, 2),
    gpus: number(row, 3),
    model: column(row, 4),
  }))

/** A job of an ITP cluster. */
export interface ItpJob {
  readonly id: string
  readonly submit: number
  readonly run: number
  readonly gpus: number
}

export const itpJobsOf = (file: string): Array<ItpJob> =>
  rows(file).map((row) => ({ id: column(row, 0), submit: number(row, 1), run: number(row, 2), gpus: number(row, 3) }))
