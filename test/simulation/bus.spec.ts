import { expect, it } from 'vitest'
import { scoped } from '../support/scope.ts'
import { runBusWorld } from './bus-world.ts'

const seeds = scoped(200, 2_000)

it(`should record and tell what lies on a bus, each once and in order, under kills and faults, for ${seeds} seeds`, async () => {
  const failed: unknown[] = []
  const sum = { kills: 0, repeated: 0 }
  for (let seed = 1; seed <= seeds; seed++) {
    const { wrong, kills, repeated } = await runBusWorld(seed)
    sum.kills += kills
    sum.repeated += repeated
    if (wrong.length > 0) failed.push({ seed, wrong })
  }
  expect(failed).toEqual([])
  expect(sum.kills).toBeGreaterThan(seeds)
  expect(sum.repeated).toBeGreaterThan(seeds / 10)
}, 300_000)
