import { either as E } from 'fp-ts'
import type { EpochMs } from '../kernel/units.ts'
import type { Cell } from './cell.ts'
import { evolve } from './evolve.ts'
import { fork } from './cell-snapshot.ts'
import type { CellInput } from './cell-event.ts'
import { decide } from './decide.ts'
import { endOf } from './end-index.ts'
import type { Workload } from './workload.ts'

export interface Projection {
  /** Starts in the order in which they are expected. */
  readonly starts: ReadonlyMap<string, EpochMs>
  /** `known` when the one asked for is among them; else why it is not. */
  readonly outcome: 'known' | 'nothing ends' | 'looked too far ahead'
  /** Of the one asked for, if it is known: where it would start, and whose ends at that instant make room there. */
  readonly place: { readonly nodes: ReadonlyArray<string>; readonly after: ReadonlyArray<string> } | null
}

/** Instants that a projection looks through before it gives up. */
export const instantsMax = 100_000

/**
 * When what waits would start, decided by the same code as always on a fork of the cell: everything that runs ends when
 * it is expected to, and nothing new comes in.
 * @param until the workload that is asked for; null: everything that can be known
 */
export const projectStarts = (cell: Cell, until: string | null): Projection => {
  const ahead = fork(cell)
  const starts = new Map<string, EpochMs>()
  let at = cell.now
  // What is due at this very instant has ended before anything is decided; what is overdue runs on.
  let ended = [...ahead.ends].filter((one) => endOf(one) === at)
  for (const one of ended) end(ahead, one, at)
  for (let instants = 0; instants < instantsMax; instants++) {
    for (const decision of advance(ahead, { type: 'Ticked', at, data: {} })) {
      if (decision.type !== 'WorkloadAdmitted') continue
      const { workload, lease } = decision.data
      starts.set(workload, at)
      if (workload !== until) continue
      const nodes = lease.map(({ node }) => node)
      return { starts, outcome: 'known', place: { nodes, after: endedOn(ahead, ended, nodes) } }
    }
    const next = ahead.ends.soonest
    if (next === null) return { starts, outcome: until === null ? 'known' : 'nothing ends', place: null }
    at = Math.max(at, endOf(next)) as EpochMs
    ended = []
    for (let one = ahead.ends.soonest; one !== null && endOf(one) <= at; one = ahead.ends.soonest) {
      ended.push(one)
      end(ahead, one, at)
    }
  }
  return { starts, outcome: 'looked too far ahead', place: null }
}

const endedOn = (
  { fleet }: Cell,
  ended: ReadonlyArray<Workload>,
  nodes: ReadonlyArray<string>,
): ReadonlyArray<string> =>
  ended.filter(({ run }) => run!.parts.some(({ node }) => nodes.includes(fleet.nodes[node]!.node))).map(({ id }) => id)

const end = (cell: Cell, { attempt, id }: Workload, at: EpochMs) =>
  advance(cell, { type: 'AttemptEnded', at, data: { attempt, outcome: 'succeeded', workload: id } })

/** Lets the cell go through one input; an input that is not taken changes nothing. */
const advance = (cell: Cell, input: CellInput) => {
  const decided = decide(input, cell)
  if (E.isLeft(decided)) return []
  evolve(cell, input)
  for (const decision of decided.right) evolve(cell, decision)
  return decided.right
}
