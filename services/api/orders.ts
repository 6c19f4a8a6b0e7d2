import { randomUUID } from 'node:crypto'
import { either as E } from 'fp-ts'
import type { Json } from '../../domain/kernel/canonical-json.ts'
import { nearest } from '../../domain/kernel/wording.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { submissionOf } from '../../domain/planner/submission.ts'
import type { CellInput, DrillConcluded, NodeHealth, WorkloadSubmitted } from '../../domain/planner/cell-event.ts'
import { decide } from '../../domain/planner/decide.ts'
import { editionNow } from '../../domain/planner/edition.ts'
import { canonicalPolicy, decodePolicy, withFreeze } from '../../domain/policy/allocation-policy.codec.ts'
import type { AllocationPolicy } from '../../domain/policy/allocation-policy.ts'
import { warningsOf } from '../../domain/policy/policy-warnings.ts'
import type { EventLog, LogUnavailable, StoredEvent } from '../../domain/ports/event-log.ts'
import type { WorkloadIntent } from '../../domain/workload/intent.ts'
import { headOf } from '../../infra/chain/chain-head.ts'
import { policyHash } from '../../infra/host/policy-hash.ts'
import type {
  DeskFault,
  DrillOrdered,
  ExceptionOrdered,
  FactsAnswer,
  HoldOrdered,
  Ordered,
  Orderer,
  PolicyOrdered,
  Submitted,
} from './desk.ts'
import { stateOf, unknownWorkload } from './fate.ts'
import { subjectsIn, withException, withGranted, withoutException } from './exception-grant.ts'
import type { Follower } from './follower.ts'
import type { Intake, IntakeAnswer, Order } from './intake.ts'

/** Objections that are told one by one; the rest is counted. */
const objectionsMax = 20
/** Teams that a misspelt one is compared with. */
const teamsMax = 10_000

type Answer<A> = Promise<E.Either<DeskFault, A>>

/** What is ordered of a cell: decided about by its intake, and answered when the follower shows it. */
export class Orders {
  private readonly log: EventLog
  private readonly follower: Follower
  private readonly intake: Intake

  constructor(log: EventLog, follower: Follower, intake: Intake) {
    this.log = log
    this.follower = follower
    this.intake = intake
  }

  /** All of them are taken, or none where one of them is known to be refused. */
  async submit(intents: ReadonlyArray<WorkloadIntent>, by: Orderer): Answer<ReadonlyArray<Submitted>> {
    const { cell } = this.follower
    for (const { name } of intents) {
      if (cell.workloads.has(name)) continue
      const used = await this.follower.wasUsed(name)
      if (E.isLeft(used)) return used
      if (used.right) return E.left(usedUp(name))
    }
    const orders = intents.map((intent) => ({
      type: 'WorkloadSubmitted' as const,
      id: `submit/${intent.name}`,
      data: submissionOf(intent),
    }))
    const taken = await this.take(orders, by)
    if (E.isLeft(taken)) return taken
    const submitted: Submitted[] = []
    for (const [i, one] of taken.right.entries()) {
      const { data, id } = orders[i]!
      const objection = objectionTo(one, data, cell)
      if (objection !== null) return E.left(objection)
      const stands = await stateOf(this.log, this.follower, data.workload)
      if (E.isLeft(stands)) return stands
      const { code, state, text, workload } = stands.right
      submitted.push({ ...orderedBy(one, id), workload, state, code, text })
    }
    return E.right(submitted)
  }

  cancel(workload: string, by: Orderer): Answer<Ordered> {
    return this.ofWorkload('CancelRequested', workload, by)
  }

  hold(workload: string, by: Orderer): Answer<HoldOrdered> {
    return this.heldBack('HoldRequested', workload, by)
  }

  release(workload: string, by: Orderer): Answer<HoldOrdered> {
    return this.heldBack('ReleaseRequested', workload, by)
  }

  private async heldBack(type: 'HoldRequested' | 'ReleaseRequested', id: string, by: Orderer): Answer<HoldOrdered> {
    const ordered = await this.ofWorkload(type, id, by)
    if (E.isLeft(ordered)) return ordered
    return E.right({ ...ordered.right, runs: this.follower.cell.workloads.get(id)?.run != null })
  }

  /** Each is a drill of its own: told again, it is as fresh as that. */
  async concludeDrill(data: DrillConcluded['data'], by: Orderer): Answer<DrillOrdered> {
    const id = `drill/${data.team}/${data.modelFamily ?? 'any'}/${randomUUID()}`
    const taken = await this.one({ type: 'DrillConcluded', id, data }, by)
    if (E.isLeft(taken)) return taken
    const teams = new Set<string>()
    let workloads = 0
    for (const { team } of this.follower.cell.workloads.values()) {
      if (team === data.team) workloads++
      else if (teams.size < teamsMax) teams.add(team)
    }
    return E.right({ ...taken.right, workloads, meant: workloads > 0 ? null : nearest(data.team, [...teams]) })
  }

