import { either as E } from 'fp-ts'
import { expect, it } from 'vitest'
import { Retried } from '../../../infra/host/retried.ts'
import { within } from '../../../infra/host/within.ts'

it('should tell why it cannot be had, and try until it can', async () => {
  let attempts = 0
  const kept = new Retried<string, number>(
    () => Promise.resolve(++attempts < 3 ? E.left(`no ${attempts}`) : E.right(7)),
    'not yet',
  )
  expect(kept.current).toEqual(E.left('not yet'))
  await kept.tried
  expect(kept.current).toEqual(E.left('no 1'))
  await expect.poll(() => kept.current, { timeout: 5_000 }).toEqual(E.right(7))
  expect(await kept.stop()).toEqual(E.right(7))
})

it('should stop at once while it waits to try again', async () => {
  const kept = new Retried<string, number>(() => Promise.resolve(E.left('no')), 'not yet')
  await kept.tried
  expect(await Promise.race([kept.stop(), new Promise((resolve) => setTimeout(resolve, 400, 'late'))])).toEqual(
    E.left('no'),
  )
})

it('should wait for work no longer than it may', async () => {
  await within(10, new Promise(() => undefined))
  await within(60_000, Promise.reject(new Error('it failed')))
})
