import { either as E } from 'fp-ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { DurationMs } from '../../domain/kernel/units.ts'
import { MemoryLeases } from '../../infra/memory/cell-lease.ts'
import { natsCellLease } from '../../infra/nats/cell-lease.ts'
import { until } from '../support/commands.ts'
import { right } from '../support/events.ts'
import { linkTo, natsKinds, newPrefix, startNatsServer, type NatsServer } from '../support/nats-server.ts'
import { cellLeaseContract } from './cell-lease.contract.ts'

cellLeaseContract('memory', () => {
  const leases = new MemoryLeases()
  return Promise.resolve({
    seenBy: (elapsed) => Promise.resolve(leases.seenBy(elapsed)),
    close: () => Promise.resolve(),
  })
})

for (const { name, program } of natsKinds)
  describe.skipIf(program === null)(name, () => {
    let server: NatsServer
    const closing: (() => Promise<void>)[] = []
    beforeAll(async () => {
      server = await startNatsServer(program!)
    })
    afterEach(async () => {
      for (const close of closing.splice(0)) await close()
    })
    afterAll(() => server.end())
    const linked = async (prefix: string) => {
      const link = await linkTo(`${server.url}?timeout=500&prefix=${prefix}`)
      closing.push(() => link.close())
      return link
    }

    cellLeaseContract('leases in a key-value bucket', () => {
      const prefix = newPrefix()
      return Promise.resolve({
        seenBy: async (elapsed) => natsCellLease(await linked(prefix), elapsed),
        close: () => Promise.resolve(),
      })
    })

    it('should keep leases and fences while the server is killed and comes back', async () => {
      const prefix = newPrefix()
      const link = await linked(prefix)
      const leases = natsCellLease(link)
      const lease = await right(leases.acquire('cell-a', 'a', 60_000 as DurationMs))
      await server.kill()
      await until(() => link.fault !== null)
      expect(await leases.renew(lease)()).toMatchObject({ left: { type: 'BusUnavailable', kind: 'unreachable' } })
      await server.start()
      await until(() => link.fault === null)
      const other = natsCellLease(await linked(prefix))
      expect(await other.acquire('cell-a', 'b', 60_000 as DurationMs)()).toEqual(
        E.left({ type: 'LeaseHeld', by: lease }),
      )
      expect((await right(leases.renew(lease))).fence).toBeGreaterThan(lease.fence)
    })

    it('should go on from its own renewal whose answer was lost', async () => {
      const leases = natsCellLease(await linked(newPrefix()))
      const lease = await right(leases.acquire('cell-a', 'a', 60_000 as DurationMs))
      const lost = await right(leases.renew(lease))
      expect((await right(leases.renew(lease))).fence).toBeGreaterThan(lost.fence)
    })
  })