  private async ofWorkload(type: keyof typeof verbOf, workload: string, { actor, reason }: Orderer): Answer<Ordered> {
    const known = this.follower.cell.workloads.get(workload)
    const verb = verbOf[type]
    const id = `${verb}/${workload}/${known?.attempt ?? 0}/${randomUUID()}`
    const taken = await this.one({ type, id, data: { actor, reason, workload } }, { actor, reason })
    if (E.isRight(taken) || taken.left.type !== 'Refused') return taken
    const used = await this.follower.wasUsed(workload)
    if (E.isLeft(used)) return used
    if (!used.right) return E.left(unknownWorkload(workload, this.follower.cell))
    const end = await this.follower.endOf(workload)
    if (E.isLeft(end) || end.right === null) return taken
    return E.left({
      type: 'Refused',
      reason: `${workload} neither waits nor runs: ${end.right.text}`,
      mend: `nothing is left to ${verb}`,
    })
  }

  async setHealth(node: string, device: number | null, health: NodeHealth, by: Orderer): Answer<Ordered> {
    const { fleet } = this.follower.cell
    const number = fleet.node(node)
    if (number === undefined) {
      const meant = nearest(
        node,
        fleet.nodes.map((each) => each.node),
      )
      const mend = meant === null ? 'see `leasehold fleet` for those that are there' : `did you mean ${meant}?`
      return E.left({ type: 'NotFound', reason: `there is no node ${node}`, mend })
    }
    const id = `health/${node}/${device ?? 'all'}/${randomUUID()}`
    return this.one({ type: 'NodeHealthChanged', id, data: { device, health, node } }, by)
  }

  async activatePolicy(document: Json, by: Orderer): Answer<PolicyOrdered> {
    const { cell } = this.follower
    const read = decodePolicy(document)
    if (E.isLeft(read)) return E.left({ type: 'Invalid', faults: read.left })
    const whole = withGranted(read.right, cell.policy, cell.now)
    if (E.isLeft(whole)) return E.left({ type: 'Invalid', faults: whole.left })
    const { kept, policy } = whole.right
    const { nodes } = cell.fleet
    const warnings = warningsOf(policy, nodes.length === 0 ? null : nodes, cell.now)
    const ordered = await this.activate(policy, by)
    if (E.isLeft(ordered)) return ordered
    return E.right({
      ...ordered.right,
      kept: kept.map(({ expires, name, owner }) => ({ name, owner, expires })),
      warnings: warnings.map(({ mend, path, reason }) => ({ path, reason, mend })),
    })
  }

  async freeze(pool: string | null, frozen: boolean, by: Orderer): Answer<Ordered> {
    const { policy } = this.follower.cell
    return policy === null ? E.left(noPolicy) : this.activate(withFreeze(policy, pool, frozen), by)
  }

  async grantException(exception: Json, by: Orderer): Answer<ExceptionOrdered> {
    const { cell } = this.follower
    const { now, policy } = cell
    if (policy === null) return E.left(noPolicy)
    const granted = withException(policy, exception, now)
    if (E.isLeft(granted)) return E.left({ type: 'Invalid', faults: granted.left })
    const ordered = await this.activate(granted.right, by)
    if (E.isLeft(ordered)) return ordered
    const { kind, name } = granted.right.exceptions!.at(-1)!.subject
    // A budget that is not there was refused.
    const names = kind === 'budget' ? new Set([name]) : subjectsIn(cell, kind)
    const known = names.has(name)
    return E.right({ ...ordered.right, known, meant: known ? null : nearest(name, [...names]) })
  }

  async revokeException(name: string, by: Orderer): Answer<Ordered> {
    const { policy } = this.follower.cell
    if (policy === null) return E.left(noPolicy)
    const without = withoutException(policy, name)
    if (without !== null) return this.activate(without, by)
    const names = policy.exceptions?.map((each) => each.name) ?? []
    const meant = nearest(name, names)
    const mend = meant === null ? 'see `leasehold exception list`' : `did you mean ${meant}?`
    return E.left({ type: 'NotFound', reason: `the policy in force has no exception ${name}`, mend })
  }

  async facts(lines: AsyncIterable<Uint8Array>): Answer<FactsAnswer> {
    const sums = { recorded: 0, duplicate: 0, unneeded: 0, refused: 0, undecodable: 0 }
    const objections: Array<FactsAnswer['objections'][number]> = []
    const streamed = await this.intake.stream(lines, (answers) => {
      for (const { id, outcome, reason = '' } of answers) {
        sums[outcome]++
        if (outcome !== 'refused' && outcome !== 'undecodable') continue
        if (objections.length < objectionsMax) objections.push({ id, outcome, reason })
      }
    })()
    if (E.isLeft(streamed)) return streamed
    // The next facts may come while these are followed.
    const marked = await this.marked()
    return E.isLeft(marked) ? marked : E.right({ ...sums, objections })
  }

