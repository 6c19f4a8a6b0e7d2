import { assert } from '../../../domain/kernel/decider.ts'
import type { CellDecision, CellInput, LeasePart, WorkloadSubmitted } from '../../../domain/planner/cell-event.ts'
import type { Told } from './in-memory.ts'

/** Numbers of a policy, as a reader of the document has them. */
export interface Promises {
  /** Shares of the programs, by the budget that jobs name; they divide the capacity into whole thousandths. */
  readonly shares: { readonly [program: string]: number }
  readonly devices: number
  readonly minRuntimeMaxMs: number
  readonly turnMs: number
  readonly promotionAfter: number
}

export interface OracleEviction {
  readonly workload: string
  readonly at: number
  readonly inWindow: boolean
  readonly beyondCap: boolean
}

export interface OracleDelivery {
  readonly held: number
  readonly owed: number
  readonly worstWeek: number
  /** Hour by hour. */
  readonly hours: { readonly held: ReadonlyArray<number>; readonly owed: ReadonlyArray<number> }
}

export interface OracleFigures {
  readonly programs: { readonly [program: string]: OracleDelivery }
  /** Thousandths of devices x ms, as `held` and `owed`. */
  readonly allocated: number
  readonly unallocated: number
  readonly lost: number
  readonly evictions: ReadonlyArray<OracleEviction>
  /** Devices that stood in the lease of an open decision to preempt while nobody held them, devices x ms. */
  readonly kept: number
  readonly waits: ReadonlyMap<string, ReadonlyArray<number>>
}

interface Life {
  readonly submitted: WorkloadSubmitted['data']
  readonly at: number
  startedAt: number | null
  confirmedAt: number
  savedAt: number
  turnUntil: number
  lease: ReadonlyArray<string>
  evictions: number
  onHold: boolean
}

/** At an instant, what of the program runs and waits changes by so many thousandths of devices. */
interface Change {
  readonly at: number
  readonly program: string
  readonly runs: number
  readonly waits: number
}

const hour = 3_600_000
const week = 168

/**
 * What inputs and decisions alone say of a run: who held, waited for and lost what. It keeps no rates while it listens, only
 * what changed when, and adds up afterwards by the definitions; whole devices of one kind, nobody shrinks, all is
 * drilled. It throws where a device is leased twice.
 */
export class LogOracle {
  private readonly lives = new Map<string, Life>()
  private readonly changes: Change[] = []
  private readonly taken = new Set<string>()
  private readonly keptFor = new Map<string, ReadonlyArray<string>>()
  private readonly evictions: OracleEviction[] = []
  private readonly promises: Promises
  private lost = 0
  private kept = 0
  private keptNow = 0
  private now = 0

  constructor(promises: Promises) {
    this.promises = promises
  }

  hear({ input, decisions }: Told): void {
    this.kept += this.keptNow * (input.at - this.now)
    this.now = input.at
    this.hearInput(input)
    for (const decision of decisions) this.hearDecision(decision)
    this.keptNow = [...this.keptFor.values()].flat().filter((device) => !this.taken.has(device)).length
  }

  figures(until: number): OracleFigures {
    const { shares, devices } = this.promises
    const names = Object.keys(shares)
    const total = names.reduce((sum, name) => sum + shares[name]!, 0)
    const entitled = new Map(names.map((name) => [name, (1000 * devices * shares[name]!) / total]))
    const runs = new Map(names.map((name) => [name, 0]))
    const waits = new Map(names.map((name) => [name, 0]))
    const hours = Math.ceil(until / hour)
    const held = new Map(names.map((name) => [name, new Array<number>(hours).fill(0)]))
    const owed = new Map(names.map((name) => [name, new Array<number>(hours).fill(0)]))
    let unallocated = 0
    let allocated = 0
    let from = 0
    const stand = (to: number): void => {
      const behind = names.filter((name) => {
        const due = Math.min(runs.get(name)! + waits.get(name)!, entitled.get(name)!)
        return waits.get(name)! > 0 && runs.get(name)! < due
      })
      for (const name of names) {
        const running = runs.get(name)!
        allocated += running * (to - from)
        const beyond = Math.max(0, running - entitled.get(name)!)
        if (behind.every((other) => other === name)) unallocated += beyond * (to - from)
        const due = Math.min(running + waits.get(name)!, entitled.get(name)!)
        for (let at = from; at < to;) {
          const end = Math.min(to, (Math.floor(at / hour) + 1) * hour)
          held.get(name)![Math.floor(at / hour)]! += running * (end - at)
          owed.get(name)![Math.floor(at / hour)]! += due * (end - at)
          at = end
        }
      }
      from = to
    }
    for (const { at, program, runs: started, waits: came } of this.changes) {
      if (at > from) stand(at)
      runs.set(program, runs.get(program)! + started)
      waits.set(program, waits.get(program)! + came)
    }
    stand(until)
    return {
      programs: Object.fromEntries(names.map((name) => [name, delivery(held.get(name)!, owed.get(name)!)])),
      ...{ allocated, unallocated, lost: this.lost, evictions: this.evictions },
      kept: this.kept + this.keptNow * (until - this.now),
      waits: this.waitsUntil(until),
    }
  }

