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
  /** In every other history most facts are about jobs that contend for a few devices, for hours. */
  const contended = seed % 2 === 1
  const pick = <T>(from: ReadonlyArray<T>): T => from[below(from.length)]!
  let now = 0
  /** When a tick last decided nothing. Who begins anew does not know of it, and nothing is told of a time before it. */
  let looked = 0
  const progressRequired = seed % 4 === 1
  const workload = () => `w${below(contended ? 14 : 8)}`
  const node = () => `n${below(contended ? 2 : 4)}`
  const ordering = () => pick(['fifo', 'greedy', 'reserve'])
  const registered = () => ({
    cpuMilli: contended ? null : pick([null, 4_000, 0]),
    deviceMemoryMib: contended ? null : pick([null, 100, 0]),
    devices: contended ? pick([2, 4]) : pick([0, 1, 4, 8]),
    domain: pick([null, 'd1', 'd2']),
    hostMemoryMib: contended ? null : pick([null, 1_000]),
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
          health: pick(['ready', 'ready', contended ? 'ready' : 'cordoned', 'draining', 'failed']),
          node: node(),
        }
  }
  const sharedByQueues = () => ({
    queues: pick([
      [{ name: 'q', ordering: ordering() }],
      [
        { name: 'r', ordering: ordering() },
        { name: 'q', ordering: ordering() },
      ],
    ]),
  })
  const expires = () => pick(['1970-01-01', '1970-01-02', '2099-12-31'])
  const sharedByBudgets = () => ({
    sharing: pick(['budgets', 'budgets', 'budgets', contended ? 'budgets' : 'fair-tree', 'drf']),
    budgets: {
      reclaimAfter: pick(['10m', '20m']),
      turn: pick(['10m', '30m']),
      window: pick(['1d', '7d']),
      tree: pick([
        [
          { name: 'a', share: pick([1, 3]) },
          { name: 'b', share: 1 },
        ],
        [
          { name: 'a', share: 1 },
          { name: 'b', share: pick([1, 2]) },
        ],
        [
          { name: 'a', share: 2, children: [{ name: 'x', share: 1, persons: { u1: 2 } }] },
          { name: 'b', share: pick([1, 2]) },
          { name: 'c', share: 1 },
        ],
      ]),
    },
    contract: { drillRequired: below(contended ? 6 : 3) === 0, minRuntimeMax: '1h', progressRequired },
    limits: { promotionAfter: pick([1, 3]) },
    queues: [
      { name: 'q', ordering: ordering(), budget: 'b' },
      { name: 'r', ordering: ordering() },
    ],
    ...(below(3) === 0 && {
      reservations: [
        { name: 'launch', budget: 'b', devices: 1, owner: 'o', justification: 'a launch', expires: expires() },
      ],
      exceptions: [
        {
          ...{ name: 'once', subject: { kind: 'team', name: 't' }, allows: { kind: 'not-preempted' } },
          ...{ owner: 'o', reason: 'agreed', expires: expires() },
        },
      ],
    }),
  })
  const policy = () =>
    policyActivated(
      rightOf(
        decodePolicy({
          apiVersion: 'capacity.leasehold.dev/v1',
          kind: 'AllocationPolicy',
          metadata: { name: 'p' },
          spec: {
            mode: pick([contended ? 'advise' : 'observe', 'advise', 'automate', 'automate', 'automate']),
            freeze: below(contended ? 30 : 8) === 0,
            commands: { startsMax: pick([1, 3]) },
            placement: { strategy: pick(['first-fit', 'best-fit', 'model-aware', 'spread', 'fgd', 'random']) },
            ...(contended ? sharedByBudgets : pick([sharedByQueues, sharedByBudgets]))(),
          },
        }),
      ),
      0 as EpochMs,
    ).data
  /** Who wants most changes every few hours. */
  const contender = () => pick(Math.floor(now / 14_400_000) % 2 === 0 ? ['a', 'a', 'a', 'b'] : [null, 'b', 'b', 'a'])
  const submitted = () => {
    const devices = contended ? pick([1, 1, 2, 3]) : pick([0, 1, 2, 8, 9, 12])
    return {
      class: 'c',
      estimateMs: contended ? pick([null, 7_200_000]) : pick([null, 0, 10, 100]),
      queue: contended ? 'q' : pick(['q', 'r', 'unknown']),
      request: {
        cpuMilli: contended ? 0 : pick([0, 0, 0, 2_000, 9_000]),
        devices,
        hostMemoryMib: contended ? 0 : pick([0, 500]),
        memoryMib: contended ? 0 : pick([0, 0, 0, 50, 200]),
        milli: pick([1_000, 1_000, 1_000, 500, 143]),
        models: contended ? null : pick([null, null, null, ['a'], ['a', 'b'], ['c']]),
        span: pick(['node', 'domain', 'anywhere', 'anywhere']),
      },
      team: pick(['t', 'u']),
      terms: {
        ...unstatedTerms,
        budget: contended ? contender() : pick([null, null, 'a', 'a/x', 'b', 'c']),
        modelFamily: pick([null, null, 'm']),
        submitter: pick(['u1', 'u2']),
        elasticity: devices === 0 ? null : pick([null, { maxReplicas: devices, minReplicas: 1, resizeCostMs: 5 }]),
        preemption: {
          ...unstatedTerms.preemption,
          checkpointIntervalMs: pick([null, 10]),
          minRuntimeMs: pick([0, 0, 1_800_000]),
          tolerated: pick([true, true, contended]),
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
  const held = () => ({ actor: 'u', reason: null, workload: workload() })
  /** Of what runs, if anything does. */
  const progressed = () => {
    const running = [...live.cell.workloads.values()].filter(({ run }) => run !== null)
    const { attempt, id } = running.length > 0 && below(5) > 0 ? pick(running) : { attempt: 1, id: 'w1' }
    return { attempt, workload: id }
  }
  const drilled = () => ({
    modelFamily: pick([null, 'm']),
    outcome: pick(['passed', 'passed', 'failed']),
    team: pick(['t', 'u']),
  })
  const ended = () => ({ attempt: pick([1, 1, 1, 2]), outcome: pick(['succeeded', 'failed']), workload: workload() })
  const kinds: ReadonlyArray<readonly [weight: number, type: string, data: () => object]> = [
    [contended ? 0 : 4, 'NodeRegistered', registered],
    [contended ? 1 : 3, 'NodeHealthChanged', health],
    [contended ? 1 : 2, 'PolicyActivated', policy],
    [contended ? 12 : 6, 'WorkloadSubmitted', submitted],
    [contended ? 1 : 2, 'AttemptEnded', ended],
    [1, 'CancelRequested', cancelled],
    [contended ? 16 : 8, 'CommandConcluded', concluded],
    [contended ? 20 : 6, 'Ticked', () => ({})],
    [1, 'HoldRequested', held],
    [1, 'ReleaseRequested', held],
    [2, 'CheckpointCommitted', progressed],
    [2, 'ProgressObserved', progressed],
    [contended ? 1 : 2, 'DrillConcluded', drilled],
  ]
  const weighted = kinds.flatMap((kind) => Array.from({ length: kind[0] }, () => kind))
  /** With which a contended history begins. */
  const opening: ReadonlyArray<readonly [type: string, data: object]> = !contended
    ? []
    : [
        ['PolicyActivated', policy()],
        ['NodeRegistered', { ...registered(), node: 'n0', devices: 4 }],
        ['NodeRegistered', { ...registered(), node: 'n1' }],
        ...['t', 'u'].flatMap((team) =>
          [null, 'm'].map((modelFamily) => ['DrillConcluded', { modelFamily, outcome: 'passed', team }] as const),
        ),
      ]
  return Array.from({ length: 20 + below(contended ? 300 : 160) }, (_, i) => {
    now += below(3) === 0 ? below(50) : 0
    if (below(contended ? 3 : 12) === 0) now += pick([300_000, 700_000, 1_900_000, 3_700_000])
    const [, drawn, data] = pick(weighted)
    const [type, told] = opening[i] ?? [drawn, data()]
    const at = below(10) === 0 ? Math.max(looked, now - below(60)) : now
    const sent = { id: `fact-${i}`, source: 'history', type, at, data: told } as unknown as SourcedFact
    const fact = rightOf(decodeFactLine(encodeFact(sent)))
    const input = { type: fact.type, at: fact.at, data: fact.data } as CellInput
    const decided = decide(input, live.cell)
    if (type === 'Ticked' && E.isRight(decided) && decided.right.length === 0) looked = at
    if (E.isRight(decided)) for (const event of [input, ...decided.right]) live.follow(event)
    return { id: fact.id, ...input }
  })
}
