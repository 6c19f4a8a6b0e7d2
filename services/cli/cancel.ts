import { registerWorkloadOrder } from './workload-order.ts'

/** Registers `cancel`. */
export const registerCancel = registerWorkloadOrder('cancel', {
  description: 'end a workload, whether it waits or runs',
  done: 'is to end',
  help: `
Examples:
  leasehold cancel ranking-hparam-sweep --reason "superseded by sweep 8"`,
})
