import type { EpochMs } from '../kernel/units.ts'
import { commandsOf } from '../policy/allocation-policy.ts'
import type { Cell } from './cell.ts'
import { evolve } from './evolve.ts'
import type { CellEvent } from './cell-event.ts'
import type { Command } from './command.ts'
import { gracePeriodOf } from './grace-period.ts'
import { startCommandOf, type Workload } from './workload.ts'

/** What adapters are to do and have not concluded, folded from a cell's events. Owns the cell and changes it. */
export class OpenCommands {
  readonly cell: Cell
  private readonly commands = new Map<string, Command>()
  /** By workload: each has one open command at most. */
  private readonly byWorkload = new Map<string, string>()

  /** @param cell as its events tell it so far */
  constructor(cell: Cell) {
    this.cell = cell
    for (const workload of cell.workloads.values()) this.note(workload.id)
  }

  /** By the command's id, in the order in which they were issued. */
  get open(): ReadonlyMap<string, Command> {
    return this.commands
  }

  follow(event: CellEvent): void {
    evolve(this.cell, event)
    if ('workload' in event.data) this.note(event.data.workload)
  }

  private note(id: string): void {
    const workload = this.cell.workloads.get(id)
    const command = workload === undefined ? null : openCommand(this.cell, workload)
    const known = this.byWorkload.get(id)
    if (known === command?.command) return
    if (known !== undefined) {
      this.commands.delete(known)
      this.byWorkload.delete(id)
    }
    if (command === null) return
    this.commands.set(command.command, command)
    this.byWorkload.set(id, command.command)
  }
}

/** What its adapter is to do with it and has not concluded; null: nothing. */
export const openCommand = (cell: Cell, workload: Workload): Command | null => {
  const { run, attempt, id, team, estimateMs, terms } = workload
  if (run === null || !run.commanded) return null
  const given = {
    cell: cell.name,
    workload: id,
    attempt,
    graceMs: gracePeriodOf(cell.policy, terms),
    team,
    class: workload.class,
    estimateMs,
  }
  const lease = run.parts.map((part) => cell.fleet.partNamed(part))
  if (run.open !== null) {
    const { because, command, deadlineAt, issuedAt, keeps, verb } = run.open
    return { ...given, because, command, deadlineAt, issuedAt, lease: keeps ?? lease, verb }
  }
  if (run.confirmed) return null
  return {
    ...given,
    because: 'admitted',
    command: startCommandOf(workload),
    deadlineAt: (run.startedAt + commandsOf(cell.policy).startWithinMs) as EpochMs,
    issuedAt: run.startedAt,
    lease,
    verb: workload.resumes ? 'resume' : 'start',
  }
}