  async replay(letter: string, body: string, by: Orderer): Answer<Ordered> {
    const replayed = await this.intake.replay(letter, body, by)()
    if (E.isLeft(replayed)) return replayed
    const followed = await this.followed()
    if (E.isLeft(followed)) return followed
    const { id, outcome, reason = '' } = replayed.right
    if (outcome !== 'refused' && outcome !== 'undecodable')
      return E.right({ id, outcome: outcome === 'duplicate' ? 'duplicate' : 'recorded', position: null })
    const mend = outcome === 'refused' ? 'replay it when that has changed, or drop it' : 'drop it, and send it mended'
    return E.left({ type: 'Refused', reason: `it is still ${outcome}: ${reason}`, mend })
  }

  async drop(letter: string, by: Orderer): Answer<Ordered> {
    const dropped = await this.intake.drop(letter, by)()
    if (E.isLeft(dropped)) return dropped
    const followed = await this.followed()
    return E.isLeft(followed) ? followed : E.right({ id: letter, outcome: 'recorded', position: null })
  }

  private async activate(policy: AllocationPolicy, by: Orderer): Answer<Ordered> {
    const hash = policyHash(policy)
    const document = JSON.parse(canonicalPolicy(policy)) as AllocationPolicy
    return this.one(
      { type: 'PolicyActivated', id: `policy/${hash}/${randomUUID()}`, data: { document, edition: editionNow, hash } },
      by,
    )
  }

  private async one(order: Order, by: Orderer): Answer<Ordered> {
    const taken = await this.take([order], by)
    if (E.isLeft(taken)) return taken
    const [answer] = taken.right
    return isRefusal(answer!) ? E.left(refusedBy(answer!)) : E.right(orderedBy(answer!, order.id))
  }

  /** Each answer with the position of what was recorded, once the follower has got there. */
  private async take(orders: ReadonlyArray<Order>, by: Orderer): Answer<ReadonlyArray<Placed>> {
    const wanted = new Set(orders.map(({ id }) => id))
    const positions = new Map<string, number>()
    const unlisten = this.follower.listen((batch: ReadonlyArray<StoredEvent>) => {
      for (const { id, position } of batch) if (wanted.has(id)) positions.set(id, position)
    })
    try {
      const answers = await this.intake.take(orders, by)()
      if (E.isLeft(answers)) return answers
      const followed = await this.followed()
      if (E.isLeft(followed)) return followed
      return E.right(answers.right.map((answer) => ({ ...answer, position: positions.get(answer.id) ?? null })))
    } finally {
      unlisten()
    }
  }

  /** Waits until the follower is where the log ends now. */
  private async followed(): Promise<E.Either<LogUnavailable, void>> {
    const marked = await this.marked()
    if (E.isRight(marked)) await this.follower.caughtUp()
    return marked
  }

  /** Whoever asks next waits until the follower is where the log ends now. */
  private async marked(): Promise<E.Either<LogUnavailable, void>> {
    const head = await headOf(this.log)()
    if (E.isLeft(head)) return head
    this.follower.tellOf(head.right.size - 1)
    return E.right(undefined)
  }
}

export const noPolicy: DeskFault = {
  type: 'Refused',
  reason: 'there is no policy in force',
  mend: 'activate a policy first',
}

const verbOf = { CancelRequested: 'cancel', HoldRequested: 'hold', ReleaseRequested: 'release' } as const satisfies {
  readonly [T in CellInput['type']]?: string
}

type Placed = IntakeAnswer & { readonly position: number | null }

const usedUp = (name: string): DeskFault => ({
  type: 'Refused',
  reason: `a workload named ${name} has been here before and has ended`,
  mend: `submit it under another name, such as ${name}-2: a name tells one workload from all others for good`,
})

const orderedBy = ({ outcome, position }: Placed, id: string): Ordered => ({
  id,
  outcome: outcome === 'duplicate' ? 'duplicate' : 'recorded',
  position: outcome === 'duplicate' ? null : position,
})

const isRefusal = ({ outcome }: IntakeAnswer): boolean => outcome === 'refused' || outcome === 'undecodable'

const refusedBy = ({ reason = 'it is not taken' }: IntakeAnswer): DeskFault => ({
  type: 'Refused',
  reason,
  mend: 'nothing was changed; order it again when that is different',
})

/** What came under a name that is taken is the same again, or another workload. */
const objectionTo = (answer: Placed, data: WorkloadSubmitted['data'], cell: Cell): DeskFault | null => {
  const another: DeskFault = {
    type: 'Refused',
    reason: `another workload is named ${data.workload}`,
    mend: `submit it under another name, such as ${data.workload}-2, or cancel that one first`,
  }
  if (isRefusal(answer)) return cell.workloads.has(data.workload) ? another : refusedBy(answer)
  if (answer.outcome !== 'duplicate') return null
  if (!cell.workloads.has(data.workload)) return usedUp(data.workload)
  const again = decide({ type: 'WorkloadSubmitted', at: cell.now, data }, cell)
  return E.isLeft(again) && again.left.type === 'Repeated' ? null : another
}
