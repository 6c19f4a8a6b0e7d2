import { unstatedTerms } from '../../../domain/workload/terms.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ShapeTable } from '../../../domain/fleet/shape.ts'
import type { DurationMs, EpochMs } from '../../../domain/kernel/units.ts'
import { EndIndex } from '../../../domain/planner/end-index.ts'
import { Line } from '../../../domain/planner/line.ts'
import { WaitingQueue } from '../../../domain/planner/waiting-queue.ts'
import type { Workload } from '../../../domain/planner/workload.ts'
import { requestOf } from '../../support/arbitrary-fleet.ts'

const table = new ShapeTable()
const kinds = [requestOf({}), requestOf({ devices: 2 }), requestOf({ milli: 250 })].map((each) => table.intern(each))

const workloadOf = (seq: number, queue: WaitingQueue, more: Partial<Workload> = {}): Workload => ({
  id: `w${seq}`,
  seq,
  class: 'test',
  team: 'test',
  shape: kinds[0]!,
  queue,
  estimateMs: null,
  submittedAt: 0 as EpochMs,
  attempt: 0,
  hold: null,
  projected: null,
  previous: null,
  next: null,
  line: null,
  slot: -1,
  terms: unstatedTerms,
  queuedAt: 0 as EpochMs,
  wantsSince: 0 as EpochMs,
  waitedBeforeMs: 0 as DurationMs,
  checkpointed: false,
  resumes: false,
  startsFailed: 0,
  lastFailedStart: null,
  onHold: false,
  account: null,
  preemptions: 0,
  promoted: false,
  roomMade: false,
  run: null,
  ...more,
})

const queueOf = () => new WaitingQueue('q0', 'fifo', 0)

describe('a line', () => {
  const estimate = fc.option(fc.nat(20)) as fc.Arbitrary<DurationMs | null>
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: estimate }) },
    { weight: 2, arbitrary: fc.record({ remove: fc.nat() }) },
  )

  it('should find first and soonest, and count, as a list does, whoever leaves it', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150, size: 'max' }), fc.nat(25), (steps, limitMs) => {
        const queue = queueOf()
        const line = new Line(kinds[0]!, 0)
        let members: Workload[] = []
        steps.forEach((step, seq) => {
          if ('add' in step) {
            const workload = workloadOf(seq, queue, { estimateMs: step.add })
            line.add(workload)
            members.push(workload)
          } else if (members.length > 0) {
            const gone = members[step.remove % members.length]!
            line.remove(gone)
            expect(gone.line).toBeNull()
            members = members.filter((one) => one !== gone)
          }
          expect(line.size).toBe(members.length)
          expect(line.first).toBe(members[0] ?? null)
          const within = members.filter(({ estimateMs }) => estimateMs !== null && estimateMs <= limitMs)
          expect(line.endingWithin(0, limitMs)).toBe(within[0] ?? null)
          const from = members[Math.floor(members.length / 2)]
          if (from === undefined) return
          expect(line.atOrAfter(from.slot)).toBe(from)
          const gathered: Workload[] = []
          line.gather(gathered, 3)
          expect(gathered.map(({ seq }) => seq)).toEqual(members.slice(0, 3).map(({ seq }) => seq))
          expect(line.countBefore(from)).toBe(members.indexOf(from))
          expect(line.countWhile(({ seq }) => seq < from.seq)).toBe(members.indexOf(from))
          expect(line.atOrAfter(from.slot + 1)).toBe(members[members.indexOf(from) + 1] ?? null)
          expect(line.endingWithin(from.slot, limitMs)).toBe(within.find(({ seq }) => seq >= from.seq) ?? null)
        })
      }),
      { numRuns: 200 },
    )
  })

  it('should not grow with those that came and went behind one that stays', () => {
    const line = new Line(kinds[0]!, 0)
    const stays = workloadOf(0, queueOf())
    line.add(stays)
    for (let seq = 1; seq < 10_000; seq++) {
      const passes = workloadOf(seq, queueOf(), { estimateMs: 5 as DurationMs })
      line.add(passes)
      expect(line.endingWithin(0, 10)).toBe(passes)
      // Its place tells how many the line still keeps.
      expect(passes.slot).toBeLessThan(200)
      line.remove(passes)
    }
    expect(line.first).toBe(stays)
  })

  it('should let nobody leave who is not in it', () => {
    const line = new Line(kinds[0]!, 0)
    expect(() => {
      line.remove(workloadOf(0, queueOf()))
    }).toThrow('a workload leaves the line it is in')
  })
})

