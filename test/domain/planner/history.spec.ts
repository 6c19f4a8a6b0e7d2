import fc from 'fast-check'
import { either as E } from 'fp-ts'
import { describe, expect, it } from 'vitest'
import { canonicalJson, type Json } from '../../../domain/kernel/canonical-json.ts'
import type { EpochMs } from '../../../domain/kernel/units.ts'
import { Cell } from '../../../domain/planner/cell.ts'
import { evolve } from '../../../domain/planner/evolve.ts'
import { workloadOf, type CellDecision, type CellEvent, type CellInput } from '../../../domain/planner/cell-event.ts'
import { fork, fromSnapshot, takeSnapshot, type CellSnapshot } from '../../../domain/planner/cell-snapshot.ts'
import { decide } from '../../../domain/planner/decide.ts'
import { projectStarts } from '../../../domain/planner/projection.ts'
import { strategies } from '../../../domain/policy/allocation-policy.ts'
import { anyHistory, exactHistory, Script, singleQueue, type Step } from '../../support/histories.ts'
import { freeOf, naiveNode, sum, take, wholeOf } from '../../support/naive/naive-fleet.ts'

type Decided = ReturnType<typeof decide>

const runs = { numRuns: 250 }

/** Lets a cell go through an input that it takes, recorded or not as a writer would. */
const advance = (cell: Cell, input: CellInput, decided: Decided = decide(input, cell)): ReadonlyArray<CellDecision> => {
  if (E.isLeft(decided)) return []
  if (input.type === 'Ticked' && decided.right.length === 0) cell.lookedInVain()
  else {
    evolve(cell, input)
    for (const decision of decided.right) evolve(cell, decision)
  }
  return decided.right
}

const walk = (
  steps: ReadonlyArray<Step>,
  visit: (input: CellInput, decided: Decided, cell: Cell) => void,
  after: (input: CellInput, decisions: ReadonlyArray<CellDecision>, cell: Cell) => void = () => undefined,
): Cell => {
  const cell = new Cell('cell')
  const script = new Script()
  for (const step of steps)
    for (const input of script.inputs(step, cell)) {
      const decided = decide(input, cell)
      visit(input, decided, cell)
      const decisions = advance(cell, input, decided)
      if (E.isRight(decided)) after(input, decisions, cell)
    }
  return cell
}

/** All that a cell is, down to the order of its lines, but for caches and counts of changes. */
const deepState = (cell: Cell) => ({
  snapshot: takeSnapshot(cell),
  fleet: {
    columns: [
      cell.fleet.cpuFree,
      cell.fleet.hostFree,
      cell.fleet.freeMilli,
      cell.fleet.wholeFree,
      cell.fleet.deviceFree,
      cell.fleet.deviceMemoryFree,
      cell.fleet.deviceHealth,
    ].map((column) => [...column]),
    totals: [
      cell.fleet.freeTotal,
      cell.fleet.wholeTotal,
      cell.fleet.tree.largestMilli,
      cell.fleet.tree.mostWholeDevices,
    ],
  },
  queues: [...cell.queueNamed.values()].map((queue) => ({
    name: queue.name,
    size: queue.size,
    lines: Array.from(queue.lines, (line) => [line.shape.index, line.size, line.first?.id]),
    members: membersOf(queue.head),
  })),
  ends: Array.from(cell.ends, ({ id }) => id),
  pending: [[...cell.fresh].map(({ id }) => id), [...cell.freed], cell.untried.size, cell.policyIsNew],
})

const membersOf = (head: { readonly id: string; readonly next: unknown } | null): ReadonlyArray<string> => {
  const ids: string[] = []
  for (let one = head; one !== null; one = one.next as typeof head) ids.push(one.id)
  return ids
}

describe('deciding', () => {
  it('should leave the cell as it was, and say the same again', () => {
    fc.assert(
      fc.property(anyHistory(strategies), (steps) => {
        walk(steps, (input, decided, cell) => {
          const before = deepState(cell)
          expect(decide(input, cell)).toEqual(decided)
          expect(JSON.stringify(decide(input, cell))).toBe(JSON.stringify(decided))
          expect(deepState(cell)).toEqual(before)
        })
      }),
      runs,
    )
  })

  it('should write events that are canonical JSON as they are, and read back as they were', () => {
    fc.assert(
      fc.property(anyHistory(strategies), (steps) => {
        walk(steps, (_, decided) => {
          if (E.isLeft(decided)) return
          for (const { data } of decided.right) {
            const text = JSON.stringify(data)
            expect(canonicalJson(data as unknown as Json)).toBe(text)
            expect(JSON.parse(text)).toEqual(data)
          }
        })
      }),
      runs,
    )
  })

  it('should not take a fact twice, whatever it was, and not be changed by the second', () => {
    fc.assert(
      fc.property(anyHistory(strategies), (steps) => {
        walk(
          steps,
          () => undefined,
          (input, decisions, cell) => {
            if (input.type === 'Ticked') return
            // What was refused is forgotten: it is refused again.
            if (decisions.length > 0) return
            const before = deepState(cell)
            const again = decide(input, cell)
            expect(E.isLeft(again)).toBe(true)
            if (input.type !== 'AttemptEnded') expect(again).toEqual(E.left({ type: 'Repeated' }))
            expect(deepState(cell)).toEqual(before)
          },
        )
      }),
      runs,
    )
  })
})

