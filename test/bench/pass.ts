import { performance } from 'node:perf_hooks'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { decide } from '../../domain/planner/decide.ts'
import { end, fullCell, submit, tick, wholeDevices } from './held-cell.ts'
import { quantile } from './ratio.ts'

export interface PassFigures {
  readonly devices: number
  readonly held: number
  readonly p50Us: number
  readonly p99Us: number
  /** One `for` over two Int32Arrays of these lengths. */
  readonly loopUs: number
  /** p99 over the loop. */
  readonly ratio: number
}

const passes = 500

/** One of what runs ends, and the pass starts the first of what is held: decided, not recorded. */
export const benchPass = (devices: number, held: number): PassFigures => {
  const cell = fullCell(devices, held)
  const took: number[] = []
  for (let i = 0; i < passes; i++) {
    const at = 2 + i
    // Spread over the fleet, so that no node stays warm.
    end(cell, `running-${(i * 7919) % devices}`, at)
    const start = performance.now()
    const decided = decide({ type: 'Ticked', at: at as EpochMs, data: {} }, cell)
    took.push((performance.now() - start) * 1000)
    if (decided._tag === 'Left' || decided.right[0]?.type !== 'WorkloadAdmitted') throw new Error('nothing started')
    tick(cell, at)
  }
  const warm = took.slice(passes / 5)
  const loopUs = loopOver(devices, held)
  const p99Us = quantile(warm, 0.99)
  return { devices, held, p50Us: quantile(warm, 0.5), p99Us, loopUs, ratio: p99Us / loopUs }
}

const loopOver = (devices: number, held: number): number => {
  const a = new Int32Array(devices).fill(1)
  const b = new Int32Array(held).fill(1)
  const took: number[] = []
  let sum = 0
  for (let i = 0; i < passes; i++) {
    const start = performance.now()
    for (let j = 0; j < a.length; j++) sum += a[j]!
    for (let j = 0; j < b.length; j++) sum += b[j]!
    took.push((performance.now() - start) * 1000)
  }
  if (sum === 0) throw new Error('the loop was optimised away')
  return quantile(took, 0.5)
}

export interface GangFigures {
  readonly devices: number
  readonly gangPassUs: number
  readonly passUs: number
  /** Passes that refusing it takes. */
  readonly ratio: number
  readonly code: string
}

/** A gang that cannot run, on a fleet that is full but for a few devices: held with what binds it. */
export const benchGang = (devices: number, gang: number): GangFigures => {
  const pass = benchPass(devices, 1_000)
  const took: number[] = []
  let code = ''
  for (let i = 0; i < gangs; i++) {
    const cell = fullCell(devices, 0)
    for (let j = 0; j < gang - 1; j++) end(cell, `running-${(j * 7919) % devices}`, 2)
    tick(cell, 2)
    submit(cell, 'gang', { ...wholeDevices(gang), span: 'anywhere' }, 3)
    const start = performance.now()
    const decided = decide({ type: 'Ticked', at: 3 as EpochMs, data: {} }, cell)
    took.push((performance.now() - start) * 1000)
    if (decided._tag === 'Left' || decided.right[0]?.type !== 'WorkloadHeld') throw new Error('it was not held')
    code = decided.right[0].data.code
  }
  const gangPassUs = quantile(took.slice(gangs / 4), 0.5)
  return { devices, gangPassUs, passUs: pass.p50Us, ratio: gangPassUs / pass.p50Us, code }
}

const gangs = 40
