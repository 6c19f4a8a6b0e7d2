import { it } from 'vitest'
import { quietWorldsMax, searchQuietWorlds } from '../../../support/budgets/quiet-worlds.ts'

const batch = Math.ceil(quietWorldsMax / 10)
const batches = [0, 1, 2, 3, 4].map((i) => [i * batch, (i + 1) * batch] as const)

it.each(batches)(
  'should go round in no circle, and break nothing, while nothing comes in: seeds %i to %i of the second half',
  (from, to) => {
    searchQuietWorlds(5 * batch + from, 5 * batch + to)
  },
  600_000,
)
