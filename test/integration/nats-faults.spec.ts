import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, connect as connectTo, type Server, type Socket } from 'node:net'
import { either as E } from 'fp-ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../domain/kernel/units.ts'
import { encodeCommand } from '../../domain/planner/command-event.ts'
import type { BusUnavailable } from '../../domain/ports/bus-unavailable.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CommandHandled } from '../../domain/ports/command-source.ts'
import { memoryConcludedCommands } from '../../infra/memory/concluded-commands.ts'
import { natsCellLease } from '../../infra/nats/cell-lease.ts'
import { NatsLink } from '../../infra/nats/link.ts'
import { parseNatsUrl } from '../../infra/nats/place.ts'
import { streamName } from '../../infra/nats/streams.ts'
import { ended, factIn } from '../contract/command-bus.contract.ts'
import { commandOf, until } from '../support/commands.ts'
import { right } from '../support/events.ts'
import { natsBus } from '../support/nats-bus.ts'
import { linkTo, natsKinds, newPrefix, startNatsServer } from '../support/nats-server.ts'

const clock: Clock = { now: () => Date.now() as EpochMs }
const done: CommandHandled = { outcome: 'done', reason: null }
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

for (const { name, program } of natsKinds)
  describe.skipIf(program === null)(`NATS under faults: ${name}`, () => {
    const closing: (() => Promise<unknown>)[] = []
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close()
    })
    const server = async (given: Parameters<typeof startNatsServer>[1] = {}) => {
      const started = await startNatsServer(program!, given)
      closing.push(started.end)
      return started
    }
    const link = async (url: string, told: (fault: BusUnavailable | null) => void = () => undefined) => {
      const opened = await linkTo(`${url}${url.includes('?') ? '&' : '?'}timeout=500`, { told })
      closing.push(() => opened.close())
      return opened
    }
    /** Takes outcomes, each at least once. */
    const listening = (bus: ReturnType<typeof natsBus>) => {
      const seen = new Map<string, number>()
      const delivery = bus.outcomeSource.subscribe('cell-a', (lines) => {
        for (const line of lines) seen.set(factIn(line).id, (seen.get(factIn(line).id) ?? 0) + 1)
        return Promise.resolve(E.right(undefined))
      })
      closing.push(() => delivery.stop())
      return seen
    }

    it('should lose nothing and handle each once while the server is killed and comes back, three times', async () => {
      const nats = await server()
      const bus = natsBus(await link(`${nats.url}?prefix=${newPrefix()}`), clock)
      const handled = new Map<string, number>()
      const delivery = bus.source(memoryConcludedCommands()).subscribe('cell-a', 'slurm', async ({ workload }) => {
        handled.set(workload, (handled.get(workload) ?? 0) + 1)
        await wait(1)
        return done
      })
      closing.push(() => delivery.stop())
      const seen = listening(bus)
      const sink = bus.sink('slurm')
      const count = 1_500
      let sent = 0
      const sending = (async () => {
        for (let i = 0; i < count; i += 50) {
          const batch = Array.from({ length: 50 }, (_, k) => commandOf(`job-${i + k}`))
          // As dispatch does: what was not taken is sent again.
          for (let waiting = batch; waiting.length > 0;) {
            const answers = await Promise.all(waiting.map((command) => sink.send(command)()))
            waiting = waiting.filter((_, k) => E.isLeft(answers[k]!))
            if (waiting.length > 0) await wait(50)
          }
          sent += 50
        }
      })()
      for (const at of [300, 700, 1_100]) {
        await until(() => sent >= at, 60_000)
        await nats.kill()
        await wait(200)
        await nats.start()
      }
      await sending
      await until(() => seen.size === count, 60_000)
      expect([...handled.values()].filter((times) => times !== 1)).toEqual([])
      expect(handled.size).toBe(count)
    })

    it('should go on by itself when the connection is cut, and say so meanwhile', async () => {
      const nats = await server()
      const proxy = await cuttable(nats.port)
      closing.push(proxy.end)
      const told: (string | null)[] = []
      const bus = natsBus(
        await link(`nats://127.0.0.1:${proxy.port}?prefix=${newPrefix()}`, (fault) => told.push(fault?.kind ?? null)),
        clock,
      )
      const seen = listening(bus)
      const facts = Array.from({ length: 200 }, (_, i) => ended(`job-${i}`))
      for (let i = 0; i < facts.length; i += 20) {
        if (i % 60 === 20) proxy.cut()
        for (
          let tries = 0;
          E.isLeft(await bus.outcomeSink.tell('cell-a', 'slurm', facts.slice(i, i + 20))());
          tries++
        ) {
          if (tries > 200) throw new Error('it does not come back')
          await wait(50)
        }
      }
      await until(() => seen.size === facts.length)
      expect(told).toContain('unreachable')
      expect(told.at(-1)).toBe(null)
    })

    it('should give the command of a process that is gone to the next one, and keep one that kills each of them', async () => {
      const nats = await server()
      const url = `${nats.url}?prefix=${newPrefix()}`
      const here = natsBus(await link(url), clock, { ackWaitMs: 300 })
      await right(here.sink('slurm').send(commandOf('poison')))
      const begun: string[] = []
      for (let life = 0; life < 3; life++) {
        // A process that ends in the middle: it never answers and says no more that it works.
        const opened = await linkTo(url)
        const dying = natsBus(opened, clock, { ackWaitMs: 300 })
        const delivery = dying.source(memoryConcludedCommands()).subscribe('cell-a', 'slurm', ({ workload }) => {
          begun.push(workload)
          return new Promise(() => undefined)
        })
        await until(() => begun.length === life + 1)
        await delivery.stop()
        await opened.close()
      }
      await right(here.sink('slurm').send(commandOf('good')))
      const delivery = here.source(memoryConcludedCommands()).subscribe('cell-a', 'slurm', ({ workload }) => {
        begun.push(workload)
        return Promise.resolve(done)
      })
      closing.push(() => delivery.stop())
      await until(async () => (await here.deadLetters()).length === 1)
      expect((await here.deadLetters())[0]).toMatchObject({ origin: 'cmd', reason: '3 deliveries were not answered' })
      await until(() => begun.includes('good'))
      expect(begun).toEqual(['poison', 'poison', 'poison', 'good'])
    })

    it('should keep what takes long to the one who works on it, well beyond the wait of the server', async () => {
      const nats = await server()
      const bus = natsBus(await link(`${nats.url}?prefix=${newPrefix()}`), clock, { ackWaitMs: 300 })
      await right(bus.sink('slurm').send(commandOf('slow')))
      let begun = 0
      const handle = async (): Promise<CommandHandled> => {
        begun++
        await wait(1_500)
        return done
      }
      // Two processes of one adapter, each with a memory of its own.
      for (const concluded of [memoryConcludedCommands(), memoryConcludedCommands()]) {
        const delivery = bus.source(concluded).subscribe('cell-a', 'slurm', handle)
        closing.push(() => delivery.stop())
      }
      const seen = listening(bus)
      await until(() => seen.size === 1)
      expect(begun).toBe(1)
    })

    it('should let a slow taker hold so many and no more, and make it lose none', async () => {
      const nats = await server()
      const bus = natsBus(await link(`${nats.url}?prefix=${newPrefix()}`), clock, { ackWaitMs: 500 })
      const facts = Array.from({ length: 2_000 }, (_, i) => ended(`job-${i}`))
      await right(bus.outcomeSink.tell('cell-a', 'slurm', facts))
      const taken: string[] = []
      let most = 0
      const delivery = bus.outcomeSource.subscribe('cell-a', async (lines) => {
        most = Math.max(most, lines.length)
        // Longer in all than the server waits, with more waiting behind it.
        await wait(150)
        taken.push(...lines.map((line) => factIn(line).id))
        return E.right(undefined)
      })
      closing.push(() => delivery.stop())
      await until(() => taken.length >= facts.length)
      expect(taken).toEqual(facts.map(({ id }) => id))
      expect(most).toBeLessThanOrEqual(256)
    })

    it('should make the streams and the consumers again that somebody deleted', async () => {
      const nats = await server()
      const opened = await link(`${nats.url}?prefix=${newPrefix()}`)
      const bus = natsBus(opened, clock)
      const seen = listening(bus)
      await right(bus.outcomeSink.tell('cell-a', 'slurm', [ended('a')]))
      await until(() => seen.size === 1)
      await opened.manager.consumers.delete(streamName(opened.place, 'outcome'), 'cell-a')
      await right(bus.outcomeSink.tell('cell-a', 'slurm', [ended('b')]))
      await until(() => seen.size === 2)
      await opened.manager.streams.delete(streamName(opened.place, 'outcome'))
      await right(bus.outcomeSink.tell('cell-a', 'slurm', [ended('c')]))
      await until(() => seen.size === 3)
    })

    it('should say that a stream is full and send what was not taken when there is room', async () => {
      const nats = await server()
      const opened = await link(`${nats.url}?prefix=${newPrefix()}`)
      const bus = natsBus(opened, clock)
      await right(bus.sink('slurm').send(commandOf('first')))
      await opened.manager.streams.update(streamName(opened.place, 'cmd'), { max_msgs: 1 })
      const second = commandOf('second')
      const refused = await bus.sink('slurm').send(second)()
      expect(refused).toMatchObject({ left: { type: 'SinkDown', mend: expect.stringContaining('limits') as string } })
      const handled: string[] = []
      const delivery = bus.source(memoryConcludedCommands()).subscribe('cell-a', 'slurm', ({ workload }) => {
        handled.push(workload)
        return Promise.resolve(done)
      })
      closing.push(() => delivery.stop())
      await until(() => handled.length === 1)
      await until(async () => E.isRight(await bus.sink('slurm').send(second)()))
      await until(() => handled.length === 2)
    })

    it('should talk to no other server than the one that is named, at first and after a restart', async () => {
      const ours = await server({ name: 'ours' })
      const other = parseNatsUrl(`${ours.url}?name=theirs`)
      expect(E.isRight(other) && (await NatsLink.open(other.right)())).toMatchObject({
        left: { kind: 'other-server', reason: expect.stringContaining('is named ours, not theirs') as string },
      })
      const opened = await link(`${ours.url}?name=ours&prefix=${newPrefix()}`)
      const bus = natsBus(opened, clock)
      await right(bus.sink('slurm').send(commandOf('a')))
      await ours.kill()
      const taken = await server({ port: ours.port, name: 'somebody-else' })
      await until(() => opened.fault?.kind === 'other-server')
      expect(await bus.sink('slurm').send(commandOf('b'))()).toMatchObject({ left: { type: 'SinkDown' } })
      await taken.kill()
      await ours.start()
      await until(() => opened.fault === null)
      await right(bus.sink('slurm').send(commandOf('b')))
    })

    it('should need no more than what the page allows each side', async () => {
      const page = readFileSync(new URL('../../docs/bus.md', import.meta.url), 'utf8')
      const users = /```\n(\{ user: cell[\s\S]*?)```/.exec(page)![1]!.replaceAll(/\$[A-Z]+_PASSWORD/g, 'pass')
      const nats = await server({ configuration: `accounts { L { jetstream: enabled, users: [ ${users} ] } }` })
      const told: BusUnavailable[] = []
      const note = (fault: BusUnavailable | null) => fault !== null && told.push(fault)
      const cellLink = await link(`nats://cell:pass@127.0.0.1:${nats.port}`, note)
      const cell = natsBus(cellLink, clock)
      const adapter = natsBus(await link(`nats://slurm:pass@127.0.0.1:${nats.port}`, note), clock)
      const seen = listening(cell)
      await right(cell.sink('slurm').send(commandOf('a')))
      await cell.inject('cmd', 'cell-a', 'slurm', 'nonsense')
      await cell.deadLetters()
      const delivery = adapter
        .source(memoryConcludedCommands())
        .subscribe('cell-a', 'slurm', () => Promise.resolve(done))
      closing.push(() => delivery.stop())
      await until(() => seen.size === 1)
      await until(async () => (await cell.deadLetters()).length === 1)
      const leases = natsCellLease(cellLink)
      await right(leases.release(await right(leases.acquire('cell-a', 'a', 1_000 as DurationMs))))
      expect(told).toEqual([])
      // And not the other way round.
      expect(await adapter.sink('slurm').send(commandOf('b'))()).toMatchObject({ left: { type: 'SinkDown' } })
    })

    it('should say in one fault with its mend what it may not do', async () => {
      const users = `accounts { L { jetstream: enabled, users: [
        { user: cell, password: pass },
        { user: slurm, password: pass, permissions: { publish: ["nowhere"], subscribe: ["_INBOX.>"] } } ] } }`
      const nats = await server({ configuration: users })
      const at = (who: string) => `nats://${who}@127.0.0.1:${nats.port}?prefix=p`
      const bus = natsBus(await link(at('cell:pass')), clock)
      await right(bus.sink('slurm').send(commandOf('a')))
      const told: BusUnavailable[] = []
      const adapter = natsBus(await link(at('slurm:pass'), (fault) => fault !== null && told.push(fault)), clock)
      const answer = await adapter.outcomeSink.tell('cell-a', 'slurm', [ended('a')])()
      expect(answer).toMatchObject({
        left: { kind: 'forbidden', mend: expect.stringContaining('$JS.API.STREAM.INFO.p_outcome') as string },
      })
      expect(told.every(({ kind }) => kind === 'forbidden')).toBe(true)
      const wrong = parseNatsUrl(at('cell:wrong'))
      const refused = E.isRight(wrong) ? await NatsLink.open(wrong.right)() : null
      expect(refused).toMatchObject({ left: { kind: 'forbidden' } })
      expect(JSON.stringify(refused)).not.toContain('wrong')
    })

    it('should say that no server answers, and what is too large for one', async () => {
      const nats = await server()
      await nats.kill()
      const place = parseNatsUrl(`${nats.url}?timeout=300`)
      expect(E.isRight(place) && (await NatsLink.open(place.right)())).toMatchObject({ left: { kind: 'unreachable' } })
      const large = await server({ configuration: 'max_payload: 2048' })
      const bus = natsBus(await link(`${large.url}?prefix=${newPrefix()}`), clock)
      const lease = Array.from({ length: 100 }, (_, i) => ({
        node: `node-${i}`,
        devices: [0],
        milli: 1_000,
        memoryMib: 0,
      }))
      const command = commandOf('large', { lease })
      expect(encodeCommand({ command, until: command.deadlineAt }).length).toBeGreaterThan(2_048)
      expect(await bus.sink('slurm').send(command)()).toMatchObject({
        left: { type: 'SinkDown', mend: 'raise max_payload of the server' },
      })
    })
  })

/** A way to a server that can be cut: whoever uses it has to connect anew. */
const cuttable = async (port: number) => {
  const sockets = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = connectTo(port, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as { readonly port: number }).port,
    cut,
    end: async () => {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
