import { either as E } from 'fp-ts'
import { afterEach, describe, expect, it } from 'vitest'
import type { EpochMs } from '../../domain/kernel/units.ts'
import { decodeFactLine, type SourcedFact } from '../../domain/planner/cloud-event.ts'
import { encodeCommand } from '../../domain/planner/command-event.ts'
import type { Command } from '../../domain/planner/command.ts'
import type { BusDelivery } from '../../domain/ports/bus-delivery.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CommandSink } from '../../domain/ports/command-sink.ts'
import type { CommandHandled, CommandSource } from '../../domain/ports/command-source.ts'
import type { ConcludedCommands } from '../../domain/ports/concluded-commands.ts'
import type { OutcomeSink } from '../../domain/ports/outcome-sink.ts'
import type { OutcomeSource } from '../../domain/ports/outcome-source.ts'
import { memoryConcludedCommands } from '../../infra/memory/concluded-commands.ts'
import { commandOf, until } from '../support/commands.ts'
import { right } from '../support/events.ts'

/** A bus whose server remembers ids for 200 ms, gives a command at most 3 times, and again after 20 ms. */
export interface TriedBus {
  readonly sink: (adapter: string) => CommandSink
  readonly source: (concluded: ConcludedCommands) => CommandSource
  readonly outcomeSink: OutcomeSink
  readonly outcomeSource: OutcomeSource
  readonly inject: (kind: 'cmd' | 'outcome', cell: string, adapter: string, body: string) => Promise<void>
  readonly deadLetters: () => Promise<
    ReadonlyArray<{ readonly origin: string; readonly body: string; readonly reason: string }>
  >
  readonly close: () => Promise<void>
}

export const triedBus = { duplicateMs: 200, deliveriesMax: 3, againAfterMs: 20 } as const

const done: CommandHandled = { outcome: 'done', reason: null }
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

