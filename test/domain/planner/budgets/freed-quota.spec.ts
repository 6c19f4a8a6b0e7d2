import { expect, it } from 'vitest'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { budgetPolicy, CellLife, minutes } from '../../../support/cell-life.ts'

const quotaOf = (accelerator: string) => ({
  accelerator,
  devices: { nominal: 4000, borrowing: null, lending: null },
})

it('should try again who lacked room of one class when quota of another comes back, wherever that was held', () => {
  const queues = [
    { name: 'default', ordering: 'greedy', quotas: [quotaOf('x'), quotaOf('y')] },
    { name: 'free', ordering: 'greedy' },
  ] as const
  const life = new CellLife()
    .nodes(1, 4, 'x')
    .nodes(2, 4, 'y')
    .policy(budgetPolicy({ p: 1 }, { queues }))
  const on = (node: 'x' | 'y', devices: number) => ({ request: requestOf({ devices, models: [node], span: 'node' }) })
  life.submit('fills-x', 4, { budget: 'p', queue: 'free', ...on('x', 4) }).tick()
  life.submit('fills-y', 3, { budget: 'p', queue: 'free', ...on('y', 3) }).tick()
  life.submit('holds-quota', 1, { budget: 'p', ...on('y', 1) }).tick()
  life.submit('w', 4, { budget: 'p', request: requestOf({ devices: 4, span: 'node' }) }).tick()
  expect(life.running).toEqual(['fills-x', 'fills-y', 'holds-quota'])
  // One device of a node that has no more comes free; the room for four was there all the time.
  life.at(minutes(1)).end('holds-quota')
  life.tick()
  expect(life.running).toEqual(['fills-x', 'fills-y', 'w'])
})
