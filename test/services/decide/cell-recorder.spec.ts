import { unstatedTerms } from '../../../domain/workload/terms.ts'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { CellInput } from '../../../domain/planner/cell-event.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import { demoTrace } from '../../../domain/simulation/demo-trace.ts'
import { staticFill, type Run } from '../../../domain/simulation/run.ts'
import type { EventLog, NewEvent } from '../../../domain/ports/event-log.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { CellRecorder } from '../../../services/decide/cell-recorder.ts'
import { runThrough } from '../../../services/decide/run.ts'
import { simulate } from '../../../services/decide/simulate.ts'
import { verifyReplay } from '../../../services/replay/verify.ts'
import { nodeOf, requestOf } from '../../support/arbitrary-fleet.ts'
import { right } from '../../support/events.ts'
import { policyOf, singleQueue } from '../../support/histories.ts'

const stream = 'cell'

const scenario = (policy: AllocationPolicy = policyOf([{ name: 'default', ordering: 'reserve' }])) => ({
  jobs: demoTrace(5, 40),
  nodes: [nodeOf('n0', 8)],
  policy,
  fill: false,
})

const runOn = async (lines: string[], given = scenario()) =>
  simulate(memoryEventLog(lines), stream, given, () => undefined)

const whole = async () => {
  const lines: string[] = []
  const done = await runOn(lines)
  if (E.isLeft(done)) throw new Error(done.left.type)
  return { lines, ...done.right }
}

describe('a run that was interrupted', () => {
  it('should give the same log, figures and digest from wherever it goes on', async () => {
    const { lines, cell, ...figures } = await whole()
    expect(cell.workloads.size).toBe(0)
    expect(lines.length).toBeGreaterThan(100)
    for (let kept = 0; kept <= lines.length; kept++) {
      const resumed = lines.slice(0, kept)
      const done = await runOn(resumed)
      if (E.isLeft(done)) throw new Error(`${kept}: ${done.left.type}`)
      expect(resumed).toEqual(lines)
      const { cell: again, ...same } = done.right
      expect(same).toEqual(figures)
      expect(again.now).toBe(cell.now)
    }
  })

  it('should write what replays', async () => {
    const { lines } = await whole()
    const verdict = await right(() => verifyReplay(memoryEventLog(lines), stream))
    expect(verdict).toMatchObject({ ok: true, finding: null })
    expect(verdict.inputs + verdict.decisions).toBe(lines.length)
  })
})

describe('a stream of another run', () => {
  it('should be left as it is, and the first event named that differs', async () => {
    const { lines } = await whole()
    const stored = lines.slice()
    const other = await runOn(stored, scenario(policyOf([{ name: 'default', ordering: 'greedy' }])))
    expect(other).toMatchObject({ left: { type: 'HistoryDiffers', stream, revision: 1 } })
    expect(stored).toEqual(lines)
  })

  it('should be told from this one when it only goes on for longer', async () => {
    const { lines, events } = await whole()
    const stored = lines.slice()
    const { jobs, ...rest } = scenario()
    const shorter = { ...rest, jobs: jobs.slice(0, -1) }
    const apart = await runOn(stored, shorter)
    expect(apart).toMatchObject({ left: { type: 'HistoryDiffers' } })
    const nothing = await runOn(stored, { ...rest, jobs: [] })
    expect(nothing).toMatchObject({ left: { type: 'HistoryDiffers', revision: 2, ours: null } })
    expect(stored).toHaveLength(events)
  })
})

const at = (ms: number) => ms as EpochMs
const recording = { stream, source: 'test', actor: 'test', recordTime: (when: EpochMs) => when }
const node: CellInput = { type: 'NodeRegistered', at: at(0), data: nodeOf('n0', 1) }
const policy: CellInput = {
  type: 'PolicyActivated',
  at: at(0),
  data: { document: singleQueue('greedy', 'first-fit'), hash: 'policy' },
}
const submission = (workload: string): CellInput => ({
  type: 'WorkloadSubmitted',
  at: at(5),
  data: {
    class: 'test',
    estimateMs: null,
    queue: 'q0',
    request: requestOf({}),
    team: 'test',
    terms: unstatedTerms,
    workload,
  },
})
const tick: CellInput = { type: 'Ticked', at: at(5), data: {} }