export const commandBusContract = (name: string, open: (clock: Clock) => Promise<TriedBus>): void => {
  describe(name, () => {
    const closing: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close()
    })
    const stopped = <D extends BusDelivery>(delivery: D): D => {
      closing.push(() => delivery.stop())
      return delivery
    }
    const opened = async () => {
      const skew = { ms: 0 }
      const clock: Clock = { now: () => (Date.now() + skew.ms) as EpochMs }
      const bus = await open(clock)
      closing.push(bus.close)
      const told: SourcedFact[] = []
      const listen = (cell = 'cell-a') =>
        stopped(
          bus.outcomeSource.subscribe(cell, (lines) => {
            for (const line of lines) told.push(factIn(line))
            return Promise.resolve(E.right(undefined))
          }),
        )
      const handled: Command[] = []
      const handle =
        (how: (command: Command) => Promise<CommandHandled> = () => Promise.resolve(done)) =>
        (command: Command): Promise<CommandHandled> => {
          handled.push(command)
          return how(command)
        }
      return { bus, told, listen, handled, handle, skew, concluded: memoryConcludedCommands() }
    }

    it('should give a command to its adapter whole, and tell its cell what became of it', async () => {
      const { bus, concluded, handle, handled, listen, told } = await opened()
      const command = commandOf('sweep-7', { class: 'klasse-ä.*>', estimateMs: 5 as Command['estimateMs'] })
      expect(await right(bus.sink('slurm').send(command))).toBe('sent')
      stopped(bus.source(concluded).subscribe('cell-a', 'slurm', handle()))
      listen()
      await until(() => told.length === 1)
      expect(handled).toEqual([command])
      expect(told[0]).toMatchObject({
        id: `sweep-7/1/start@${command.issuedAt}/concluded`,
        source: 'slurm',
        type: 'CommandConcluded',
        data: {
          attempt: 1,
          command: 'sweep-7/1/start',
          outcome: 'done',
          reason: null,
          verb: 'start',
          workload: 'sweep-7',
        },
      })
    })

    it('should keep commands for an adapter that comes later, by cell and adapter, whatever they are called', async () => {
      const { bus, concluded, handle, handled } = await opened()
      const cell = 'cell-a.b/*>'
      await right(bus.sink('slurm').send(commandOf('a')))
      await right(bus.sink('other').send(commandOf('b')))
      await right(bus.sink('slurm').send(commandOf('c', { cell })))
      const first = bus.source(concluded).subscribe('cell-a', 'slurm', handle())
      await until(() => handled.length === 1)
      await first.stop()
      stopped(bus.source(concluded).subscribe(cell, 'slurm', handle()))
      await until(() => handled.length === 2)
      stopped(bus.source(concluded).subscribe('cell-a', 'other', handle()))
      await until(() => handled.length === 3)
      expect(handled.map(({ workload }) => workload)).toEqual(['a', 'c', 'b'])
    })

    it('should not send again what the server remembers, and handle once what comes again beyond that', async () => {
      const { bus, concluded, handle, handled, listen, told } = await opened()
      const command = commandOf('sweep-7')
      const sink = bus.sink('slurm')
      expect(await right(sink.send(command))).toBe('sent')
      expect(await right(sink.send(command))).toBe('duplicate')
      stopped(bus.source(concluded).subscribe('cell-a', 'slurm', handle()))
      listen()
      await until(() => told.length === 1)
      await wait(triedBus.duplicateMs + 150)
      expect(await right(sink.send(command))).toBe('sent')
      // Answered as before, with the same id, so that the cell knows it for the same.
      await until(() => told.length === 2)
      expect(told[1]).toEqual(told[0])
      expect(handled).toHaveLength(1)
    })

    it('should take another life of the same name for another command', async () => {
      const { bus, concluded, handle, handled } = await opened()
      const sink = bus.sink('slurm')
      const command = commandOf('sweep-7')
      await right(sink.send(command))
      expect(await right(sink.send({ ...command, issuedAt: (command.issuedAt + 1) as EpochMs }))).toBe('sent')
      stopped(bus.source(concluded).subscribe('cell-a', 'slurm', handle()))
      await until(() => handled.length === 2)
    })

    it('should handle commands about one workload one after the other, and others beside them', async () => {
      const { bus, concluded } = await opened()
      const sink = bus.sink('slurm')
      const order: string[] = []
      let release: () => void = () => undefined
      const held = new Promise<void>((resolve) => (release = resolve))
      await right(sink.send(commandOf('slow')))
      await right(sink.send(commandOf('slow', { command: 'slow/1/evict/1', verb: 'evict', because: 'preempted' })))
      await right(sink.send(commandOf('quick')))
      stopped(
        bus.source(concluded).subscribe('cell-a', 'slurm', async ({ command, workload }) => {
          order.push(`begin ${command}`)
          if (workload === 'slow') await held
          order.push(`end ${command}`)
          return done
        }),
      )
      await until(() => order.includes('end quick/1/start'))
      expect(order).toEqual(['begin slow/1/start', 'begin quick/1/start', 'end quick/1/start'])
      release()
      await until(() => order.length === 6)
      expect(order.slice(3)).toEqual(['end slow/1/start', 'begin slow/1/evict/1', 'end slow/1/evict/1'])
    })

    it('should deliver again what failed, and keep with its reason what fails every time', async () => {
      const { bus, concluded, handle, handled, listen, told } = await opened()
      let fails = 0
      const source = bus.source(concluded)
      const how = ({ workload }: Command) =>
        workload === 'always' || fails++ === 0 ? Promise.reject(new Error('the node\nis away')) : Promise.resolve(done)
      await right(bus.sink('slurm').send(commandOf('once')))
      stopped(source.subscribe('cell-a', 'slurm', handle(how)))
      listen()
      await until(() => told.length === 1)
      const always = commandOf('always')
      await right(bus.sink('slurm').send(always))
      await until(async () => (await bus.deadLetters()).length === 1)
      const [letter] = await bus.deadLetters()
      expect(letter).toMatchObject({ origin: 'cmd', reason: '3 deliveries, and the last one failed: the node is away' })
      expect(JSON.parse(letter!.body)).toMatchObject({ data: always })
      expect(handled.filter(({ workload }) => workload === 'always')).toHaveLength(3)
      // Nobody was told anything: that nobody answered is the cell's own to notice.
      expect(told).toHaveLength(1)
    })

    it('should keep what is no command, and go on', async () => {
      const { bus, concluded, handle, handled } = await opened()
      await bus.inject('cmd', 'cell-a', 'slurm', '{"specversion":"1.0"}')
      await bus.inject('cmd', 'cell-a', 'slurm', 'nonsense')
      await right(bus.sink('slurm').send(commandOf('good')))
      stopped(bus.source(concluded).subscribe('cell-a', 'slurm', handle()))
      await until(() => handled.length === 1)
      await until(async () => (await bus.deadLetters()).length === 2)
      const letters = await bus.deadLetters()
      expect(letters.map(({ body }) => body)).toEqual(['{"specversion":"1.0"}', 'nonsense'])
      expect(letters[0]!.reason).toContain('id: is missing')
      expect(letters[1]!.reason).toContain('is not JSON')
    })

    it('should take a command with members that a newer cell gave it', async () => {
      const { bus, concluded, handle, handled } = await opened()
      const command = commandOf('sweep-7')
      const event = JSON.parse(encodeCommand({ command, until: command.deadlineAt })) as { data: object }
      const newer = { ...event, traceparent: '00-1-2-03', data: { ...event.data, colour: 'red' } }
      await bus.inject('cmd', 'cell-a', 'slurm', JSON.stringify(newer))
      stopped(bus.source(concluded).subscribe('cell-a', 'slurm', handle()))
      await until(() => handled.length === 1)
      expect(handled).toEqual([command])
    })

    it('should say of a command that came too late that it expired, and do nothing of it', async () => {
      const { bus, concluded, handle, handled, listen, skew, told } = await opened()
      await right(bus.sink('slurm').send(commandOf('late')))
      // The adapter's clock steps an hour forward, and an hour back from where it was.
      skew.ms = 3_600_000
      stopped(bus.source(concluded).subscribe('cell-a', 'slurm', handle()))
      listen()
      await until(() => told.length === 1)
      expect(told[0]).toMatchObject({ data: { outcome: 'expired', workload: 'late' } })
      expect(told[0]!.id).toMatch(/\/expired$/)
      expect(handled).toEqual([])
      skew.ms = -3_600_000
      await bus.inject('cmd', 'cell-a', 'slurm', encodeCommand(sentNow(commandOf('next'))))
      await until(() => handled.length === 1)
    })

    it('should give a command its whole span from when it is sent, however long it could not be', async () => {
      const { bus, concluded, handle, handled } = await opened()
      const issuedAt = (Date.now() - 3_600_000) as EpochMs
      await right(bus.sink('slurm').send(commandOf('frozen', { issuedAt })))
      stopped(bus.source(concluded).subscribe('cell-a', 'slurm', handle()))
      await until(() => handled.length === 1)
    })

    it('should tell what adapters see, in its order, and give it again until it is taken', async () => {
      const { bus } = await opened()
      const facts = Array.from({ length: 50 }, (_, i) => ended(`job-${i}`))
      await right(bus.outcomeSink.tell('cell-a', 'slurm', facts))
      const taken: string[] = []
      let refusals = 3
      stopped(
        bus.outcomeSource.subscribe('cell-a', (lines) => {
          if (refusals-- > 0) return Promise.resolve(E.left('the log is full'))
          taken.push(...lines.map((line) => factIn(line).id))
          return Promise.resolve(E.right(undefined))
        }),
      )
      await until(() => taken.length === facts.length)
      expect(taken).toEqual(facts.map(({ id }) => id))
    })

    it('should keep what no adapter may tell, and what is no fact, and go on', async () => {
      const { bus, listen, told } = await opened()
      const cancel = {
        ...ended('a'),
        type: 'CancelRequested',
        data: { actor: 'mallory', reason: null, workload: 'a' },
      } as unknown as SourcedFact
      await right(bus.outcomeSink.tell('cell-a', 'slurm', [cancel]))
      await bus.inject('outcome', 'cell-a', 'slurm', '{}')
      await right(bus.outcomeSink.tell('cell-a', 'slurm', [ended('b')]))
      listen()
      await until(() => told.length === 1)
      await until(async () => (await bus.deadLetters()).length === 2)
      const letters = await bus.deadLetters()
      expect(letters.map(({ origin }) => origin)).toEqual(['outcome', 'outcome'])
      expect(letters[0]!.reason).toBe('an adapter may not tell CancelRequested')
    })
  })
}

const sentNow = (command: Command) => ({ command, until: command.deadlineAt })

export const ended = (workload: string): SourcedFact => ({
  id: `${workload}/1/ended`,
  source: 'slurm',
  type: 'AttemptEnded',
  at: 1_800_000_000_000 as EpochMs,
  data: { attempt: 1, outcome: 'succeeded', workload },
})

export const factIn = (line: string): SourcedFact => {
  const fact = decodeFactLine(line)
  if (E.isLeft(fact)) throw new Error(JSON.stringify(fact.left))
  return fact.right
}
