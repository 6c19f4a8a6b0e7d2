import { expect, it } from 'vitest'
import type { EpochMs } from '../../../../domain/kernel/units.ts'
import type { AllocationPolicy } from '../../../../domain/policy/allocation-policy.ts'
import type { ExceptionPolicy } from '../../../../domain/policy/contract-policy.ts'
import { NextTurns } from '../../../../domain/planner/next-turn.ts'
import { whyPreemptedText } from '../../../../projections/explain/why-preempted-text.ts'
import { PreemptionStory } from '../../../../projections/explain/why-preempted.ts'
import { whyText } from '../../../../projections/explain/why-text.ts'
import { whyOf } from '../../../../projections/explain/why.ts'
import { hour, minute, minutes } from '../../../support/cell-life.ts'
import { contested, monday, victimsOf, type ContestedLife } from '../../../support/contested-life.ts'

const spared = (name: string, more: Partial<ExceptionPolicy> = {}): ExceptionPolicy => ({
  allows: { kind: 'not-preempted' },
  expires: '2026-08-04',
  name: `${name}-demo`,
  owner: 'Ann',
  reason: 'The demo at the fair.',
  subject: { kind: 'workload', name },
  ...more,
})
/** All four devices are held by a, of which the workloads of these exceptions are spared; b has half of them by share. */
const heldBy = (exceptions: ReadonlyArray<ExceptionPolicy>): ContestedLife => {
  const life = contested(4, { exceptions }, { budget: { reclaimAfterMs: minutes(10) } })
  life.submit('b0', 1, { budget: 'b' }).pass(hour)
  return life
}
const whyIn = (life: ContestedLife) => {
  life.cell.now = life.now as typeof life.cell.now
  const why = whyOf(life.cell, 'b0')!
  if (why.state !== 'waiting') throw new Error('it waits')
  const text = whyText(why)
    .replaceAll(/\n {11}/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
  return { why, text }
}
const activate = (life: ContestedLife, document: AllocationPolicy): void => {
  life.policy(document)
  life.pass(minute)
}
const all = ['a0', 'a1', 'a2', 'a3']
const midnight = Date.UTC(2026, 7, 4)

it('should name to who waits the exceptions that spare others, with owner, reason and end', () => {
  const life = heldBy(all.map((name) => spared(name)))
  expect(life.told.flatMap(({ decisions }) => victimsOf(decisions))).toEqual([])
  const { text, why } = whyIn(life)
  expect(why).toMatchObject({ code: 'ProtectedWindow', rule: 'spec.exceptions[0]', holders: all })
  expect(why.exemptions).toHaveLength(4)
  expect(why.exemptions[0]).toEqual({
    rule: 'spec.exceptions[0]',
    name: 'a0-demo',
    owner: 'Ann',
    reason: 'The demo at the fair.',
    expires: '2026-08-04',
    workloads: ['a0'],
    workloadsCount: 1,
  })
  expect(text).toContain(
    'the 4 attempts that would have to leave are spared by an exception, the first until 2026-08-04',
  )
  expect(text).toContain('Excepted exception a0-demo spares a0 until 2026-08-04; Ann answers for it.')
  expect(text).toContain('Its reason: The demo at the fair.')
})

it('should record in the log that the exception is what holds it, and until when', () => {
  const life = heldBy(all.map((name) => spared(name)))
  const held = life.told.flatMap(({ decisions }) => decisions.filter(({ type }) => type === 'WorkloadHeld')).at(-1)
  expect(held?.data).toMatchObject({
    workload: 'b0',
    code: 'ProtectedWindow',
    rule: 'spec.exceptions[0]',
    compared: { protectedAttempts: 4, untilMs: midnight },
  })
})

it('should count the exceptions in what it says of when', () => {
  const life = heldBy(all.map((name) => spared(name)))
  const { text, why } = whyIn(life)
  expect(why.claim?.spared).toEqual({ until: midnight })
  expect(text).toContain('exceptions spare all who hold it, until 2026-08-04 00:00:00 UTC')
  const { books } = life.cell
  const turn = new NextTurns(life.cell, books!).of(books!.ledger.node('b')!, 1000)
  expect(turn).toEqual({ at: midnight, because: 'exception', workload: 'a0' })
})

it('should say so of one that holds for as long as the policy does', () => {
  const { text, why } = whyIn(heldBy(all.map((name) => spared(name, { expires: null }))))
  expect(why).toMatchObject({ code: 'ProtectedWindow', rule: 'spec.exceptions[0]', nextTurn: null })
  expect(why.claim?.spared).toEqual({ until: null })
  expect(text).toContain('spares a0 as long as the policy holds')
})

it('should take back from those who are not spared, and name nobody where nobody waits for it', () => {
  const life = heldBy([spared('a0')])
  expect(life.told.flatMap(({ decisions }) => victimsOf(decisions))).toHaveLength(1)
  expect(life.told.flatMap(({ decisions }) => victimsOf(decisions))).not.toContain('a0')
  const none = heldBy([spared('elsewhere')])
  expect(none.told.flatMap(({ decisions }) => victimsOf(decisions))).toHaveLength(1)
})

it('should say once that one has lapsed, however many policies state it, and again of one with another date', () => {
  const life = contested(4, { exceptions: [spared('a0')] })
  const lapses = () =>
    life.told.flatMap(({ decisions }) => decisions.flatMap(({ data, type }) => (type === 'GrantLapsed' ? [data] : [])))
  const again = (exceptions: ReadonlyArray<ExceptionPolicy>, name: string) => {
    activate(life, { ...life.cell.policy!, exceptions, name })
  }
  life.at(midnight).pass(minute)
  expect(lapses()).toHaveLength(1)
  again([spared('a0')], 'second')
  again([spared('elsewhere', { expires: '2999-01-01' })], 'without')
  again([spared('a0')], 'third')
  expect(lapses()).toHaveLength(1)
  const restarted = life.restarted()
  activate(restarted, { ...life.cell.policy!, name: 'fourth' })
  expect(restarted.told.flatMap(({ decisions }) => decisions.map(({ type }) => type))).not.toContain('GrantLapsed')
  again([spared('a0', { expires: '2026-08-05' })], 'prolonged')
  life.at(Date.UTC(2026, 7, 5)).pass(minute)
  expect(lapses()).toHaveLength(2)
  expect(monday).toBeLessThan(midnight)
})

it('should say so again at each policy, as a log has it that was written by the first edition of the rules', () => {
  const life = contested(4, { exceptions: [spared('a0')] })
  life.at(midnight)
  for (const name of ['second', 'third'])
    life.input('PolicyActivated', { document: { ...life.cell.policy!, name }, hash: name })
  const lapsed = life.pass(minute).filter(({ type }) => type === 'GrantLapsed')
  life.input('PolicyActivated', { document: { ...life.cell.policy!, name: 'fourth' }, hash: 'fourth' })
  expect([...lapsed, ...life.pass(minute).filter(({ type }) => type === 'GrantLapsed')]).toHaveLength(2)
})

it('should name to who made room the exceptions of both, in force or ended, with owner, reason and end', () => {
  const cap = { kind: 'cap', devicesMilli: 6000 } as const
  const exceptions = [
    ...all.map((name) => spared(name)),
    spared('of b', { name: 'launch', subject: { kind: 'budget', name: 'b' }, allows: cap, expires: null }),
    spared('of b', { name: 'over', subject: { kind: 'team', name: 'b' }, allows: cap, expires: '2026-08-03' }),
    spared('elsewhere'),
  ]
  const life = heldBy(exceptions)
  const [victim] = victimsOf(life.at(midnight).pass(minute))
  const story = new PreemptionStory(victim!)
  for (const { decisions, input } of life.told)
    for (const event of [input, ...decisions]) story.hear(event, { id: 'event', policy: null })
  const why = story.answer(life.now as EpochMs)
  const demo = { name: `${victim!}-demo`, owner: 'Ann', reason: 'The demo at the fair.', expires: '2026-08-04' }
  expect(why.preemptions[0]!.exceptions).toMatchObject([
    { ...demo, whose: 'workload', held: false, allows: 'not-preempted', capMilli: null },
    { name: 'launch', rule: 'spec.exceptions[4]', whose: 'preemptor', held: true, allows: 'cap', capMilli: 6000 },
  ])
  const text = whyPreemptedText(why).replaceAll(/\s+/g, ' ')
  expect(text).toContain(
    `Excepted it had not been evicted until 2026-08-04, by exception ${victim!}-demo; Ann answers for it. Its reason: The demo`,
  )
  expect(text).toContain(
    'Excepted b0 might hold 6 GPUs, whatever its cap, as long as the policy held, by exception launch',
  )
})
