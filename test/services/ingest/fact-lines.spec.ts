import { expect, it } from 'vitest'
import { gathered, type FactLine } from '../../../services/ingest/fact-lines.ts'

const lines = (...texts: ReadonlyArray<string>): ReadonlyArray<FactLine> => texts.map((text) => ({ text }))

/** Sockets are read between turns: so does this give one batch in each. */
async function* coming(batches: ReadonlyArray<ReadonlyArray<FactLine>>, end: () => Promise<void>) {
  for (const batch of batches) {
    yield batch
    await new Promise(setImmediate)
  }
  await end()
}
const ends = (): Promise<void> => Promise.resolve()

const sizesOf = async (batches: AsyncGenerator<ReadonlyArray<FactLine>>): Promise<ReadonlyArray<number>> => {
  const sizes: number[] = []
  for await (const batch of batches) sizes.push(batch.length)
  return sizes
}

it('should hand on together what has come by now, in its order', async () => {
  const all: FactLine[] = []
  let batches = 0
  for await (const batch of gathered(coming([lines('a', 'b'), lines('c'), lines('d')], ends))) {
    all.push(...batch)
    batches++
  }
  expect(all).toEqual(lines('a', 'b', 'c', 'd'))
  expect(batches).toBe(1)
})

it('should hand on no more than so many lines, or so long ones, at once', async () => {
  const many = Array.from({ length: 25 }, () => lines(...Array.from({ length: 100 }, (_, i) => `${i}`)))
  expect(await sizesOf(gathered(coming(many, ends)))).toEqual([1_000, 1_000, 500])
  const long = Array.from({ length: 5 }, () => lines('x'.repeat(600_000)))
  expect(await sizesOf(gathered(coming(long, ends)))).toEqual([2, 2, 1])
})

it('should not wait for what has not come, and end without it when nobody wants more', async () => {
  const batches = gathered(coming([lines('a')], () => new Promise(() => undefined)))
  expect(await batches.next()).toEqual({ done: false, value: lines('a') })
  expect(await batches.return(undefined)).toEqual({ done: true, value: undefined })
})

it('should hand on what came before a fault, and then the fault', async () => {
  const batches = gathered(coming([lines('a'), lines('b')], () => Promise.reject(new Error('aborted'))))
  expect(await batches.next()).toEqual({ done: false, value: lines('a', 'b') })
  await expect(batches.next()).rejects.toThrow('aborted')
})
