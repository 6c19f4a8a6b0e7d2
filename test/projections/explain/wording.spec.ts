import { expect, it } from 'vitest'
import { gpuHoursText, leaseText } from '../../../projections/explain/wording.ts'

it('should tell few GPU-hours to as many digits as the ratios made of them', () => {
  expect([67, 9_999, 16_584, 746_321].map(gpuHoursText)).toEqual(['0.067', '9.999', '16.58', '746'])
})

it('should call several devices devices', () => {
  const lease = { node: 'n1', memoryMib: 0, milli: 1_000 }
  expect(leaseText({ ...lease, devices: [0, 1, 2] })).toBe('on n1: devices 0, 1, 2')
  expect(leaseText({ ...lease, devices: [3], milli: 250 })).toBe('on n1: device 3, 250 thousandths of it')
})
