import { describe, expect, it } from 'vitest'
import { fork } from '../../../../domain/planner/cell-snapshot.ts'
import { decide } from '../../../../domain/planner/decide.ts'
import type { EpochMs } from '../../../../domain/kernel/units.ts'
import type { QueuePolicy } from '../../../../domain/policy/allocation-policy.ts'
import type { CellLife } from '../../../support/cell-life.ts'
import { requestOf } from '../../../support/arbitrary-fleet.ts'
import { devices, kueuePolicy, lifeOf } from './kueue-life.ts'

type Ordering = QueuePolicy['ordering']

/** Two accelerators of four devices each, of which the queue may have all; who needs no quota fills the first one. */
const filled = (ordering: Ordering, nominal = 4): CellLife => {
  const quotas = ['x', 'y'].map((accelerator) => ({ ...devices(nominal), accelerator }))
  const policy = kueuePolicy([
    { name: 'a', ordering, quotas },
    { name: 'free', ordering: 'greedy' },
  ])
  const life = lifeOf(policy, 0).nodes(2, 2, 'x').nodes(2, 2, 'y')
  life.submit('filler', 4, {
    queue: 'free',
    class: 'middle',
    request: requestOf({ devices: 4, models: ['x'], span: 'anywhere' }),
  })
  life.tick()
  return life
}
/** The quota of the next accelerator is taken as well when `two` comes. */
const withoutQuota = (ordering: Ordering): CellLife => {
  const life = filled(ordering)
  const request = requestOf({ devices: 3, models: ['y'], span: 'anywhere' })
  life.at(1).submit('one', 3, { queue: 'a', class: 'middle', request })
  life.at(2).submit('two', 2, { queue: 'a', class: 'middle' }).tick()
  return life
}
const modelsOf = (life: CellLife, id: string) =>
  new Set((life.cell.workloads.get(id)!.run?.parts ?? []).map(({ node }) => life.cell.fleet.nodes[node]!.model))

describe.each<Ordering>(['greedy', 'fifo'])('a %s queue whose first accelerator has quota and no room', (ordering) => {
  it('should start its head on the next one', () => {
    const life = filled(ordering)
    life.at(1).submit('w', 2, { queue: 'a', class: 'middle' }).tick()
    expect(modelsOf(life, 'w')).toEqual(new Set(['y']))
  })

  it('should say what is lacking of the first where the next has no quota, and look again when it is there', () => {
    const life = withoutQuota(ordering)
    expect(life.reason('two')).toBe('WaitingForCapacity')
    life.at(3).end('filler')
    life.tick()
    expect(modelsOf(life, 'two')).toEqual(new Set(['x']))
  })

  it('should begin with the first again at the next instant: nothing is left to remember between two', () => {
    const life = withoutQuota(ordering)
    life.at(3).end('filler').end('one')
    const tick = { type: 'Ticked', at: 3 as EpochMs, data: {} } as const
    expect(decide(tick, fork(life.cell))).toEqual(decide(tick, life.cell))
    life.tick()
    expect(modelsOf(life, 'two')).toEqual(new Set(['x']))
  })
})
