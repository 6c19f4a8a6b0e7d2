import { describe, expect, it } from 'vitest'
import { decoding } from '../../../domain/kernel/document.ts'
import { canonicalPolicy, decodedPolicy, decodePolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { reasonsOf, rightOf } from '../../support/faults.ts'

describe('what is left unsaid', () => {
  it('should leave no trace where only defaults are written out', () => {
    const spec = {
      sharing: 'budgets',
      topology: {},
      contract: { minRuntimeMax: '2h' },
      limits: { preemptionsPerTeamHour: 20, lossMax: 'unlimited' },
      caps: { perTeam: 'unlimited' },
      kueue: { loops: 'safe' },
      fairTree: { halfLife: '7d' },
      queues: [{ name: 'default', fairWeight: 1, preemption: {}, fungibility: {} }],
    }
    expect(canonicalPolicy(rightOf(decodePolicy({ spec })))).toBe(canonicalPolicy(rightOf(decodePolicy({}))))
  })
  it('should follow from names that are known', () => {
    const names = ['A100-80GB', 'h100', 'b300-288gb', 'l40s']
    const { accelerators, classes } = rightOf(
      decodePolicy({
        spec: {
          accelerators: names.map((name) => ({ name })),
          classes: [{ name: 'debug' }, { name: 'evaluation', bound: '10m' }, { name: 'toString' }],
        },
      }),
    )
    expect(accelerators?.map(({ milliUnits, models }) => [milliUnits, ...models])).toEqual([
      [315, 'A100-80GB'],
      [1000, 'h100'],
      [2274, 'b300-288gb'],
      [1000, 'l40s'],
    ])
    expect(classes?.map(({ boundMs, reserveAfterMs }) => [boundMs, reserveAfterMs])).toEqual([
      [300_000, 150_000],
      [600_000, 300_000],
      [86_400_000, 43_200_000],
    ])
  })
})

it('should hold the stored form to the same rules between its parts', () => {
  const stored: unknown = {
    ...JSON.parse(canonicalPolicy(rightOf(decodePolicy({})))),
    cohorts: [{ fairWeightMilli: 1000, name: 'a', parent: 'a', quotas: [] }],
  }
  expect(reasonsOf(decoding(decodedPolicy)(stored))).toEqual(['cohorts[0].parent: goes round in a circle: a > a'])
})
