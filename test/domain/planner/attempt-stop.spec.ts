import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import { Cell } from '../../../domain/planner/cell.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import type { CellDecision, CellInput, NodeHealth, WorkloadSubmitted } from '../../../domain/planner/cell-event.ts'
import type { CommandOutcome, CommandVerb } from '../../../domain/planner/command.ts'
import { waitedBy } from '../../../domain/planner/workload.ts'
import { decide, type CellRejection } from '../../../domain/planner/decide.ts'
import { OpenCommands } from '../../../domain/planner/open-commands.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { unstatedTerms, type WorkloadTerms } from '../../../domain/workload/terms.ts'
import { nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import { policyOf } from '../../support/histories.ts'

const tolerant: WorkloadTerms = {
  ...unstatedTerms,
  preemption: { ...unstatedTerms.preemption, gracePeriodMs: 30_000 as DurationMs, tolerated: true },
}
const checkpoints: WorkloadTerms = {
  ...tolerant,
  preemption: { ...tolerant.preemption, checkpointIntervalMs: 600_000 as DurationMs },
}
const elastic: WorkloadTerms = {
  ...tolerant,
  elasticity: { maxReplicas: 12, minReplicas: 8, resizeCostMs: 90_000 as DurationMs },
}

/** Two nodes of eight devices under a greedy policy; everything is taken in order and said a second apart. */
class Life {
  readonly followed = new OpenCommands(new Cell('cell'))
  private at = 1_000

  constructor(rest: Partial<AllocationPolicy> = {}) {
    for (const node of ['a', 'b']) this.take('NodeRegistered', nodeOf(node, 8))
    this.activate(rest)
  }

  get cell(): Cell {
    return this.followed.cell
  }
  get open() {
    return [...this.followed.open.values()].map(({ command, because }) => `${command} ${because}`)
  }
  get running() {
    return [...this.cell.workloads.values()].filter(({ run }) => run !== null).map(({ id }) => id)
  }
  get waiting() {
    const ids: string[] = []
    for (let one = this.cell.queues[0]!.head; one !== null; one = one.next) ids.push(one.id)
    return ids
  }

  try(type: CellInput['type'], data: object): E.Either<CellRejection, ReadonlyArray<CellDecision>> {
    const input = { type, at: (this.at += 1_000) as EpochMs, data } as CellInput
    const decided = decide(input, this.cell)
    if (E.isRight(decided)) for (const event of [input, ...decided.right]) this.followed.follow(event)
    return decided
  }
  take(type: CellInput['type'], data: object): ReadonlyArray<CellDecision> {
    const decided = this.try(type, data)
    if (E.isLeft(decided)) throw new Error(JSON.stringify(decided.left))
    return decided.right
  }
  activate(rest: Partial<AllocationPolicy>) {
    const document = policyOf([{ name: 'q0', ordering: 'greedy' }], 'first-fit', rest)
    return this.take('PolicyActivated', { document, hash: JSON.stringify(rest) })
  }
  submit(workload: string, devices = 8, terms: WorkloadTerms = unstatedTerms, span: 'node' | 'anywhere' = 'node') {
    const data: WorkloadSubmitted['data'] = {
      class: 'c',
      estimateMs: null,
      queue: this.cell.queues[0]!.name,
      request: requestOf({ devices, span }),
      team: 't',
      terms,
      workload,
    }
    this.take('WorkloadSubmitted', data)
    return this.tick()
  }
  tick() {
    return this.take('Ticked', {})
  }
  cancel(workload: string) {
    return this.take('CancelRequested', { actor: 'u', reason: null, workload })
  }
  health(node: string, health: NodeHealth, device: number | null = null) {
    return this.take('NodeHealthChanged', { device, health, node })
  }
  conclude(command: string, outcome: CommandOutcome = 'done') {
    const [workload, attempt, verb] = command.split('/') as [string, string, CommandVerb]
    return this.take('CommandConcluded', { attempt: +attempt, command, outcome, reason: null, verb, workload })
  }
}

const short = (decisions: ReadonlyArray<CellDecision>) =>
  decisions.map(({ type, data }) => {
    if (type === 'CommandIssued') return `${data.command} ${data.because}`
    if (type === 'AttemptStopped') return `${data.workload}/${data.attempt} ${data.outcome} ${data.requeued}`
    return `${type} ${'workload' in data ? data.workload : ''}`
  })

/** One that runs on `a`, as its adapter has said, one that runs on `b`, and one that waits. */
const busy = (terms: WorkloadTerms = tolerant): Life => {
  const life = new Life()
  for (const id of ['first', 'second', 'third']) life.submit(id, 8, terms)
  for (const id of ['first', 'second']) life.conclude(`${id}/1/start`)
  return life
}

describe('a start', () => {
  it('should be open until it is concluded, and due within what the policy says', () => {
    const life = new Life({
      commands: { startsMax: 3, startWithinMs: 5_000 as DurationMs, stopWithinMs: 1 as DurationMs },
    })
    life.submit('first')
    const [start] = life.followed.open.values()
    expect(start).toMatchObject({ command: 'first/1/start', verb: 'start', because: 'admitted', graceMs: 30_000 })
    expect(start!.deadlineAt - start!.issuedAt).toBe(5_000)
    life.conclude('first/1/start')
    expect(life.open).toEqual([])
  })
  it('should be tried again at its place in the queue, and be given up after as many failures as the policy allows', () => {
    const life = new Life()
    life.submit('first')
    for (const id of ['x', 'second', 'third']) life.submit(id)
    expect(short(life.conclude('first/1/start', 'failed'))).toEqual(['first/1 not-started true'])
    expect(life.waiting[0]).toBe('first')
    life.tick()
    expect(life.open).toContain('first/2/start admitted')
    life.conclude('first/2/start', 'refused')
    life.tick()
    expect(short(life.conclude('first/3/start', 'failed'))).toEqual(['first/3 not-started false'])
    expect(life.cell.workloads.has('first')).toBe(false)
  })
  it('should keep its devices when nobody says anything, until somebody says that it does not run', () => {
    const life = new Life()
    life.submit('first')
    expect(short(life.conclude('first/1/start', 'expired'))).toEqual(['first/1/evict/1 start-expired'])
    expect(life.cell.fleet.freeTotal).toBe(8_000)
    expect(short(life.conclude('first/1/evict/1'))).toEqual(['first/1 evicted true'])
    expect(life.cell.fleet.freeTotal).toBe(16_000)
  })
  it('should count as done when it is said late, while the order to stop stands', () => {
    const life = new Life()
    life.submit('first')
    life.conclude('first/1/start', 'expired')
    life.conclude('first/1/start')
    expect(life.open).toEqual(['first/1/evict/1 start-expired'])
  })
  it('should be taken back, and no more, when what failed to start was to be cancelled', () => {
    const life = new Life()
    life.submit('first')
    life.cancel('first')
    expect(short(life.conclude('first/1/start', 'failed'))).toEqual(['first/1 cancelled false'])
  })
})

describe('cancelling', () => {
  it('should end what waits at once', () => {
    const life = busy()
    expect(short(life.cancel('third'))).toEqual(['WorkloadCancelled third'])
    expect(life.waiting).toEqual([])
  })
  it('should ask what starts, runs, makes a checkpoint or is being evicted to stop for good', () => {
    for (const before of [[], ['start'], ['start', 'checkpoint'], ['start', 'checkpoint', 'evict']]) {
      const life = new Life()
      life.submit('first', 8, checkpoints)
      if (before.includes('start')) life.conclude('first/1/start')
      if (before.includes('checkpoint')) life.health('a', 'draining')
      if (before.includes('evict')) life.conclude('first/1/checkpoint/1')
      const command = `first/1/cancel/${Math.max(1, before.length)}`
      expect(short(life.cancel('first')), before.join()).toEqual([`${command} cancel-requested`])
      expect(life.open).toEqual([`${command} cancel-requested`])
      expect(short(life.conclude(command))).toEqual(['first/1 cancelled false'])
      expect(life.cell.workloads.size).toBe(0)
      expect(life.cell.fleet.freeTotal).toBe(before.includes('checkpoint') ? 8_000 : 16_000)
    }
  })
  it('should be asked for again while its adapter is silent, and not before its time when the adapter cannot', () => {
    const life = busy()
    life.cancel('first')
    expect(life.conclude('first/1/cancel/1', 'failed')).toEqual([])
    expect(short(life.conclude('first/1/cancel/1', 'expired'))).toEqual(['first/1/cancel/2 stop-expired'])
    expect(E.isLeft(life.try('CancelRequested', { actor: 'u', reason: null, workload: 'first' }))).toBe(true)
  })
  it('should lose to an end that comes first', () => {
    const life = busy()
    life.cancel('first')
    expect(life.take('AttemptEnded', { attempt: 1, outcome: 'succeeded', workload: 'first' })).toEqual([])
    expect(life.open).toEqual([])
  })
  it('should end at once what was never sent anywhere', () => {
    const life = new Life({ mode: 'advise' })
    life.submit('first')
    expect(life.open).toEqual([])
    expect(life.running).toEqual(['first'])
    expect(short(life.cancel('first'))).toEqual(['WorkloadCancelled first'])
    expect(life.cell.fleet.freeTotal).toBe(16_000)
  })
})

describe('a node that drains', () => {
  it('should be left at once by what tolerates it, which waits again at its old place', () => {
    const life = busy()
    expect(short(life.health('a', 'draining'))).toEqual(['first/1/evict/1 node-draining'])
    expect(life.running).toContain('first')
    expect(short(life.conclude('first/1/evict/1'))).toEqual(['first/1 evicted true'])
    expect(life.waiting).toEqual(['first', 'third'])
    life.take('AttemptEnded', { attempt: 1, outcome: 'succeeded', workload: 'second' })
    expect(short(life.tick())[0]).toBe('WorkloadAdmitted first')
    expect(life.open).toEqual(['first/2/start admitted'])
  })
  it('should be left after a checkpoint where one can be made, and what was evicted goes on from it', () => {
    const life = busy(checkpoints)
    expect(short(life.health('a', 'draining'))).toEqual(['first/1/checkpoint/1 node-draining'])
    expect(short(life.conclude('first/1/checkpoint/1'))).toEqual(['first/1/evict/2 node-draining'])
    life.conclude('first/1/evict/2')
    life.health('a', 'ready')
    const [admitted] = life.tick()
    expect(admitted).toMatchObject({ type: 'WorkloadAdmitted', data: { resumes: true } })
    expect(life.open).toEqual(['first/2/resume admitted'])
  })
  it.each(['failed', 'refused', 'expired'] as const)('should be left without a checkpoint when that %s', (outcome) => {
    const life = busy(checkpoints)
    life.health('a', 'draining')
    expect(short(life.conclude('first/1/checkpoint/1', outcome))).toEqual(['first/1/evict/2 node-draining'])
    life.conclude('first/1/evict/2')
    life.health('a', 'ready')
    expect(life.tick()[0]?.data).not.toHaveProperty('resumes')
  })
  it('should let what tolerates nothing run to its end', () => {
    const life = busy(unstatedTerms)
    expect(life.health('a', 'draining')).toEqual([])
    expect(life.running).toContain('first')
  })
  it('should be left by a part of what may shrink, and as a whole where too little would be left', () => {
    const life = new Life()
    life.submit('first', 12, elastic, 'anywhere')
    life.conclude('first/1/start')
    const [asked] = life.health('b', 'draining')
    expect(asked).toMatchObject({ data: { verb: 'shrink', keeps: [{ node: 'a', devices: [0, 1, 2, 3, 4, 5, 6, 7] }] } })
    expect(short(life.conclude('first/1/shrink/1'))).toEqual(['LeaseShrunk first'])
    expect(life.cell.workloads.get('first')!.run!.parts.map(({ devices }) => devices.length)).toEqual([8])
    life.health('b', 'ready')
    expect(life.cell.fleet.freeTotal).toBe(8_000)
    expect(short(life.health('a', 'draining'))).toEqual(['first/1/evict/2 node-draining'])
  })
  it('should be left as a whole when shrinking fails, and by what failed on purpose as if it had been evicted', () => {
    const life = new Life()
    life.submit('first', 12, elastic, 'anywhere')
    life.conclude('first/1/start')
    life.health('b', 'draining')
    expect(short(life.conclude('first/1/shrink/1', 'failed'))).toEqual(['first/1/evict/2 node-draining'])
    expect(short(life.take('AttemptEnded', { attempt: 1, outcome: 'failed', workload: 'first' }))).toEqual([
      'first/1 evicted true',
    ])
    expect(life.waiting).toEqual(['first'])
  })
  it('should be left by what is said to run there only after it drains', () => {
    const life = new Life()
    life.submit('first', 8, tolerant)
    expect(life.health('a', 'draining')).toEqual([])
    expect(short(life.conclude('first/1/start'))).toEqual(['first/1/evict/1 node-draining'])
  })
  it('should be stayed on when it is ready again before the checkpoint is made', () => {
    const life = busy(checkpoints)
    life.health('a', 'draining')
    life.health('a', 'ready')
    expect(life.conclude('first/1/checkpoint/1')).toEqual([])
    expect(life.open).toEqual([])
  })
})

describe('a node that fails', () => {
  it('should be left at once, whatever is tolerated, and hold its devices until its adapter has spoken', () => {
    const life = busy(unstatedTerms)
    expect(short(life.health('a', 'failed'))).toEqual(['first/1/evict/1 node-failed'])
    expect(life.tick()).toEqual([])
    life.conclude('first/1/evict/1')
    expect(life.waiting).toEqual(['first', 'third'])
  })
  it('should be left at once by what is making a checkpoint, and not twice by what is being stopped', () => {
    const life = busy(checkpoints)
    life.health('a', 'draining')
    expect(short(life.health('a', 'failed'))).toEqual(['first/1/evict/2 node-failed'])
    expect(life.open).toEqual(['first/1/evict/2 node-failed'])
    expect(life.health('a', 'draining')).toEqual([])
    expect(life.health('a', 'failed')).toEqual([])
  })
  it('should be left by those alone that hold the device that failed', () => {
    const life = new Life()
    for (const id of ['first', 'second']) life.submit(id, 4)
    for (const id of ['first', 'second']) life.conclude(`${id}/1/start`)
    expect(short(life.health('a', 'failed', 5))).toEqual(['second/1/evict/1 node-failed'])
  })
})

describe('a pool', () => {
  it('should start nothing while it is frozen, and hold what waits where it stands', () => {
    const life = new Life({ frozen: ['cell'] })
    expect(life.cell.standing).toBe('frozen')
    expect(life.submit('first')).toEqual([])
    life.activate({})
    expect(short(life.tick())).toEqual(['WorkloadAdmitted first'])
  })
  it('should take what its adapters say while it is frozen', () => {
    const life = busy()
    life.cancel('first')
    life.activate({ frozen: 'all' })
    expect(short(life.conclude('first/1/cancel/1'))).toEqual(['first/1 cancelled false'])
  })
})

describe('advice', () => {
  it('should be withdrawn when the pool is automated, and what it was about start in its turn', () => {
    const life = new Life({ mode: 'advise' })
    for (const id of ['first', 'second', 'third']) life.submit(id)
    expect(life.running).toEqual(['first', 'second'])
    expect(life.activate({ mode: 'observe' })).toEqual([])
    expect(short(life.activate({}))).toEqual(['first/1 only-advised true', 'second/1 only-advised true'])
    expect(life.waiting).toEqual(['first', 'second', 'third'])
    life.tick()
    expect(life.open).toEqual(['first/2/start admitted', 'second/2/start admitted'])
  })
})

describe('waiting', () => {
  it('should be counted while it waits and not while it runs, also after it was stopped', () => {
    const life = busy()
    const first = life.cell.workloads.get('first')!
    const before = waitedBy(first, life.cell.now)
    life.health('a', 'draining')
    life.conclude('first/1/evict/1')
    const requeued = life.cell.now
    expect(waitedBy(first, requeued)).toBe(before)
    life.tick()
    expect(waitedBy(first, life.cell.now)).toBe(before + life.cell.now - requeued)
    life.health('a', 'ready')
    life.tick()
    const started = first.run!.startedAt
    life.tick()
    expect(waitedBy(first, life.cell.now)).toBe(before + started - requeued)
  })
})

describe('what an adapter says', () => {
  it('should be refused about what is not open, does not run, or is of another attempt', () => {
    const life = busy()
    const reasonOf = (command: string, workload: string, attempt = 1, verb = 'evict') => {
      const said = life.try('CommandConcluded', { attempt, command, outcome: 'done', reason: null, verb, workload })
      return E.isLeft(said) ? said.left.type : said.right
    }
    expect(reasonOf('first/1/evict/1', 'first')).toBe('UnknownCommand')
    expect(reasonOf('third/1/start', 'third', 1, 'start')).toBe('NotRunning')
    expect(reasonOf('first/2/start', 'first', 2, 'start')).toBe('WrongAttempt')
    expect(reasonOf('nobody/1/start', 'nobody', 1, 'start')).toBe('UnknownWorkload')
    expect(reasonOf('first/1/start', 'first', 1, 'start')).toBe('Repeated')
  })
})

it('should leave the cell as it was when it decides', () => {
  const life = busy(checkpoints)
  const cell = life.cell
  const before = JSON.stringify([...cell.workloads.values()].map(({ id, run }) => [id, run?.open, run?.tried]))
  decide(
    { type: 'NodeHealthChanged', at: 99_000 as EpochMs, data: { device: null, health: 'draining', node: 'a' } },
    cell,
  )
  expect(JSON.stringify([...cell.workloads.values()].map(({ id, run }) => [id, run?.open, run?.tried]))).toBe(before)
  expect(evolve(cell, { type: 'Ticked', at: 100_000 as EpochMs, data: {} })).toBe(cell)
})
