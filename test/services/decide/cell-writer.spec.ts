import { unstatedTerms } from '../../../domain/workload/terms.ts'
import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import type { DurationMs, EpochMs, GpuMilli, Mebibytes } from '../../../domain/kernel/units.ts'
import type { CellInput } from '../../../domain/planner/cell-event.ts'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import type { EventLog } from '../../../domain/ports/event-log.ts'
import { digestOf } from '../../../infra/chain/log-digest.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { CellWriter } from '../../../services/decide/cell-writer.ts'
import { policyActivated } from '../../../services/decide/policy-activated.ts'
import { left, right } from '../../support/events.ts'

const stream = 'cell-default'
const recording = { stream, source: 'test', actor: 'test', recordTime: (at: EpochMs) => at }
const at = (ms: number) => ms as EpochMs
const node: CellInput = {
  type: 'NodeRegistered',
  at: at(0),
  data: {
    cpuMilli: null,
    deviceMemoryMib: null,
    devices: 8,
    domain: null,
    hostMemoryMib: null,
    model: null,
    node: 'n',
  },
}
const submission = (workload: string, devices: number): CellInput => ({
  type: 'WorkloadSubmitted',
  at: at(10),
  data: {
    class: 'c',
    estimateMs: 5 as DurationMs,
    queue: 'q',
    request: {
      cpuMilli: 0 as never,
      devices,
      hostMemoryMib: 0 as Mebibytes,
      memoryMib: 0 as Mebibytes,
      milli: 1_000 as GpuMilli,
      models: null,
      span: 'node',
    },
    team: 't',
    terms: unstatedTerms,
    workload,
  },
})
const policy = policyActivated({ ...defaultPolicy, queues: [{ name: 'q', ordering: 'fifo' }] }, at(0))
const tick: CellInput = { type: 'Ticked', at: at(10), data: {} }
const script: ReadonlyArray<readonly [string, CellInput]> = [
  ['node', node],
  ['policy', policy],
  ['a', submission('a', 99)],
  ['a/0', submission('a/0', 8)],
  ['b', submission('b', 8)],
  ['tick', tick],
]

const open = async (log: EventLog) => right(() => CellWriter.open(log, recording))

const write = async (log: EventLog, inputs: typeof script): Promise<void> => {
  const writer = await open(log)
  for (const [id, input] of inputs) expect(E.isRight(writer.take(input, id))).toBe(true)
  await right(() => writer.flush())
}

it('should go on where another writer ended', async () => {
  const whole = memoryEventLog()
  await write(whole, script)
  for (let cut = 0; cut <= script.length; cut++) {
    const parts = memoryEventLog()
    await write(parts, script.slice(0, cut))
    await write(parts, script.slice(cut))
    expect(await right(digestOf(parts))).toBe(await right(digestOf(whole)))
  }
})

it('should give no decision an id that a source may give an input', async () => {
  const log = memoryEventLog()
  await write(log, script)
  const events = await right(log.readStream(stream, 0, 100))
  expect(events.map(({ id }) => id)).toEqual(['node', 'policy', 'a', 'a 0', 'a/0', 'b', 'tick', 'tick 0', 'tick 1'])
})

it('should record nothing of a batch that another writer came before', async () => {
  const log = memoryEventLog()
  await write(log, script.slice(0, 2))
  const [one, other] = [await open(log), await open(log)]
  one.take(submission('a', 1), 'a')
  other.take(submission('b', 1), 'b')
  await right(() => one.flush())
  expect(await left(() => other.flush())).toMatchObject({ type: 'WrongExpectedRevision', actual: 2 })
  expect(await right(log.readStream(stream, 3, 9))).toEqual([])
})
