import { describe, expect, it } from 'vitest'
import type { DurationMs } from '../../../../domain/kernel/units.ts'
import { fork } from '../../../../domain/planner/cell-snapshot.ts'
import type { QueuePolicy } from '../../../../domain/policy/allocation-policy.ts'
import { defaultUsageOrdering, type UsageOrderingPolicy } from '../../../../domain/policy/quota-policy.ts'
import { positionOf } from '../../../../projections/explain/position.ts'
import { queueOf } from '../../../../projections/explain/queue.ts'
import { hour, minute, type CellLife } from '../../../support/cell-life.ts'
import { kueuePolicy, lifeOf, queue } from './kueue-life.ts'

const hours = (count: number) => (count * hour) as DurationMs
const policyOf = (nominal: number, usageOrdering: Partial<UsageOrderingPolicy> = {}, more: Partial<QueuePolicy> = {}) =>
  kueuePolicy([queue('a', nominal, { withinQueue: 'lowerPriority' }, more)], {
    kueue: { fairSharing: null, loops: 'safe', usageOrdering: { ...defaultUsageOrdering, ...usageOrdering } },
  })
const submit = (life: CellLife, id: string, team: string, kind = 'middle') =>
  life.submit(id, 1, { queue: 'a', class: kind, team })

/** Team `busy` has held the only device for so long when it comes free, and was the first to ask for it again. */
const comesFree = (ranHours: number, policy = policyOf(1)) => {
  const life = lifeOf(policy, 2)
  submit(life, 'holds', 'busy').tick()
  submit(life.at(minute), 'again', 'busy')
  submit(life, 'other', 'idle').tick()
  life.at(ranHours * hour).end('holds')
  return life
}

describe('usage that orders a queue', () => {
  it('should let the team that used less go first, however long the other waits', () => {
    const life = comesFree(10)
    life.tick()
    expect(life.running).toEqual(['other'])
    const plain = comesFree(10, kueuePolicy([queue('a', 1)]))
    plain.tick()
    expect(plain.running).toEqual(['again'])
  })

  it('should go by use over weight, and let a team without weight go last', () => {
    const starts = (teamWeightsMilli: UsageOrderingPolicy['teamWeightsMilli']) => {
      const life = comesFree(10, policyOf(1, { teamWeightsMilli }))
      life.tick()
      life.at(20 * hour).end(life.running[0]!)
      submit(life, 'third', 'busy')
      submit(life, 'fourth', 'idle')
      life.tick()
      return life.running
    }
    expect(starts({ idle: 0 })).toEqual(['third'])
    expect(starts({})).not.toEqual(starts({ idle: 0 }))
  })

  it('should charge each admission before the next, so that teams take turns within one instant', () => {
    const life = lifeOf(policyOf(4), 4)
    for (const id of ['x0', 'x1', 'x2', 'x3']) submit(life, id, 'x')
    for (const id of ['y0', 'y1', 'y2', 'y3']) submit(life, id, 'y')
    life.tick()
    expect(life.running).toEqual(['x0', 'x1', 'y0', 'y1'])
  })

  it('should forget by halves: who used much long ago goes before who used little of late', () => {
    const life = lifeOf(policyOf(1, { halfLifeMs: hours(1) }), 2)
    submit(life, 'long', 'old').tick()
    life.at(10 * hour).end('long')
    submit(life, 'short', 'new').tick()
    life.at(20 * hour).end('short')
    submit(life, 'of-new', 'new')
    submit(life, 'of-old', 'old')
    life.tick()
    expect(life.running).toEqual(['of-old'])
  })

  it('should look again at a strict queue when a sample turns the order, though nothing else happens', () => {
    const strict = policyOf(1, { halfLifeMs: hours(1) }, { ordering: 'fifo' })
    const life = lifeOf(strict, 2)
    submit(life, 'holds', 'busy').tick()
    submit(life.at(1), 'again', 'busy').tick()
    expect(life.cell.kueue!.rest.awakeAt(5 * minute - 1)).toEqual([])
    submit(life.at(2), 'other', 'idle').tick()
    expect(life.cell.kueue!.rest.awakeAt(5 * minute - 1)).toEqual([])
    expect(life.cell.kueue!.rest.awakeAt(5 * minute)).toHaveLength(1)
  })

  it('should evict of the team that used more first', () => {
    const life = lifeOf(policyOf(2), 2)
    submit(life, 'much', 'busy', 'low').tick()
    submit(life.at(10 * hour), 'little', 'idle', 'low').tick()
    submit(life.at(11 * hour), 'high', 'third', 'high').tick()
    expect(life.running).toEqual(['high', 'little'])
  })

  it('should go on under another policy, and be as much to a cell from a snapshot', () => {
    const life = lifeOf(policyOf(1), 2)
    submit(life, 'holds', 'busy').tick()
    life.at(10 * hour).end('holds')
    life.policy(policyOf(1, { samplingMs: (7 * minute) as DurationMs }))
    submit(life, 'again', 'busy')
    submit(life, 'other', 'idle')
    expect(queueOf(fork(life.cell), null, 0)).toEqual(queueOf(life.cell, null, 0))
    life.tick()
    expect(life.running).toEqual(['other'])
  })

  it('should be the order that queue and its positions show, one start after the other', () => {
    const life = lifeOf(policyOf(1), 2)
    submit(life, 'first', 'x').tick()
    life.at(hour)
    for (const [id, team] of Object.entries({ p: 'x', q: 'x', r: 'y', s: 'y', t: 'z', u: 'y' })) submit(life, id, team)
    const shown = queueOf(life.cell, null, 0)!.rows.map(({ workload }) => workload)
    const positions = shown.map((id) => (positionOf(life.cell, id, 10) as { readonly position: number }).position)
    expect(positions).toEqual(shown.map((_, i) => i + 1))
    const started: string[] = []
    for (let next = 'first'; started.length < shown.length; next = started.at(-1)!) {
      life.end(next)
      life.tick()
      started.push(life.running[0]!)
    }
    expect(started).toEqual(shown)
  })
})
