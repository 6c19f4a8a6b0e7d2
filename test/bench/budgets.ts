import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { Cell } from '../../domain/planner/cell.ts'
import type { CellInput, WorkloadSubmitted } from '../../domain/planner/cell-event.ts'
import { fork } from '../../domain/planner/cell-snapshot.ts'
import { decide } from '../../domain/planner/decide.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { defaultBudget } from '../../domain/policy/budget-policy.ts'
import { defaultLimits } from '../../domain/policy/contract-policy.ts'
import { equalNodes } from '../../domain/simulation/equal-nodes.ts'
import { sqliteEventLog, type SqliteDriver } from '../../infra/sqlite/event-log.ts'
import { whyWithHints } from '../../projections/explain/why.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import { budgetPolicy } from '../support/budget-policy.ts'
import { advance, end, tick, wholeDevices } from './held-cell.ts'
import { loopOver, type GangFigures, type PassFigures } from './pass.ts'
import { quantile } from './ratio.ts'

/** As many programs of one share each; `team` and budget of a workload are its program. */
export const programsPolicy = (programs: number, more: Partial<AllocationPolicy> = {}): AllocationPolicy =>
  budgetPolicy(Object.fromEntries(Array.from({ length: programs }, (_, i) => [`program-${i}`, 10])), {
    limits: { ...defaultLimits, evictionsPerMinute: null, preemptionsPerTeamHour: null },
    name: 'bench',
    ...more,
  })

export const budgetCell = (devices: number, policy: AllocationPolicy): Cell => {
  const cell = new Cell('cell-bench')
  for (const data of equalNodes(devices / 8, 8)) advance(cell, { type: 'NodeRegistered', at: 0 as EpochMs, data })
  advance(cell, { type: 'PolicyActivated', at: 0 as EpochMs, data: { document: policy, hash: 'bench' } })
  for (const node of policy.budgets?.tree ?? [])
    advance(cell, {
      type: 'DrillConcluded',
      at: 0 as EpochMs,
      data: { modelFamily: null, outcome: 'passed', team: node.name },
    })
  return cell
}

export const submission = (
  workload: string,
  budget: string,
  submitter: string,
  request: WorkloadSubmitted['data']['request'],
): WorkloadSubmitted['data'] => ({
  class: 'training',
  estimateMs: null,
  queue: 'default',
  request,
  team: budget,
  terms: { ...unstatedTerms, budget, preemption: { ...unstatedTerms.preemption, tolerated: true }, submitter },
  workload,
})

const hand = (cell: Cell, data: WorkloadSubmitted['data'], at: number) =>
  advance(cell, { type: 'WorkloadSubmitted', at: at as EpochMs, data })

const passes = 500
const programs = 10
const persons = 10
const sizes = [1, 1, 1, 2, 4]

/** A fleet taken by single devices of ten programs, and so many held of a hundred persons, in requests of three sizes. */
const crowdedCell = (devices: number, held: number): Cell => {
  const cell = budgetCell(devices, programsPolicy(programs))
  for (let i = 0; i < devices; i++)
    hand(cell, submission(`running-${i}`, `program-${i % programs}`, `person-${i % persons}`, wholeDevices(1)), 0)
  tick(cell, 0)
  for (let i = 0; i < held; i++) {
    const person = `person-${Math.floor(i / programs) % persons}`
    hand(cell, submission(`held-${i}`, `program-${i % programs}`, person, wholeDevices(sizes[i % sizes.length]!)), 1)
  }
  tick(cell, 1)
  return cell
}

/** One of what runs ends, and whoever is next by its share starts: decided, not recorded. */
export const benchBudgetPass = (devices: number, held: number): PassFigures => {
  const cell = crowdedCell(devices, held)
  const took: number[] = []
  for (let i = 0; i < passes; i++) {
    const at = 2 + i * 1_000
    end(cell, `running-${(i * 7919) % devices}`, at)
    const start = performance.now()
    const decided = decide({ type: 'Ticked', at: at as EpochMs, data: {} }, cell)
    took.push((performance.now() - start) * 1000)
    if (decided._tag === 'Left' || decided.right.every(({ type }) => type !== 'WorkloadAdmitted'))
      throw new Error('nothing started')
    tick(cell, at)
  }
  const warm = took.slice(passes / 5)
  const loopUs = loopOver(devices, held)
  const p99Us = quantile(warm, 0.99)
  return { devices, held, p50Us: quantile(warm, 0.5), p99Us, loopUs, ratio: p99Us / loopUs }
}

