import { expect, it } from 'vitest'
import { scoped } from '../support/scope.ts'
import { runWorld } from './world.ts'

/** One seed alone, to look at it: LEASEHOLD_SIMULATION_SEED=17 npx vitest run test/simulation */
const wanted = process.env['LEASEHOLD_SIMULATION_SEED']
const seeds = scoped(1_000, 10_000)
const perTest = 100

const chunks =
  wanted === undefined
    ? Array.from({ length: Math.ceil(seeds / perTest) }, (_, i) => [i * perTest, Math.min(seeds, (i + 1) * perTest)])
    : [[Number(wanted), Number(wanted) + 1]]

it.each(chunks)(
  'should lose nothing, do nothing twice and come to rest with seeds from %i to below %i',
  async (from, to) => {
    const failed: unknown[] = []
    const sum = { kills: 0, starts: 0, evictions: 0 }
    for (let seed = from; seed < to; seed++) {
      const { wrong, kills, starts, evictions } = await runWorld(seed)
      sum.kills += kills
      sum.starts += starts
      sum.evictions += evictions
      if (wrong.length > 0) failed.push({ seed, wrong })
    }
    expect(failed).toEqual([])
    // What nothing happens in proves nothing.
    if (wanted === undefined) for (const count of Object.values(sum)) expect(count).toBeGreaterThan((to - from) / 10)
  },
  600_000,
)

it('should go the same way whenever a seed is run', async () => {
  for (const seed of [1, 2, 3]) expect(await runWorld(seed)).toEqual(await runWorld(seed))
})
