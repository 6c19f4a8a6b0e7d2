import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import { appendQueue } from '../../../infra/chain/append-queue.ts'
import { newEvents } from '../../support/events.ts'

it('should answer every append of a flush that broke off, and go on with the next', async () => {
  let flushes = 0
  const queue = appendQueue((batch) => {
    if (++flushes === 1) throw new TypeError('a bug')
    return batch.map(({ events }) => E.right({ revision: events.length - 1, position: events.length - 1 }))
  })
  const broken = await Promise.all([1, 2].map((n) => queue.append('cell', -1, newEvents(`a${n}`, n))()))
  const fault = { type: 'LogUnavailable', kind: 'input-output', reason: 'the flush broke off: TypeError: a bug' }
  expect(broken).toMatchObject([E.left(fault), E.left(fault)])
  expect(await queue.append('cell', -1, newEvents('b', 3))()).toEqual(E.right({ revision: 2, position: 2 }))
  await queue.close()
  expect(await queue.append('cell', 2, newEvents('c', 1))()).toMatchObject(E.left({ kind: 'closed' }))
})
