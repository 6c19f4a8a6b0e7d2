import { outcomeText } from './ordered.ts'
import { registerWorkloadOrder } from './workload-order.ts'

/** Registers `release`. */
export const registerRelease = registerWorkloadOrder('release', {
  description: 'let a workload that is on hold wait for its turn again',
  said: (workload, ordered) => {
    const { outcome, runs } = ordered
    if (outcome === 'duplicate')
      return `${workload} was not on hold, and ${runs ? 'runs' : 'waits for its turn'}: nothing was changed`
    const what = runs ? 'runs, and may start again once it is stopped' : 'waits for its turn again'
    return `${workload} ${what}${outcomeText(ordered)}`
  },
  help: `
Examples:
  leasehold release ranking-hparam-sweep --reason "the data set is whole"`,
})
