import { either as E } from 'fp-ts'
import { expect, it, vi } from 'vitest'
import type { DurationMs } from '../../../domain/kernel/units.ts'
import type { BusUnavailable } from '../../../domain/ports/bus-unavailable.ts'
import type { CellLease } from '../../../domain/ports/cell-lease.ts'
import { MemoryLeases } from '../../../infra/memory/cell-lease.ts'
import { HeldLease } from '../../../services/decide/held-lease.ts'
import { right } from '../../support/events.ts'

const cell = 'cell-a'
const ttlMs = 150 as DurationMs
const elapsed = () => performance.now()
const away: BusUnavailable = { type: 'BusUnavailable', kind: 'unreachable', reason: 'away', mend: 'wait' }
const never = () => {
  throw new Error('it is not lost')
}

/** Whoever acquires holds the lease before the test goes on. */
const held = async (leases: CellLease, holder: string, more: Partial<Parameters<typeof HeldLease.acquire>[0]> = {}) =>
  right(() => HeldLease.acquire({ leases, cell, holder, ttlMs, lost: never, ...more }))

it('should keep a lease for as long as it is wanted, and give it to whoever waits when it is let go of', async () => {
  const leases = new MemoryLeases()
  const first = await held(leases.seenBy(elapsed), 'one')
  const waitedFor: string[] = []
  const waiting = held(leases.seenBy(elapsed), 'two', { waiting: (by) => waitedFor.push(by.holder) })
  await new Promise((resolve) => setTimeout(resolve, 5 * ttlMs))
  expect(waitedFor).toEqual(['one'])
  await first!.release()
  const second = await waiting
  expect(await right(leases.seenBy(elapsed).current(cell))).toMatchObject({ holder: 'two' })
  await second!.release()
  expect(await right(leases.seenBy(elapsed).current(cell))).toBeNull()
})

it('should get the lease of one that has fallen silent, which is told that it is lost', async () => {
  const leases = new MemoryLeases()
  const lost = vi.fn()
  const cut: CellLease = leases.seenBy(elapsed)
  let isCut = false
  const first = await held(
    { ...cut, renew: (lease) => (isCut ? () => Promise.resolve(E.left(away)) : cut.renew(lease)) },
    'one',
    { lost },
  )
  isCut = true
  const second = await held(leases.seenBy(elapsed), 'two')
  expect(lost).not.toHaveBeenCalled()
  isCut = false
  await vi.waitFor(() => {
    expect(lost).toHaveBeenCalledWith(expect.objectContaining({ holder: 'two' }))
  })
  // It takes nothing from whoever has it now.
  await first!.release()
  expect(await right(leases.seenBy(elapsed).current(cell))).toMatchObject({ holder: 'two' })
  await second!.release()
})

it('should say at first that the bus is away, and give up when it is told to', async () => {
  const leases = new MemoryLeases()
  const unreachable = { ...leases.seenBy(elapsed), acquire: () => () => Promise.resolve(E.left(away)) }
  expect(await HeldLease.acquire({ leases: unreachable, cell, holder: 'one', lost: never })).toEqual(E.left(away))
  const first = await held(leases.seenBy(elapsed), 'one')
  const giveUp = new AbortController()
  const waiting = held(leases.seenBy(elapsed), 'two', { signal: giveUp.signal })
  await new Promise((resolve) => setTimeout(resolve, ttlMs))
  giveUp.abort()
  expect(await waiting).toBeNull()
  await first!.release()
})
