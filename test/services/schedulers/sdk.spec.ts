import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { either as E } from 'fp-ts'
import { afterEach, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { SourcedFact } from '../../../domain/planner/cloud-event.ts'
import { encodeCommand } from '../../../domain/planner/command-event.ts'
import type { Command, CommandVerb } from '../../../domain/planner/command.ts'
import type { CommandHandled } from '../../../domain/ports/command-source.ts'
import type { OutcomeSink } from '../../../domain/ports/outcome-sink.ts'
import { systemClock } from '../../../infra/host/clock.ts'
import { MemoryCommandBus } from '../../../infra/memory/command-bus.ts'
import { AdapterBook } from '../../../services/schedulers/sdk/adapter-book.ts'
import { Adapter } from '../../../services/schedulers/sdk/adapter.ts'
import { done, failed, type Handlers } from '../../../services/schedulers/sdk/handlers.ts'
import { factIn } from '../../contract/command-bus.contract.ts'
import { commandOf, until } from '../../support/commands.ts'
import { right } from '../../support/events.ts'
import { natsBus } from '../../support/nats-bus.ts'
import { linkTo, newPrefix } from '../../support/nats-server.ts'
import { describeOnNats } from '../../support/servers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const attempt = { workload: 'sweep-7', attempt: 1 }
const asked = (verb: CommandVerb, more: Partial<Command> = {}) =>
  commandOf('sweep-7', { command: `sweep-7/1/${verb}`, verb, ...more })

/** An adapter on a bus within the process, whose lives follow each other; what it told is in `told`. */
const scene = (given: Partial<Handlers> = {}) => {
  const bus = new MemoryCommandBus({ clock: systemClock, duplicateMs: 0, againAfterMs: 5, deliveriesMax: 3 })
  const place = folder()
  const told: SourcedFact[] = []
  const taking = bus.subscribe('cell-a', (lines) => {
    told.push(...lines.map(factIn))
    return Promise.resolve(E.right(undefined))
  })
  closing.push(() => taking.stop())
  const handled: string[] = []
  const line = { isDown: false }
  const sink: OutcomeSink = {
    tell: (...what) =>
      line.isDown
        ? () => Promise.resolve(E.left({ type: 'BusUnavailable', kind: 'unreachable', reason: 'away', mend: '' }))
        : bus.tell(...what),
  }
  const handlers: Handlers = { start: () => Promise.resolve(done), stop: () => Promise.resolve(done), ...given }
  const noting =
    (handle: (command: Command) => Promise<CommandHandled>) =>
    (command: Command): Promise<CommandHandled> => {
      handled.push(command.command)
      return handle(command)
    }
  const troubles: string[] = []
  const books: AdapterBook[] = []
  const live = async (): Promise<Adapter> => {
    const book = await right(() => AdapterBook.open(place))
    books.push(book)
    const adapter = new Adapter({
      ...{ book, cell: 'cell-a', name: 'slurm', clock: systemClock, sink },
      source: (concluded) => bus.source(concluded),
      handlers: { ...handlers, start: noting(handlers.start), stop: noting(handlers.stop) },
      troubled: (reason) => troubles.push(reason),
      close: () => Promise.resolve(),
    })
    closing.push(() => adapter.stop(0).catch(() => undefined))
    return adapter
  }
  return {
    ...{ books, bus, place, told, handled, live, line, troubles },
    send: (command: Command) => right(bus.sink('slurm').send(command)),
    says: () =>
      told.map(({ type, data }) =>
        type === 'CommandConcluded' ? `${data.verb} ${data.outcome}` : type === 'AttemptEnded' ? data.outcome : type,
      ),
  }
}

it('should act once on a command that comes again, in this life and the next, and answer it as before', async () => {
  const { handled, live, send, told } = scene()
  const start = asked('start')
  const first = await live()
  for (let i = 0; i < 3; i++) await send(start)
  await until(() => told.length === 3)
  await first.stop()
  await live()
  await send(start)
  await until(() => told.length === 4)
  expect(handled).toEqual(['sweep-7/1/start'])
  expect(told.every((fact) => JSON.stringify(fact) === JSON.stringify(told[0]))).toBe(true)
})

it('should remember so many commands and no more, in a file that stays small', async () => {
  const place = folder()
  const book = await right(() => AdapterBook.open(place, { keptMax: 100 }))
  const fact = (i: number): SourcedFact => ({
    ...{ id: `a/${i}/concluded`, source: 'slurm', type: 'CommandConcluded', at: i as EpochMs },
    data: { attempt: 1, command: `a/${i}`, outcome: 'done', reason: null, verb: 'evict', workload: `a-${i}` },
  })
  for (let i = 0; i < 41_000; i += 1_000)
    await Promise.all(Array.from({ length: 1_000 }, (_, k) => book.keep(`a/${i + k}@${i + k}`, fact(i + k))))
  await book.close()
  expect(statSync(join(place, 'adapter.ndjson')).size).toBeLessThan(6_000_000)
  const again = await right(() => AdapterBook.open(place, { keptMax: 100 }))
  closing.push(() => again.close())
  expect(again.find('a/40899@40899')).toBeNull()
  expect(again.find('a/40900@40900')).toEqual(fact(40_900))
  expect(again.stoppedBy({ workload: 'a-40999', attempt: 1 })).toBe(40_999)
})

it('should take up what was kept where a kill cut its file off, and refuse a file that is damaged', async () => {
  const { live, place, send, told } = scene()
  const first = await live()
  await send(asked('start'))
  await until(() => told.length === 1)
  await first.stop()
  const file = join(place, 'adapter.ndjson')
  appendFileSync(file, '{"concluded":{"id":"half')
  const second = await live()
  expect([...second.running.keys()]).toEqual(['sweep-7/1'])
  await second.stop()
  expect(readFileSync(file, 'utf8')).not.toContain('half')
  appendFileSync(file, 'nonsense\n')
  await expect(AdapterBook.open(place)).rejects.toThrow(/adapter\.ndjson:\d+ is damaged; move the file away/)
})

it('should leave its folder to one process', async () => {
  const place = folder()
  const book = await right(() => AdapterBook.open(place))
  closing.push(() => book.close())
  expect(await AdapterBook.open(place)).toEqual(E.left(`process ${process.pid} is writing it`))
})

it('should refuse a start that a later order to stop has overtaken, also in its next life', async () => {
  const { handled, live, send, says } = scene()
  const start = asked('start')
  const first = await live()
  await send(asked('evict', { issuedAt: (start.issuedAt + 1) as EpochMs }))
  await until(() => says().length === 1)
  await first.stop()
  await live()
  await send(start)
  await until(() => says().length === 2)
  expect(says()).toEqual(['evict done', 'start refused'])
  expect(handled).toEqual(['sweep-7/1/evict'])
  // Another life of that name.
  await send(asked('start', { issuedAt: (start.issuedAt + 2) as EpochMs }))
  await until(() => says().length === 3)
  expect(says().at(-1)).toBe('start done')
})

it('should tell an end once, however often it is said and in whichever life', async () => {
  const { live, send, says } = scene()
  const first = await live()
  await first.ended(attempt, 'succeeded')
  await send(asked('start'))
  await until(() => says().length === 1)
  expect([...first.running.keys()]).toEqual(['sweep-7/1'])
  await Promise.all([first.ended(attempt, 'succeeded'), first.ended(attempt, 'succeeded')])
  await first.stop()
  const second = await live()
  await second.ended(attempt, 'failed')
  expect(second.running.size).toBe(0)
  expect(says()).toEqual(['start done', 'succeeded'])
})

it('should tell an end that comes while it is being started, and of what is being stopped all but its end', async () => {
  const at = { start: () => Promise.resolve(), stop: () => Promise.resolve() }
  const { live, send, says } = scene({
    start: () => at.start().then(() => done),
    stop: () => at.stop().then(() => done),
  })
  const adapter = await live()
  at.start = () => adapter.ended(attempt, 'succeeded')
  await send(asked('start'))
  await until(() => says().length === 2)
  const second = { workload: 'other', attempt: 1 }
  at.start = () => Promise.resolve()
  at.stop = async () => {
    await adapter.checkpointed(second)
    await adapter.ended(second, 'failed')
  }
  await send(commandOf('other'))
  await until(() => adapter.running.has('other/1'))
  await send(commandOf('other', { command: 'other/1/cancel/1', verb: 'cancel' }))
  await until(() => says().length === 5)
  await adapter.stop()
  expect(says().slice(2)).toEqual(['start done', 'CheckpointCommitted', 'cancel done'])
  expect(says().slice(0, 2).toSorted()).toEqual(['start done', 'succeeded'])
})

it('should tell in the next life what it saw while nobody could be told, of progress the newest alone', async () => {
  const { line, live, send, says, told, troubles } = scene()
  const first = await live()
  await send(asked('start'))
  await until(() => says().length === 1)
  line.isDown = true
  const since = Date.now()
  for (let i = 0; i < 5; i++) await first.progressed(attempt, (since + i * 10_000) as EpochMs)
  for (let i = 0; i < 3; i++) await first.checkpointed(attempt, (since + i) as EpochMs)
  await first.progressed(attempt, (since + 40_001) as EpochMs)
  await first.ended(attempt, 'failed')
  await first.stop(10)
  expect(says()).toEqual(['start done'])
  expect(troubles).toEqual(['away'])
  line.isDown = false
  await live()
  await until(() => told.length === 4)
  expect(says()).toEqual(['start done', 'ProgressObserved', 'CheckpointCommitted', 'failed'])
  expect(told[1]!.at).toBe(since + 40_000)
  expect(told[2]!.at).toBe(since + 2)
})

it('should say of what it has no handler for that it is refused, and start what is to be resumed', async () => {
  const { handled, live, send, says, told } = scene()
  await live()
  await send(asked('checkpoint'))
  await until(() => told.length === 1)
  await send(asked('shrink'))
  await until(() => told.length === 2)
  await send(asked('resume'))
  await until(() => told.length === 3)
  expect(says()).toEqual(['checkpoint refused', 'shrink refused', 'resume done'])
  expect(told[0]).toMatchObject({ data: { reason: 'this adapter does not make checkpoints' } })
  expect(handled).toEqual(['sweep-7/1/resume'])
})

it('should try again what a handler throws, and put aside with its name what fails every time', async () => {
  let left = 2
  const { bus, handled, live, send, says } = scene({
    start: () => (left-- > 0 ? Promise.reject(new Error('slurmctld is away')) : Promise.resolve(done)),
    stop: () => Promise.reject(new Error('no such job')),
  })
  await live()
  await send(asked('start'))
  await until(() => says().length === 1)
  expect(handled).toHaveLength(3)
  await send(asked('evict'))
  await until(() => bus.deadLetters.length === 1)
  expect(bus.deadLetters[0]!.reason).toBe('3 deliveries, and the last one failed: sweep-7/1/evict: no such job')
  expect(says()).toEqual(['start done'])
})

it('should let what is in hand end when it is stopped, and take no more', async () => {
  let release: () => void = () => undefined
  const { handled, live, send, says } = scene({
    start: () =>
      new Promise((resolve) => {
        release = () => {
          resolve(failed('no room'))
        }
      }),
  })
  const adapter = await live()
  await send(asked('start'))
  await until(() => handled.length === 1)
  const stopping = adapter.stop()
  await send(commandOf('other'))
  release()
  await stopping
  expect(handled).toEqual(['sweep-7/1/start'])
  await live()
  await until(() => says().length > 0)
  // What was answered while nothing more could be told is answered in the next life.
  expect(says()).toContain('start failed')
})

it('should do again what it could not write down, and tell what is seen of it then', async () => {
  const adapters: Adapter[] = []
  const { books, handled, live, send, says } = scene({
    start: async () => {
      await adapters[0]!.ended(attempt, 'succeeded')
      return done
    },
  })
  adapters.push(await live())
  const [book] = books
  const keep = book!.keep.bind(book)
  book!.keep = () => {
    book!.keep = keep
    return Promise.reject(new Error('the disk is full'))
  }
  await send(asked('start'))
  await until(() => says().length === 2)
  expect(handled).toEqual(['sweep-7/1/start', 'sweep-7/1/start'])
  expect(says().toSorted()).toEqual(['start done', 'succeeded'])
})

it('should leave to its next life what does not end while it is stopped', async () => {
  const stuck = { is: true }
  const { handled, live, send, says } = scene({
    start: () => (stuck.is ? new Promise(() => undefined) : Promise.resolve(done)),
  })
  const adapter = await live()
  await send(asked('start'))
  await until(() => handled.length === 1)
  await adapter.stop(50)
  stuck.is = false
  await live()
  await until(() => says().length === 1)
  expect(says()).toEqual(['start done'])
})

await describeOnNats('packaged', 'an adapter on a server', (start) => {
  it('should tell of a command past its deadline that it expired, of bad ones why, and act once beyond the window', async () => {
    const { launch } = await start()
    const link = await linkTo(`${launch.urls['nats']!}?prefix=${newPrefix()}`, { duplicateMs: 200 })
    closing.push(() => link.close())
    const bus = natsBus(link, systemClock, { ackWaitMs: 1_000 })
    const told: SourcedFact[] = []
    const taking = bus.outcomeSource.subscribe('cell-a', (lines) => {
      told.push(...lines.map(factIn))
      return Promise.resolve(E.right(undefined))
    })
    closing.push(() => taking.stop())
    const place = folder()
    const handled: string[] = []
    const live = async () =>
      new Adapter({
        ...{ cell: 'cell-a', name: 'slurm', clock: systemClock, sink: bus.outcomeSink },
        book: await right(() => AdapterBook.open(place)),
        source: bus.source,
        handlers: {
          start: ({ command }) => {
            handled.push(command)
            return Promise.resolve(done)
          },
          stop: () => Promise.resolve(done),
        },
        troubled: () => undefined,
        close: () => Promise.resolve(),
      })
    const first = await live()
    const command = asked('start')
    const body = encodeCommand({ command, until: command.deadlineAt })
    // No id of the server's, which therefore sees no repeat.
    for (let i = 0; i < 3; i++) await bus.inject('cmd', 'cell-a', 'slurm', body)
    const late = commandOf('late')
    await bus.inject('cmd', 'cell-a', 'slurm', encodeCommand({ command: late, until: (Date.now() - 1) as EpochMs }))
    await bus.inject('cmd', 'cell-a', 'slurm', '{"specversion":"1.0","id":"x"}')
    await until(() => told.some(({ id }) => id.includes('late')) && told.some(({ id }) => id.includes('sweep-7')))
    await until(async () => (await bus.deadLetters()).length === 1)
    await first.stop()
    await new Promise((resolve) => setTimeout(resolve, 300))
    const second = await live()
    const before = told.length
    expect(await right(bus.sink('slurm').send(command))).toBe('sent')
    await until(() => told.length > before)
    await second.stop()
    expect(handled).toEqual(['sweep-7/1/start'])
    expect(told.find(({ id }) => id.includes('late'))).toMatchObject({ data: { outcome: 'expired', workload: 'late' } })
    expect((await bus.deadLetters())[0]!.reason).toContain('until: is missing')
  })
})
