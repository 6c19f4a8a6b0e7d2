import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import type { StoredEvent } from '../../domain/ports/event-log.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { digestOf } from '../../infra/chain/log-digest.ts'
import { verify } from '../../infra/chain/verify.ts'
import { Projection } from '../../projections/rows/projection.ts'
import { verifyReplay } from '../../services/replay/verify.ts'
import { deadLetterStream } from '../../services/ingest/dead-letters.ts'
import { right } from '../support/events.ts'
import { numbersFrom } from '../support/fact-script.ts'
import { faultyLog } from './faulty-log.ts'
import { fleetStory, storyMs, type Told } from './fleet-story.ts'
import { GroundTruth } from './ground-truth.ts'
import { KeptSnapshots } from './kept-snapshots.ts'
import { Lifeline, type Chance } from './lifeline.ts'
import { RowStore } from './row-store.ts'
import { startLife, type SystemLife } from './system-life.ts'
import { VirtualTime } from './virtual-time.ts'
import { calm, type Weather } from './weather.ts'

const cell = 'cell-default'
const begin = Date.UTC(2026, 7, 3, 9, 0)
/** All that was told and can come to an end has done so by then. */
const restMaxMs = 40 * 60_000
const hour = 3_600_000
const changesNothingTwice: ReadonlySet<string> = new Set(['NodeHealthChanged', 'HoldRequested', 'ReleaseRequested'])

/** What a seed led to. */
export interface Outcome {
  readonly digest: string
  readonly events: number
  readonly kills: number
  readonly starts: number
  readonly evictions: number
  /** Everything that is not as it has to be, in words. */
  readonly wrong: ReadonlyArray<string>
}

/** The whole system in this process: what outlives its processes, and the process that runs now. */
class World {
  private readonly below: Chance
  private readonly time = new VirtualTime(begin)
  private readonly weather: Weather = calm()
  private readonly lines: string[] = []
  private readonly log = memoryEventLog(this.lines)
  private readonly rows = new RowStore()
  private readonly truth = new GroundTruth()
  private readonly snapshots = new KeptSnapshots()
  private clockStepMs = 0
  private life: { readonly line: Lifeline; readonly system: SystemLife } | null = null
  private kills = 0
  private open = 0
  private isOver = false
  private readonly acknowledged = new Set<string>()
  private readonly letters = new Set<string>()
  private readonly seed: number

  constructor(seed: number) {
    this.seed = seed
    this.below = numbersFrom(seed)
  }

  async run(): Promise<Outcome> {
    this.time.install()
    try {
      const story = fleetStory(this.below)
      const minding = this.keepRunning()
      for (const told of story) void this.tell(told)
      for (let i = this.below(4); i > 0; i--) void this.sendGarbage(this.below(storyMs), `not a fact ${i}`)
      void this.trouble()
      await this.time.run(begin + storyMs + 1)
      Object.assign(this.weather, calm())
      await this.time.run(begin + restMaxMs, () => this.open === 0 && this.isAtRest)
      const outcome = await this.outcome()
      this.isOver = true
      this.life?.line.end()
      await this.time.run(this.time.now + 1_000)
      await minding
      return outcome
    } finally {
      this.time.uninstall()
    }
  }

  /** A process that ends is followed by another one. */
  private async keepRunning(): Promise<void> {
    while (!this.isOver) {
      const line = new Lifeline(this.time, this.below)
      const starting = startLife({
        life: line,
        cell,
        log: faultyLog(this.log, line, this.weather, this.below),
        views: this.rows.of(line, this.weather, this.below),
        snapshots: this.snapshots.of(line),
        openJournal: this.truth.journalOf(line, this.weather, this.below),
        script: { seed: this.seed, speedUp: 1, failsPerMille: 60, startFailsPerMille: 60 },
        clock: { now: () => (this.time.now + this.clockStepMs) as EpochMs },
        weather: this.weather,
        below: this.below,
        wait: (ms) => this.time.wait(ms),
        reached: (command) => {
          this.truth.reached(command)
        },
      })
      // It may be killed while it starts.
      if (this.troubled && this.below(6) === 0)
        void this.time.wait(this.below(20)).then(() => {
          line.end()
        })
      const system = await Promise.race([starting, line.died])
      if (system === 'died' || system === null) {
        line.end()
        await this.time.wait(50)
        continue
      }
      this.life = { line, system }
      await line.died
      this.life = null
      await this.time.wait(this.below(500))
    }
  }

  private get troubled(): boolean {
    return this.time.now < begin + storyMs
  }

  private async trouble(): Promise<void> {
    const kinds = ['log', 'sink', 'views', 'journal'] as const
    for (;;) {
      await this.time.wait(500 + this.below(8_000))
      if (!this.troubled) return
      const kind = this.below(8)
      if (kind < 4) this.weather[kinds[kind]!] = !this.weather[kinds[kind]!]
      else if (kind < 7) this.kill()
      else if (this.below(8) === 0) this.clockStepMs += hour
    }
  }

  private kill(): void {
    if (this.life === null) return
    this.kills += 1
    this.life.line.end()
  }