export interface WhyFigures {
  readonly whyUs: number
  readonly passUs: number
  readonly ratio: number
}

/** `why` as it is printed of one that waits, and a pass, by turns, with so many waiting. */
export const benchWhy = (devices: number, held: number): Promise<WhyFigures> => {
  const cell = crowdedCell(devices, held)
  return whyByTurns(cell, devices, held, (workload, at) => {
    end(cell, workload, at)
    const us = tookUs(() => decide({ type: 'Ticked', at, data: {} }, cell))
    tick(cell, at)
    return Promise.resolve(us)
  })
}

/** The same where the pass is decided, folded, appended and acknowledged: what it costs a running system. */
export const benchWhyRecorded = (Driver: SqliteDriver, devices: number, held: number): Promise<WhyFigures> => {
  const cell = crowdedCell(devices, held)
  return withWriter(Driver, cell, (writer) => {
    const record = async (input: CellInput) => {
      if (E.isLeft(writer.take(input, `${input.type}-${input.at}`)) || E.isLeft(await writer.flush()))
        throw new Error('the input was not recorded')
    }
    return whyByTurns(cell, devices, held, async (workload, at) => {
      await record({ type: 'AttemptEnded', at, data: { attempt: 1, outcome: 'succeeded', workload } })
      const start = performance.now()
      await record({ type: 'Ticked', at, data: {} })
      return (performance.now() - start) * 1000
    })
  })
}

/** @param pass one of what runs ends, and the pass that follows is timed, us */
const whyByTurns = async (
  cell: Cell,
  devices: number,
  held: number,
  pass: (ends: string, at: EpochMs) => Promise<number>,
): Promise<WhyFigures> => {
  const whyUs: number[] = []
  const passUs: number[] = []
  for (let i = 0; i < 200; i++) {
    passUs.push(await pass(`running-${(i * 7919) % devices}`, (2 + i * 1_000) as EpochMs))
    const asked = `held-${held - 1 - ((i * 104_729) % Math.floor(held / 2))}`
    whyUs.push(tookUs(() => whyWithHints(cell, asked)))
    if (cell.workloads.get(asked)?.run !== null) throw new Error(`${asked} does not wait`)
  }
  const [whyP50, passP50] = [quantile(whyUs.slice(40), 0.5), quantile(passUs.slice(40), 0.5)]
  return { whyUs: whyP50, passUs: passP50, ratio: whyP50 / passP50 }
}

const tookUs = (work: () => unknown): number => {
  const start = performance.now()
  work()
  return (performance.now() - start) * 1000
}

/** A gang that cannot run beside what is held already, by turns with an ordinary pass. */
export const benchBudgetGang = (devices: number, gang: number): GangFigures => {
  const base = crowdedCell(devices, 1_000)
  const ratios: number[] = []
  const gangUs: number[] = []
  const passUs: number[] = []
  let code = ''
  for (let pair = 0; pair < 60; pair++) {
    const ordinary = fork(base)
    end(ordinary, `running-${(pair * 7919) % devices}`, 2_000)
    const crowded = fork(base)
    hand(crowded, submission('gang', 'program-0', 'person-0', { ...wholeDevices(gang), span: 'anywhere' }), 2_000)
    for (const [cell, figures] of [
      [ordinary, passUs],
      [crowded, gangUs],
    ] as const) {
      const start = performance.now()
      const decided = decide({ type: 'Ticked', at: 2_000 as EpochMs, data: {} }, cell)
      figures.push((performance.now() - start) * 1000)
      if (cell !== crowded || decided._tag === 'Left') continue
      const held = decided.right.find((one) => one.type === 'WorkloadHeld' && one.data.workload === 'gang')
      if (held?.type !== 'WorkloadHeld') throw new Error('the gang was not held')
      code = held.data.code
    }
    ratios.push(gangUs.at(-1)! / passUs.at(-1)!)
  }
  return {
    devices,
    gangPassUs: quantile(gangUs, 0.5),
    passUs: quantile(passUs, 0.5),
    ratio: quantile(ratios.slice(15), 0.5),
    code,
  }
}

