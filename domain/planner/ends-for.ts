import { canPlace } from '../fleet/spanning.ts'
import type { Cell } from './cell.ts'
import type { HintedChange } from './hint.ts'
import { heldMilli } from './tallies.ts'
import type { Workload } from './workload.ts'

type Ends = Extract<HintedChange, { readonly change: 'ends' }>

const soonestMax = 32
const largestMax = 16
const togetherMax = 8

/**
 * Whose ends might start it, by what would then be free: one of those that run, several on one node, or several of those
 * that are expected to end first; of its own side where there is room, and something else is in its way. The fleet is left
 * as it was.
 */
export function* endsFor(cell: Cell, id: string): Generator<Ends> {
  const workload = cell.workloads.get(id)!
  const running = [...cell.workloads.values()].filter(({ run }) => run !== null)
  const own = largestOf(running.filter((one) => isBeside(one, workload)))
  const soonest = firstOf(cell.ends, soonestMax)
  const likely = [...new Set([...soonest, ...own, ...largestOf(running)])]
  if (hasRoom(cell, workload, [])) {
    const beside = likely.filter((one) => isBeside(one, workload))
    for (const one of beside) yield ends([one])
    if (beside.length > 1) yield ends(beside.slice(0, togetherMax))
    return
  }
  for (const one of likely) if (hasRoom(cell, workload, [one])) yield ends([one])
  for (const some of [onOneNode(cell, workload), likely]) {
    const together = fewestOf(cell, workload, some)
    if (together !== null) yield ends(together)
  }
}

const ends = (workloads: ReadonlyArray<Workload>): Ends => ({
  change: 'ends',
  workloads: workloads.map(({ id }) => id),
})

/** What caps, quota and shares count together with it. */
const isBeside = (one: Workload, { queue, team, terms }: Workload): boolean =>
  one.team === team || one.queue === queue || one.terms.submitter === terms.submitter

const largestOf = (workloads: ReadonlyArray<Workload>): ReadonlyArray<Workload> =>
  [...workloads].sort((a, b) => b.shape.needMilli - a.shape.needMilli || a.seq - b.seq).slice(0, largestMax)

/** Those on the node that the fewest would have to leave, largest first; none where each node has too many of them. */
const onOneNode = (cell: Cell, { shape }: Workload): ReadonlyArray<Workload> => {
  const { fleet } = cell
  if (shape.request.span !== 'node') return []
  let fewest: ReadonlyArray<Workload> = []
  for (let node = 0, most = togetherMax; node < fleet.nodes.length && most > 0; node++) {
    if (fleet.health[node] !== 'ready' || !fleet.accepts(shape, node)) continue
    let free = fleet.freeMilli[node]!
    const leaving: Workload[] = []
    for (const { milli, workload } of largestOn(cell, node)) {
      if (free >= shape.needMilli || leaving.length === most) break
      free += milli
      leaving.push(workload)
    }
    if (free < shape.needMilli || leaving.length === 0) continue
    fewest = leaving
    most = leaving.length - 1
  }
  return fewest
}

const largestOn = (cell: Cell, node: number) =>
  Array.from(cell.runningOn(node), (workload) => ({
    milli: heldMilli(workload.run!.parts.filter((part) => part.node === node)),
    workload,
  })).sort((a, b) => b.milli - a.milli || a.workload.seq - b.workload.seq)

/** One after another until there is room, without those that make no difference. */
const fewestOf = (cell: Cell, workload: Workload, likely: ReadonlyArray<Workload>): ReadonlyArray<Workload> | null => {
  let gone: Workload[] = []
  for (const one of likely.slice(0, soonestMax)) {
    gone.push(one)
    if (!hasRoom(cell, workload, gone)) continue
    for (const each of gone) {
      const without = gone.filter((other) => other !== each)
      if (without.length > 0 && hasRoom(cell, workload, without)) gone = without
    }
    return gone.length > togetherMax ? null : gone
  }
  return null
}

const hasRoom = ({ fleet }: Cell, { shape }: Workload, gone: ReadonlyArray<Workload>): boolean => {
  for (const one of gone) for (const part of one.run!.parts) fleet.give(one.shape, part)
  const fits = canPlace(fleet, shape)
  for (const one of gone) for (const part of one.run!.parts) fleet.take(one.shape, part)
  return fits
}

const firstOf = (workloads: Iterable<Workload>, most: number): ReadonlyArray<Workload> => {
  const first: Workload[] = []
  for (const one of workloads) {
    if (first.length === most) break
    first.push(one)
  }
  return first
}
