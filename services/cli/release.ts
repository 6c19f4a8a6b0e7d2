import { registerWorkloadOrder } from './workload-order.ts'

/** Registers `release`. */
export const registerRelease = registerWorkloadOrder('release', {
  description: 'let a workload that is on hold wait for its turn again',
  done: 'waits for its turn again',
  help: `
Examples:
  leasehold release ranking-hparam-sweep --reason "the data set is whole"`,
})
