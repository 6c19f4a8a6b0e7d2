import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { uniformInt } from 'pure-rand/distribution/uniformInt'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'
import { expect, it } from 'vitest'
import type { CellEvent, NodeRegistered, WorkloadSubmitted } from '../../domain/planner/cell-event.ts'
import { orderings, strategies } from '../../domain/policy/allocation-policy.ts'
import { run } from '../services/cli/terminal.ts'
import { eventsIn, simulated } from '../support/simulated.ts'
import { temporaryFolder } from '../support/temporary-file.ts'

/** A fleet of several models with CPU and memory to run out of. */
const nodeList = [
  'sn,cpu_milli,memory_mib,gpu,model,device_memory_mib,domain',
  ...Array.from({ length: 6 }, (_, i) => `a${i},64000,262144,8,A100,81920,rack-${i % 2}`),
  ...Array.from({ length: 4 }, (_, i) => `t${i},32000,131072,2,T4,16384,rack-0`),
  'cpu0,96000,393216,0,,,',
].join('\n')

/** Jobs of every kind, with estimates that are right, too short, too long or missing; some fit nowhere. */
const trace = (seed: number, jobs: number): string => {
  const state = xoroshiro128plus(seed)
  const below = (end: number) => uniformInt(state, 0, end - 1)
  const one = <A>(...of: ReadonlyArray<A>): A => of[below(of.length)]!
  const rows = ['id,submit,duration,gpus,milli,cpu,memory,deviceMemory,models,class,queue,estimate']
  let at = 0
  for (let i = 0; i < jobs; i++) {
    at += below(4) === 0 ? 0 : below(30)
    const runs = one(0, 1, 30, 60 + below(600), 60 + below(600))
    const gpus = one(0, 1, 1, 1, 2, 4, 8, 16)
    const milli = gpus === 1 ? one(1000, 250, 333, 700) : 1000
    const models = one('', '', '', 'A100', 'T4', 'A100|T4', 'H100')
    const estimate = one<number | string>(runs, runs, runs * 2, Math.floor(runs / 3), '')
    const cpu = one(0, 500, 4000, 16000)
    const memory = one(0, 1024, 32768)
    const deviceMemory = gpus > 0 ? one(0, 0, 8000, 40000) : 0
    rows.push(
      [`j${i}`, at, runs, gpus, milli, cpu, memory, deviceMemory, models, one('x', 'y'), one('a', 'b'), estimate].join(
        ',',
      ),
    )
  }
  return rows.join('\n')
}

/** What an attempt holds of one node: of each of these devices, and of the host. */
interface Held {
  readonly node: string
  readonly devices: ReadonlyArray<number>
  readonly milli: number
  readonly memoryMib: number
  readonly cpuMilli: number
  readonly hostMemoryMib: number
}

const heldBy = (
  lease: Extract<CellEvent, { type: 'WorkloadAdmitted' }>['data']['lease'],
  { devices, cpuMilli, hostMemoryMib }: WorkloadSubmitted['data']['request'],
): ReadonlyArray<Held> =>
  lease.map((part) => {
    const share = devices === 0 ? 1 : part.devices.length / devices
    return { ...part, cpuMilli: Math.ceil(cpuMilli * share), hostMemoryMib: Math.ceil(hostMemoryMib * share) }
  })