  private hearInput({ type, at, data }: CellInput): void {
    if (type === 'WorkloadSubmitted') {
      this.lives.set(data.workload, {
        ...{ submitted: data, at, startedAt: null, confirmedAt: Infinity, savedAt: at, turnUntil: 0 },
        ...{ lease: [], evictions: 0, onHold: false },
      })
      this.change(data.workload, at, 0, 1)
    }
    if (type === 'AttemptEnded') this.free(data.workload, at)
    if (type === 'CheckpointCommitted') this.lives.get(data.workload)!.savedAt = at
    if (type === 'CommandConcluded' && (data.verb === 'start' || data.verb === 'resume')) {
      const life = this.lives.get(data.workload)!
      life.confirmedAt = at
      life.savedAt = at
    }
    if (type === 'HoldRequested' || type === 'ReleaseRequested') {
      const life = this.lives.get(data.workload)!
      life.onHold = type === 'HoldRequested'
      if (life.lease.length === 0) this.change(data.workload, at, 0, life.onHold ? -1 : 1)
    }
  }

  private hearDecision({ type, at, data }: CellDecision): void {
    switch (type) {
      case 'WorkloadAdmitted': {
        const life = this.lives.get(data.workload)!
        life.lease = devicesOf(data.lease)
        for (const device of life.lease) {
          assert(!this.taken.has(device), `nobody holds ${device} when ${data.workload} starts there`)
          this.taken.add(device)
        }
        life.startedAt ??= at
        life.confirmedAt = Infinity
        life.turnUntil = data.preempted === true ? at + this.promises.turnMs : 0
        this.keptFor.delete(data.workload)
        this.change(data.workload, at, 1, -1)
        return
      }
      case 'PreemptionDecided':
        this.keptFor.set(data.workload, devicesOf(data.lease))
        return
      case 'PlaceReleased':
        this.keptFor.delete(data.workload)
        return
      case 'CommandIssued':
        if (data.because === 'preempted') this.evict(data.workload, at)
        return
      case 'AttemptStopped': {
        const life = this.lives.get(data.workload)!
        this.lost += 1000 * life.lease.length * (at - life.savedAt)
        this.free(data.workload, at)
        if (!life.onHold) this.change(data.workload, at, 0, 1)
        return
      }
      default:
        assert(type !== 'LeaseShrunk', 'nobody shrinks in this run')
    }
  }

  private evict(workload: string, at: number): void {
    const { minRuntimeMaxMs, promotionAfter } = this.promises
    const life = this.lives.get(workload)!
    const window = Math.min(life.submitted.terms.preemption.minRuntimeMs, minRuntimeMaxMs)
    const inWindow = at < Math.max(life.confirmedAt + window, life.turnUntil)
    this.evictions.push({ workload, at, inWindow, beyondCap: life.evictions >= promotionAfter })
    life.evictions++
  }

  private free(workload: string, at: number): void {
    const life = this.lives.get(workload)!
    for (const device of life.lease) this.taken.delete(device)
    this.change(workload, at, -1, 0)
    life.lease = []
  }

  private change(workload: string, at: number, runs: number, waits: number): void {
    const { request, terms } = this.lives.get(workload)!.submitted
    const milli = request.devices * 1000
    this.changes.push({ at, program: terms.budget!, runs: runs * milli, waits: waits * milli })
  }

  private waitsUntil(until: number): ReadonlyMap<string, ReadonlyArray<number>> {
    const waits = new Map<string, number[]>()
    for (const { at, startedAt, submitted } of this.lives.values()) {
      const there = waits.get(submitted.class) ?? []
      there.push((startedAt ?? until) - at)
      waits.set(submitted.class, there)
    }
    return waits
  }
}

const devicesOf = (lease: ReadonlyArray<LeasePart>): ReadonlyArray<string> =>
  lease.flatMap(({ node, devices }) => devices.map((device) => `${node}/${device}`))

const delivery = (held: ReadonlyArray<number>, owed: ReadonlyArray<number>): OracleDelivery => {
  const sum = (of: ReadonlyArray<number>): number => of.reduce((total, each) => total + each, 0)
  let worstWeek = Infinity
  for (let end = week; end <= owed.length; end++) {
    const [had, due] = [sum(held.slice(end - week, end)), sum(owed.slice(end - week, end))]
    if (due > 0) worstWeek = Math.min(worstWeek, Math.min(had, due) / due)
  }
  return { held: sum(held), owed: sum(owed), worstWeek, hours: { held, owed } }
}
