import { either as E } from 'fp-ts'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { encodeFact } from '../../domain/planner/cloud-event.ts'
import type { CellInput } from '../../domain/planner/cell-event.ts'
import { defaultPolicy } from '../../domain/policy/allocation-policy.codec.ts'
import { randomBelow } from '../../domain/kernel/random.ts'
import { demoGpusPerNode, demoTrace } from '../../domain/simulation/demo-trace.ts'
import { timedRun } from '../../domain/simulation/run.ts'
import { memoryEventLog } from '../../infra/memory/event-log.ts'
import { CellWriter } from '../../services/decide/cell-writer.ts'
import { policyActivated } from '../../services/decide/policy-activated.ts'

/** Whole numbers below a bound, one after another. */
export const numbersFrom = (seed: number): ((bound: number) => number) => {
  let state = seed
  return (bound) => {
    const [value, next] = randomBelow(state, bound)
    state = next
    return value
  }
}

export const nodeFact = (node: string, devices = demoGpusPerNode): CellInput => ({
  type: 'NodeRegistered',
  at: 0 as EpochMs,
  data: { cpuMilli: null, deviceMemoryMib: null, devices, domain: null, hostMemoryMib: null, model: null, node },
})

export const lineOf = (id: string, input: CellInput): string => encodeFact({ id, source: 'script', ...input })

/**
 * What a fleet and its users send over some days: nodes, a policy, submissions, ends of what has started, ticks from
 * event time. An end comes when the cell, told all of this in order, would have started what ends.
 */
export const factScript = async (seed: number, jobs: number): Promise<ReadonlyArray<readonly [string, CellInput]>> => {
  const stream = 'cell-default'
  const recording = { stream, source: 'script', actor: 'script', recordTime: (at: EpochMs) => at }
  const opened = await CellWriter.open(memoryEventLog(), recording)
  if (E.isLeft(opened)) throw new Error(opened.left.reason)
  const script: (readonly [string, CellInput])[] = []
  const send = (input: CellInput) => {
    const id = `fact-${script.length}`
    script.push([id, input])
    const taken = opened.right.take(input, id)
    if (E.isLeft(taken)) throw new Error(taken.left.type)
    return taken.right
  }
  for (let i = 0; i < 4; i++) send(nodeFact(`node-${i}`))
  send(
    policyActivated(
      { ...defaultPolicy, name: 'script', queues: [{ name: 'default', ordering: 'reserve' }] },
      0 as EpochMs,
    ),
  )
  const run = timedRun(demoTrace(seed, jobs))
  for (let step = run.next([]); step.done !== true;) step = run.next(send(step.value))
  return script
}
