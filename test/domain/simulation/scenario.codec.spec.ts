import { expect, it } from 'vitest'
import { decodeScenario } from '../../../domain/simulation/scenario.codec.ts'
import { reasonsOf, rightOf } from '../../support/faults.ts'

const scenario = (spec: object) => ({ kind: 'Scenario', metadata: { name: 'test' }, spec })
const job = { name: 'job', run: '1h', gpus: 1 }
const fleet = [{ gpus: 8 }]

it('should say jobs and nodes one by one', () => {
  const { jobs, nodes } = rightOf(
    decodeScenario(
      scenario({
        fleet: [
          { count: 2, gpus: 8, accelerator: 'h100', gpuMemory: '80Gi', domain: 'r1' },
          { gpus: 4, cpu: 64 },
        ],
        jobs: [
          { ...job, submit: '1m', count: 2, every: '5m', budget: 'lab/vision', preemptible: true, checkpoint: '30m' },
          { ...job, name: 'part', share: 500, accelerators: ['b', 'a'], minInterconnect: 'node', estimate: '2h' },
        ],
      }),
    ),
  )
  expect(nodes.map(({ devices, model, node }) => [node, devices, model])).toEqual([
    ['node-0000', 8, 'h100'],
    ['node-0001', 8, 'h100'],
    ['node-0002', 4, null],
  ])
  expect(nodes[0]).toMatchObject({ deviceMemoryMib: 81_920, domain: 'r1', cpuMilli: null })
  expect(jobs.map(({ estimateMs, id, submitAt }) => [id, submitAt, estimateMs])).toEqual([
    ['job-1', 60_000, null],
    ['job-2', 360_000, null],
    ['part', 0, 7_200_000],
  ])
  expect(jobs[0]).toMatchObject({ team: 'lab', queue: 'default', stated: { budget: 'lab/vision', preemptible: true } })
  expect(jobs[2]!.request).toMatchObject({ milli: 500, models: ['a', 'b'], span: 'node' })
})

it.each([
  [{ fleet, jobs: [] }, 'spec.jobs: has 0 entries'],
  [{ fleet, jobs: [job, job] }, 'spec.jobs[1]: repeats entry 0: job'],
  [
    {
      fleet,
      jobs: [
        { ...job, count: 2 },
        { ...job, name: 'job-2' },
      ],
    },
    'spec.jobs[1].name: job-2 is what one of job',
  ],
  [{ fleet, jobs: [{ ...job, every: '1m' }] }, 'spec.jobs[0].every: says how far apart they come, and there is one'],
  [{ fleet, jobs: [{ ...job, gpus: 0 }] }, 'spec.jobs[0].gpus: 0 GPUs and no CPU or memory'],
  [
    {
      fleet: [
        { count: 60_000, gpus: 8 },
        { count: 60_000, gpus: 8 },
      ],
      jobs: [job],
    },
    'spec.fleet: comes to 120000',
  ],
])('should refuse %j', (spec, reason) => {
  expect(reasonsOf(decodeScenario(scenario(spec))).join('\n')).toContain(reason)
})
