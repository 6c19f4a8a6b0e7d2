import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import type { CellFact } from '../../../domain/planner/cell-event.codec.ts'
import { cellEventVersions } from '../../../domain/planner/cell-event.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { digestOf } from '../../../infra/chain/log-digest.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { CellWriter } from '../../../services/decide/cell-writer.ts'
import { verifyReplay } from '../../../services/replay/verify.ts'
import { contraryFacts } from '../../support/contrary-facts.ts'
import { right } from '../../support/events.ts'
import { scoped } from '../../support/scope.ts'

const stream = 'cell-default'
const recording = { stream, source: 'test', actor: 'test', recordTime: (at: EpochMs) => at }

/** @param reopens whether another writer takes over after each fact */
const written = async (facts: ReadonlyArray<CellFact>, reopens: boolean) => {
  const log = memoryEventLog()
  const open = () => right(() => CellWriter.open(log, recording))
  let writer = await open()
  let taken = 0
  for (const { id, ...input } of facts) {
    if (E.isRight(writer.take(input, id))) taken += 1
    if (!reopens) continue
    await right(() => writer.flush())
    writer = await open()
  }
  await right(() => writer.flush())
  return { log, taken }
}

it('should come to the same, whatever comes and wherever it is interrupted, and to the same again in a replay', async () => {
  let taken = 0
  const decided = new Map<string, number>()
  for (let seed = 1; seed <= scoped(100, 600); seed++) {
    const facts = contraryFacts(seed)
    const whole = await written(facts, false)
    const parts = await written(facts, true)
    expect(await right(digestOf(parts.log)), `seed ${seed}`).toBe(await right(digestOf(whole.log)))
    expect(await right(() => verifyReplay(whole.log, stream)), `seed ${seed}`).toMatchObject({ ok: true })
    taken += whole.taken
    for (const event of await right(whole.log.readAll(0, 10_000)))
      decided.set(event.message.type, (decided.get(event.message.type) ?? 0) + 1)
  }
  expect(taken).toBeGreaterThan(1_000)
  for (const type of Object.keys(cellEventVersions)) expect(decided.get(type) ?? 0, type).toBeGreaterThan(0)
})
