import type { EpochMs } from '../../../domain/kernel/units.ts'
import { openCommand } from '../../../domain/planner/open-commands.ts'
import type { CellInput, NodeHealth } from '../../../domain/planner/cell-event.ts'
import { editionNow } from '../../../domain/planner/edition.ts'
import type { Workload } from '../../../domain/planner/workload.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { hour, minute } from '../cell-life.ts'
import type { Draw } from './draw.ts'
import { anyBudgetPolicy, anyFleet, anyWorkload } from './small-world.ts'
import type { WatchedCell } from './watched-cell.ts'

/** Everything that can happen to a small cell, at random, for some hours. */
export class EventfulLife {
  readonly watched: WatchedCell
  private readonly draw: Draw
  private readonly mode: AllocationPolicy['mode']
  private now = Date.UTC(2026, 7, 3, 9, 17)
  private made = 0

  constructor(watched: WatchedCell, draw: Draw, mode: AllocationPolicy['mode']) {
    this.watched = watched
    this.draw = draw
    this.mode = mode
  }

  live(steps: number): void {
    const { draw, watched } = this
    this.activate()
    for (const data of anyFleet(draw)) this.take({ type: 'NodeRegistered', data })
    for (const team of ['a', 'b', 'c', 'd']) if (draw.percent(85)) this.drill(team, 'passed')
    for (let i = draw.between(1, 6); i > 0; i--) this.submit()
    const copyAt = draw.below(steps)
    for (let step = 0; step < steps; step++) {
      if (step === copyAt) watched.copy()
      this.step()
      this.tick()
      if (step % 8 === 7) {
        watched.compareReader(this.now)
        watched.compareLedger()
      }
    }
    for (let i = 0; i < 4; i++) this.pass(hour)
    watched.compareReader(this.now)
    watched.compareLedger()
  }

  private step(): void {
    const { draw } = this
    switch (
      draw.from('pass', 'pass', 'pass', 'pass', 'submit', 'submit', 'submit', 'end', 'answer', 'report', 'rare')
    ) {
      case 'pass': {
        this.pass(draw.from(10_000, minute, 5 * minute, 10 * minute, 31 * minute, hour))
        return
      }
      case 'submit': {
        this.submit()
        return
      }
      case 'end': {
        this.end()
        return
      }
      case 'answer': {
        this.answer()
        return
      }
      case 'report': {
        this.report()
        return
      }
      case 'rare': {
        this.rare()
        return
      }
    }
  }

  private rare(): void {
    const { draw } = this
    const workload = this.anyOf(() => true)
    const data = { actor: 'u', reason: null, workload: workload?.id ?? 'nobody' }
    switch (draw.from('health', 'hold', 'release', 'cancel', 'drill', 'policy', 'again', 'late')) {
      case 'health': {
        this.changeHealth()
        return
      }
      case 'hold': {
        this.take({ type: 'HoldRequested', data })
        return
      }
      case 'release': {
        this.take({ type: 'ReleaseRequested', data })
        return
      }
      case 'cancel': {
        this.take({ type: 'CancelRequested', data })
        return
      }
      case 'drill': {
        this.drill(draw.from('a', 'b', 'c'), draw.from('passed', 'passed', 'failed'))
        return
      }
      case 'policy': {
        this.activate()
        return
      }
      case 'again': {
        this.repeat()
        return
      }
      case 'late':
        this.watched.take({ type: 'Ticked', at: (this.now + 20_000) as EpochMs, data: {} })
        this.submit()
        this.now += 20_000
    }
  }

  private pass(time: number): void {
    const until = this.now + time
    while (this.now < until) {
      this.now = Math.min(until, this.now + 10 * minute)
      if (this.draw.percent(70)) this.answer()
      this.tick()
    }
  }

  private tick(): void {
    for (let round = 0; round < 4; round++) this.take({ type: 'Ticked', data: {} })
  }

  private activate(): void {
    const { draw, mode } = this
    const document = anyBudgetPolicy(draw, { mode, limited: draw.percent(50) })
    this.take({ type: 'PolicyActivated', data: { document, edition: editionNow, hash: `policy-${this.made++}` } })
  }

  private submit(): void {
    const { cell } = this.watched
    const devices = cell.fleet.nodes.reduce((sum, node) => sum + node.devices, 0)
    this.take({
      type: 'WorkloadSubmitted',
      data: anyWorkload(this.draw, `w${this.made++}`, cell.policy!, Math.min(8, devices)),
    })
  }

  private end(): void {
    const workload = this.anyOf(({ run }) => run !== null)
    if (workload === undefined) return
    const { attempt, id } = workload
    this.take({ type: 'AttemptEnded', data: { attempt, outcome: this.draw.from('succeeded', 'failed'), workload: id } })
  }

  /** Adapters answer some of what they were asked: well, badly, or too late. */
  private answer(): void {
    const { cell } = this.watched
    for (const workload of [...cell.workloads.values()]) {
      const open = openCommand(cell, workload)
      if (open === null || this.draw.percent(20)) continue
      const { attempt, command, deadlineAt, verb } = open
      const isLate = deadlineAt < this.now
      const outcome = isLate ? this.draw.from('expired', 'done') : this.draw.from('done', 'done', 'done', 'failed')
      const data = { attempt, command, outcome, reason: null, verb, workload: workload.id }
      this.take({ type: 'CommandConcluded', data })
    }
  }

  private report(): void {
    const workload = this.anyOf(({ run }) => run !== null)
    if (workload === undefined) return
    const { attempt, id } = workload
    this.take({ type: this.draw.from('CheckpointCommitted', 'ProgressObserved'), data: { attempt, workload: id } })
  }

  private changeHealth(): void {
    const { draw, watched } = this
    const spec = draw.from(...watched.cell.fleet.nodes)
    const health = draw.from<NodeHealth>('ready', 'ready', 'ready', 'cordoned', 'draining', 'failed')
    const device = draw.percent(50) ? draw.below(spec.devices) : null
    this.take({ type: 'NodeHealthChanged', data: { device, health, node: spec.node } })
  }

  private drill(team: string, outcome: 'passed' | 'failed'): void {
    this.take({ type: 'DrillConcluded', data: { modelFamily: null, outcome, team } })
  }

  private repeat(): void {
    const { log } = this.watched
    const { input } = log[this.draw.below(log.length)]!
    if (input.type !== 'Ticked' && input.type !== 'PolicyActivated') this.watched.take(input)
  }

  private anyOf(is: (workload: Workload) => boolean): Workload | undefined {
    const some = [...this.watched.cell.workloads.values()].filter(is)
    return some[this.draw.below(Math.max(1, some.length))]
  }

  private take(input: Omit<CellInput, 'at'>): void {
    this.watched.take({ ...input, at: this.now } as CellInput)
  }
}
