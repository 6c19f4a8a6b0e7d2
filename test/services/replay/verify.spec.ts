import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../domain/kernel/canonical-json.ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import { isInput, type CellEvent } from '../../../domain/planner/cell-event.ts'
import { demoTrace } from '../../../domain/simulation/demo-trace.ts'
import type { NewEvent } from '../../../domain/ports/event-log.ts'
import { memoryEventLog } from '../../../infra/memory/event-log.ts'
import { policyHash } from '../../../infra/host/policy-hash.ts'
import { CellWriter } from '../../../services/decide/cell-writer.ts'
import { simulate } from '../../../services/decide/simulate.ts'
import { verifyReplay } from '../../../services/replay/verify.ts'
import { nodeOf } from '../../support/arbitrary-fleet.ts'
import { budgetPolicy, CellLife } from '../../support/cell-life.ts'
import { newEvent, right } from '../../support/events.ts'
import { policyOf } from '../../support/histories.ts'

const stream = 'cell'
type Message = NewEvent['message']

/** A log in which everything happens: starts, holds, a refusal and overruns. */
const honest = async (): Promise<ReadonlyArray<Message>> => {
  const log = memoryEventLog()
  const trace = demoTrace(5, 30)
  // They come six at a time, and some are expected to end at once.
  const jobs = trace.map((job, i) => ({
    ...job,
    submitAt: trace[i - (i % 6)]!.submitAt,
    estimateMs: i % 5 === 0 ? (1 as DurationMs) : job.estimateMs,
  }))
  const huge = { ...jobs[0]!, id: 'huge', request: { ...jobs[0]!.request, devices: 9 } }
  const scenario = {
    jobs: [...jobs, huge],
    nodes: [nodeOf('n0', 2)],
    policy: policyOf([{ name: 'default', ordering: 'reserve' }]),
    fill: false,
  }
  const done = await simulate(log, stream, scenario, () => undefined)
  if (E.isLeft(done)) throw new Error(done.left.type)
  return right(log.readMessages(stream, 0, 100_000))
}

/** What a forger makes of messages who knows how envelopes are written. */
const enveloped = (messages: ReadonlyArray<Message>): ReadonlyArray<NewEvent> => {
  let policy: string | null = null
  let input = ''
  let count = 0
  return messages.map((message, i) => {
    const event = { ...newEvent(''), message, policy }
    if (message.type === 'PolicyActivated') policy = message.data['hash'] as string
    if (isDecision(message)) return { ...event, id: `${input} ${count++}`, causation: input }
    input = `e${i}`
    count = 0
    return { ...event, id: input, causation: null }
  })
}

/** Stores events as a forger would: the chain is computed anew and holds. */
const verdictOnEvents = async (events: ReadonlyArray<NewEvent>) => {
  const log = memoryEventLog()
  await right(log.append(stream, -1, events))
  return right(() => verifyReplay(log, stream))
}
const verdictOn = (messages: ReadonlyArray<Message>) => verdictOnEvents(enveloped(messages))

const eventOf = (message: Message) => message as unknown as CellEvent
const isDecision = (message: Message) => !isInput(eventOf(message))
const forged = (messages: ReadonlyArray<Message>, at: number, message: Message) => messages.with(at, message)
const without = (messages: ReadonlyArray<Message>, at: number) => messages.toSpliced(at, 1)

