import { either as E } from 'fp-ts'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import { Cell } from '../../domain/planner/cell.ts'
import type { CellDecision, CellInput, WorkloadSubmitted } from '../../domain/planner/cell-event.ts'
import { decide } from '../../domain/planner/decide.ts'
import { editionNow } from '../../domain/planner/edition.ts'
import { evolve } from '../../domain/planner/evolve.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { unstatedTerms, type WorkloadTerms } from '../../domain/workload/terms.ts'
import { requestOf } from './arbitrary-fleet.ts'

export { budgetPolicy } from './budget-policy.ts'

export const minute = 60_000
export const hour = 60 * minute

/** A cell that is told what happens and says what it decides; advised only, so nobody need answer a command. */
export class CellLife {
  readonly cell = new Cell('pool')
  readonly told: { readonly input: CellInput; readonly decisions: ReadonlyArray<CellDecision> }[] = []
  now: number

  constructor(start = 0) {
    this.now = start
  }

  tell(input: CellInput): ReadonlyArray<CellDecision> {
    const decided = decide(input, this.cell)
    if (E.isLeft(decided)) throw new Error(`${input.type}: ${JSON.stringify(decided.left)}`)
    evolve(this.cell, input)
    for (const decision of decided.right) evolve(this.cell, decision)
    this.told.push({ input, decisions: decided.right })
    return decided.right
  }

  at(now: number): this {
    this.now = now
    return this
  }

  policy(document: AllocationPolicy): this {
    const data = { document, edition: editionNow, hash: JSON.stringify(document) } as const
    this.tell({ type: 'PolicyActivated', at: this.instant, data })
    return this
  }

  nodes(count: number, devices: number, model: string | null = null): this {
    for (let i = 0; i < count; i++)
      this.tell({
        type: 'NodeRegistered',
        at: this.instant,
        data: {
          cpuMilli: null,
          deviceMemoryMib: null,
          devices,
          domain: null,
          hostMemoryMib: null,
          model,
          node: `node-${this.cell.fleet.nodes.length}`,
        },
      })
    return this
  }

  drilled(...teams: ReadonlyArray<string>): this {
    for (const team of teams)
      this.tell({ type: 'DrillConcluded', at: this.instant, data: { modelFamily: null, outcome: 'passed', team } })
    return this
  }

  submit(
    workload: string,
    devices: number,
    given: Partial<Omit<WorkloadSubmitted['data'], 'terms' | 'workload'>> & {
      readonly budget?: string
      readonly terms?: Partial<WorkloadTerms>
      readonly preemption?: Partial<WorkloadTerms['preemption']>
    } = {},
  ): this {
    const { budget = null, preemption, terms, ...data } = given
    this.tell({
      type: 'WorkloadSubmitted',
      at: this.instant,
      data: {
        class: 'training',
        estimateMs: null,
        queue: 'default',
        request: requestOf({ devices, span: 'anywhere' }),
        team: budget ?? 'team',
        ...data,
        terms: {
          ...unstatedTerms,
          budget,
          ...terms,
          preemption: { ...unstatedTerms.preemption, tolerated: true, ...preemption },
        },
        workload,
      },
    })
    return this
  }

  end(workload: string): this {
    const { attempt } = this.cell.workloads.get(workload)!
    this.tell({ type: 'AttemptEnded', at: this.instant, data: { attempt, outcome: 'succeeded', workload } })
    return this
  }

  checkpoint(workload: string): this {
    const { attempt } = this.cell.workloads.get(workload)!
    this.tell({ type: 'CheckpointCommitted', at: this.instant, data: { attempt, workload } })
    return this
  }

  /** Ticks until nothing more is decided at this instant; all that was decided. */
  tick(): ReadonlyArray<CellDecision> {
    const all: CellDecision[] = []
    for (let round = 0; round < 100; round++) {
      const decisions = this.tell({ type: 'Ticked', at: this.instant, data: {} })
      all.push(...decisions)
      if (decisions.every(({ type }) => type === 'WorkloadHeld')) return all
    }
    throw new Error('it never comes to rest')
  }

  /** Names of what runs, sorted. */
  get running(): ReadonlyArray<string> {
    return [...this.cell.workloads.values()].flatMap(({ id, run }) => (run === null ? [] : [id])).sort()
  }

  reason(workload: string): string | undefined {
    return this.cell.workloads.get(workload)?.hold?.code
  }

  /** Devices held at and below a node of the budget tree. */
  holds(path: string): number {
    const { ledger } = this.cell.books!
    return ledger.held(ledger.node(path)!) / 1000
  }

  private get instant(): EpochMs {
    return this.now as EpochMs
  }
}

export const minutes = (count: number): DurationMs => (count * minute) as DurationMs