const recording = { stream: 'cell-bench', source: 'bench', actor: 'bench', recordTime: (at: EpochMs) => at }

/** The cell goes on from where it is, in a log that is empty and gone afterwards. */
const withWriter = async <T>(
  Driver: SqliteDriver,
  cell: Cell,
  work: (writer: CellWriter) => Promise<T>,
): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
  const opened = await sqliteEventLog(Driver, join(folder, 'log.sqlite'))()
  if (E.isLeft(opened)) throw new Error(opened.left.reason)
  const log = opened.right
  try {
    return await work(new CellWriter(log, recording, { cell, size: 0 }))
  } finally {
    await log.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Its tick is decided, appended and acknowledged. */
const loggedTick = (Driver: SqliteDriver, cell: Cell, at: number) =>
  withWriter(Driver, cell, async (writer) => {
    const start = performance.now()
    const taken = writer.take({ type: 'Ticked', at: at as EpochMs, data: {} }, 'tick')
    const flushed = await writer.flush()
    const ms = performance.now() - start
    if (E.isLeft(taken) || E.isLeft(flushed)) throw new Error('the tick was not recorded')
    return { ms, decisions: taken.right }
  })

/** How long a tick took that was decided, appended and acknowledged; ms. */
export interface LoggedTick {
  readonly ms: number
  readonly victims: number
  readonly devices: number
}

/** A workload that is owed the whole fleet takes it back from as many victims as it has nodes. */
export const benchReclaim = async (Driver: SqliteDriver, devices: number): Promise<LoggedTick> => {
  const none = defaultBudget.reclaimAfterMs
  const policy = programsPolicy(2)
  const [owed, other] = policy.budgets!.tree
  const tree = [owed!, { ...other!, share: 0 }]
  const cell = budgetCell(devices, { ...policy, budgets: { ...policy.budgets!, tree } })
  for (let i = 0; i < devices / 8; i++) hand(cell, submission(`victim-${i}`, 'program-1', 'person', wholeDevices(8)), 0)
  tick(cell, 0)
  const gang = { ...wholeDevices(devices), span: 'anywhere' } as const
  hand(cell, submission('gang', 'program-0', 'person', gang), 1)
  tick(cell, 1)
  const at = 2 + none
  const { ms, decisions } = await loggedTick(Driver, cell, at)
  const decided = decisions.find(({ type }) => type === 'PreemptionDecided')
  if (decided?.type !== 'PreemptionDecided') throw new Error('nobody was asked to make room')
  return { ms, devices, victims: decided.data.victims.length }
}

/** A gang over a whole level of the topology, on a fleet that is free. */
export const benchTopologyGang = async (
  Driver: SqliteDriver,
  devices: number,
  members: number,
): Promise<LoggedTick> => {
  const cell = new Cell('cell-bench')
  equalNodes(devices / 8, 8).forEach((data, i) => {
    const topology = { block: `block-${Math.floor(i / 100)}`, rack: `rack-${Math.floor(i / 20)}` }
    advance(cell, { type: 'NodeRegistered', at: 0 as EpochMs, data: { ...data, topology } })
  })
  const document = programsPolicy(1, { topologyLevels: ['block', 'rack'] })
  advance(cell, { type: 'PolicyActivated', at: 0 as EpochMs, data: { document, hash: 'bench' } })
  const request = { ...wholeDevices(members), span: 'anywhere', topology: { required: 'block' } } as const
  hand(cell, submission('gang', 'program-0', 'person', request), 1)
  const { ms, decisions } = await loggedTick(Driver, cell, 1)
  const admitted = decisions.find(({ type }) => type === 'WorkloadAdmitted')
  if (admitted === undefined) throw new Error('the gang did not start')
  return { ms, devices, victims: 0 }
}
