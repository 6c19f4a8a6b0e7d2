import type { CellEvent } from '../../../domain/planner/cell-event.ts'
import type { AllocationPolicy } from '../../../domain/policy/allocation-policy.ts'
import type { PlacementRequest } from '../../../domain/workload/request.ts'
import {
  accepts,
  copyOf,
  freeOf,
  give,
  most,
  naiveNode,
  placeSlowly,
  sum,
  take,
  type NaiveNode,
  type NaivePart,
  type OrderedStrategy,
} from './naive-fleet.ts'

interface NaiveWorkload {
  readonly id: string
  readonly queue: string
  readonly request: PlacementRequest
  readonly estimateMs: number | null
  readonly submitted: number
}
interface NaiveRun extends NaiveWorkload {
  readonly parts: ReadonlyArray<NaivePart>
  readonly startedAt: number
  expectedEndAt: number | null
  readonly advised: boolean
}
interface NaiveReservation {
  readonly request: PlacementRequest
  readonly at: number
  readonly shadow: ReadonlyArray<NaiveNode>
}
interface NaiveOutcome {
  readonly index: number
  readonly head: NaiveWorkload | null
  readonly reservation: NaiveReservation | null
}

export interface NaiveReason {
  readonly code: string
  readonly rule: string
  readonly behind: string | null
}
export interface NaiveTick {
  readonly overran: ReadonlyArray<{ readonly id: string; readonly expectedEndAt: number }>
  readonly started: ReadonlyArray<{ readonly id: string; readonly lease: ReadonlyArray<object> }>
  /** Of everything that waits afterwards. */
  readonly reasons: ReadonlyMap<string, NaiveReason>
  /** When the head of each queue that keeps a place is due. */
  readonly reserved: ReadonlyMap<string, number>
}

const kindOf = ({ request }: NaiveWorkload): string => JSON.stringify(request)

/** The reference rules over lists: at each tick every queue is gone through from its first member to its last. */
export class NaivePlanner {
  readonly nodes: NaiveNode[] = []
  waiting: NaiveWorkload[] = []
  running: NaiveRun[] = []
  private policy: AllocationPolicy | null = null
  private submissions = 0

  /** Takes what happened; what a tick starts, it finds by itself. */
  follow(event: CellEvent): void {
    switch (event.type) {
      case 'NodeRegistered':
        this.nodes.push(naiveNode(event.data))
        break
      case 'NodeHealthChanged': {
        const node = this.nodes.find(({ spec }) => spec.node === event.data.node)!
        if (event.data.device === null) node.health = event.data.health
        else node.devices[event.data.device]!.health = event.data.health
        break
      }
      case 'PolicyActivated':
        this.policy = event.data.document
        if (this.policy.mode === 'automate') this.withdrawAdvice()
        break
      case 'WorkloadSubmitted': {
        const { workload: id, queue, request, estimateMs } = event.data
        const bare = this.nodes.map(({ spec }) => naiveNode(spec))
        const submitted = this.submissions++
        if (placeSlowly(bare, request, 'first-fit') !== null)
          this.waiting.push({ id, queue, request, estimateMs, submitted })
        break
      }
      case 'AttemptEnded': {
        const run = this.running.find(({ id }) => id === event.data.workload)!
        give(this.nodes, run.request, run.parts)
        this.running = this.running.filter((one) => one !== run)
        break
      }
      default:
    }
  }

  /** What was started while nobody was asked to waits again where it stood. */
  private withdrawAdvice(): void {
    const advised = this.running.filter((run) => run.advised)
    for (const run of advised) give(this.nodes, run.request, run.parts)
    this.running = this.running.filter((run) => !run.advised)
    this.waiting = [...this.waiting, ...advised].sort((a, b) => a.submitted - b.submitted)
  }