/** Walks through a log and checks what holds under every policy; returns who started, in order. */
const expectLawful = (events: ReadonlyArray<CellEvent>): ReadonlyArray<string> => {
  const nodes = new Map<string, NodeRegistered['data']>()
  const submitted = new Map<string, WorkloadSubmitted>()
  const running = new Map<string, ReadonlyArray<Held>>()
  const waiting = new Set<string>()
  const taken = new Map<string, number>()
  const started: string[] = []
  const take = (of: string, amount: number, limit: number | null): void => {
    const sum = (taken.get(of) ?? 0) + amount
    taken.set(of, sum)
    if (sum < 0 || (limit !== null && sum > limit)) expect({ of, sum, limit }).toBe('within its limits')
  }
  const takeAll = (held: ReadonlyArray<Held>, sign: 1 | -1): void => {
    for (const { node, devices, milli, memoryMib, cpuMilli, hostMemoryMib } of held) {
      const limits = nodes.get(node)!
      take(`cpu of ${node}`, sign * cpuMilli, limits.cpuMilli)
      take(`memory of ${node}`, sign * hostMemoryMib, limits.hostMemoryMib)
      for (const device of devices) {
        expect(device).toBeLessThan(limits.devices)
        take(`device ${device} of ${node}`, sign * milli, 1000)
        take(`memory of device ${device} of ${node}`, sign * memoryMib, limits.deviceMemoryMib)
      }
    }
  }
  let now = 0
  for (const { type, at, data } of events) {
    expect(at).toBeGreaterThanOrEqual(now)
    now = at
    if (type === 'NodeRegistered') nodes.set(data.node, data)
    if (type === 'WorkloadSubmitted') {
      submitted.set(data.workload, { type, at, data })
      waiting.add(data.workload)
    }
    if (type === 'WorkloadRefused') expect(waiting.delete(data.workload)).toBe(true)
    if (type === 'WorkloadHeld') {
      expect(waiting.has(data.workload)).toBe(true)
      if (data.behind !== null) expect(waiting.has(data.behind)).toBe(true)
      if (data.projectedStartAt !== null) expect(data.projectedStartAt).toBeGreaterThan(at - 1)
    }
    if (type === 'WorkloadAdmitted') {
      expect(waiting.delete(data.workload)).toBe(true)
      const { request } = submitted.get(data.workload)!.data
      // A gang is placed whole, on devices it accepts, each named once.
      const devices = data.lease.flatMap(({ node, devices }) => devices.map((device) => `${node}/${device}`))
      expect(new Set(devices).size).toBe(request.devices)
      for (const { node, devices, milli, memoryMib } of data.lease) {
        if (devices.length === 0) continue
        expect(milli).toBeGreaterThanOrEqual(request.milli)
        expect(memoryMib).toBeGreaterThanOrEqual(request.memoryMib)
        if (request.models !== null) expect(request.models).toContain(nodes.get(node)!.model)
      }
      const held = heldBy(data.lease, request)
      takeAll(held, 1)
      running.set(data.workload, held)
      started.push(data.workload)
    }
    if (type === 'EstimateOverran') expect(data.expectedEndAt).toBeGreaterThan(at)
    if (type === 'AttemptEnded') {
      takeAll(running.get(data.workload)!, -1)
      running.delete(data.workload)
    }
  }
  expect({ waiting: waiting.size, running: running.size }).toEqual({ waiting: 0, running: 0 })
  for (const [of, amount] of taken) expect([of, amount]).toEqual([of, 0])
  return started
}

const combinations = orderings.flatMap((ordering) => strategies.map((strategy) => [ordering, strategy] as const))

it.each(combinations)('should run anything lawfully and the same again: %s, %s', async (ordering, strategy) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'nodes.csv'), nodeList)
  for (const seed of [1, 2]) {
    writeFileSync(join(folder, 'jobs.csv'), trace(seed, 300))
    const words = [join(folder, 'jobs.csv'), '--node-list', join(folder, 'nodes.csv')]
    const flags = ['--ordering', ordering, '--placement', strategy, '--seed', String(seed)]
    const data = join(folder, `${seed}`)
    const ran = await simulated([...words, ...flags], data)
    const events = await eventsIn(data)
    const started = expectLawful(events)
    expect(started).toHaveLength(ran.jobs - ran.refused)
    expect(ran.refused).toBeGreaterThan(0)
    expect(ran.waiting).toBeGreaterThan(0)
    expect(events.some(({ type }) => type === 'EstimateOverran')).toBe(true)
    if (ordering === 'fifo')
      for (const queue of ['a', 'b']) {
        const inQueue = events.flatMap(({ type, data }) =>
          type === 'WorkloadSubmitted' && data.queue === queue ? [data.workload] : [],
        )
        const members = new Set(inQueue)
        const starts = new Set(started)
        expect(started.filter((id) => members.has(id))).toEqual(inQueue.filter((id) => starts.has(id)))
      }
    expect(await run(['audit', 'verify', '--data', data])).toMatchObject({ code: 0 })
    expect(await run(['replay', 'verify', '--data', data])).toMatchObject({ code: 0 })
    expect((await simulated([...words, ...flags])).logDigest).toBe(ran.logDigest)
    const filled = await simulated([...words, ...flags, '--static-fill'], `${data}-filled`)
    expect(filled.placed! + filled.unplaced!).toBe(300)
    expect(await run(['replay', 'verify', '--data', `${data}-filled`])).toMatchObject({ code: 0 })
  }
})
