import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../../domain/kernel/units.ts'
import type { Cell } from '../../../../domain/planner/cell.ts'
import { decodePolicy } from '../../../../domain/policy/allocation-policy.codec.ts'
import { timedRun } from '../../../../domain/simulation/run.ts'
import type { TraceJob } from '../../../../domain/simulation/trace-job.ts'
import { readDocument } from '../../../../infra/yaml/document.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { CellLife, minute } from '../../../support/cell-life.ts'
import { rightOf } from '../../../support/faults.ts'

const file = new URL('../../../../docs/examples/policies/cohort.yaml', import.meta.url)
const document = rightOf(readDocument(readFileSync(file, 'utf8'), decodePolicy))

/** 96 nodes of 8, as the example says. */
const company = (): CellLife => new CellLife().nodes(96, 8, 'a100-80gb').policy({ ...document, mode: 'advise' })

const heldBy = ({ workloads }: Cell, queue: string): number => {
  let held = 0
  for (const { queue: own, run } of workloads.values())
    if (own.name === queue) for (const { devices } of run?.parts ?? []) held += devices.length
  return held
}

it('should lend what is idle up to the limits of the example, and give back what its owner needs', () => {
  const life = company().drilled('research', 'platform')
  const submit = (queue: string, count: number, size: number) => {
    life.at(life.now + minute)
    for (let i = 0; i < count; i++) life.submit(`${queue}-${life.now}-${i}`, size, { queue, team: queue })
    life.tick()
    return [heldBy(life.cell, 'research'), heldBy(life.cell, 'platform')]
  }
  expect(submit('platform', 175, 4)).toEqual([0, 700])
  // Its floor of 64 and the 4 that nobody uses are there; 12 more of its own come back by three evictions.
  expect(submit('research', 20, 4)).toEqual([80, 688])
  // It needs more of its own 256; the limit of 20 evictions in an hour leaves 17.
  expect(submit('research', 40, 4)).toEqual([148, 620])
  life.at(life.now + 60 * minute).tick()
  expect([heldBy(life.cell, 'research'), heldBy(life.cell, 'platform')]).toEqual([228, 540])
})

it('should run a trace of both queues to its end, one head after the other', () => {
  const life = company()
  const jobs = Array.from({ length: 400 }, (_, i): TraceJob => ({
    id: `job-${i}`,
    submitAt: (Math.floor(i / 8) * minute) as EpochMs,
    runMs: ((20 + (i % 7) * 13) * minute) as DurationMs,
    estimateMs: null,
    class: 'training',
    queue: i % 3 === 0 ? 'research' : 'platform',
    team: 'team',
    request: requestOf({ devices: 1 << (i % 6), span: 'anywhere' }),
  }))
  const run = timedRun(jobs)
  let most = 0
  for (let step = run.next([]); step.done !== true;) {
    step = run.next(life.tell(step.value))
    most = Math.max(most, heldBy(life.cell, 'research'))
  }
  expect(life.cell.workloads.size).toBe(0)
  expect(most).toBeGreaterThan(256)
  expect(most).toBeLessThanOrEqual(768)
})
