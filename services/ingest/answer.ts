import type { CellRejection } from '../../domain/planner/decide.ts'

/**
 * What became of one line, said after the flush that holds everything said before it. `unneeded`: a tick at which
 * nothing was due, which is not kept. What is refused is not kept either, and may be sent again when things have changed.
 */
export interface Answer {
  /** Of the fact; of a line that is none, what it is kept under. */
  readonly id: string
  readonly outcome: 'recorded' | 'duplicate' | 'refused' | 'undecodable' | 'unneeded'
  readonly reason?: string
}

export const refusalText = (rejection: CellRejection): string => {
  switch (rejection.type) {
    case 'Repeated':
      return 'the cell has it already'
    case 'NodeDiffers':
      return `node ${rejection.node} is registered with other devices`
    case 'UnknownNode':
      return `there is no node ${rejection.node}`
    case 'UnknownDevice':
      return `node ${rejection.node} has ${rejection.devices} devices, and no device ${rejection.device}`
    case 'DuplicateWorkload':
      return `another workload is named ${rejection.workload}`
    case 'UnknownWorkload':
      return `no workload ${rejection.workload} waits or runs`
    case 'NotRunning':
      return `${rejection.workload} does not run`
    case 'UnknownCommand':
      return `no command ${rejection.command} is open`
    case 'WrongAttempt':
      return `attempt ${rejection.running} of ${rejection.workload} runs, not ${rejection.attempt}`
    case 'TimeWentBack':
      return `the cell has got to ${rejection.now}, and ${rejection.at} is before that`
  }
}
