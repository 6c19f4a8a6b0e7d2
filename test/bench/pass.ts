import { performance } from 'node:perf_hooks'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { fork } from '../../domain/planner/cell-snapshot.ts'
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

export const loopOver = (devices: number, held: number): number => {
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

/**
 * A gang that cannot run, on a full fleet with others held, by turns with an ordinary pass in which one workload ends
 * and another starts: each on a fork of its own, so that both come upon the cell alike.
 */
export const benchGang = (devices: number, gang: number): GangFigures => {
  const base = fullCell(devices, 1_000)
  const ratios: number[] = []
  const gangUs: number[] = []
  const passUs: number[] = []
  let code = ''
  for (let pair = 0; pair < gangPairs; pair++) {
    const ordinary = fork(base)
    end(ordinary, `running-${(pair * 7919) % devices}`, 2)
    const crowded = fork(base)
    submit(crowded, 'gang', { ...wholeDevices(gang), span: 'anywhere' }, 2)
    const started = timedTick(ordinary)
    const held = timedTick(crowded)
    if (started.first?.type !== 'WorkloadAdmitted' || held.first?.type !== 'WorkloadHeld')
      throw new Error('nothing started, or the gang was not held')
    code = held.first.data.code
    ratios.push(held.us / started.us)
    gangUs.push(held.us)
    passUs.push(started.us)
  }
  const [gangPassUs, ordinaryUs] = [quantile(gangUs, 0.5), quantile(passUs, 0.5)]
  return { devices, gangPassUs, passUs: ordinaryUs, ratio: quantile(ratios.slice(gangPairs / 4), 0.5), code }
}

const gangPairs = 60

const timedTick = (cell: Cell) => {
  const start = performance.now()
  const decided = decide({ type: 'Ticked', at: 2 as EpochMs, data: {} }, cell)
  const us = (performance.now() - start) * 1000
  return { us, first: decided._tag === 'Right' ? decided.right[0] : undefined }
}
