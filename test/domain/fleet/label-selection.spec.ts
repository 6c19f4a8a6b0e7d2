import { expect, it } from 'vitest'
import { maySelect, selects, type LabelSelection } from '../../../domain/fleet/label-selection.ts'

const node = { zone: 'a', type: 'fast' }
const selection = (more: Partial<LabelSelection>): LabelSelection => ({ labels: {}, terms: [], ...more })
const inZone = (...values: string[]) => ({ key: 'zone', op: 'in', values }) as const
const notInZone = (...values: string[]) => ({ key: 'zone', op: 'notIn', values }) as const
const onRack = (...values: string[]) => ({ key: 'rack', op: 'in', values }) as const

it.each<[string, Partial<LabelSelection>, boolean, boolean]>([
  ['nothing', {}, true, true],
  ['labels that it carries', { labels: { zone: 'a', type: 'fast' } }, true, true],
  ['another value', { labels: { zone: 'b' } }, false, false],
  ['a label that it does not carry', { labels: { rack: 'r1' } }, false, true],
  ['a key of every object', { labels: { constructor: 'x' } }, false, true],
  ['one of several values', { terms: [[inZone('b', 'a')]] }, true, true],
  ['other values', { terms: [[inZone('b', 'c')]] }, false, false],
  ['none of some values', { terms: [[notInZone('b')]] }, true, true],
  ['none of values that it has', { terms: [[notInZone('a')]] }, false, false],
  ['a missing label not to have a value', { terms: [[{ ...onRack('r1'), op: 'notIn' }]] }, true, true],
  ['all conditions of a term', { terms: [[inZone('a'), { key: 'type', op: 'in', values: ['slow'] }]] }, false, false],
  ['one of several terms', { terms: [[inZone('b')], [inZone('a')]] }, true, true],
  ['a term of which nothing is known', { terms: [[inZone('b')], [onRack('r1')]] }, false, true],
  ['a term that is half known', { terms: [[inZone('b'), onRack('r1')]] }, false, false],
])('should take %s of a node, and of a kind of nodes', (_, more, ofNode, ofKind) => {
  expect([selects(selection(more), node), maySelect(selection(more), node)]).toEqual([ofNode, ofKind])
})
