import { either as E } from 'fp-ts'
import type { CellFact } from '../../domain/planner/cell-event.codec.ts'
import { decodeFactLine, encodeFact, type SourcedFact } from '../../domain/planner/cloud-event.ts'
import { Cell } from '../../domain/planner/cell.ts'
import { commandOutcomes } from '../../domain/planner/command.ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import { decide } from '../../domain/planner/decide.ts'
import { OpenCommands } from '../../domain/planner/open-commands.ts'
import { decodePolicy } from '../../domain/policy/allocation-policy.codec.ts'
import { unstatedTerms } from '../../domain/workload/terms.ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { policyActivated } from '../../services/decide/policy-activated.ts'
import { numbersFrom } from './fact-script.ts'
import { rightOf } from './faults.ts'

const unheardOf = { attempt: 1, command: 'w1/1/evict/9', verb: 'evict', workload: 'w1' } as const

/** Facts that contradict one another, come late, and change fleet, health and policy under what waits and runs. */
export const contraryFacts = (seed: number): ReadonlyArray<CellFact> => {
  const below = numbersFrom(seed)
  const pick = <T>(from: ReadonlyArray<T>): T => from[below(from.length)]!
  const workload = () => `w${below(8)}`
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
  const live = new OpenCommands(new Cell('cell-default'))
  /** Now and then of a node that one of several is lost with. */
  const health = () => {
    const spanning = [...live.cell.workloads.values()].flatMap(({ run }) => (run?.confirmed && run.parts[1]) || [])
    return spanning.length > 0 && below(2) === 0
      ? { device: null, health: 'draining', node: live.cell.fleet.nodes[pick(spanning).node]!.node }
      : {
          device: pick([null, 0, 1, 7]),
          health: pick(['ready', 'ready', 'cordoned', 'draining', 'failed']),
          node: node(),
        }
  }
  const policy = () =>
    policyActivated(
      rightOf(
        decodePolicy({
          apiVersion: 'capacity.leasehold.dev/v1',
          kind: 'AllocationPolicy',
          metadata: { name: 'p' },
          spec: {
            mode: pick(['observe', 'advise', 'automate', 'automate', 'automate']),
            freeze: below(8) === 0,
            commands: { startsMax: pick([1, 3]) },
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
  const submitted = () => {
    const devices = pick([0, 1, 2, 8, 9, 12])
    return {
      class: 'c',
      estimateMs: pick([null, 0, 10, 100]),
      queue: pick(['q', 'r', 'unknown']),
      request: {
        cpuMilli: pick([0, 0, 0, 2_000, 9_000]),
        devices,
        hostMemoryMib: pick([0, 500]),
        memoryMib: pick([0, 0, 0, 50, 200]),
        milli: pick([1_000, 1_000, 500, 143]),
        models: pick([null, null, null, ['a'], ['a', 'b'], ['c']]),
        span: pick(['node', 'domain', 'anywhere', 'anywhere']),
      },
      team: 't',
      terms: {
        ...unstatedTerms,
        elasticity: devices === 0 ? null : pick([null, { maxReplicas: devices, minReplicas: 1, resizeCostMs: 5 }]),
        preemption: {
          ...unstatedTerms.preemption,
          checkpointIntervalMs: pick([null, 10]),
          tolerated: pick([true, true, false]),
        },
      },
      workload: workload(),
    }
  }
  const cancelled = () => ({ actor: 'u', reason: null, workload: workload() })
  /** Of a command that is open, if there is one, and now and then of one that is not. */
  const concluded = () => {
    const given = [...live.open.values()]
    const { attempt, command, verb, workload: id } = given.length > 0 && below(5) > 0 ? pick(given) : unheardOf
    return { attempt, command, outcome: pick(['done', 'done', ...commandOutcomes]), reason: null, verb, workload: id }
  }
  const ended = () => ({ attempt: pick([1, 1, 1, 2]), outcome: pick(['succeeded', 'failed']), workload: workload() })
  const kinds: ReadonlyArray<readonly [weight: number, type: string, data: () => object]> = [
    [4, 'NodeRegistered', registered],
    [3, 'NodeHealthChanged', health],
    [1, 'PolicyActivated', policy],
    [6, 'WorkloadSubmitted', submitted],
    [2, 'AttemptEnded', ended],
    [1, 'CancelRequested', cancelled],
    [8, 'CommandConcluded', concluded],
    [6, 'Ticked', () => ({})],
  ]
  const weighted = kinds.flatMap((kind) => Array.from({ length: kind[0] }, () => kind))
  let now = 0
  return Array.from({ length: 20 + below(160) }, (_, i) => {
    now += below(3) === 0 ? below(50) : 0
    const [, type, data] = pick(weighted)
    const at = below(10) === 0 ? Math.max(0, now - below(60)) : now
    const sent = { id: `fact-${i}`, source: 'history', type, at, data: data() } as unknown as SourcedFact
    const fact = rightOf(decodeFactLine(encodeFact(sent)))
    const input = { type: fact.type, at: fact.at, data: fact.data } as CellInput
    const decided = decide(input, live.cell)
    if (E.isRight(decided)) for (const event of [input, ...decided.right]) live.follow(event)
    return { id: fact.id, ...input }
  })
}
