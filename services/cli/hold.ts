import { outcomeText } from './ordered.ts'
import { registerWorkloadOrder } from './workload-order.ts'

/** Registers `hold`. */
export const registerHold = registerWorkloadOrder('hold', {
  description: 'let a workload wait, whatever is free, until it is released',
  said: (workload, ordered) => {
    if (ordered.outcome === 'duplicate') return `${workload} is on hold already: nothing was changed`
    const what = ordered.runs ? 'runs on, and once it is stopped it will not start again until released' : 'is on hold'
    return `${workload} ${what}${outcomeText(ordered)}`
  },
  help: `
What runs goes on; it waits when it is stopped.
Examples:
  leasehold hold ranking-hparam-sweep --reason "the data set is being mended"`,
})