describe('a recorded log', async () => {
  const messages = await honest()
  const decisions = [...messages.keys()].filter((revision) => isDecision(messages[revision]!))
  const inputs = [...messages.keys()].filter((revision) => !isDecision(messages[revision]!))

  it('should hold every kind of event', () => {
    const types = new Set(messages.map(({ type }) => type))
    expect(types.size).toBe(9)
    expect(types).not.toContain('NodeHealthChanged')
  })

  it('should follow from its inputs', async () => {
    expect(await verdictOn(messages)).toEqual({
      ok: true,
      stream,
      inputs: inputs.length,
      decisions: decisions.length,
      finding: null,
    })
    expect(await verdictOn([])).toMatchObject({ ok: true, inputs: 0, decisions: 0 })
  })

  it('should not pass with any member of any decision changed, left out or added', async () => {
    for (const revision of decisions) {
      const { type, at, data } = messages[revision]!
      const names = Object.keys(data)
      const changes: ReadonlyArray<readonly [string, Message]> = [
        ['at', { type, at: (at + 1) as EpochMs, data }],
        ...names.map((name) => [`data.${name}`, { type, at, data: { ...data, [name]: other(data[name]!) } }] as const),
        ...names.map((name) => [`data.${name}`, { type, at, data: dropped(data, name) }] as const),
        ['data.zeal', { type, at, data: { ...data, zeal: 1 } }],
      ]
      for (const [path, message] of changes) {
        const { finding } = await verdictOn(forged(messages, revision, message).slice(0, revision + 1))
        expect(finding).toMatchObject({ revision, stored: message, decided: messages[revision] })
        expect(finding!.reason).toContain(path)
      }
    }
  })

  it('should not pass with a member that is named like a prototype instead of the one that it should have', async () => {
    for (const revision of decisions) {
      const { type, at, data } = messages[revision]!
      const [name] = Object.keys(data)
      const text = JSON.stringify({ ...dropped(data, name!), zz: {} }).replace('"zz"', '"__proto__"')
      const message = { type, at, data: JSON.parse(text) as Message['data'] }
      const { ok, finding } = await verdictOn(forged(messages, revision, message).slice(0, revision + 1))
      expect([ok, finding?.revision]).toEqual([false, revision])
    }
  })

  it('should not pass without one of its decisions', async () => {
    for (const revision of decisions) {
      const { finding } = await verdictOn(without(messages, revision))
      // Where its like follows, that one differs; else the next input comes too early, or the log ends.
      expect(finding).toMatchObject({ revision, decided: messages[revision], stored: messages[revision + 1] ?? null })
    }
    const cut = await verdictOn(messages.slice(0, decisions.at(-1)))
    expect(cut.finding?.reason).toBe('a decision is missing at the end')
  })

  it('should not pass with a decision more than it should have', async () => {
    for (const revision of decisions) {
      const added = messages.toSpliced(revision + 1, 0, messages[revision]!)
      expect((await verdictOn(added)).finding).toMatchObject({ revision: revision + 1, stored: messages[revision] })
    }
    const first = await verdictOn([messages[decisions[0]!]!, ...messages])
    expect(first.finding).toMatchObject({ revision: 0, decided: null, reason: 'nothing decides this' })
  })

  it('should not pass with two decisions in each other’s place', async () => {
    let swaps = 0
    for (const revision of decisions) {
      if (!decisions.includes(revision + 1)) continue
      const [one, two] = [messages[revision]!, messages[revision + 1]!]
      const swapped = messages.with(revision, two).with(revision + 1, one)
      expect((await verdictOn(swapped)).finding).toMatchObject({ revision, stored: two, decided: one })
      swaps++
    }
    expect(swaps).toBeGreaterThan(5)
  })

  it('should not pass with an input twice, or one that nobody could have sent', async () => {
    for (const revision of inputs) {
      const added = messages.toSpliced(revision + 1, 0, messages[revision]!)
      const { ok, finding } = await verdictOn(added)
      expect([ok, finding?.revision]).toEqual([false, revision + 1])
    }
    const ended = { type: 'AttemptEnded', at: 0 as EpochMs, data: { attempt: 1, outcome: 'failed', workload: 'ghost' } }
    const ghost = await verdictOn([...messages.slice(0, 2), ended, ...messages.slice(2)])
    expect(ghost.finding).toMatchObject({ revision: 2, reason: 'this input is not taken here: UnknownWorkload' })
    const unknown = { type: 'WorkloadPraised', at: 0 as EpochMs, data: {} }
    expect((await verdictOn([unknown])).finding).toMatchObject({ revision: 0, reason: 'nothing decides this' })
  })

  it('should not pass with another input than what its decisions follow from', async () => {
    const isSubmission = (revision: number) => messages[revision]!.type === 'WorkloadSubmitted'
    for (const revision of inputs.filter(isSubmission)) {
      const { type, at, data } = messages[revision]!
      const request = { ...(data['request'] as { readonly [key: string]: Json }), devices: 77 }
      const { ok, finding } = await verdictOn(forged(messages, revision, { type, at, data: { ...data, request } }))
      expect(ok).toBe(false)
      expect(finding!.revision).toBe(revision + 1)
    }
    const policy = messages.findIndex(({ type }) => type === 'PolicyActivated')
    const { ok } = await verdictOn(without(messages, policy))
    expect(ok).toBe(false)
  })

  it('should not pass with an envelope that tells another cause or policy than it was recorded with', async () => {
    const events = enveloped(messages)
    expect((await verdictOnEvents(events)).ok).toBe(true)
    for (const [revision, { id, causation, policy }] of events.entries()) {
      const changes: ReadonlyArray<Partial<NewEvent>> = [
        { causation: causation === null ? 'e0' : null },
        { causation: `${causation}x` },
        { policy: policy === null ? 'f'.repeat(64) : null },
        { policy: `${policy}x` },
        ...(causation === null ? [] : [{ id: `${id}x` }]),
      ]
      for (const change of changes) {
        const { finding } = await verdictOnEvents(events.with(revision, { ...events[revision]!, ...change }))
        expect(finding).toEqual({
          stream,
          revision,
          stored: { id, causation, policy, ...change },
          decided: { id, causation, policy },
          reason: `${Object.keys(change)[0]!} differs in the envelope`,
        })
      }
    }
  })

  it('should not pass with a policy under the hash of another', async () => {
    const revision = messages.findIndex(({ type }) => type === 'PolicyActivated')
    const { type, at, data } = messages[revision]!
    const document = { ...(data['document'] as { readonly [key: string]: Json }), owner: 'somebody else' }
    const { finding } = await verdictOn(forged(messages, revision, { type, at, data: { ...data, document } }))
    expect(finding).toMatchObject({ revision, reason: 'its hash is not that of its document' })
  })

  it('should not pass with a tick that decides nothing, which nobody records', async () => {
    const idle = { type: 'Ticked', at: 0 as EpochMs, data: {} }
    const { finding } = await verdictOn([...messages.slice(0, 2), idle, ...messages.slice(2)])
    expect(finding).toMatchObject({ revision: 2, reason: 'a tick that decides nothing is not recorded' })
  })
})