  /** Again and again until it is acknowledged, and sometimes once more. */
  private async tell({ afterMs, order }: Told): Promise<void> {
    this.open += 1
    await this.time.wait(afterMs)
    for (let times = 1 + Number(this.below(4) === 0); times > 0; times--) {
      const outcome = await this.acknowledgement((system) =>
        system.intake
          .take([order], { actor: 'u-1', reason: null })()
          .then(E.map((answers) => answers[0]!.outcome)),
      )
      // What is so already is a duplicate too, whoever said so first.
      if (outcome === 'recorded' || (outcome === 'duplicate' && !changesNothingTwice.has(order.type)))
        this.acknowledged.add(order.id)
      await this.time.wait(this.below(3_000))
    }
    this.open -= 1
  }

  private async sendGarbage(afterMs: number, text: string): Promise<void> {
    this.open += 1
    await this.time.wait(afterMs)
    const id = await this.acknowledgement(async (system) => {
      const answered: string[] = []
      const bytes = async function* () {
        yield await Promise.resolve(Buffer.from(`${text}\n`))
      }
      const done = await system.intake.stream(bytes(), (answers) => answered.push(...answers.map(({ id }) => id)))()
      return E.map(() => answered[0]!)(done)
    })
    this.letters.add(id)
    this.open -= 1
  }

  private async acknowledgement<A>(ask: (system: SystemLife) => Promise<E.Either<unknown, A>>): Promise<A> {
    for (;;) {
      const life = this.life
      if (life !== null) {
        const answer = await Promise.race([ask(life.system), life.line.died])
        if (answer !== 'died' && E.isRight(answer)) return answer.right
      }
      await this.time.wait(20 + this.below(200))
    }
  }

  /** Nothing runs, nothing that could start waits, and the views have all of it. */
  private get isAtRest(): boolean {
    if (this.life === null) return false
    const { dispatch, owner, projector } = this.life.system
    const { workloads, fleet } = owner.cell
    const devices = fleet.nodes.reduce((sum, node) => sum + node.devices, 0)
    for (const { onHold, run, shape } of workloads.values())
      if (run !== null || (!onHold && shape.request.devices <= devices)) return false
    const { fault, projected } = projector.status()
    return dispatch.open.size === 0 && fault === null && projected === this.lines.length - 1
  }

  private async outcome(): Promise<Outcome> {
    const events = await right(this.log.readAll(0, 1_000_000))
    const wrong = [...this.truth.wrong]
    if (this.open > 0) wrong.push(`${this.open} were never acknowledged`)
    if (!this.isAtRest) wrong.push(`it does not come to rest: ${this.restless}`)
    const ids = counted(events.map(({ stream, id }) => `${stream} ${id}`))
    for (const [id, times] of ids) if (times > 1) wrong.push(`${id} is in the log ${times} times`)
    for (const id of this.acknowledged) if (!ids.has(`${cell} ${id}`)) wrong.push(`${id} was acknowledged and is lost`)
    for (const id of this.letters) if (!ids.has(`${deadLetterStream} ${id}`)) wrong.push(`letter ${id} is lost`)
    const audited = await verify(this.log)
    if (!audited.ok) wrong.push(`the chain is broken: ${JSON.stringify(audited)}`)
    const replayed = await right(() => verifyReplay(this.log, cell))
    if (!replayed.ok) wrong.push(`decided again, it differs: ${JSON.stringify(replayed.finding)}`)
    wrong.push(...this.differences(events))
    return {
      digest: await right(digestOf(this.log)),
      events: events.length,
      kills: this.kills,
      starts: this.truth.starts,
      evictions: events.filter(({ message }) => message.type === 'PreemptionDecided').length,
      wrong,
    }
  }

  private get restless(): string {
    if (this.life === null) return 'nothing runs'
    const { owner, dispatch, projector } = this.life.system
    const left = [...owner.cell.workloads.values()].map(
      ({ id, run, hold }) =>
        `${id} ${run === null ? `waits: ${hold?.code ?? '?'}` : `runs, confirmed ${run.confirmed}`}`,
    )
    return [...left, `${dispatch.open.size} open`, JSON.stringify(projector.status())].join('; ')
  }

  /** What the views hold against what one walk over the log makes of it. */
  private differences(events: ReadonlyArray<StoredEvent>): ReadonlyArray<string> {
    const anew = new Projection()
    for (const event of events) anew.follow(event)
    const expected = new RowStore()
    for (const table of anew.take()) expected.add(table)
    const held = new Map(this.rows.content)
    const wrong: string[] = []
    for (const [table, rows] of expected.content) {
      const ours = new Set(held.get(table))
      const missing = rows.filter((row) => !ours.has(row))
      if (missing.length > 0 || ours.size !== rows.length)
        wrong.push(
          `${table} has ${ours.size} rows instead of ${rows.length}; missing: ${missing.slice(0, 2).join(' ')}`,
        )
    }
    return wrong
  }
}

const counted = (names: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const times = new Map<string, number>()
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1)
  return times
}

export const runWorld = (seed: number): Promise<Outcome> => new World(seed).run()