  tick(at: number): NaiveTick {
    const { policy } = this
    if (policy === null || policy.mode === 'observe')
      return { overran: [], started: [], reasons: new Map(), reserved: new Map() }
    const overran = this.running
      .filter(({ expectedEndAt }) => expectedEndAt !== null && expectedEndAt <= at)
      .sort((a, b) => a.expectedEndAt! - b.expectedEndAt! || a.submitted - b.submitted)
    for (const run of overran) run.expectedEndAt = at + Math.max(60_000, at - run.startedAt)

    const started: NaiveRun[] = []
    const outcomes: NaiveOutcome[] = []
    const strategy = policy.placement.strategy as OrderedStrategy
    const reservations = () => outcomes.flatMap(({ reservation }) => reservation ?? [])

    const mayStart = (request: PlacementRequest, parts: ReadonlyArray<NaivePart>, end: number): boolean => {
      const bound = reservations().filter((one) => one.at < Infinity && end > one.at)
      for (const { shadow } of bound) take(shadow, request, parts)
      if (bound.every(({ shadow, request: kept }) => placeSlowly(shadow, kept, strategy) !== null)) return true
      for (const { shadow } of bound) give(shadow, request, parts)
      return false
    }
    const start = (workload: NaiveWorkload): boolean => {
      const { request, estimateMs } = workload
      const end = estimateMs === null ? Infinity : at + estimateMs
      const first = placeSlowly(this.nodes, request, strategy)
      if (first === null) return false
      let parts: ReadonlyArray<NaivePart> | null = first
      if (!mayStart(request, first, end)) {
        // Only the next best node is tried beside the best.
        parts = request.span === 'node' ? placeSlowly(this.nodes, request, strategy, first[0]!.node) : null
        if (parts === null || !mayStart(request, parts, end)) return false
      }
      take(this.nodes, request, parts)
      const expectedEndAt = estimateMs === null ? null : at + estimateMs
      const run = { ...workload, parts, startedAt: at, expectedEndAt, advised: policy.mode === 'advise' }
      started.push(run)
      this.running.push(run)
      this.waiting = this.waiting.filter((one) => one !== workload)
      return true
    }
    /** Once one of a kind would delay a reservation, those of its kind that end behind the last are not tried. */
    const startWhatFits = (members: ReadonlyArray<NaiveWorkload>): void => {
      const latest = most(reservations().flatMap((one) => (one.at < Infinity ? one.at : [])))
      const delaying = new Set<string>()
      for (const workload of members) {
        const end = workload.estimateMs === null ? Infinity : at + workload.estimateMs
        if (delaying.has(kindOf(workload)) && end > latest) continue
        const fits = placeSlowly(this.nodes, workload.request, strategy) !== null
        if (!start(workload) && fits) delaying.add(kindOf(workload))
      }
    }
    const membersOf = (name: string) => this.waiting.filter(({ queue }) => queue === name)

    for (const [index, { name, ordering }] of policy.queues.entries()) {
      let head: NaiveWorkload | null = null
      if (ordering === 'greedy') startWhatFits(membersOf(name))
      else head = membersOf(name).find((workload) => !start(workload)) ?? null
      const reservation = ordering === 'reserve' && head !== null ? this.reserve(head.request, strategy) : null
      outcomes.push({ index, head, reservation })
      if (reservation !== null) startWhatFits(membersOf(name))
    }

    const reasons = new Map<string, NaiveReason>()
    for (const workload of this.waiting) reasons.set(workload.id, this.reasonOf(workload, policy, outcomes, strategy))
    return {
      overran: overran.map(({ id, expectedEndAt }) => ({ id, expectedEndAt: expectedEndAt! })),
      started: started.map(({ id, parts }) => ({
        id,
        lease: parts.map(({ node, ...part }) => ({ ...part, node: this.nodes[node]!.spec.node })),
      })),
      reasons,
      reserved: new Map(
        outcomes.flatMap(({ head, reservation }) => (reservation === null ? [] : [[head!.id, reservation.at]])),
      ),
    }
  }

  /** The earliest end at which the request fits, all that ends then given back. */
  private reserve(request: PlacementRequest, strategy: OrderedStrategy): NaiveReservation {
    const shadow = copyOf(this.nodes)
    const instants = [...new Set(this.running.flatMap(({ expectedEndAt }) => expectedEndAt ?? []))]
    for (const at of instants.sort((a, b) => a - b)) {
      for (const run of this.running) if (run.expectedEndAt === at) give(shadow, run.request, run.parts)
      if (placeSlowly(shadow, request, strategy) !== null) return { request, at, shadow }
    }
    return { request, at: Infinity, shadow }
  }

  private reasonOf(
    workload: NaiveWorkload,
    { queues }: AllocationPolicy,
    outcomes: ReadonlyArray<NaiveOutcome>,
    strategy: OrderedStrategy,
  ): NaiveReason {
    const index = queues.findIndex(({ name }) => name === workload.queue)
    if (index < 0) return { code: 'Misconfigured', rule: 'spec.queues', behind: null }
    const rule = `spec.queues[${index}].ordering`
    const { head, reservation } = outcomes[index]!
    const members = this.waiting.filter(({ queue }) => queue === workload.queue)
    const before = queues[index]!.ordering === 'fifo' ? head! : members.find((one) => kindOf(one) === kindOf(workload))!
    if (before !== workload && workload !== head) return { code: 'BehindInQueue', rule, behind: before.id }
    const { request } = workload
    const kept = outcomes.filter((one) => one.reservation !== null && one.reservation.at < Infinity)
    if (kept.length > 0 && placeSlowly(this.nodes, request, strategy) !== null) {
      const own = workload !== head && reservation !== null && reservation.at < Infinity
      const keeper = own ? outcomes[index]! : kept[0]!
      const keeping = `spec.queues[${keeper.index}].ordering`
      return { code: 'WouldDelayReservation', rule: keeping, behind: keeper.head!.id }
    }
    const need = request.devices * request.milli
    const free = sum(this.nodes.filter((node) => accepts(request, node)).map(freeOf))
    return {
      code: need > 0 && need <= free ? 'FragmentedCapacity' : 'WaitingForCapacity',
      rule: workload === head ? rule : 'spec.placement.strategy',
      behind: null,
    }
  }
}