/** Another value of the same kind where there is one. */
const other = (value: Json): Json => {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string') return `${value}x`
  if (value === null) return 0
  return Array.isArray(value) ? value.slice(1) : null
}

const dropped = (data: Message['data'], name: string): Message['data'] =>
  Object.fromEntries(Object.entries(data).filter(([key]) => key !== name))

describe('a look that brought books ahead', () => {
  const at = (instant: number) => instant as EpochMs
  /** An end that is told after time had been looked at beyond it, in vain. */
  const told = async (): Promise<ReadonlyArray<NewEvent>> => {
    const log = memoryEventLog()
    const recording = { stream, source: 'test', actor: 'test', recordTime: (instant: EpochMs) => instant }
    const writer = await right(() => CellWriter.open(log, recording))
    const document = budgetPolicy({ a: 1 })
    writer.take({ type: 'PolicyActivated', at: at(0), data: { document, hash: policyHash(document) } }, 'policy')
    const life = new CellLife().nodes(1, 4).submit('job', 4, { budget: 'a' })
    life.told.forEach(({ input }, i) => writer.take(input, `fact-${i}`))
    writer.take({ type: 'Ticked', at: at(1), data: {} }, 'start')
    writer.take({ type: 'Ticked', at: at(100), data: {} }, 'in-vain')
    writer.take(
      { type: 'AttemptEnded', at: at(50), data: { attempt: 1, outcome: 'succeeded', workload: 'job' } },
      'end',
    )
    await right(() => writer.flush())
    return right(log.readAll(0, 100))
  }
  const verdictOf = async (events: ReadonlyArray<NewEvent>) => {
    const log = memoryEventLog()
    await right(log.append(stream, -1, events))
    return right(() => verifyReplay(log, stream))
  }

  it('should be taken for what it is', async () => {
    const events = await told()
    expect(events.map(({ id }) => id)).toContain('end/look')
    expect(await verdictOf(events)).toMatchObject({ ok: true })
  })

  it.each<[string, (events: ReadonlyArray<NewEvent>, look: number) => ReadonlyArray<NewEvent>]>([
    ['for an input that is not late', (events, look) => moved(events, look + 1, 200)],
    ['at the end', (events, look) => events.slice(0, look + 1)],
    [
      'under another name',
      (events, look) => events.map((event, i) => (i === look ? { ...event, id: 'x/look' } : event)),
    ],
  ])('should not pass %s', async (_, forged) => {
    const events = await told()
    const look = events.findIndex(({ id }) => id === 'end/look')
    const { finding } = await verdictOf(forged(events, look))
    expect(finding).toMatchObject({ revision: look, reason: 'a tick that decides nothing is not recorded' })
  })

  const moved = (events: ReadonlyArray<NewEvent>, which: number, to: number) =>
    events.map((event, i) => (i === which ? { ...event, message: { ...event.message, at: to } } : event)) as never
})
