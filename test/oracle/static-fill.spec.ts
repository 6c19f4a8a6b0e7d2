import { expect, it } from 'vitest'
import { machinesOf, podsOf } from '../support/oracle/files.ts'
import { fills, firstUnplaced } from '../support/oracle/published.ts'
import { fillSlowly } from '../support/oracle/static-fill.ts'
import { describeOnData, sharedData } from '../support/shared-data.ts'
import { openb, rounded, simulated, type Simulated } from '../support/simulated.ts'

const nodeList = (list: 'all' | 'gpu') => sharedData(`openb/openb_node_list_${list}_node.csv`)
const fill = (list: string, nodes: 'all' | 'gpu', placement: string, ...more: ReadonlyArray<string>) =>
  simulated([...openb(list), '--node-list', nodeList(nodes), '--static-fill', '--placement', placement, ...more])

describeOnData('a static fill of openb', () => {
  it.each(fills)('should be as published: %s nodes, %s, %s fit', async (nodes, list, rule, ...row) => {
    const filled = await fill(list, nodes, `${rule}-fit`)
    expect([
      filled.placed,
      filled.unplaced,
      filled.unplacedMilli,
      filled.allocatedMilli,
      rounded(filled.share, 6),
      filled.freeGpus,
      filled.partialGpus,
      filled.partialFreeMilli,
      filled.free8GpuNodes,
    ]).toEqual(row)
    const slow = fillSlowly(podsOf(sharedData(`openb/openb_pod_list_${list}.csv`)), machinesOf(nodeList(nodes)), rule)
    expect(filled.firstUnplaced).toBe(slow.firstUnplaced)
    const published = firstUnplaced.get(`${nodes} ${list} ${rule}`)
    if (published !== undefined) expect(filled.firstUnplaced).toBe(published)
    expect(filled).toMatchObject({ jobs: filled.placed! + filled.unplaced! })
  })

  it('should keep scarce models for those that need them', async () => {
    const unplaced = async (placement: string) => (await fill('gpuspec33', 'all', placement)).unplaced
    const [first, best, aware] = [
      await unplaced('first-fit'),
      await unplaced('best-fit'),
      await unplaced('model-aware'),
    ]
    console.log(`gpuspec33, unplaced: first-fit ${first}, best-fit ${best}, model-aware ${aware}`)
    expect([first, best]).toEqual([408, 1447])
    expect(aware).toBeLessThanOrEqual(420)
  })

  it('should allocate with FGD what was published, beside best-fit and random', { timeout: 180_000 }, async () => {
    const seeds = Array.from({ length: 10 }, (_, i) => 42 + i)
    const loaded = async (placement: string): Promise<ReadonlyArray<Simulated>> => {
      const runs: Simulated[] = []
      for (const seed of seeds)
        runs.push(await fill('default', 'all', placement, '--load-to', '1.3', '--seed', String(seed)))
      return runs
    }
    const shares = async (placement: string) => (await loaded(placement)).map(({ share }) => share! * 100)
    const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
    const [fgd, best, random] = [await shares('fgd'), await shares('best-fit'), await shares('random')]
    const told = (values: ReadonlyArray<number>) =>
      `mean ${mean(values).toFixed(2)}, least ${Math.min(...values).toFixed(2)}`
    console.log(
      `openb default at 1.3, seeds 42-51, % allocated: FGD ${told(fgd)} (published 95.39); ` +
        `best-fit ${told(best)} (93.08); random ${told(random)} (87.47)`,
    )
    expect(mean(fgd)).toBeGreaterThanOrEqual(95)
    expect(Math.min(...fgd)).toBeGreaterThanOrEqual(94.8)
    for (const [i, share] of fgd.entries()) expect(share).toBeGreaterThan(best[i]!)
    for (const [i, share] of best.entries()) expect(share).toBeGreaterThan(random[i]!)
  })
})
