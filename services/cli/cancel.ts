import { outcomeText } from './ordered.ts'
import { registerWorkloadOrder } from './workload-order.ts'

/** Registers `cancel`. */
export const registerCancel = registerWorkloadOrder('cancel', {
  description: 'end a workload, whether it waits or runs',
  said: (workload, ordered) => `${workload} is to end${outcomeText(ordered)}`,
  help: `
Examples:
  leasehold cancel ranking-hparam-sweep --reason "superseded by sweep 8"`,
})
