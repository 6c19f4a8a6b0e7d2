import { unstatedTerms } from '../../domain/workload/terms.ts'
import fc from 'fast-check'
import type { NodeSpec } from '../../domain/fleet/fleet.ts'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import type { CellInput, NodeHealth } from '../../domain/planner/cell-event.ts'
import {
  orderings,
  type AllocationPolicy,
  type Ordering,
  type QueuePolicy,
  type Strategy,
} from '../../domain/policy/allocation-policy.ts'
import type { PlacementRequest } from '../../domain/workload/request.ts'
import { anyNode, anyRequest, nodeOf, requestOf } from './arbitrary-fleet.ts'

/** One thing that happens, before it is known to whom: `which` picks among what is there by then. */
export type Step =
  | { readonly kind: 'node'; readonly spec: NodeSpec }
  | { readonly kind: 'health'; readonly which: number; readonly device: number | null; readonly health: NodeHealth }
  | { readonly kind: 'policy'; readonly policy: AllocationPolicy }
  | {
      readonly kind: 'submit'
      readonly queue: string
      readonly request: PlacementRequest
      readonly estimateMs: number | null
    }
  | { readonly kind: 'end'; readonly which: number }
  /** Time goes on; with `exact`, what is expected to have ended by then has ended. */
  | { readonly kind: 'tick'; readonly afterMs: number; readonly exact: boolean }
  | { readonly kind: 'again'; readonly which: number }

const minutes = fc.constantFrom(0, 10_000, 20_000, 30_000, 45_000, 60_000, 100_000, 200_000)

export const policyOf = (
  queues: ReadonlyArray<QueuePolicy>,
  strategy: Strategy = 'first-fit',
  rest: Partial<AllocationPolicy> = {},
): AllocationPolicy => ({
  name: 'test',
  owner: null,
  reviewDate: null,
  impactHypothesis: null,
  placement: { mix: null, seed: 7, strategy },
  queues,
  mode: 'automate',
  poolModes: {},
  ...rest,
})

/** One to three of the queues `q0` .. `q2`, in any order and of any ordering. */
export const anyPolicy = (strategies: ReadonlyArray<Strategy>): fc.Arbitrary<AllocationPolicy> =>
  fc
    .record({
      names: fc.shuffledSubarray(['q0', 'q1', 'q2'], { minLength: 2 }),
      orderings: fc.tuple(...[0, 1, 2].map(() => fc.constantFrom(...orderings))),
      strategy: fc.constantFrom(...strategies),
      mode: fc.constantFrom<AllocationPolicy['mode']>('automate', 'automate', 'automate', 'advise', 'observe'),
    })
    .map(({ names, orderings: chosen, strategy, mode }) =>
      policyOf(
        names.map((name, i) => ({ name, ordering: chosen[i]! })),
        strategy,
        { mode },
      ),
    )

export const singleQueue = (ordering: Ordering, strategy: Strategy): AllocationPolicy =>
  policyOf([{ name: 'q0', ordering }], strategy)

/** Requests that stand in each other's way, on nodes that hold a few of them. */
const plainRequest = fc.constantFrom(
  requestOf({ milli: 250 }),
  requestOf({ milli: 600 }),
  requestOf({}),
  requestOf({ devices: 2 }),
  requestOf({ devices: 3 }),
  requestOf({ devices: 4 }),
  requestOf({ devices: 4, span: 'anywhere' }),
  requestOf({ devices: 3, span: 'domain' }),
)
const node = fc
  .oneof(anyNode(0), fc.constantFrom(nodeOf('n', 2), nodeOf('n', 4), nodeOf('n', 4, { domain: 'x' })))
  .map((spec) => ({ kind: 'node' as const, spec }))

const submit = (queues: ReadonlyArray<string>) =>
  fc.record({
    kind: fc.constant('submit' as const),
    queue: fc.constantFrom(...queues),
    request: fc.oneof(anyRequest, plainRequest, plainRequest),
    estimateMs: fc.option(minutes, { freq: 5 }),
  })
const end = fc.record({ kind: fc.constant('end' as const), which: fc.nat() })
const tick = fc.record({ kind: fc.constant('tick' as const), afterMs: minutes, exact: fc.boolean() })
const health = fc.record({
  kind: fc.constant('health' as const),
  which: fc.nat(),
  device: fc.option(fc.nat()),
  health: fc.constantFrom<NodeHealth>('ready', 'ready', 'cordoned', 'draining', 'failed'),
})

