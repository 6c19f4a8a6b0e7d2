import { expect, it } from 'vitest'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import type { CellEvent } from '../../../domain/planner/cell-event.ts'
import { eventText } from '../../../projections/explain/event-text.ts'
import type { Why } from '../../../projections/explain/why.ts'
import { whyText } from '../../../projections/explain/why-text.ts'
import { needText } from '../../../projections/explain/wording.ts'

it.each([
  [{ devices: 8, milli: 1_000, memoryMib: 61_440 }, '8 GPUs'],
  [{ devices: 1, milli: 250, memoryMib: 0 }, '0.25 GPUs'],
  [{ devices: 6, milli: 0, memoryMib: 61_440 }, '61,440 MiB of each of 6 GPUs'],
  [{ devices: 1, milli: 0, memoryMib: 512 }, '512 MiB of one GPU'],
  [{ devices: 0, milli: 0, memoryMib: 0 }, 'no GPU'],
])('should say what is needed: %j', (need, text) => {
  expect(needText(need)).toBe(text)
})

const waiting = {
  at: 60_000 as EpochMs,
  workload: 'w',
  queue: 'q',
  class: 'c',
  needDevices: 6,
  needMilli: 0,
  needMemoryMib: 61_440,
  submittedAt: 0 as EpochMs,
  standing: 'automate' as const,
  waitedMs: 60_000 as DurationMs,
  outOfServiceMilli: 0,
  budget: null,
  preemptions: 0,
  queuedAt: 0 as EpochMs,
  state: 'waiting' as const,
  behind: null,
  hints: [],
  hintsCut: false,
  projectedFrom: null,
  projectedTo: null,
  expectedWaitMs: null,
  compared: {},
  own: null,
  other: null,
  holders: [],
  holdersCount: 0,
  nextTurn: null,
  code: 'WaitingForCapacity' as const,
  rule: null,
  policy: null,
  heldSince: null,
  position: 1,
  ahead: [],
  aheadCount: 0,
  freeMilli: 8_500,
  largestMilli: 0,
  projectedStartAt: null,
  projection: 'nothing ends',
  projectedNodes: [],
  projectedAfter: [],
  misnamed: null,
  quotaOf: null,
  keptFor: [],
  quotaFor: [],
  claim: null,
  exemptions: [],
  failedStarts: null,
} satisfies Why
const reasonOf = (why: Partial<typeof waiting> | { code: 'BehindInQueue' }) =>
  whyText({ ...waiting, ...why }).split('\n')[1]

it('should hold no thousandths against a need that is not counted in them', () => {
  expect(reasonOf({})).toBe(
    'Reason     WaitingForCapacity: it needs 61,440 MiB of each of 6 GPUs; no place has all of it free.',
  )
  expect(reasonOf({ needDevices: 0, needMemoryMib: 0 })).toBe(
    'Reason     WaitingForCapacity: it needs CPU and host memory only; no place has all of it free.',
  )
  expect(reasonOf({ code: 'BehindInQueue' })).toBe(
    'Reason     BehindInQueue: another goes first. It needs 61,440 MiB of each of 6 GPUs.',
  )
  const room = { freeMilli: 8_500, largestMilli: 0, needMilli: 0, needDevices: 6, rule: 'r', workload: 'w' }
  const held = { ...room, code: 'WaitingForCapacity', behind: null, projectedStartAt: null }
  expect(eventText({ type: 'WorkloadHeld', at: 0, data: held } as unknown as CellEvent)).toBe('WaitingForCapacity')
  const refused = { ...room, code: 'ExceedsFleet', rule: 'fleet' }
  expect(eventText({ type: 'WorkloadRefused', at: 0, data: refused } as unknown as CellEvent)).toBe(
    'ExceedsFleet: no place of the empty fleet has all of it',
  )
})

it('should say when it starts, where, and whose end makes room', () => {
  const projected = (after: ReadonlyArray<string>): string =>
    whyText({ ...waiting, projectedStartAt: 3_660_000 as EpochMs, projectedNodes: ['n-4'], projectedAfter: after })
      .split('Projected  ')[1]!
      .replace(/\s+/g, ' ')
  expect(projected(['a'])).toMatch(/^day 0 01:01:00 \(in 1 h\) on n-4, when a ends, if all ends as expected/)
  expect(projected(['a', 'b', 'c', 'd', 'e'])).toMatch(/ on n-4, when a, b, c and 2 more end, if all ends/)
  const misnamed = { kind: 'queue' as const, name: 'q', byQueue: false, meant: null, leaves: [] }
  expect(whyText({ ...waiting, code: 'Misconfigured', misnamed })).toMatch(
    /Projected {2}not before the policy has a queue q, or it is submitted anew/,
  )
})

it('should tell this wait from those before it, and what is free and out of service', () => {
  const again = {
    ...waiting,
    queuedAt: 50_000 as EpochMs,
    waitedMs: 30_000 as DurationMs,
    outOfServiceMilli: 8_000,
    needMilli: 6_000,
  }
  const [first, second] = whyText(again).replaceAll('\n           ', ' ').split('\n')
  expect(first).toContain('for 10 s since it was stopped, 30 s in all')
  expect(second).toContain('beside 8 GPUs on nodes that take nothing')
})

it('should say that not all was tried', () => {
  expect(whyText({ ...waiting, hintsCut: true })).toContain('Not tried  all that might help')
  expect(whyText(waiting)).not.toContain('Not tried')
})