describe('what is recorded', () => {
  it('should be each input with its decisions behind it, under the policy in force, and nothing else', async () => {
    const kept: string[] = []
    const log = memoryEventLog()
    const keep = (_: string, message: NewEvent['message']) => kept.push(message.type)
    const recorder = new CellRecorder(log, recording, 0, keep)
    const taken = [tick, node, policy, tick, submission('a'), submission('b'), submission('b'), tick, tick].map(
      (input, i) => E.isRight(recorder.take(input, `input-${i}`)),
    )
    expect(taken).toEqual([true, true, true, true, true, true, false, true, true])
    expect(E.isRight(await recorder.finish())).toBe(true)
    const events = await right(log.readStream(stream, 0, 100))
    expect(events.map(({ id, message, causation, policy: hash }) => [id, message.type, causation, hash])).toEqual([
      ['input-1', 'NodeRegistered', null, null],
      ['input-2', 'PolicyActivated', null, null],
      ['input-4', 'WorkloadSubmitted', null, 'policy'],
      ['input-5', 'WorkloadSubmitted', null, 'policy'],
      ['input-7', 'Ticked', null, 'policy'],
      ['input-7 0', 'WorkloadAdmitted', 'input-7', 'policy'],
      ['input-7 1', 'WorkloadHeld', 'input-7', 'policy'],
    ])
    expect(kept).toEqual(events.map(({ message }) => message.type))
    expect([recorder.events, recorder.decisions]).toEqual([7, 2])
  })

  it('should be everything that was taken, also while a flush is under way', async () => {
    const log = memoryEventLog()
    const recorder = new CellRecorder(log, recording, 0)
    recorder.take(node, 'node')
    const first = recorder.flush()
    recorder.take(policy, 'policy')
    expect(E.isRight(await first)).toBe(true)
    recorder.take(submission('a'), 'a')
    expect(E.isRight(await recorder.flush())).toBe(true)
    const events = await right(log.readStream(stream, 0, 100))
    expect(events.map(({ id }) => id)).toEqual(['node', 'policy', 'a'])
  })

  it('should end with the input that the cell does not take', async () => {
    const log = memoryEventLog()
    const recorder = new CellRecorder(log, recording, 0)
    recorder.take(node, 'node')
    recorder.take(policy, 'policy')
    function* twice(): Run {
      yield submission('a')
      yield { ...submission('a'), data: { ...submission('b').data, workload: 'a', team: 'other' } } as CellInput
    }
    const ran = await runThrough(recorder, twice(), () => undefined)
    expect(ran).toMatchObject({
      left: { type: 'RunRejected', rejection: { type: 'DuplicateWorkload', workload: 'a' } },
    })
  })

  it('should be refused when another writer was there first', async () => {
    const log = memoryEventLog()
    const [one, two] = [new CellRecorder(log, recording, 0), new CellRecorder(log, recording, 0)]
    one.take(node, 'node')
    two.take(policy, 'policy')
    expect(E.isRight(await one.flush())).toBe(true)
    expect(await two.flush()).toMatchObject({ left: { type: 'WrongExpectedRevision' } })
  })

  it('should come in batches, however long the run', async () => {
    const jobs = Array.from({ length: 2500 }, (_, i) => ({
      ...demoTrace(1, 1)[0]!,
      id: `j${i}`,
      request: requestOf({}),
    }))
    const log = memoryEventLog()
    const batches: number[] = []
    const counting: EventLog = {
      ...log,
      append: (into, expected, events) => {
        batches.push(events.length)
        return log.append(into, expected, events)
      },
    }
    const recorder = new CellRecorder(counting, recording, 0)
    recorder.take(node, 'node')
    expect(E.isRight(await runThrough(recorder, staticFill(jobs), () => undefined))).toBe(true)
    expect(batches).toEqual([1000, 1000, 501])
  })
})