/** Everything that can happen to a cell, many submissions and ticks among it. */
export const anyHistory = (strategies: ReadonlyArray<Strategy>, length = 40): fc.Arbitrary<ReadonlyArray<Step>> => {
  const policy = anyPolicy(strategies).map((policy) => ({ kind: 'policy' as const, policy }))
  const step = fc.oneof(
    { weight: 1, arbitrary: node },
    { weight: 1, arbitrary: policy },
    { weight: 2, arbitrary: health },
    { weight: 10, arbitrary: submit(['q0', 'q0', 'q0', 'q0', 'q1', 'q1', 'q2', 'q3']) },
    { weight: 3, arbitrary: end },
    { weight: 8, arbitrary: tick },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('again' as const), which: fc.nat() }) },
  )
  return fc
    .tuple(fc.array(node, { minLength: 1, maxLength: 4 }), policy, fc.array(step, { maxLength: length, size: 'max' }))
    .map(([nodes, policy, steps]) => [...nodes, policy, ...steps])
}

/** One queue and one policy; everything runs exactly as long as was said, and nothing fails. */
export const exactHistory = (policy: fc.Arbitrary<AllocationPolicy>): fc.Arbitrary<ReadonlyArray<Step>> => {
  const known = submit(['q0']).map((step) => ({ ...step, estimateMs: step.estimateMs ?? 5_000 }))
  const exact = tick.map((step) => ({ ...step, exact: true }))
  return fc
    .tuple(
      fc.array(node, { minLength: 1, maxLength: 4 }),
      policy,
      fc.array(fc.oneof(known, known, known, exact), { maxLength: 40, size: 'max' }),
    )
    .map(([nodes, policy, steps]) => [...nodes, { kind: 'policy', policy }, ...steps])
}

type Inputs = Generator<CellInput, void, void>

/** Makes inputs of steps as they come, for the cell as it then stands. */
export class Script {
  now = 0
  private readonly seen: CellInput[] = []
  private made = 0

  private get tick(): CellInput {
    return { type: 'Ticked', at: this.now as EpochMs, data: {} }
  }

  *inputs(step: Step, cell: Cell): Inputs {
    for (const input of this.next(step, cell)) {
      this.seen.push(input)
      yield input
    }
  }

  private *next(step: Step, cell: Cell): Inputs {
    const at = this.now as EpochMs
    const running = [...cell.workloads.values()].filter(({ run }) => run !== null)
    switch (step.kind) {
      case 'node':
        return yield { type: 'NodeRegistered', at, data: { ...step.spec, node: `n${this.made++}` } }
      case 'policy':
        return yield { type: 'PolicyActivated', at, data: { document: step.policy, hash: `policy-${this.made++}` } }
      case 'health': {
        const spec = cell.fleet.nodes[step.which % Math.max(1, cell.fleet.nodes.length)]
        if (spec === undefined) return
        const device = step.device === null || spec.devices === 0 ? null : step.device % spec.devices
        return yield { type: 'NodeHealthChanged', at, data: { device, health: step.health, node: spec.node } }
      }
      case 'submit': {
        const { queue, request, estimateMs } = step
        const workload = `w${this.made++}`
        const data = {
          class: 'test',
          estimateMs: estimateMs as DurationMs | null,
          queue,
          request,
          team: 'test',
          terms: unstatedTerms,
          workload,
        }
        return yield { type: 'WorkloadSubmitted', at, data }
      }
      case 'end': {
        const workload = running[step.which % Math.max(1, running.length)]
        if (workload === undefined) return
        const { attempt, id } = workload
        return yield { type: 'AttemptEnded', at, data: { attempt, outcome: 'failed', workload: id } }
      }
      case 'tick':
        return yield* this.goOn(this.now + step.afterMs, step.exact, cell)
      case 'again': {
        const input = this.seen[step.which % Math.max(1, this.seen.length)]
        if (input !== undefined && input.type !== 'NodeHealthChanged' && input.type !== 'PolicyActivated') yield input
      }
    }
  }

  private *goOn(until: number, exact: boolean, cell: Cell): Inputs {
    if (exact) yield* this.endsUntil(until, cell)
    this.now = until
    yield this.tick
  }

  /** Every expected end up to then at its own instant, each instant with its tick. */
  private *endsUntil(until: number, cell: Cell): Inputs {
    for (;;) {
      const due = [...cell.ends].filter((workload) => workload.run!.expectedEndAt! <= until)
      if (due.length === 0) return
      const [first] = due
      const instant = Math.max(this.now, first!.run!.expectedEndAt!)
      this.now = instant
      for (const { attempt, id, run } of due)
        if (run!.expectedEndAt! <= instant)
          yield {
            type: 'AttemptEnded',
            at: instant as EpochMs,
            data: { attempt, outcome: 'succeeded', workload: id },
          }
      yield this.tick
    }
  }
}
