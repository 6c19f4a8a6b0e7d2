import { describe, expect, it } from 'vitest'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import type { CellEvent } from '../../../domain/planner/cell-event.ts'
import { defaultPolicy } from '../../../domain/policy/allocation-policy.codec.ts'
import { unstatedTerms } from '../../../domain/workload/terms.ts'
import { eventText, shortType } from '../../../projections/explain/event-text.ts'
import { durationText, instantText, wrapped } from '../../../projections/explain/wording.ts'

const day = 86_400_000
const room = { freeMilli: 9_350, largestMilli: 2_000, needMilli: 8_000 }
const request = { cpuMilli: 0, devices: 8, hostMemoryMib: 0, memoryMib: 0, milli: 1_000, models: null, span: 'node' }

const events: ReadonlyArray<readonly [Pick<CellEvent, 'type'> & { readonly data: unknown }, string]> = [
  [
    {
      type: 'WorkloadSubmitted',
      data: {
        class: 'training',
        estimateMs: 4_500_000,
        queue: 'q',
        request,
        team: 't',
        terms: unstatedTerms,
        workload: 'w',
      },
    },
    '8 GPUs, for 1 h 15 min, class training, queue q',
  ],
  [
    {
      type: 'WorkloadHeld',
      data: {
        ...room,
        behind: null,
        code: 'FragmentedCapacity',
        needDevices: 8,
        projectedStartAt: 2 * day,
        rule: 'r',
        workload: 'w',
      },
    },
    'FragmentedCapacity: 9.35 free, 2 in one place, needs 8; by day 2 00:00:00',
  ],
  [
    {
      type: 'WorkloadHeld',
      data: {
        ...room,
        behind: 'x',
        code: 'BehindInQueue',
        needDevices: 8,
        projectedStartAt: null,
        rule: 'r',
        workload: 'w',
      },
    },
    'BehindInQueue x: 9.35 free, 2 in one place, needs 8',
  ],
  [
    {
      type: 'WorkloadAdmitted',
      data: {
        ...room,
        alternative: null,
        attempt: 1,
        expectedEndAt: null,
        lease: [
          { devices: [3], memoryMib: 0, milli: 250, node: 'n' },
          { devices: [0, 1], memoryMib: 0, milli: 1_000, node: 'm' },
        ],
        rule: 'r',
        score: null,
        waitedMs: 61_000,
        workload: 'w',
      },
    },
    'n device 3 (250 thousandths); m devices 0,1; waited 1 min 1 s, of 9.35 GPUs free',
  ],
  [
    { type: 'WorkloadRefused', data: { ...room, code: 'ExceedsFleet', needDevices: 8, rule: 'fleet', workload: 'w' } },
    'ExceedsFleet: needs 8 GPUs, the empty fleet has 2 GPUs in one place',
  ],
  [
    { type: 'EstimateOverran', data: { attempt: 1, expectedEndAt: day, workload: 'w' } },
    'now expected until day 1 00:00:00',
  ],
  [{ type: 'AttemptEnded', data: { attempt: 2, outcome: 'failed', workload: 'w' } }, 'attempt 2 failed'],
  [{ type: 'NodeRegistered', data: { devices: 8, node: 'n' } }, 'n: 8 GPUs'],
  [{ type: 'NodeHealthChanged', data: { device: 3, health: 'failed', node: 'n' } }, 'n device 3 is failed'],
  [{ type: 'NodeHealthChanged', data: { device: null, health: 'ready', node: 'n' } }, 'n is ready'],
  [
    { type: 'PolicyActivated', data: { document: defaultPolicy, hash: 'a'.repeat(64) } },
    'policy default, aaaaaaaaaaaa',
  ],
  [{ type: 'Ticked', data: {} }, 'time went on'],
]

describe('an event', () => {
  it.each(events)('should be said in one line: $type', (event, text) => {
    expect(eventText({ at: 0 as EpochMs, ...event } as CellEvent)).toBe(text)
  })

  it('should have a short type where its columns say whose it is', () => {
    expect(events.map(([{ type }]) => shortType(type)).filter((type) => type.length > 13)).toEqual([])
  })
})

describe('wording', () => {
  it('should tell instants of a trace from dates', () => {
    expect(instantText(69_776_000)).toBe('day 0 19:22:56')
    expect(instantText(Date.UTC(2026, 7, 14, 1, 2, 3))).toBe('2026-08-14 01:02:03 UTC')
    expect(instantText(Number.MAX_SAFE_INTEGER)).toBe('9007199254740991 ms')
  })

  it('should tell durations in their two largest units', () => {
    expect([0, 5, 59_000, 3_600_000, 90_061_000].map(durationText)).toEqual(['0 s', '5 ms', '59 s', '1 h', '1 d 1 h'])
  })

  it('should break lines at blanks and never lose a word', () => {
    const text = 'Reason     one two three four five six seven'
    expect(wrapped(text, 22, 11)).toBe(
      'Reason     one two\n           three four\n           five six\n           seven',
    )
    expect(wrapped('x'.repeat(30), 10, 2)).toBe('x'.repeat(30))
  })
})
