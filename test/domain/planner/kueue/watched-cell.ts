import { either as E } from 'fp-ts'
import { Cell } from '../../../../domain/planner/cell.ts'
import { fork, takeSnapshot } from '../../../../domain/planner/cell-snapshot.ts'
import type { CellDecision, CellInput } from '../../../../domain/planner/cell-event.ts'
import { decide, type CellRejection } from '../../../../domain/planner/decide.ts'
import { evolve } from '../../../../domain/planner/evolve.ts'
import { heldMilli } from '../../../../domain/planner/tallies.ts'
import type { Workload } from '../../../../domain/planner/workload.ts'
import { capsOf, type AllocationPolicy } from '../../../../domain/policy/allocation-policy.ts'
import { quotaNodesOf } from '../../../../domain/policy/quota-nodes.ts'
import { QuotaTree } from '../../../../domain/quota/quota-tree.ts'

/**
 * A cell whose every step is held to what must always be so: a reader of the log alone, and a fork, decide the same, to
 * decide changes nothing, and neither quota nor devices are given twice.
 */
export class WatchedCell {
  readonly cell = new Cell('pool')
  readonly counts = { admitted: 0, evicted: 0, held: 0, kept: 0, shrunk: 0, released: 0 }
  told = 0
  /** Folded from what is recorded, and never asked to decide but to compare. */
  private readonly reader = new Cell('pool')

  tell(input: CellInput): E.Either<CellRejection, ReadonlyArray<CellDecision>> {
    const { cell, reader } = this
    this.told++
    const before = JSON.stringify(takeSnapshot(cell))
    const used = cell.kueue?.holdings.tree.save()
    const copy = fork(cell)
    const decided = decide(input, cell)
    const said = JSON.stringify(decided)
    const after = JSON.stringify(takeSnapshot(cell))
    // Books of budgets go with the time of the look.
    const byQuota = cell.kueue !== null
    if (byQuota && after !== before) differ(input, 'the cell changed, and', before, after)
    if (String(used) !== String(cell.kueue?.holdings.tree.save()))
      fail(input, 'to decide changed what is used of quota')
    const forked = JSON.stringify(decide(input, copy))
    if (byQuota && forked !== said) differ(input, 'a fork', said, forked)
    const read = JSON.stringify(decide(input, reader))
    if (byQuota && read !== said) differ(input, 'a reader of the log', said, read)
    if (E.isLeft(decided)) return decided
    if (input.type === 'Ticked' && decided.right.length === 0) cell.lookedInVain()
    else
      for (const event of [input, ...decided.right]) {
        evolve(cell, event)
        evolve(reader, event)
      }
    this.check(input, decided.right)
    return decided
  }

  private check(input: CellInput, decisions: ReadonlyArray<CellDecision>): void {
    const { cell, counts } = this
    const { kueue, policy } = cell
    for (const { type, data } of decisions) {
      if (type === 'WorkloadAdmitted') {
        counts.admitted++
        const { shape, terms } = cell.workloads.get(data.workload)!
        const devices = data.lease.reduce((sum, part) => sum + part.devices.length, 0)
        if (terms.elasticity !== null && devices < shape.request.devices) counts.shrunk++
      }
      if (type === 'PreemptionDecided') counts.evicted += data.victims.length
      if (type === 'PreemptionDecided') counts.kept++
      if (type === 'WorkloadHeld') counts.held++
      if (type === 'PlaceReleased') counts.released++
    }
    if (kueue === null || policy === null) return
    this.checkCaps(input, decisions, policy)
    const running = new QuotaTree(quotaNodesOf(policy))
    const all = new QuotaTree(quotaNodesOf(policy))
    const add = (workload: Workload, parts: NonNullable<Workload['run']>['parts'], runs: boolean) => {
      const queue = kueue.nodeOf(workload.queue)
      if (queue < 0) return
      all.add(queue, kueue.usageOf(workload, parts))
      if (runs) running.add(queue, kueue.usageOf(workload, parts))
    }
    for (const workload of cell.workloads.values()) if (workload.run !== null) add(workload, workload.run.parts, true)
    for (const [id, { parts }] of cell.places) add(cell.workloads.get(id)!, parts, false)
    if (String(all.save()) !== String(kueue.holdings.tree.save())) fail(input, 'the books count something else')
    for (const { type, data } of decisions) {
      if (type !== 'WorkloadAdmitted') continue
      const workload = cell.workloads.get(data.workload)!
      const queue = kueue.nodeOf(workload.queue)
      for (const [one] of kueue.usageOf(workload, workload.run!.parts))
        if (running.available(queue, one) < 0) fail(input, `${workload.id} has quota that is not there`)
    }
  }

  /** Whoever starts leaves its team and its person within their caps. */
  private checkCaps(input: CellInput, decisions: ReadonlyArray<CellDecision>, policy: AllocationPolicy): void {
    const { workloads } = this.cell
    const heldBy = (is: (workload: Workload) => boolean) =>
      [...workloads.values()].reduce((sum, one) => sum + (is(one) ? heldMilli(one.run?.parts ?? []) : 0), 0)
    const { perPersonMilli, perTeamMilli, teams } = capsOf(policy)
    for (const { type, data } of decisions) {
      if (type !== 'WorkloadAdmitted') continue
      const { team, terms } = workloads.get(data.workload)!
      if (heldBy((one) => one.team === team) > (teams[team] ?? perTeamMilli ?? Infinity))
        fail(input, `${team} holds more than its cap`)
      if (heldBy((one) => one.terms.submitter === terms.submitter) > (perPersonMilli ?? Infinity))
        fail(input, `${terms.submitter} holds more than the cap of a person`)
    }
  }
}

const fail = (input: CellInput, what: string): never => {
  throw new Error(`${what} at ${input.at} (${input.type})`)
}

const differ = (input: CellInput, who: string, ours: string, theirs: string): never => {
  let at = 0
  while (at < ours.length && ours[at] === theirs[at]) at++
  const from = Math.max(0, at - 300)
  return fail(input, `${who} decides\n${theirs.slice(from, at + 300)}\nand not\n${ours.slice(from, at + 300)}\n`)
}