describe('after every event', () => {
  it('should have no device over-leased, no memory exceeded, and every gang whole or absent', () => {
    fc.assert(
      fc.property(anyHistory(strategies), (steps) => {
        walk(
          steps,
          () => undefined,
          (_, __, cell) => {
            const { fleet } = cell
            const nodes = fleet.nodes.map(naiveNode)
            nodes.forEach((node, number) => {
              node.health = fleet.healthOf(number, null)
              node.devices.forEach((device, index) => (device.health = fleet.healthOf(number, index)))
            })
            for (const { run, shape } of cell.workloads.values()) {
              if (run === null) continue
              const taken = run.parts.flatMap(({ node, devices }) => devices.map((device) => `${node} ${device}`))
              expect(new Set(taken).size).toBe(shape.request.devices)
              expect(run.parts.length).toBeGreaterThan(0)
              const domains = new Set(run.parts.map(({ node }) => fleet.nodes[node]!.domain ?? node))
              if (shape.request.span !== 'anywhere') expect(domains.size).toBe(1)
              if (shape.request.span === 'node') expect(run.parts).toHaveLength(1)
              for (const { node } of run.parts) expect(fleet.accepts(shape, node)).toBe(true)
              take(nodes, shape.request, run.parts)
            }
            for (const { cpu, host, devices } of nodes) {
              expect(Math.min(cpu, host)).toBeGreaterThanOrEqual(0)
              for (const { milli, memory } of devices) expect(Math.min(milli, memory)).toBeGreaterThanOrEqual(0)
            }
            expect([fleet.freeTotal, fleet.wholeTotal]).toEqual([sum(nodes.map(freeOf)), sum(nodes.map(wholeOf))])
          },
        )
      }),
      runs,
    )
  })

  it('should have one reason for each that waits, and tell it again only when code or rule changed', () => {
    fc.assert(
      fc.property(anyHistory(strategies), (steps) => {
        const told = new Map<string, string>()
        walk(
          steps,
          () => undefined,
          (input, decisions, cell) => {
            for (const { type, data } of decisions) {
              if (type !== 'WorkloadHeld') {
                if (type === 'WorkloadAdmitted') told.delete(data.workload)
                continue
              }
              const reason = `${data.code} ${data.rule}`
              expect(told.get(data.workload)).not.toBe(reason)
              told.set(data.workload, reason)
            }
            if (input.type !== 'Ticked' || !cell.decides) return
            const workloads = decisions.map((decision) => `${decision.type} ${workloadOf(decision)}`)
            expect(new Set(workloads).size).toBe(workloads.length)
            for (const { id, hold, run } of cell.workloads.values())
              if (run === null) expect(`${hold?.code} ${hold?.rule}`).toBe(told.get(id))
          },
        )
      }),
      runs,
    )
  })
})

describe('what is not recorded', () => {
  it('should change no decision: settling after an empty tick, and empty ticks themselves', () => {
    fc.assert(
      fc.property(anyHistory(strategies), fc.array(fc.nat(3), { minLength: 1 }), (steps, extra) => {
        const replayed = new Cell('cell')
        const ticked = new Cell('cell')
        let ticks = 0
        walk(steps, (input, decided) => {
          // One cell that sees only what is recorded, one that sees more ticks than were needed.
          expect(decide(input, replayed)).toEqual(decided)
          expect(decide(input, ticked)).toEqual(decided)
          if (E.isLeft(decided)) return
          if (input.type !== 'Ticked' || decided.right.length > 0)
            for (const event of [input, ...decided.right]) evolve(replayed, event)
          advance(ticked, input, decided)
          for (let times = extra[ticks++ % extra.length]!; times > 0 && input.type === 'Ticked'; times--) {
            // What was expected to take no time has overrun by a second tick of its instant.
            const again = decide(input, ticked)
            if (E.isRight(again) && again.right.length === 0) advance(ticked, input, again)
            else if (E.isRight(again)) expect(again.right[0]!.type).toBe('EstimateOverran')
          }
        })
        expect({ ...takeSnapshot(replayed), policyIsNew: false }).toEqual({
          ...takeSnapshot(ticked),
          policyIsNew: false,
        })
      }),
      runs,
    )
  })
})

