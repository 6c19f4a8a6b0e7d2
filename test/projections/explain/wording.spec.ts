import { expect, it } from 'vitest'
import { gpuHoursText, leaseText, wrapped } from '../../../projections/explain/wording.ts'

it('should tell few GPU-hours to as many digits as the ratios made of them', () => {
  expect([67, 9_999, 16_584, 746_321].map(gpuHoursText)).toEqual(['0.067', '9.999', '16.58', '746'])
})

it('should call several devices devices', () => {
  const lease = { node: 'n1', memoryMib: 0, milli: 1_000 }
  expect(leaseText({ ...lease, devices: [0, 1, 2] })).toBe('on n1: devices 0, 1, 2')
  expect(leaseText({ ...lease, devices: [3], milli: 250 })).toBe('on n1: device 3, 250 thousandths of it')
})

it('should break at blanks, keep the margin of the first line and indent the others', () => {
  expect(wrapped('  on node-1: devices 0, 1', 14, 4)).toBe('  on node-1:\n    devices 0,\n    1')
  expect(wrapped('Rule       spec.queues, policy', 24, 11)).toBe('Rule       spec.queues,\n           policy')
  expect(wrapped('averylongword', 5, 2)).toBe('averylongword')
})
