import { readFileSync } from 'node:fs'
import { either as E } from 'fp-ts'
import type { CellEvent } from '../../domain/planner/cell-event.ts'
import { openLog } from '../../infra/host/open-log.ts'
import type { SimulationReport } from '../../projections/simulation/report.ts'
import { run, type Surroundings } from '../services/cli/terminal.ts'
import { right } from './events.ts'
import { sharedData } from './shared-data.ts'

/** What `simulate -o json` prints. */
export type Simulated = SimulationReport & {
  readonly decisions: number
  readonly events: number
  readonly wallMs: number
  readonly logDigest: string
}

/** Runs `simulate` in this process, from the file to the log; with a folder the log is kept there. */
export const simulated = async (
  words: ReadonlyArray<string>,
  folder?: string,
  around: Surroundings = {},
): Promise<Simulated> => {
  const kept = folder === undefined ? [] : ['--data', folder]
  const { code, stdout, stderr } = await run(['simulate', ...words, ...kept, '-o', 'json'], around)
  if (code !== 0) throw new Error(`simulate ${words.join(' ')} exits with ${code}: ${stderr}`)
  return JSON.parse(stdout) as Simulated
}

/** The words for a pod list of openb. */
export const openb = (list: string): ReadonlyArray<string> => [
  sharedData(`openb/openb_pod_list_${list}.csv`),
  '--format',
  'openb',
]
/** The words for its GPU pods by time on nodes of eight GPUs. */
export const openbOn = (gpus: number, ordering: string, placement = 'first-fit'): ReadonlyArray<string> => [
  ...openb('default'),
  ...['--gpu-jobs-only', '--nodes', String(gpus / 8), '--ordering', ordering, '--placement', placement],
]

/** What the log of a folder was told, as lines that can be told again; by way of a file of that name. */
export const inputsOf = async (folder: string, file: string): Promise<ReadonlyArray<string>> => {
  const { code, stderr } = await run(['log', 'export', '--inputs', '--out', file, '--data', folder])
  if (code !== 0) throw new Error(`log export exits with ${code}: ${stderr}`)
  return readFileSync(file, 'utf8').trimEnd().split('\n')
}

const pageMax = 2_000

/** Every event of the cell that the log of a folder holds, in order. */
export const eventsIn = async (folder: string): Promise<ReadonlyArray<CellEvent>> => {
  const { log } = await right(openLog(folder, { readOnly: true }))
  const events: CellEvent[] = []
  for (;;) {
    const page = await log.readMessages('cell-default', events.length, pageMax)()
    if (E.isLeft(page)) throw new Error(page.left.reason)
    events.push(...(page.right as unknown as ReadonlyArray<CellEvent>))
    if (page.right.length < pageMax) break
  }
  await log.close()
  return events
}

/** As a published figure is rounded. */
export const rounded = (value: number | null | undefined, digits: number): number =>
  value == null ? NaN : Number(value.toFixed(digits))
