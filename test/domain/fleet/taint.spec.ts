import { expect, it } from 'vitest'
import { repels, type Taint, type Toleration } from '../../../domain/fleet/taint.ts'

const taint: Taint = { key: 'pool', value: 'spot', effect: 'noSchedule' }
const toleration: Toleration = { key: 'pool', operator: 'equal', value: 'spot', effect: 'noSchedule' }

it.each<[string, Partial<Toleration>, boolean]>([
  ['of the same key, value and effect', {}, false],
  ['of any effect', { effect: null }, false],
  ['of the key, whatever its value', { operator: 'exists', value: '' }, false],
  ['of anything', { key: null, operator: 'exists', value: '' }, false],
  ['of any key with the value, which is none', { key: null }, true],
  ['of another value', { value: 'reserved' }, true],
  ['of another key', { key: 'class' }, true],
  ['of another effect', { effect: 'noExecute' }, true],
])('should weigh a toleration %s', (_, more, expected) => {
  expect(repels([taint], [{ ...toleration, ...more }])).toBe(expected)
})

it('should let nobody be kept away by a preference, and everybody by any one other taint', () => {
  expect(repels([{ ...taint, effect: 'preferNoSchedule' }], [])).toBe(false)
  expect(repels([taint, { ...taint, effect: 'noExecute' }], [toleration])).toBe(true)
})