describe('a queue', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: fc.constantFrom(...kinds) }) },
    { weight: 2, arbitrary: fc.record({ remove: fc.nat() }) },
  )

  it('should keep the order of submission, whole and by kind', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const queue = queueOf()
        let members: Workload[] = []
        steps.forEach((step, seq) => {
          if ('add' in step) {
            const workload = workloadOf(seq, queue, { shape: step.add })
            queue.add(workload)
            expect(queue.lines.add(workload, step.add.index)).toBe(workload.line)
            members.push(workload)
          } else if (members.length > 0) {
            const gone = members[step.remove % members.length]!
            queue.remove(gone)
            queue.lines.remove(gone)
            members = members.filter((one) => one !== gone)
          }
          const listed: Workload[] = []
          for (let one = queue.head; one !== null; one = one.next) listed.push(one)
          expect(listed).toEqual(members)
          expect(queue.size).toBe(members.length)
          const lines = [...queue.lines]
          expect(new Set(lines.map(({ shape }) => shape))).toEqual(new Set(members.map(({ shape }) => shape)))
          for (const line of lines) {
            const alike = members.filter(({ shape }) => shape === line.shape)
            expect([line.size, line.first]).toEqual([alike.length, alike[0]])
          }
          const last = members.at(-1)
          if (last !== undefined) expect(queue.ahead(last)).toBe(members.length - 1)
        })
      }),
      { numRuns: 200 },
    )
  })
})

describe('the index of ends', () => {
  const running = (seq: number, end: number) =>
    workloadOf(seq, queueOf(), {
      run: {
        startedAt: 0 as EpochMs,
        expectedEndAt: end as EpochMs,
        parts: [],
        commanded: false,
        confirmed: false,
        confirmedAt: null,
        checkpointAt: null,
        progressAt: null,
        idle: false,
        preempted: false,
        limitAt: null,
        open: null,
        issued: 0,
        tried: [],
      },
    })

  it('should list ends soonest first, then in order of submission, across many blocks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ end: fc.nat(300), leave: fc.boolean() }), {
          minLength: 600,
          maxLength: 1500,
          size: 'max',
        }),
        (steps) => {
          const index = new EndIndex()
          let members: Workload[] = []
          steps.forEach(({ end, leave }, seq) => {
            if (leave && members.length > 400) {
              const gone = members[end % members.length]!
              index.remove(gone)
              members = members.filter((one) => one !== gone)
            } else {
              const workload = running(seq, end)
              index.add(workload)
              members.push(workload)
            }
          })
          const order = (a: Workload, b: Workload) => a.run!.expectedEndAt! - b.run!.expectedEndAt! || a.seq - b.seq
          members.sort(order)
          expect(Array.from(index, ({ seq }) => seq)).toEqual(members.map(({ seq }) => seq))
          expect(index.size).toBe(members.length)
          expect(index.soonest).toBe(members[0])
          for (const member of members) index.remove(member)
          expect([index.size, index.soonest, [...index]]).toEqual([0, null, []])
        },
      ),
      { numRuns: 30 },
    )
  })

  it('should not let go of what it does not hold', () => {
    const index = new EndIndex()
    index.add(running(1, 10))
    expect(() => {
      index.remove(running(2, 10))
    }).toThrow('what ends was expected to end')
  })
})
