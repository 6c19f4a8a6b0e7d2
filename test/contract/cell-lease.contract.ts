import { either as E } from 'fp-ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { DurationMs } from '../../domain/kernel/units.ts'
import type { CellLease } from '../../domain/ports/cell-lease.ts'
import type { Elapsed } from '../../infra/host/lease-silence.ts'
import { right } from '../support/events.ts'

/** A place for leases, and how a decider sees it, each by a clock and over a connection of its own. */
export interface LeasePlace {
  readonly seenBy: (elapsed: Elapsed) => Promise<CellLease>
  readonly close: () => Promise<void>
}

const ttlMs = 10_000 as DurationMs

export const cellLeaseContract = (name: string, place: () => Promise<LeasePlace>): void => {
  describe(name, () => {
    const closing: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const close of closing.splice(0)) await close()
    })
    const opened = async () => {
      const leases = await place()
      closing.push(leases.close)
      const decider = async () => {
        const clock = { ms: 0 }
        return { clock, leases: await leases.seenBy(() => clock.ms) }
      }
      return { decider, a: await decider(), b: await decider() }
    }

    it('should give a cell to one, tell others who has it, and give each its own of several cells', async () => {
      const { a, b } = await opened()
      expect(await right(a.leases.current('cell-a'))).toBe(null)
      const lease = await right(a.leases.acquire('cell-a', 'a', ttlMs))
      expect(lease).toMatchObject({ cell: 'cell-a', holder: 'a', ttlMs })
      expect(await b.leases.acquire('cell-a', 'b', ttlMs)()).toEqual(E.left({ type: 'LeaseHeld', by: lease }))
      expect(await right(b.leases.current('cell-a'))).toEqual(lease)
      expect(await right(b.leases.acquire('cell.b/*> ä', 'b', ttlMs))).toMatchObject({ holder: 'b' })
    })

    it('should raise the fence with every renewal, and know a lease by its last', async () => {
      const { a, b } = await opened()
      const first = await right(a.leases.acquire('cell-a', 'a', ttlMs))
      const second = await right(a.leases.renew(first))
      const third = await right(a.leases.renew(second))
      expect(first.fence).toBeLessThan(second.fence)
      expect(second.fence).toBeLessThan(third.fence)
      expect(await right(b.leases.current('cell-a'))).toEqual(third)
    })

    it('should give to another what has been silent for its time, and refuse who had it', async () => {
      const { a, b } = await opened()
      const old = await right(a.leases.acquire('cell-a', 'a', ttlMs))
      expect(E.isLeft(await b.leases.acquire('cell-a', 'b', ttlMs)())).toBe(true)
      b.clock.ms = ttlMs - 1
      expect(E.isLeft(await b.leases.acquire('cell-a', 'b', ttlMs)())).toBe(true)
      b.clock.ms = ttlMs
      const taken = await right(b.leases.acquire('cell-a', 'b', ttlMs))
      expect(taken.fence).toBeGreaterThan(old.fence)
      expect(await a.leases.renew(old)()).toEqual(E.left({ type: 'LeaseLost', by: taken }))
      await right(a.leases.release(old))
      expect(await right(a.leases.current('cell-a'))).toEqual(taken)
    })

    it('should count silence from the last renewal that was seen', async () => {
      const { a, b } = await opened()
      let lease = await right(a.leases.acquire('cell-a', 'a', ttlMs))
      for (let turn = 0; turn < 5; turn++) {
        expect(E.isLeft(await b.leases.acquire('cell-a', 'b', ttlMs)())).toBe(true)
        b.clock.ms += ttlMs - 1
        lease = await right(a.leases.renew(lease))
      }
      expect(await right(b.leases.current('cell-a'))).toEqual(lease)
    })

    it('should compare no two clocks: one set forward by an hour, or who comes late, takes nothing that is alive', async () => {
      const { a, b, decider } = await opened()
      a.clock.ms = 3_600_000
      const lease = await right(a.leases.acquire('cell-a', 'a', ttlMs))
      b.clock.ms = 7_200_000
      expect(await b.leases.acquire('cell-a', 'b', ttlMs)()).toEqual(E.left({ type: 'LeaseHeld', by: lease }))
      const late = await decider()
      late.clock.ms = 10 * ttlMs
      expect(E.isLeft(await late.leases.acquire('cell-a', 'late', ttlMs)())).toBe(true)
      a.clock.ms = 0
      expect(E.isRight(await a.leases.renew(lease)())).toBe(true)
    })

    it('should give at once what was let go of, under a higher fence', async () => {
      const { a, b } = await opened()
      const lease = await right(a.leases.acquire('cell-a', 'a', ttlMs))
      await right(a.leases.release(lease))
      expect(await right(a.leases.current('cell-a'))).toBe(null)
      const next = await right(b.leases.acquire('cell-a', 'b', ttlMs))
      expect(next.fence).toBeGreaterThan(lease.fence)
      expect(await a.leases.renew(lease)()).toEqual(E.left({ type: 'LeaseLost', by: next }))
    })

    it('should give it to one of many that ask at once, also where it is taken over', async () => {
      const { a, decider } = await opened()
      await right(a.leases.acquire('cell-a', 'a', ttlMs))
      const many = await Promise.all(Array.from({ length: 8 }, decider))
      const ask = () => Promise.all(many.map(({ leases }, i) => leases.acquire('cell-a', `m-${i}`, ttlMs)()))
      expect((await ask()).filter(E.isRight)).toEqual([])
      for (const { clock } of many) clock.ms = ttlMs
      const answers = await ask()
      const got = answers.filter(E.isRight)
      expect(got).toHaveLength(1)
      for (const answer of answers)
        if (E.isLeft(answer)) expect(answer.left).toEqual({ type: 'LeaseHeld', by: got[0]!.right })
    })

    it('should give a holder that comes again its lease at once, and refuse the one that it was before', async () => {
      const { a, b } = await opened()
      const before = await right(a.leases.acquire('cell-a', 'a', ttlMs))
      const again = await right(b.leases.acquire('cell-a', 'a', ttlMs))
      expect(again.fence).toBeGreaterThan(before.fence)
      expect(await a.leases.renew(before)()).toEqual(E.left({ type: 'LeaseLost', by: again }))
    })
  })
}
