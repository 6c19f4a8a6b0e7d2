/** One run of a workload, as commands and facts name it. */
export interface Attempt {
  readonly workload: string
  readonly attempt: number
}

export const attemptName = ({ attempt, workload }: Attempt): string => `${workload}/${attempt}`

/** One that was started here, and has not been told to have ended. */
export interface RunningAttempt extends Attempt {
  /** Key of the command that started it: a workload's name may come again, and its attempts then count from 1 again. */
  readonly startedBy: string
}
