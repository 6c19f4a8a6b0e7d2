import { takeSnapshot } from '../../domain/planner/cell-snapshot.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { end, fullCell, submit, tick, wholeDevices } from './held-cell.ts'

export interface MemoryFigures {
  readonly bytesPerPending: number
  readonly bytesPerDevice: number
  /** Heap after the last tenth of a long run over that after its first tenth. */
  readonly longRunRatio: number
  readonly longRunEvents: number
}

const usedBytes = (): number => {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc')
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Keeps what is measured alive until it has been. */
const grownBy = (build: () => Cell): number => {
  const before = usedBytes()
  const cell = build()
  const grown = usedBytes() - before
  if (takeSnapshot(cell).nodes.length === 0) throw new Error('there is no fleet')
  return grown
}

export const benchMemory = (): MemoryFigures => {
  const devices = 100_000
  const pending = 200_000
  grownBy(() => fullCell(800, 0))
  const idle = grownBy(() => fullCell(8, 0))
  const fleet = grownBy(() => emptyCell(devices))
  const waiting = grownBy(() => fullCell(8, pending))
  return {
    bytesPerPending: Math.round((waiting - idle) / pending),
    bytesPerDevice: Math.round(fleet / devices),
    ...longRun(),
  }
}

/** A fleet with nothing on it: what runs there is counted as workloads. */
const emptyCell = (devices: number): Cell => {
  const cell = fullCell(devices, 0)
  for (let i = 0; i < devices; i++) end(cell, `running-${i}`, 2)
  tick(cell, 2)
  return cell
}

/** Steady load: one comes, one starts, one ends, ten tenths of it. */
const longRun = (): Pick<MemoryFigures, 'longRunRatio' | 'longRunEvents'> => {
  const cell = fullCell(800, 100)
  const waiting: string[] = Array.from({ length: 100 }, (_, i) => `held-${i}`)
  const running: string[] = Array.from({ length: 800 }, (_, i) => `running-${i}`)
  const perTenth = 20_000
  const used: number[] = []
  for (let i = 0; i < 10 * perTenth; i++) {
    const at = 2 + i
    end(cell, running.shift()!, at)
    submit(cell, `new-${i}`, wholeDevices(1), at)
    tick(cell, at)
    running.push(waiting.shift()!)
    waiting.push(`new-${i}`)
    if ((i + 1) % perTenth === 0) used.push(usedBytes())
  }
  return { longRunRatio: used.at(-1)! / used[0]!, longRunEvents: 10 * perTenth * 4 }
}
