import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { NodeHealth } from '../../domain/planner/cell-event.ts'
import type { Cell } from '../../domain/planner/cell.ts'
import { onHoldIn } from '../../projections/explain/queue.ts'
import type { FactsAnswer, SystemStatus } from './desk.ts'
import type { Follower } from './follower.ts'

const prefix = 'leasehold_'
const healths: ReadonlyArray<NodeHealth> = ['ready', 'cordoned', 'draining', 'failed']
/** Of a decision or a flush, in seconds. */
const shortBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
/** Of a request, which may be an upload of an hour. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600]

/** Figures for Prometheus, in base units. No label names a workload, a node or anything else that users may add. */
export class Metrics {
  readonly registry = new Registry()
  private readonly facts = this.counter('facts_total', 'Facts that were sent, by what became of them.', ['outcome'])
  private readonly decisions = this.counter('decisions_total', 'Decisions recorded since the start.', ['type'])
  private readonly requests = this.histogram(
    'http_request_duration_seconds',
    'Requests, from the head to the end of the answer.',
    requestBuckets,
    ['method', 'route', 'status'],
  )
  private readonly passes = this.histogram('pass_duration_seconds', 'Passes of the planner.', shortBuckets)
  private readonly appends = this.histogram('append_duration_seconds', 'Appends until they are durable.', shortBuckets)
  private readonly logEvents = this.gauge('log_events', 'Events in the log, as far as they were followed.')
  private readonly viewsUp = this.gauge('views_up', '1 while the views can be asked.')
  private readonly lagEvents = this.gauge('views_lag_events', 'Events in the log that are not in the views.')
  private readonly lagSeconds = this.gauge('views_lag_seconds', 'How far the views are behind.')
  private readonly openCommands = this.gauge('open_commands', 'Commands without an outcome.')
  private readonly workloads = this.gauge('workloads', 'Workloads that wait, are on hold, or run.', ['state'])
  private readonly devices = this.gauge('devices', 'Devices by the worse of their own and their node’s health.', [
    'health',
  ])
  private readonly deadLetters = this.gauge('dead_letters', 'Lines that could not be decoded and wait for somebody.')
  private readonly degraded = this.gauge('degraded', 'Things that are degraded.')

  constructor() {
    collectDefaultMetrics({ register: this.registry, prefix })
  }

  /** One pass of the planner took so many seconds. */
  observePass(seconds: number): void {
    this.passes.observe(seconds)
  }

  /** One append took so many seconds until it was durable. */
  observeAppend(seconds: number): void {
    this.appends.observe(seconds)
  }

  observeRequest(method: string, route: string, status: number, seconds: number): void {
    this.requests.observe({ method, route, status: String(status) }, seconds)
  }

  countFacts({ recorded, duplicate, unneeded, refused, undecodable }: FactsAnswer): void {
    for (const [outcome, count] of Object.entries({ recorded, duplicate, unneeded, refused, undecodable }))
      this.facts.inc({ outcome }, count)
  }

  /** What Prometheus reads. */
  async text(status: SystemStatus, follower: Follower): Promise<string> {
    const { deadLetters, degraded, events, running, views } = status
    this.logEvents.set(events)
    this.viewsUp.set(views === null ? 0 : 1)
    this.lagEvents.set(views?.lagEvents ?? 0)
    this.lagSeconds.set((views?.lagMs ?? 0) / 1000)
    this.openCommands.set(running?.openCommands ?? 0)
    this.deadLetters.set(deadLetters)
    this.degraded.set(degraded.length)
    this.decisions.reset()
    for (const [type, count] of follower.decisions) this.decisions.inc({ type }, count)
    this.setFleet(follower.cell)
    return this.registry.metrics()
  }

  private setFleet(cell: Cell): void {
    const { fleet } = cell
    let waiting = 0
    for (const queue of cell.queueNamed.values()) waiting += queue.size
    const onHold = onHoldIn(cell).length
    this.workloads.set({ state: 'waiting' }, waiting)
    this.workloads.set({ state: 'on-hold' }, onHold)
    this.workloads.set({ state: 'running' }, cell.workloads.size - waiting - onHold)
    const count = new Map(healths.map((health) => [health, 0]))
    fleet.nodes.forEach(({ devices }, node) => {
      const whole = healths.indexOf(fleet.healthOf(node, null))
      for (let device = 0; device < devices; device++) {
        const worse = healths[Math.max(whole, healths.indexOf(fleet.healthOf(node, device)))]!
        count.set(worse, count.get(worse)! + 1)
      }
    })
    for (const [health, devices] of count) this.devices.set({ health }, devices)
  }

  private counter<L extends string>(name: string, help: string, labelNames: ReadonlyArray<L>): Counter<L> {
    return new Counter({ name: prefix + name, help, labelNames: [...labelNames], registers: [this.registry] })
  }

  private gauge<L extends string = never>(name: string, help: string, labelNames: ReadonlyArray<L> = []): Gauge<L> {
    return new Gauge({ name: prefix + name, help, labelNames: [...labelNames], registers: [this.registry] })
  }

  private histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: ReadonlyArray<number>,
    labelNames: ReadonlyArray<L> = [],
  ): Histogram<L> {
    return new Histogram({
      name: prefix + name,
      help,
      buckets: [...buckets],
      labelNames: [...labelNames],
      registers: [this.registry],
    })
  }
}
