import { registerWorkloadOrder } from './workload-order.ts'

/** Registers `hold`. */
export const registerHold = registerWorkloadOrder('hold', {
  description: 'let a workload wait, whatever is free, until it is released',
  done: 'is on hold',
  help: `
What runs goes on; it waits when it is stopped.
Examples:
  leasehold hold ranking-hparam-sweep --reason "the data set is being mended"`,
})