describe('a fork', () => {
  const refold = (cell: Cell) => fromSnapshot(JSON.parse(JSON.stringify(takeSnapshot(cell))) as CellSnapshot)

  it('should decide as the cell it came from, from any point on', () => {
    fc.assert(
      fc.property(anyHistory(strategies), fc.nat(60), (steps, point) => {
        let events = 0
        const forks: Cell[] = []
        const cell = walk(steps, (input, decided, original) => {
          if (events++ === point) forks.push(fork(original), refold(original))
          for (const one of forks) {
            expect(decide(input, one)).toEqual(decided)
            advance(one, input, decided)
          }
        })
        for (const one of forks) expect(takeSnapshot(one)).toEqual(takeSnapshot(cell))
      }),
      runs,
    )
  })

  it('should not be seen by the cell it came from', () => {
    fc.assert(
      fc.property(anyHistory(strategies, 25), (steps) => {
        const cell = walk(steps, () => undefined)
        const before = deepState(cell)
        projectStarts(cell, null)
        const later = fork(cell)
        advance(later, { type: 'Ticked', at: (cell.now + 1_000_000) as EpochMs, data: {} })
        expect(deepState(cell)).toEqual(before)
      }),
      { numRuns: 100 },
    )
  })
})

describe('a projected start', () => {
  const oneQueue = (ordering: 'fifo' | 'reserve') =>
    fc.constantFrom(...strategies).map((each) => singleQueue(ordering, each))
  /** Lets everything run to its end. */
  const untilIdle: Step = { kind: 'tick', afterMs: 1_000_000_000, exact: true }

  it.each(['fifo', 'reserve'] as const)(
    'should be no earlier than the start, when first made for a head under %s with exact estimates',
    (ordering) => {
      let projected = 0
      fc.assert(
        fc.property(exactHistory(oneQueue(ordering)), (steps) => {
          const first = new Map<string, number>()
          walk(
            [...steps, untilIdle],
            () => undefined,
            (input, decisions) => {
              for (const { type, data } of decisions) {
                if (type === 'WorkloadHeld' && data.projectedStartAt !== null && !first.has(data.workload))
                  first.set(data.workload, data.projectedStartAt)
                if (type !== 'WorkloadAdmitted' || !first.has(data.workload)) continue
                projected++
                expect(input.at).toBeLessThanOrEqual(first.get(data.workload)!)
              }
            },
          )
        }),
        { numRuns: 500 },
      )
      expect(projected).toBeGreaterThan(100)
    },
  )

  it('should be the start of everything that waits, when nothing new comes in', () => {
    fc.assert(
      fc.property(exactHistory(oneQueue('fifo')), (steps) => {
        const script = [...steps, { kind: 'tick', afterMs: 0, exact: true } as const]
        const cell = walk(script, () => undefined)
        const { starts, outcome } = projectStarts(cell, null)
        const actual = new Map<string, number>()
        walk(
          [...script, untilIdle],
          () => undefined,
          (input, decisions) => {
            for (const { type, data } of decisions) if (type === 'WorkloadAdmitted') actual.set(data.workload, input.at)
          },
        )
        expect(outcome).toBe('known')
        for (const { id, run } of cell.workloads.values()) if (run === null) expect(starts.get(id)).toBe(actual.get(id))
      }),
      { numRuns: 300 },
    )
  })
})

describe('a fact that comes late', () => {
  const at = (ms: number) => ms as EpochMs
  it('should be taken as of when it comes, and turn no clock back', () => {
    fc.assert(
      fc.property(anyHistory(strategies), fc.nat(100_000), (steps, by) => {
        let now = 0
        walk(
          steps,
          () => undefined,
          (input, _, cell) => {
            expect(cell.now).toBeGreaterThanOrEqual(now)
            now = cell.now
            if (input.type !== 'WorkloadSubmitted') return
            const late: CellEvent = {
              ...input,
              at: at(Math.max(0, cell.now - by)),
              data: { ...input.data, workload: 'late' },
            }
            const forked = fork(cell)
            advance(forked, late)
            expect(forked.now).toBe(cell.now)
          },
        )
      }),
      { numRuns: 50 },
    )
  })

  it('should not be a tick', () => {
    const cell = walk([{ kind: 'tick', afterMs: 10, exact: false }], () => undefined)
    evolve(cell, { type: 'Ticked', at: at(10), data: {} })
    expect(decide({ type: 'Ticked', at: at(9), data: {} }, cell)).toEqual(
      E.left({ type: 'TimeWentBack', at: 9, now: 10 }),
    )
  })
})
