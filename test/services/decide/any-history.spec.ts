import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import type { CellFact } from '../../../domain/planner/cell-event.codec.ts'
import { decodeFactLine, encodeFact, type SourcedFact } from '../../../domain/planner/cloud-event.ts'
import { decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { digestOf } from '../../../infra/chain/log-digest.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { CellWriter } from '../../../services/decide/cell-writer.ts'
import { policyActivated } from '../../../services/decide/policy-activated.ts'
import { verifyReplay } from '../../../services/replay/verify.ts'
import { right } from '../../support/events.ts'
import { numbersFrom } from '../../support/fact-script.ts'
import { rightOf } from '../../support/faults.ts'

const stream = 'cell-default'
const recording = { stream, source: 'test', actor: 'test', recordTime: (at: EpochMs) => at }

/** Facts that contradict one another, come late, and change fleet, health and policy under what waits and runs. */
const anyHistory = (seed: number): ReadonlyArray<CellFact> => {
  const below = numbersFrom(seed)
  const pick = <T>(from: ReadonlyArray<T>): T => from[below(from.length)]!
  const workload = () => `w${below(12)}`
  const node = () => `n${below(4)}`
  const ordering = () => pick(['fifo', 'greedy', 'reserve'])
  const registered = () => ({
    cpuMilli: pick([null, 4_000, 0]),
    deviceMemoryMib: pick([null, 100, 0]),
    devices: pick([0, 1, 4, 8]),
    domain: pick([null, 'd1', 'd2']),
    hostMemoryMib: pick([null, 1_000]),
    model: pick([null, 'a', 'b']),
    node: node(),
  })
  const health = () => ({
    device: pick([null, 0, 1, 7]),
    health: pick(['ready', 'cordoned', 'draining', 'failed']),
    node: node(),
  })
  const policy = () =>
    policyActivated(
      rightOf(
        decodePolicy({
          apiVersion: 'capacity.leasehold.dev/v1',
          kind: 'AllocationPolicy',
          metadata: { name: 'p' },
          spec: {
            mode: pick(['observe', 'automate', 'automate']),
            placement: { strategy: pick(['first-fit', 'best-fit', 'model-aware', 'spread', 'fgd', 'random']) },
            queues: pick([
              [{ name: 'q', ordering: ordering() }],
              [
                { name: 'r', ordering: ordering() },
                { name: 'q', ordering: ordering() },
              ],
            ]),
          },
        }),
      ),
      0 as EpochMs,
    ).data
  const submitted = () => ({
    class: 'c',
    estimateMs: pick([null, 0, 10, 100]),
    queue: pick(['q', 'r', 'unknown']),
    request: {
      cpuMilli: pick([0, 0, 2_000, 9_000]),
      devices: pick([0, 1, 1, 2, 8, 12]),
      hostMemoryMib: pick([0, 500]),
      memoryMib: pick([0, 0, 50, 200]),
      milli: pick([1_000, 1_000, 500, 143]),
      models: pick([null, null, ['a'], ['a', 'b'], ['c']]),
      span: pick(['node', 'node', 'domain', 'anywhere']),
    },
    team: 't',
    workload: workload(),
  })
  const ended = () => ({ attempt: pick([1, 1, 1, 2]), outcome: pick(['succeeded', 'failed']), workload: workload() })
  const kinds: ReadonlyArray<readonly [weight: number, type: string, data: () => object]> = [
    [2, 'NodeRegistered', registered],
    [1, 'NodeHealthChanged', health],
    [1, 'PolicyActivated', policy],
    [4, 'WorkloadSubmitted', submitted],
    [3, 'AttemptEnded', ended],
    [4, 'Ticked', () => ({})],
  ]
  const weighted = kinds.flatMap((kind) => Array.from({ length: kind[0] }, () => kind))
  let now = 0
  return Array.from({ length: 10 + below(60) }, (_, i) => {
    now += below(3) === 0 ? below(50) : 0
    const [, type, data] = pick(weighted)
    const at = below(10) === 0 ? Math.max(0, now - below(60)) : now
    const fact = { id: `fact-${i}`, source: 'history', type, at, data: data() } as unknown as SourcedFact
    return rightOf(decodeFactLine(encodeFact(fact)))
  })
}

/** @param reopens whether another writer takes over after each fact */
const written = async (facts: ReadonlyArray<CellFact>, reopens: boolean) => {
  const log = memoryEventLog()
  const open = () => right(() => CellWriter.open(log, recording))
  let writer = await open()
  let taken = 0
  for (const { id, ...input } of facts) {
    if (E.isRight(writer.take(input, id))) taken += 1
    if (!reopens) continue
    await right(() => writer.flush())
    writer = await open()
  }
  await right(() => writer.flush())
  return { log, taken }
}

it('should come to the same, whatever comes and wherever it is interrupted, and to the same again in a replay', async () => {
  let taken = 0
  for (let seed = 1; seed <= 300; seed++) {
    const facts = anyHistory(seed)
    const whole = await written(facts, false)
    const parts = await written(facts, true)
    expect(await right(digestOf(parts.log)), `seed ${seed}`).toBe(await right(digestOf(whole.log)))
    expect(await right(() => verifyReplay(whole.log, stream)), `seed ${seed}`).toMatchObject({ ok: true })
    taken += whole.taken
  }
  expect(taken).toBeGreaterThan(3_000)
})
