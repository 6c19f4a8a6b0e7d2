import type { EpochMs } from '../../domain/kernel/units.ts'
import type { CellDecision, CellInput, NodeHealth, PreemptionDecided } from '../../domain/planner/cell-event.ts'
import type { CommandOutcome } from '../../domain/planner/command.ts'
import { fork } from '../../domain/planner/cell-snapshot.ts'
import { openCommand } from '../../domain/planner/open-commands.ts'
import { protectionOf, type Protection } from '../../domain/planner/protection.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import type { BudgetPolicy } from '../../domain/policy/budget-policy.ts'
import { budgetPolicy, CellLife, minute } from './cell-life.ts'

/** Monday, well within an hour, so that no bucket closes by accident. */
export const monday = Date.UTC(2026, 7, 3, 9, 0)

/** A cell whose adapter says what the test lets it say. */
export class ContestedLife extends CellLife {
  /** What is decided about this input alone. */
  input(type: CellInput['type'], data: object, at = this.now): ReadonlyArray<CellDecision> {
    return this.tell({ type, at: at as EpochMs, data } as CellInput)
  }

  /** Time passes by so much, with a tick every minute; everything that was decided. */
  pass(ms: number): ReadonlyArray<CellDecision> {
    const all: CellDecision[] = []
    const until = this.now + ms
    while (this.now < until) {
      this.at(Math.min(until, this.now + minute))
      all.push(...this.tick())
    }
    return all
  }

  /** The adapter says of its newest command about the workload. */
  conclude(workload: string, outcome: CommandOutcome = 'done'): ReadonlyArray<CellDecision> {
    const open = openCommand(this.cell, this.cell.workloads.get(workload)!)
    if (open === null) throw new Error(`nothing is asked of ${workload}`)
    const { attempt, command, verb } = open
    return this.input('CommandConcluded', { attempt, command, outcome, reason: null, verb, workload })
  }

  /** Everything that was asked to start has started. */
  started(): this {
    for (const { id, run } of [...this.cell.workloads.values()])
      if (run?.commanded === true && !run.confirmed) this.conclude(id)
    return this
  }

  health(node: string, health: NodeHealth, device: number | null = null): ReadonlyArray<CellDecision> {
    return this.input('NodeHealthChanged', { device, health, node })
  }

  progress(workload: string, at = this.now): this {
    const { attempt } = this.cell.workloads.get(workload)!
    this.input('ProgressObserved', { attempt, workload }, at)
    return this
  }

  drill(team: string, outcome: 'passed' | 'failed', modelFamily: string | null = null): this {
    this.input('DrillConcluded', { modelFamily, outcome, team })
    return this
  }

  /** A cell that goes on from a snapshot of this one; the history is not taken along. */
  restarted(): ContestedLife {
    const life = new ContestedLife(this.now)
    Object.assign(life, { cell: fork(this.cell) })
    return life
  }

  protection(workload: string): Protection | null {
    const known = this.cell.workloads.get(workload)!
    return protectionOf(this.cell, known, known.run!, this.now as EpochMs)
  }

  /** Device-milli that nobody holds, of each device of the fleet. */
  get free(): ReadonlyArray<number> {
    return [
      ...this.cell.fleet.deviceFree.subarray(
        0,
        this.cell.fleet.nodes.reduce((sum, { devices }) => sum + devices, 0),
      ),
    ]
  }
}

/** Programs a and b with equal shares; a holds every device, with jobs of one that are drilled, and b nothing. */
export const contested = (
  devices = 4,
  more: Partial<AllocationPolicy> = {},
  {
    budget = {},
    drilled = ['a', 'b'],
    job = {},
  }: {
    readonly budget?: Partial<BudgetPolicy>
    readonly drilled?: ReadonlyArray<string>
    readonly job?: Parameters<CellLife['submit']>[2]
  } = {},
): ContestedLife => {
  const life = new ContestedLife(monday).policy(budgetPolicy({ a: 1, b: 1 }, more, budget)).nodes(1, devices)
  life.drilled(...drilled)
  for (let i = 0; i < devices; i++) life.submit(`a${i}`, 1, { budget: 'a', ...job })
  life.tick()
  return life.started()
}

export const decisionsOf = <T extends CellDecision['type']>(
  decisions: ReadonlyArray<CellDecision>,
  type: T,
): ReadonlyArray<Extract<CellDecision, { readonly type: T }>> =>
  decisions.filter((each): each is Extract<CellDecision, { readonly type: T }> => each.type === type)

/** Names of those who are made to leave, in the order of the decisions. */
export const victimsOf = (decisions: ReadonlyArray<CellDecision>): ReadonlyArray<string> =>
  decisionsOf(decisions, 'PreemptionDecided').flatMap(({ data }: PreemptionDecided) =>
    data.victims.map(({ workload }) => workload),
  )
